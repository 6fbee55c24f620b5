#include "audit/report/html/checks.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "audit/cases/case.hpp"
#include "audit/report/builder.hpp"
#include "audit/report/html/legend.hpp"
#include "audit/report/number_words.hpp"
#include "audit/report/svg/curve.hpp"
#include "audit/report/text.hpp"
#include "audit/support/words.hpp"

namespace attest::audit {
namespace {

/// A bar whose filled part is error/bound, up to 1.
void draw_bar(double error_in_bounds, markup& to) {
  double const share = std::isnan(error_in_bounds) ? 0 : std::min(error_in_bounds, 1.0);
  to.open(
      "svg",
      {{"xmlns", "http://www.w3.org/2000/svg"}, {"class", "bar"}, {"viewBox", "0 0 60 6"}, {"aria-hidden", "true"}});
  to.leaf("rect", {{"class", "bar-all"}, {"width", "60"}, {"height", "6"}});
  to.leaf("rect", {{"class", error_in_bounds > 1 ? "bar-over" : "bar-part"},
                   {"width", fmt::format("{:.1f}", 60 * share)},
                   {"height", "6"}});
  to.close();
}

/// The name of a check. Opened, it shows what a pass proves and cannot prove.
void write_check_name(std::string const& name, markup& to) {
  to.open("th", {{"scope", "row"}});
  if (check const* const about = find_check(name)) {
    to.open("details").element("summary", name);
    to.element("p", fmt::format("Proves: {}.", about->proves));
    if (about->cannot != "-") to.element("p", fmt::format("Does not: {}.", about->cannot));
    to.close();
  } else {
    to.text(name);
  }
  to.close();
}

/// Was every case of this check refused by every kernel?
bool nobody_answered(std::span<report const> all, std::string const& name) {
  return std::ranges::all_of(all, [&](report const& of) {
    auto const row = std::ranges::find(of.checks, name, &check_result::name);
    return row == of.checks.end() || state_of(*row) == "unsupported";
  });
}

/// The state of a check as a symbol and text. The comparison of several kernels leaves out the number of suspicious
/// elements, which the notes give.
std::string state_text(check_result const& row, double outside_limit, bool alone) {
  std::string_view const state = state_of(row);
  std::string text = state == "FAILED"      ? fmt::format("✗ failed in {} of {}", row.failed, row.cases)
                     : state == "ok"        ? std::string("✓ ok")
                     : state == "undecided" ? fmt::format("? undecided in {}", row.undecided)
                                            : std::string("– unsupported");
  if (row.unsupported > 0 && row.unsupported < row.cases) text += fmt::format(", {} unsupported", row.unsupported);
  if (alone && row.sum.suspicious > 0) text += fmt::format(", {} suspicious", row.sum.suspicious);
  for (std::string const& remark : remarks_of(row, outside_limit)) text += ", " + remark;
  for (std::string const& convention : row.conventions) text += ", " + convention;
  return text;
}

void write_error(check_result const& row, markup& to) {
  draw_bar(row.sum.max_error_in_bounds, to);
  to.element("span", {{"class", "number"}}, in_bounds(row.sum.max_error_in_bounds));
}

void write_alone(check_result const& row, double outside_limit, markup& to) {
  auto const number = [&](std::string const& unit, std::string const& text) {
    to.element("td", {{"class", "number"}, {"data-unit", unit}}, text);
  };
  number("cases", grouped(row.cases)), number("elements", grouped(row.sum.judged()));
  to.open("td", {{"class", "number error"}, {"data-unit", "of the bound"}});
  write_error(row, to);
  to.close();
  number("ulp", fmt::format("{:.4g}", row.sum.max_ulp)), number("absolute", fmt::format("{:.2e}", row.sum.max_error));
  to.element("td", {{"class", "state " + std::string(state_of(row))}}, state_text(row, outside_limit, true));
}

/// A cell of the comparison: error and state of one kernel. On a narrow screen, which hides the head of the table, the
/// symbol shows which kernel it is.
void write_beside(check_result const* row, double outside_limit, int kernel, markup& to) {
  to.open("td").trusted(legend_svg(kernel));
  if (!row) {
    to.element("span", {{"class", "state"}}, "– not asked").close();
    return;
  }
  to.open("span", {{"class", "error"}});
  write_error(*row, to);
  std::string const text = state_text(*row, outside_limit, false);
  to.close().element("span", {{"class", "state " + std::string(state_of(*row))}}, text).close();
}

}  // namespace

void write_checks(std::span<report const> all, markup& to) {
  bool const alone = all.size() == 1;
  std::vector<std::string> names;
  for (report const& kernel_report : all)
    for (check_result const& row : kernel_report.checks)
      if (std::ranges::find(names, row.name) == names.end()) names.push_back(row.name);
  to.open("section").element("h2", "Checks");
  to.element("p", {{"class", "note"}},
             "Open a name for what its pass proves. Errors are the worst, in units of the bound; above 1 refutes.");
  if (!alone) write_legend(all, " narrow", to);
  to.open("div", {{"class", "scroll"}, {"role", "region"}, {"aria-label", "Table of checks"}, {"tabindex", "0"}});
  to.open("table", {{"class", alone ? "checks alone" : "checks together"}}).open("thead").open("tr");
  to.element("th", {{"scope", "col"}}, "check");
  if (alone) {
    for (char const* column : {"cases", "elements", "error / bound", "ulp", "absolute"})
      to.element("th", {{"scope", "col"}, {"class", "number"}}, column);
    to.element("th", {{"scope", "col"}}, "result");
  }
  for (std::size_t n = 0; n < all.size() && !alone; ++n)
    to.open("th", {{"scope", "col"}}).trusted(legend_svg(static_cast<int>(n))).text(" " + all[n].kernel).close();
  to.close().close().open("tbody");
  std::vector<std::string> unanswered;
  for (std::string const& name : names) {
    if (nobody_answered(all, name)) {
      unanswered.push_back(name);
      continue;
    }
    to.open("tr");
    write_check_name(name, to);
    for (std::size_t n = 0; n < all.size(); ++n) {
      auto const at = std::ranges::find(all[n].checks, name, &check_result::name);
      check_result const* const row = at == all[n].checks.end() ? nullptr : &*at;
      double const limit = all[n].outside_limit;
      alone ? write_alone(*row, limit, to) : write_beside(row, limit, static_cast<int>(n), to);
    }
    to.close();
  }
  to.close().close().close();
  if (!unanswered.empty())
    to.open("details")
        .element("summary", fmt::format("{} without an answer", counted(std::ssize(unanswered), "check", "checks")))
        .element("p", fmt::format("{}", fmt::join(unanswered, ", ")))
        .close();
  to.close();
}

}  // namespace attest::audit
