#include "audit/report/screen.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "audit/report/cause_words.hpp"
#include "audit/report/coverage/coverage_words.hpp"
#include "audit/report/number_words.hpp"
#include "audit/report/text.hpp"
#include "audit/report/verdict.hpp"
#include "audit/report/verdict_facts.hpp"
#include "audit/report/version.hpp"
#include "audit/support/printable.hpp"
#include "audit/support/sizes_words.hpp"

namespace attest::audit {
namespace {

constexpr std::size_t label_width = 15;

/// The characters of UTF-8 text.
std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

/// A command is of no use in part.
constexpr std::size_t lines_of_command = 8;

/// Rows of a label and a text, which goes on under itself.
class label_rows {
 public:
  explicit label_rows(screen_form const& form) : form_(form) {}

  /// Nothing is added for an empty text. Of a longer text than `most_lines` the rest is left out: "…".
  void add(std::string_view label, std::string const& said, std::size_t most_lines = 2) {
    if (said.empty()) return;
    std::string const safe = printable_lines(said);  // names come from files and kernels
    std::string_view text = safe;
    constexpr std::size_t rest = 2;  // the columns of " …"
    std::size_t const width = std::max(form_.columns, label_width + 20) - label_width - rest;
    all_ += fmt::format("{:<{}}", label, label_width);
    std::size_t column = 0, lines = 1;
    while (!text.empty()) {
      std::size_t const end = std::min(text.find(' '), text.size());
      std::string_view const word = text.substr(0, end);
      std::size_t const size = characters(word);
      if (column > 0 && column + 1 + size > width) {
        if (++lines > most_lines) {
          all_ += " …";
          break;
        }
        all_ += '\n' + std::string(label_width, ' ');
        column = 0;
      } else if (column > 0) {
        all_ += ' ', ++column;
      }
      all_ += word, column += size;
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    all_ += '\n';
  }

  /// The word of a verdict as a label, in its colour.
  void add_verdict(verdict of, std::string const& text) {
    constexpr std::array colours{"32", "31", "", "33"};
    std::string word(name_of(of));
    std::ranges::transform(word, word.begin(), [](char c) { return static_cast<char>(c - 'a' + 'A'); });
    std::size_t const begin = all_.size();
    add(word, text, 4);
    if (!form_.colour) return;
    all_.insert(begin + word.size(), "\033[0m");
    all_.insert(begin, fmt::format("\033[1;{}m", colours[static_cast<std::size_t>(of)]));
  }

  std::string const& all() const { return all_; }

 private:
  screen_form form_;
  std::string all_;
};

/// "q=[0.5] k=[0, 0]": the tensors of a call with few elements. Nothing if one has more than eight.
std::string values_words(std::vector<input_listing> const& inputs) {
  std::string words;
  for (input_listing const& of : inputs) {
    if (of.values.size() > 8) return "";
    words += fmt::format("  {}=[{}]", of.name, fmt::join(of.values, ", "));
  }
  return words;
}

/// A command of this program, for the shell that started it.
std::string as_called(std::string const& command, screen_form const& form) {
  constexpr std::string_view name = "attest ";
  return form.called.empty() || !command.starts_with(name) ? command : form.called + command.substr(name.size() - 1);
}

/// "CHECK 3/177, …": the checks in which inputs failed, then how many did not fail and how many were not asked. Under
/// any verdict except "refuted" the failed inputs are waived, or known by the baseline.
std::string checks_words(report const& of) {
  std::vector<std::string> failed;
  std::int64_t ok = 0, unsupported = 0;
  for (check_result const& row : of.checks) {
    if (row.failed > 0) failed.push_back(fmt::format("{} {}/{}", row.name, row.failed, row.cases));
    else (row.unsupported == row.cases ? unsupported : ok) += 1;
  }
  std::string words = failed.empty() ? ""
                                     : fmt::format("{} {}: {}   ", failed.size(),
                                                   of.verdict == verdict::refuted ? "failed" : "waived or known",
                                                   fmt::join(failed, ", "));
  words += fmt::format("{} ok", ok);
  return words + (unsupported > 0 ? fmt::format("   {} without an answer", unsupported) : "");
}

std::string takes_words(verdict_facts const& facts) {
  if (facts.domain_cut_short)
    return fmt::format("{}, perhaps more: the search was cut short. --domain states it (docs/domain.md)",
                       facts.domain.empty() ? "every size that was asked" : facts.domain);
  if (!facts.domain.empty()) return facts.domain + "   (docs/domain.md)";
  reply_count const& calls = facts.covered.calls;
  if (calls.answered == 0 && (calls.asked == 0 || facts.verdict != verdict::refuted)) return "";
  if (calls.answered == 0)
    return "no call that was asked; --domain states the sizes of a kernel that takes few (docs/domain.md)";
  reply_count const& plain = facts.covered.plain;
  return plain.answered == 0 && plain.refused() > 0
             ? "no plain call; --domain can say what every call needs (docs/domain.md)"
             : "every size that was asked";
}

/// A list of clauses, "a, b; c": none of them has a semicolon of its own.
std::string listed(std::vector<std::string> clauses) {
  for (std::string& clause : clauses) std::ranges::replace(clause, ';', ',');
  return fmt::format("{}", fmt::join(clauses, "; "));
}

/// What was left out by the options and by the end of the time; what the kernel refuses has a row of its own.
std::string not_asked_words(report const& of) {
  std::vector<std::string> words;
  for (omission const& left : of.not_asked)
    if (!left.what.starts_with("check ")) words.push_back(fmt::format("{} ({})", left.what, left.why));
  return listed(std::move(words));
}

void add_refutation(report const& of, verdict_facts const& facts, screen_form const& form, label_rows& rows) {
  rows.add_verdict(of.verdict, fmt::format("{} in {} of {}", plural(facts.faults, "fault"), grouped(facts.failed),
                                           plural(facts.inputs, "input")));
  if (of.cause) {
    constexpr std::size_t most = 3;
    auto lines = lines_of(*of.cause);
    std::erase(lines, accepting_words(*of.cause));  // the last row says it
    for (std::size_t n = 0; n < lines.size() && n < most; ++n)
      rows.add(n == 0 ? "cause" : "", lines[n], n == 0 ? 3 : 2);
  }
  if (!of.cause && std::ranges::find(of.not_asked, "--fail-fast", &omission::why) != of.not_asked.end())
    rows.add("cause", "not searched for: --fail-fast");
  auto const first = std::ranges::find(of.findings, false, &finding::waived);
  if (first != of.findings.end()) {
    if (!of.cause || of.cause->condition.empty()) rows.add("where", first->condition);
    bool const is_saved = first->shrunk.has_value(), is_small = is_saved && !first->shrunk->whole;
    violation const& what = is_saved ? first->shrunk->what : first->what;
    rows.add("first fault", fmt::format("[{}] {}", first->class_token(), first->name()));
    rows.add(is_small ? "smallest call" : "call",
             sizes_words(first->smallest_sizes()) + first->smallest_parameters() +
                 (is_saved ? values_words(first->shrunk->inputs) : ""),
             4);
    rows.add("", what.sentence, 4);
    rows.add("again", as_called(first->reproducer, form), lines_of_command);
    if (is_saved) rows.add("in detail", as_called(first->shrunk->explain, form), lines_of_command);
    if (is_saved && first->shrunk->explain.empty() && !first->shrunk->file.empty() &&
        first->reproducer.find(first->shrunk->file) == std::string::npos)
      rows.add("", "the call is in " + first->shrunk->file);
  }
  rows.add("findings",
           of.findings.size() < 2 ? "" : fmt::format("{}; --verbose and --report show them", of.findings.size()));
}

void add_certificate(report const& of, verdict_facts const& facts, label_rows& rows) {
  std::string const on = facts.domain.empty() ? "" : "on its domain; ";
  rows.add_verdict(of.verdict, fmt::format("{}{} of {}{}", on, plural(facts.judged, "element"),
                                           plural(facts.answered, "input"), worst_error_words(facts)));
  for (observation const& said : of.observations)
    if (said.kind == kind_slow) rows.add("", said.sentence, 4);
  if (facts.waived > 0)
    rows.add("", fmt::format("except {} waived or known: {}", plural(facts.waived, "finding", "that is", "that are"),
                             fmt::join(facts.waived_classes, ", ")));
  if (std::int64_t const draws = facts.covered.draws_answered; draws >= 3)
    rows.add("could be wrong",
             fmt::format("of {} random inputs none is wrong: at 95 % confidence fewer than 1 in {} is", grouped(draws),
                         grouped(draws / 3)));
  if (facts.dull > 0)
    rows.add("", fmt::format("for {} the allowed error is so large that even a lost key would pass",
                             plural(facts.dull, "element")));
  if (std::int64_t const left = facts.all_not_judged(); left > 0)
    rows.add("", plural(left, "element", "was", "were") + " not judged (--verbose says why)");
  rows.add("", "nothing is claimed for other inputs");
}

}  // namespace

std::string as_screen(report const& kernel_report, screen_form const& form) {
  verdict_facts const facts = facts_of(kernel_report);
  label_rows rows(form);
  rows.add(fmt::format("attest {}  ", version),
           fmt::format("{}   contract {}{}", kernel_report.kernel, facts.contract,
                       facts.seed ? fmt::format("   seed {}", *facts.seed) : ""),
           3);
  switch (kernel_report.verdict) {
    case verdict::refuted: add_refutation(kernel_report, facts, form, rows); break;
    case verdict::certified: add_certificate(kernel_report, facts, rows); break;
    case verdict::undecided:
      rows.add_verdict(kernel_report.verdict, facts.cause);
      rows.add("", fmt::format("{} judged, none {}is wrong", plural(facts.judged, "element"),
                               facts.findings == 0 ? "" : "that is not waived "));
      break;
  }
  rows.add("checks", checks_words(kernel_report));
  rows.add("takes", takes_words(facts));
  std::vector<std::string_view> refused;
  for (feature const one : facts.covered.refused_alone()) refused.push_back(row_of(one).name);
  if (!kernel_report.recorded)
    for (std::string const& output : facts.not_returned) refused.push_back(output);
  rows.add("not supported", fmt::format("{}", fmt::join(refused, ", ")));
  if (kernel_report.recorded) rows.add("not recorded", fmt::format("{}", fmt::join(facts.not_returned, ", ")));
  rows.add("not asked", not_asked_words(kernel_report));
  for (observation const& said : kernel_report.observations)
    if (said.kind == kind_baseline) rows.add("baseline", said.sentence);
    else if (said.kind == kind_not_saved) rows.add("not saved", said.sentence, 4);
    else if (said.kind == kind_refused) rows.add("refused", said.sentence, 4);
  for (observation const& said : kernel_report.observations)
    if (said.kind == kind_ignored && said.sentence.find(": --") != std::string::npos)
      rows.add("ignored", said.sentence.substr(std::string_view("ignored: ").size()));
  if (facts.builds.size() > 1)
    rows.add("builds", fmt::format("{} builds of the kernel, which --same-kernel takes for one: {}",
                                   facts.builds.size(), listed(facts.builds)));
  rows.add("left open", listed(kernel_report.relaxed));
  rows.add("unprotected", listed(facts.missing_protections));
  if (auto const accepted = kernel_report.cause ? accepted_by(*kernel_report.cause) : std::vector<std::string>();
      !accepted.empty())
    rows.add("if meant", fmt::format("--accept {}", fmt::join(accepted, ",")));
  if (kernel_report.draws > 0 && facts.seed && kernel_report.draw_products > 0)
    rows.add("repeat exactly", fmt::format("--seed {} --draws {} --draw-products {}", *facts.seed, kernel_report.draws,
                                           kernel_report.draw_products));
  return rows.all();
}

std::string labelled_rows(std::span<std::pair<std::string_view, std::string_view> const> rows,
                          screen_form const& form) {
  constexpr std::size_t any_number = 100;
  label_rows all(form);
  for (auto const& [label, said] : rows) all.add(label, std::string(said), any_number);
  return all.all();
}

std::string as_screen(std::span<report const> all, screen_form const& form) {
  std::string text;
  for (report const& of : all) text += (text.empty() ? "" : "\n") + as_screen(of, form);
  if (all.size() < 2) return text;
  label_rows rows(form);
  for (report const& of : all) rows.add_verdict(of.verdict, of.kernel);
  return text + '\n' + rows.all();
}

}  // namespace attest::audit
