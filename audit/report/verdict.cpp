#include "audit/report/verdict.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "audit/report/coverage/coverage_words.hpp"
#include "audit/report/number_words.hpp"
#include "audit/report/verdict_json.hpp"

namespace attest::audit {
namespace {

constexpr std::array not_judged_words{"outside the hypotheses of the bound", "with a bound that is not finite",
                                      "where the output format may overflow", "whose value is left open",
                                      "of gradients that may flow through parts"};
static_assert(not_judged_words.size() == not_judged_names.size());

/// " All 414 failing cases are inside f64-in-f32: …" if there is such a preset.
std::string in_common(verdict_facts const& facts) {
  if (!facts.explained_by) return "";
  auto const& [preset, allows, cases, worst] = *facts.explained_by;
  std::string const again = cases == facts.failed ? ""
                                                  : fmt::format("that {} judged again (of {}) ",
                                                                cases == 1 ? "was" : "were", grouped(facts.failed));
  return fmt::format(" {}{} {}{} inside {} ({}), with errors to {} of its bound.", cases == 1 ? "" : "All ",
                     plural(cases, "failing case"), again, cases == 1 ? "is" : "are", preset, allows, in_bounds(worst));
}

/// " (except 3 waived findings: empty-row)" if there are waived findings.
std::string but_waived(verdict_facts const& facts) {
  return facts.waived == 0 ? ""
                           : fmt::format(" (except {}: {})", plural(facts.waived, "waived finding"),
                                         fmt::join(facts.waived_classes, ", "));
}

/// " on its domain (d=64,128 dv=d n%128)" if the kernel does not take everything.
std::string on_domain(verdict_facts const& facts) {
  return facts.domain.empty() ? "" : fmt::format(" on its domain ({})", facts.domain);
}

/// " 12 elements were not judged (outside the hypotheses of the bound) and 3 are dull." if there are such elements.
std::string left_over(verdict_facts const& facts) {
  std::vector<std::string> clauses, reasons;
  for (std::size_t why = 0; why < facts.not_judged.size(); ++why)
    if (facts.not_judged[why] > 0) reasons.emplace_back(not_judged_words[why]);
  if (!reasons.empty())
    clauses.push_back(fmt::format("{} not judged ({})", plural(facts.all_not_judged(), "element", "was", "were"),
                                  fmt::join(reasons, "; ")));
  if (facts.dull > 0) clauses.push_back(plural(facts.dull, "judged element", "is dull", "are dull"));
  return clauses.empty() ? "" : fmt::format(" {}.", fmt::join(clauses, ", "));
}

/// " The shards asked 2 builds of the kernel, which --same-kernel takes for one: …" if there are several.
std::string several_builds(verdict_facts const& facts) {
  if (facts.builds.size() < 2) return "";
  return fmt::format(" The shards asked {} builds of the kernel, which --same-kernel takes for one: {}.",
                     facts.builds.size(), fmt::join(facts.builds, "; "));
}

std::string sentence_by_verdict(verdict_facts const& facts) {
  switch (facts.verdict) {
    case verdict::certified:
      return fmt::format(
          "CERTIFIED{}{}: {}{} of {}{} {} within the bound of {}{}{}.{} Nothing is claimed for other inputs{}{}.",
          on_domain(facts), but_waived(facts), facts.judged == 1 ? "" : "all ", plural(facts.judged, "judged element"),
          plural(facts.answered, "input"), facts.seed ? fmt::format(" (seed {})", *facts.seed) : "",
          facts.judged == 1 ? "is" : "are", facts.contract, facts.findings == 0 ? "" : ", the waived ones apart",
          worst_error_words(facts), left_over(facts),
          facts.inputs > facts.answered
              ? fmt::format(", nor for the {} that the kernel does not support", grouped(facts.inputs - facts.answered))
              : "",
          facts.not_returned.empty()
              ? ""
              : fmt::format(", nor for {}, which no call returned", fmt::join(facts.not_returned, " and ")));
    case verdict::refuted:
      return fmt::format(
          "REFUTED: {}{} in {} of {} under {}; {} judged{}.{}", facts.not_certified > 0 ? "at least " : "",
          plural(facts.faults, "fault"), grouped(facts.failed), plural(facts.inputs, "input"), facts.contract,
          plural(facts.judged, "element", "was", "were"),
          facts.not_certified > 0 ? fmt::format(", and {} in further wrong rows {} not", grouped(facts.not_certified),
                                                facts.not_certified == 1 ? "was" : "were")
                                  : "",
          in_common(facts));
    case verdict::undecided: break;
  }
  return fmt::format("UNDECIDED{}{}: {}; {} judged and none {}is wrong.{}", on_domain(facts), but_waived(facts),
                     facts.cause, plural(facts.judged, "element", "was", "were"),
                     facts.findings == 0 ? "" : "that is not waived ", left_over(facts));
}

std::string sentence_of(verdict_facts const& facts) { return sentence_by_verdict(facts) + several_builds(facts); }

/// "also inside f32-ordered: …", or how far outside.
std::string words_of(preset_comparison const& beside, std::int64_t one_in) {
  std::string const which = fmt::format("{} compared, of one row in {}", plural(beside.compared, "element"), one_in);
  if (beside.outside == 0)
    return fmt::format("also inside {}: at most {} of its bound ({})", beside.preset, in_bounds(beside.worst), which);
  return fmt::format("outside {}: {} beyond its bound, by up to {:.2g} times the bound of {} ({})", beside.preset,
                     plural(beside.outside, "element", "is", "are"), beside.worst, beside.preset, which);
}

/// "+0.0012 ± 0.0003 ulp".
std::string words_of(mean_error const& of) { return fmt::format("{:+.4f} ± {:.4f} ulp", of.mean, of.standard_error); }

/// "systematic error of o (bf16): …": the means that are systematic, and the elements that are left out.
std::string words_of(systematic_facts const& of) {
  bool const by_size = of.away_from_0.is_systematic();
  return fmt::format(
      "systematic error of {} ({}), which no bound refutes: the mean error away from 0 is {}{}, the mean error upwards "
      "{} ({}, {}; {} of {} judged by bounds)",
      of.output, of.type, words_of(of.away_from_0),
      !by_size                  ? ""
      : of.away_from_0.mean < 0 ? " (too near 0, as truncation makes it)"
                                : " (too large)",
      words_of(of.upwards), plural(of.calls, "call"), plural(of.rows, "row"), grouped(of.elements),
      plural(of.judged, "element"));
}

std::vector<std::string> notes_of(verdict_facts const& facts) {
  std::vector<std::string> notes;
  for (std::size_t why = 0; why < facts.not_judged.size(); ++why)
    if (facts.not_judged[why] > 0)
      notes.push_back(fmt::format("{} {} {} not judged", plural(facts.not_judged[why], "element"),
                                  not_judged_words[why], facts.not_judged[why] == 1 ? "was" : "were"));
  if (facts.most_outside)
    notes.push_back(
        fmt::format("the largest share outside the hypotheses: {} of {} in {} ({} of {}), beside inputs that "
                    "are made to reach beyond",
                    percent(facts.most_outside->of.share()), facts.most_outside->output, facts.most_outside->check,
                    grouped(facts.most_outside->of.outside),
                    grouped(facts.most_outside->of.judged + facts.most_outside->of.outside)));
  if (facts.undecided > 0)
    notes.push_back(plural(facts.undecided, "element", "overlaps its", "overlap their") +
                    " bound at the last refinement: undecided");
  if (facts.suspicious > 0)
    notes.push_back(plural(facts.suspicious, "element", "is suspicious", "are suspicious") +
                    ": within the bound, above its warning level");
  if (facts.dull > 0)
    notes.push_back(plural(facts.dull, "element", "is dull: its", "are dull: their") +
                    " bound admits the mean of V, or a lost key");
  for (systematic_facts const& of : facts.systematic)
    if (of.noted) notes.push_back(words_of(of));
  // A kernel that is wrong by its own contract is outside the sharper ones too.
  if (facts.verdict != verdict::refuted)
    for (preset_comparison const& beside : facts.beside)
      if (beside.compared > 0) notes.push_back(words_of(beside, facts.compared_row_in));
  if (!facts.covered.empty())
    notes.push_back((facts.domain.empty() ? "covered: " : "covered, of the domain: ") + covered_words(facts.covered));
  if (auto sampled = sampled_gradients_words(facts.covered); !sampled.empty()) notes.push_back(std::move(sampled));
  if (auto const refused = refused_words(facts.covered); !refused.empty())
    notes.push_back("the kernel refused: " + refused);
  // If a kernel is wrong, the draws that showed nothing say nothing.
  if (auto rare = rarity_words(facts.covered.draws_answered); rare && facts.verdict != verdict::refuted)
    notes.push_back(*std::move(rare));
  for (omission const& omitted : facts.not_asked)
    notes.push_back(fmt::format("not asked: {} ({})", omitted.what, omitted.why));
  notes.push_back(facts.protections.empty() ? "no kernel ran: the outputs were recorded"
                                            : fmt::format("protections: {}", fmt::join(facts.protections, "; ")));
  if (!facts.missing_protections.empty())
    notes.push_back(fmt::format("without these protections: {}", fmt::join(facts.missing_protections, "; ")));
  return notes;
}

}  // namespace

std::string worst_error_words(verdict_facts const& facts) {
  if (facts.max_error_in_bounds > 1) return "";
  return fmt::format("; the worst error is {} of its bound", in_bounds(facts.max_error_in_bounds));
}

stated_verdict say(verdict_facts const& facts) {
  stated_verdict stated{sentence_of(facts), notes_of(facts), verdict_json(facts)};
  stated.object["sentence"] = stated.sentence;
  return stated;
}

std::string contract_words(std::string const& contract, std::optional<int> revision) {
  return revision ? fmt::format("{} (revision {})", contract, *revision) : contract;
}

}  // namespace attest::audit
