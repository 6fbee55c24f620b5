#include "audit/report/html/page.hpp"

#include <fmt/format.h>

#include "audit/report/builder.hpp"
#include "audit/report/cause_words.hpp"
#include "audit/report/html/checks.hpp"
#include "audit/report/html/coverage.hpp"
#include "audit/report/html/curves.hpp"
#include "audit/report/html/finding.hpp"
#include "audit/report/html/style.hpp"
#include "audit/report/number_words.hpp"
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
  if (!facts.domain.empty()) write_fact(to, "domain", facts.domain);
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

void write_findings(std::span<report const> all, markup& to) {
  std::size_t of_all = 0;
  for (report const& kernel_report : all) {
    if (kernel_report.findings.empty()) continue;
    to.open("section").element("h2", all.size() == 1 ? "Findings" : "Findings about " + kernel_report.kernel);
    std::size_t number = 0;
    for (finding const& found : kernel_report.findings) {
      ++number, ++of_all;
      write_finding(found, number, fmt::format("finding-{}", of_all), to);
    }
    to.close();
  }
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
  write_findings(all, to);
  write_checks(all, to);
  write_curves(all, to);
  write_sharpness(all, to);
  write_coverage(all, to);
  write_notes(all, to);
  to.element("footer",
             "Nothing is claimed for inputs that were not asked. “Certified” means: every judged element is "
             "within its error bound, which a theorem derives from the contract; no tolerance was chosen.");
  return std::move(to).finish() + "\n";
}

}  // namespace attest::audit
