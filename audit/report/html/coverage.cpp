#include "audit/report/html/coverage.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "audit/report/coverage/coverage_words.hpp"
#include "audit/report/number_words.hpp"
#include "audit/report/text.hpp"

namespace attest::audit {
namespace {

/// Opens a table that scrolls by itself; it needs two close().
void open_table(std::string const& label, markup& to) {
  to.open("div", {{"class", "scroll"}, {"role", "region"}, {"aria-label", label}, {"tabindex", "0"}}).open("table");
}

void head_cell(std::string_view text, markup& to) { to.element("th", {{"scope", "col"}, {"class", "number"}}, text); }

void cell(std::string_view text, markup& to) { to.element("td", {{"class", "number"}}, text); }

void write_combinations(coverage const& of, markup& to) {
  combinations const met = of.met();
  open_table("Combinations that were met", to);
  to.open("thead").open("tr").element("th", {{"scope", "col"}}, "met, out of all that can exist");
  head_cell("pairs", to), head_cell("triples", to);
  to.close().close().open("tbody");
  auto const row = [&](char const* name, combination_counts const& counts) {
    to.open("tr").element("th", {{"scope", "row"}}, name);
    for (met_count const& count : {counts.pairs, counts.triples})
      cell(fmt::format("{} of {}", grouped(count.met), grouped(count.of)), to);
    to.close();
  };
  row("features", met.features), row("classes of sizes", met.shapes), row("features and classes", met.mixed);
  to.close().close().close();
}

/// Rows are classes of one axis, columns of another; with one axis, its classes are the columns.
void write_map(shape_map const& map, std::vector<std::int64_t> const& cells, markup& to) {
  axis_row const& across = row_of(map.columns.value_or(map.rows));
  std::string const corner = map.columns ? fmt::format("{} \\ {}", row_of(map.rows).name, across.name) : across.name;
  open_table("Answered calls by " + corner, to);
  to.open("thead").open("tr").element("th", {{"scope", "col"}}, corner);
  for (std::size_t at = 0; at < across.classes; ++at) head_cell(class_name(across, at), to);
  to.close().close().open("tbody");
  std::size_t const rows = map.columns ? map.row_count() : 1;
  for (std::size_t row = 0; row < rows; ++row) {
    to.open("tr").element("th", {{"scope", "row"}}, map.columns ? class_name(row_of(map.rows), row) : "calls");
    for (std::size_t column = 0; column < across.classes; ++column) {
      std::int64_t const calls = cells[row * across.classes + column];
      cell(calls == 0 ? "·" : grouped(calls), to);
    }
    to.close();
  }
  to.close().close().close();
}

/// "✓" if all calls were answered, "✗" if none was, else "3 of 4"; "·" if nothing was asked.
std::string support_text(reply_count const& count) {
  return count.asked == 0       ? "·"
         : count.answered == 0  ? "✗"
         : count.refused() == 0 ? "✓"
                                : fmt::format("{} of {}", grouped(count.answered), grouped(count.asked));
}

void write_support(coverage const& of, markup& to) {
  auto const table = feature_table();
  open_table("Support of features", to);
  to.open("thead").open("tr").element("th", {{"scope", "col"}}, "feature");
  for (char const* column : {"asked", "answered", "without others"}) head_cell(column, to);
  to.close().close().open("tbody");
  for (feature_row const& row : table) {
    feature_support const& support = of.support(row.id);
    to.open("tr").element("th", {{"scope", "row"}}, row.name);
    cell(grouped(support.any.asked), to), cell(grouped(support.any.answered), to);
    cell(support_text(support.only), to);
    to.close();
  }
  to.close().close().close();
  to.open("details").element("summary", "pairs of features");
  open_table("Support of pairs of features", to);
  to.open("thead").open("tr").element("td", "");
  for (feature_row const& column : table.first(table.size() - 1)) head_cell(column.name, to);
  to.close().close().open("tbody");
  for (feature_row const& row : table.subspan(1)) {
    to.open("tr").element("th", {{"scope", "row"}}, row.name);
    for (feature_row const& column : table.first(static_cast<std::size_t>(row.id)))
      cell(support_text(of.support(row.id, column.id).any), to);
    to.close();
  }
  to.close().close().close().close();
}

}  // namespace

void write_coverage(std::span<report const> all, markup& to) {
  if (std::ranges::all_of(all, [](report const& one) { return one.covered.empty(); })) return;
  to.open("section").element("h2", "Coverage");
  to.element(
      "p", {{"class", "note"}},
      "The maps count answered calls by their sizes. ✓: the kernel answered all calls that have the features, ✗: "
      "none, ·: nothing was asked.");
  for (report const& kernel_report : all) {
    coverage const& of = kernel_report.covered;
    if (of.empty()) continue;
    if (all.size() > 1) to.element("h3", kernel_report.kernel);
    write_combinations(of, to);
    for (std::size_t at = 0; at < shape_maps.size(); ++at) {
      to.element("p", {{"class", "label"}},
                 shape_maps[at].columns
                     ? fmt::format("{} and {}", row_of(shape_maps[at].rows).name, row_of(*shape_maps[at].columns).name)
                     : std::string(row_of(shape_maps[at].rows).name));
      write_map(shape_maps[at], of.maps[at], to);
    }
    to.element("p", {{"class", "label"}}, "support");
    write_support(of, to);
  }
  to.close();
}

}  // namespace attest::audit
