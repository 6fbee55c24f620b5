#include "audit/report/html/page.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "audit/cases/case.hpp"
#include "audit/report/html/coverage.hpp"
#include "audit/report/html/finding.hpp"
#include "audit/report/html/style.hpp"
#include "audit/report/builder.hpp"
#include "audit/report/cause_words.hpp"
#include "audit/report/svg/curve.hpp"
#include "audit/report/text.hpp"
#include "audit/report/verdict.hpp"
#include "audit/report/version.hpp"
#include "audit/support/markup.hpp"

namespace attest::audit {
namespace {

std::string capital(std::string_view word) {
  std::string capitalized(word);
  if (!capitalized.empty() && capitalized[0] >= 'a' && capitalized[0] <= 'z')
    capitalized[0] = static_cast<char>(capitalized[0] - 'a' + 'A');
  return capitalized;
}

/// A check mark, a cross or a question mark, so that colour alone never carries the verdict.
void draw_icon(verdict of, markup& to) {
  char const* const path = of == verdict::certified ? "M7 17l6 6l12 -13"
                           : of == verdict::refuted ? "M9 9l14 14M23 9l-14 14"
                                                    : "M11 12c0 -7 10 -7 10 0c0 4 -5 4 -5 7M16 23v1";
  to.open(
      "svg",
      {{"xmlns", "http://www.w3.org/2000/svg"}, {"class", "icon"}, {"viewBox", "0 0 32 32"}, {"aria-hidden", "true"}});
  to.leaf("path", {{"d", path}});
  to.close();
}

void write_fact(markup& to, std::string_view name, std::string const& value) {
  to.open("div").element("dt", name).element("dd", value).close();
}

void write_verdict(report const& kernel_report, markup& to) {
  verdict_facts const facts = facts_of(kernel_report);
  std::string const word(name_of(kernel_report.verdict));
  to.open("section", {{"class", "verdict " + word}, {"aria-label", "Verdict on " + kernel_report.kernel}});
  to.open("h2");
  draw_icon(kernel_report.verdict, to);
  to.text(capital(word)).close();
  if (kernel_report.cause)
    for (std::string const& line : lines_of(*kernel_report.cause))
      to.element("p", {{"class", "cause"}}, capital(line) + ".");
  to.element("p", {{"class", "sentence"}}, say(facts).sentence);
  to.open("dl", {{"class", "facts"}});
  write_fact(to, "kernel", kernel_report.kernel);
  write_fact(to, "contract", contract_words(facts.contract, facts.contract_revision));
  write_fact(to, "theorem", fmt::format("revision {}", facts.theorem_revision));
  if (kernel_report.seed) write_fact(to, "seed", std::to_string(*kernel_report.seed));
  if (kernel_report.shard)
    write_fact(to, "shard", fmt::format("{} of {}", kernel_report.shard->first, kernel_report.shard->second));
  write_fact(to, "inputs", grouped(kernel_report.cases));
  write_fact(to, "elements judged", grouped(facts.judged));
  write_fact(to, "by a sharp bound", grouped(facts.sharp));
  write_fact(to, "by a dull bound", grouped(facts.dull));
  write_fact(to, "not judged", grouped(facts.all_not_judged()));
  write_fact(to, "worst finite error", in_bounds(facts.max_error_in_bounds) + " bounds");
  write_fact(
      to, "time",
      fmt::format("kernel {:.1f} s, oracle {:.1f} s", kernel_report.kernel_seconds, kernel_report.oracle_seconds));
  to.close().close();
}

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

void write_legend(std::span<report const> all, std::string const& extra, markup& to) {
  to.open("ul", {{"class", "legend-list" + extra}});
  for (std::size_t n = 0; n < all.size(); ++n)
    to.open("li").trusted(legend_svg(static_cast<int>(n))).text(" " + all[n].kernel).close();
  to.close();
}

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
  for (std::string const& name : names) {
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
  to.close().close().close().close();
}

void write_findings(std::span<report const> all, markup& to) {
  for (report const& kernel_report : all) {
    if (kernel_report.findings.empty()) continue;
    to.open("section").element("h2", all.size() == 1 ? "Findings" : "Findings about " + kernel_report.kernel);
    std::size_t number = 0;
    for (finding const& found : kernel_report.findings) write_finding(found, ++number, to);
    to.close();
  }
}

/// The curves of one axis, one for each kernel that has a point on it.
std::vector<plot_line> lines_of(std::span<report const> all, std::string const& axis) {
  std::vector<plot_line> lines;
  for (std::size_t n = 0; n < all.size(); ++n) {
    plot_line line{all[n].kernel, static_cast<int>(n), {}};
    for (curve_point const& point : all[n].curves)
      if (point.axis == axis && point.place > 0 && std::isfinite(point.place) && !std::isnan(point.error_in_bounds))
        line.points.push_back({point.place, point.error_in_bounds, point.failed});
    std::ranges::sort(line.points, {}, &plot_point::place);
    if (!line.points.empty()) lines.push_back(std::move(line));
  }
  return lines;
}

void write_curve_numbers(std::vector<plot_line> const& lines, markup& to) {
  to.open("details").element("summary", "the numbers");
  to.open("div", {{"class", "scroll"}}).open("table").open("thead").open("tr").element("th", {{"scope", "col"}}, "at");
  for (plot_line const& line : lines) to.element("th", {{"scope", "col"}, {"class", "number"}}, line.name);
  to.close().close().open("tbody");
  std::vector<double> places;
  for (plot_line const& line : lines)
    for (plot_point const& point : line.points) places.push_back(point.place);
  std::ranges::sort(places);
  places.erase(std::ranges::unique(places).begin(), places.end());
  for (double const place : places) {
    to.open("tr").element("th", {{"scope", "row"}}, fmt::format("{:g}", place));
    for (plot_line const& line : lines) {
      auto const at = std::ranges::find(line.points, place, &plot_point::place);
      to.element("td", {{"class", "number"}},
                 at == line.points.end() ? "–" : fmt::format("{:.4g}{}", at->error_in_bounds, at->failed ? " ✗" : ""));
    }
    to.close();
  }
  to.close().close().close().close();
}

void write_curves(std::span<report const> all, markup& to) {
  std::vector<std::string> axes;
  for (report const& kernel_report : all)
    for (curve_point const& point : kernel_report.curves)
      if (std::ranges::find(axes, point.axis) == axes.end()) axes.push_back(point.axis);
  if (axes.empty()) return;
  to.open("section").element("h2", "Stability");
  to.element("p", {{"class", "note"}},
             "Worst error in units of the bound. A point above the bound refutes; one on an edge lies there or beyond; "
             "a cross marks a refuted problem.");
  if (all.size() > 1) write_legend(all, "", to);
  to.open("div", {{"class", "curves"}});
  for (std::string const& axis : axes) {
    auto const lines = lines_of(all, axis);
    if (lines.empty()) continue;
    to.open("figure").trusted(curve_svg(axis, lines));
    write_curve_numbers(lines, to);
    to.close();
  }
  to.close().close();
}

void write_sharpness(std::span<report const> all, markup& to) {
  to.open("section").element("h2", "Sharpness");
  to.element("p", {{"class", "note"}},
             "How large bounds are beside the exact values, by output and number of keys. A dull bound admits the mean "
             "of V, or the loss of the heaviest key.");
  for (report const& kernel_report : all) {
    auto const sizes = facts_of(kernel_report).sizes;
    if (all.size() > 1) to.element("h3", kernel_report.kernel);
    if (sizes.empty()) {
      to.element("p", "No element was judged by a bound.");
      continue;
    }
    to.open("div", {{"class", "scroll"}, {"role", "region"}, {"aria-label", "Sharpness"}, {"tabindex", "0"}});
    to.open("table").open("thead").open("tr").element("th", {{"scope", "col"}}, "output");
    for (char const* column : {"keys", "by bounds", "dull", "a quarter", "half", "three quarters"})
      to.element("th", {{"scope", "col"}, {"class", "number"}}, column);
    to.close().close().open("tbody");
    for (sharpness_facts const& of : sizes) {
      to.open("tr").element("th", {{"scope", "row"}}, of.output);
      for (std::string const& cell :
           {of.keys, grouped(of.judged),
            fmt::format("{} ({:.2g} %)", grouped(of.dull),
                        100.0 * static_cast<double>(of.dull) / static_cast<double>(of.judged)),
            fmt::format("{:.1e}", of.quartiles[0]), fmt::format("{:.1e}", of.quartiles[1]),
            fmt::format("{:.1e}", of.quartiles[2])})
        to.element("td", {{"class", "number"}}, cell);
      to.close();
    }
    to.close().close().close();
  }
  to.close();
}

void write_notes(std::span<report const> all, markup& to) {
  to.open("section").element("h2", "Notes");
  for (report const& kernel_report : all) {
    verdict_facts const facts = facts_of(kernel_report);
    if (all.size() > 1) to.element("h3", kernel_report.kernel);
    to.open("ul", {{"class", "notes"}});
    to.element("li",
               fmt::format("{} elements were judged by the theorem, {} by its dominance clause, {} by an exact rule.",
                           grouped(facts.by_theorem), grouped(facts.by_dominance), grouped(facts.by_rule)));
    for (std::string const& note : say(facts).notes) to.element("li", note + ".");
    for (std::string const& name : kernel_report.relaxed)
      to.element("li", "The contract relaxes a convention: " + name + ".");
    for (std::string const& name : kernel_report.waived)
      to.element("li", "Findings of this check or case are waived: " + name + ".");
    for (std::string const& sentence : sentences_of_observations(kernel_report)) to.element("li", sentence);
    to.close();
  }
  to.close();
}

}  // namespace

std::string as_html(std::span<report const> all) {
  markup to;
  std::string const title = all.size() == 1
                                ? fmt::format("{}: {} · attest", capital(name_of(all[0].verdict)), all[0].kernel)
                                : fmt::format("{} kernels · attest", all.size());
  to.trusted("<!DOCTYPE html>\n");
  to.open("html", {{"lang", "en"}, {"xmlns", "http://www.w3.org/1999/xhtml"}}).open("head");
  to.leaf("meta", {{"charset", "utf-8"}});
  to.leaf("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
  to.leaf("meta", {{"name", "color-scheme"}, {"content", "light dark"}});
  to.leaf("meta",
          {{"http-equiv", "Content-Security-Policy"}, {"content", "default-src 'none'; style-src 'unsafe-inline'"}});
  to.element("title", title);
  to.open("style").trusted(html_style).close().close();
  to.open("body").trusted(fill_patterns).open("main");
  to.open("header")
      .element("p", {{"class", "brand"}}, fmt::format("attest {}", version))
      .element("h1", "Audit report")
      .close();
  to.open("div", {{"class", all.size() == 1 ? "verdicts" : "verdicts several"}});
  for (report const& kernel_report : all) write_verdict(kernel_report, to);
  to.close();
  write_checks(all, to);
  write_findings(all, to);
  write_curves(all, to);
  write_sharpness(all, to);
  write_coverage(all, to);
  write_notes(all, to);
  to.element(
      "footer",
      "Nothing is claimed for other inputs than those that were asked. “Certified” means: every judged element is "
      "within its error bound, which a theorem derives from the contract; no tolerance was chosen.");
  return std::move(to).finish() + "\n";
}

}  // namespace attest::audit
