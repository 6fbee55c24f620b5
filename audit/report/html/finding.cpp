#include "audit/report/html/finding.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "audit/report/svg/heatmap.hpp"
#include "audit/report/text.hpp"
#include "audit/support/real_number.hpp"

namespace attest::audit {
namespace {

/// A finding about an element of an output, rather than about memory, a crash or a hang.
bool has_numbers(violation const& wrong) {
  return !(wrong.got == 0 && wrong.truth_lower == 0 && wrong.truth_upper == 0 && wrong.bound == 0);
}

void write_numbers(violation const& wrong, markup& to) {
  to.open("table", {{"class", "numbers"}}).open("thead").open("tr").element("td", "");
  to.element("th", {{"scope", "col"}}, "decimal")
      .element("th", {{"scope", "col"}}, "hexadecimal")
      .close()
      .close()
      .open("tbody");
  auto const row = [&](std::string_view name, double x) {
    to.open("tr")
        .element("th", {{"scope", "row"}}, name)
        .element("td", std::isnan(x) ? "nan" : fmt::format("{}", x))
        .element("td", hex(x))
        .close();
  };
  row("got", wrong.got);
  if (wrong.truth_lower == wrong.truth_upper || std::isnan(wrong.truth_lower)) {
    row(wrong.bound == 0 ? "expected" : "truth",
        wrong.truth_lower);  // without a bound: an exact rule, or the bits of another call
  } else {
    row("truth, at least", wrong.truth_lower);
    row("truth, at most", wrong.truth_upper);
  }
  if (wrong.bound > 0) row("bound", wrong.bound), row("error / bound", wrong.error_in_bounds);
  to.close().close();
}

/// "queries 0 to 7, keys 8 to 39; batch entry 0, head 1"; without the keys if `columns` is empty.
std::string extent(matrix_picture const& picture, std::string_view columns, finding_pictures const& of) {
  std::string const across = columns.empty() ? ""
                                             : fmt::format(", {} {} to {}", columns, picture.first_column,
                                                           picture.first_column + picture.columns - 1);
  return fmt::format("queries {} to {}{}; batch entry {}, head {}", picture.first_row,
                     picture.first_row + picture.rows - 1, across, of.b, of.h);
}

void write_figure(matrix_picture const& picture, cells kind, std::vector<bool> const& masked, std::string const& title,
                  std::string_view columns, finding_pictures const& of, std::string const& legend, markup& to) {
  if (picture.rows == 0 || picture.columns == 0) return;
  to.open("figure", {{"style", fmt::format("width: {:g}px", std::max(heatmap_width(picture, kind), 200.0))}});
  to.element("h4", title);
  to.trusted(heatmap_svg(picture, kind, masked, title,
                         fmt::format("{}: {}. {}", title, extent(picture, columns, of), legend), columns));
  to.element("figcaption", legend).close();
}

void write_pictures(finding_pictures const& drawn, markup& to) {
  to.open("div", {{"class", "pictures"}});
  cells const kind = drawn.keys_only ? cells::keys : cells::weights;
  std::string const noun = drawn.keys_only ? "Keys" : "Weights";
  write_figure(drawn.expected, kind, drawn.masked, noun + " asked for", "keys", drawn,
               drawn.keys_only ? "Filled: the query sees the key. Hatched: it must not."
                               : "The stronger the blue, the larger (by the root). Hatched: masked.",
               to);
  if (drawn.applied) {
    write_figure(*drawn.applied, kind, drawn.masked, noun + " applied", "keys", drawn,
                 "Seen as: " + drawn.applied_by +
                     ". A cross: " + (drawn.keys_only ? "read though masked." : "not 0 though masked, or no weight."),
                 to);
  } else {
    to.open("figure")
        .element("h4", noun + " applied")
        .element("p", {{"class", "note"}}, "It is " + drawn.applied_by + ".")
        .close();
  }
  if (drawn.errors)
    write_figure(*drawn.errors, cells::errors, {}, "Error of " + drawn.output + ", in bounds",
                 drawn.output == "weights" ? "keys"
                 : drawn.output == "o"     ? "columns"
                                           : "",
                 drawn, "A shade a decade below the bound. A cross: above the bound. Dots: not judged.", to);
  to.close();
}

/// The rows of a small tensor, "(1, -2)  (3, 4)". If there are several matrices, each (the last two axes) follows "[b,
/// h]", its indices along the other axes. Requires  at least one axis, and as many values as the shape has places
std::string listing(input_listing const& of) {
  auto const product = [](auto const& extents) {
    return std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
  };
  std::span const shape(of.shape);
  auto const outer = shape.first(shape.size() - std::min<std::size_t>(shape.size(), 2));
  std::int64_t const matrices = product(outer), columns = shape.back(),
                     rows = shape.size() > 1 ? shape[outer.size()] : 1;
  std::string text;
  std::vector<std::int64_t> index(outer.size());
  std::size_t at = 0;
  for (std::int64_t matrix = 0; matrix < matrices; ++matrix) {
    if (matrices > 1) text += fmt::format("{}[{}] ", matrix > 0 ? "; " : "", fmt::join(index, ", "));
    for (std::int64_t row = 0; row < rows; ++row) {
      text += row > 0 ? "  (" : "(";
      for (std::int64_t c = 0; c < columns; ++c, ++at) text += fmt::format("{}{}", c > 0 ? ", " : "", of.values[at]);
      text += ")";
    }
    for (std::size_t axis = index.size(); axis-- > 0 && ++index[axis] == outer[axis];) index[axis] = 0;
  }
  return text.empty() ? "no elements" : text;
}

/// `whole` has the sizes of the problem before it was shrunk, which may be the same.
void write_shrunk(shrunk_finding const& small, problem::sizes const& whole, markup& to) {
  problem::sizes const& s = small.sizes;
  bool const same = s == whole;
  to.open("details").element(
      "summary", fmt::format("the {}problem that shows it: b = {}, heads {} of {}, n = {}, m = {}, d = {}, dv = {}",
                             same ? "" : "smallest ", s.b, s.hq, s.hk, s.n, s.m, s.d, s.dv));
  to.element("p", small.what.sentence);
  if (!small.inputs.empty()) {
    to.open("div", {{"class", "scroll"}}).open("table", {{"class", "inputs"}});
    for (input_listing const& input : small.inputs)
      to.open("tr").element("th", {{"scope", "row"}}, input.name).element("td", listing(input)).close();
    to.close().close();
  }
  if (!small.file.empty()) to.element("p", {{"class", "note"}}, "Saved in " + small.file);
  to.close();
}

}  // namespace

void write_finding(finding const& found, std::size_t number, std::string const& anchor, markup& to) {
  problem::sizes const& s = found.sizes;
  to.open("article", {{"id", anchor}, {"class", found.waived ? "finding waived" : "finding"}});
  to.open("h3").element("span", {{"class", "class-token"}},
                        (found.waived ? "waived: " : "") + std::string(found.class_token()));
  to.text(fmt::format(" {}. {}/{}", number, found.check, found.case_name)).close();
  to.element("p", {{"class", "sentence"}}, found.what.sentence);
  if (!found.condition.empty()) to.element("p", {{"class", "condition"}}, found.condition);
  to.element(
      "p", {{"class", "note"}},
      fmt::format("b = {}, hq = {}, hk = {}, n = {}, m = {}, d = {}, dv = {}", s.b, s.hq, s.hk, s.n, s.m, s.d, s.dv));
  if (has_numbers(found.what)) write_numbers(found.what, to);
  if (found.pictures) write_pictures(*found.pictures, to);
  else if (!found.no_pictures.empty())
    to.element("p", {{"class", "note"}}, fmt::format("No pictures: {}.", found.no_pictures));
  if (found.shrunk) write_shrunk(*found.shrunk, s, to);
  to.element("p", {{"class", "label"}}, "To see it again").element("pre", found.reproducer).close();
}

}  // namespace attest::audit
