#include "audit/report/verdict.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "audit/contract/preset_family.hpp"
#include "audit/report/coverage/coverage_words.hpp"
#include "audit/report/coverage/refused_check.hpp"
#include "audit/report/text.hpp"
#include "audit/support/real_number.hpp"
#include "reference/machine/further_rows.hpp"

namespace attest::audit {
namespace {

using json = nlohmann::ordered_json;

constexpr std::array not_judged_words{"outside the hypotheses of the bound", "with a bound that is not finite",
                                      "where the output format may overflow", "whose value is left open"};
static_assert(not_judged_words.size() == not_judged_names.size());

std::vector<sharpness_facts> sizes_of(judgement const& sum) {
  std::vector<sharpness_facts> sizes;
  for (std::size_t output = 0; output < output_names.size(); ++output)
    for (std::size_t size = 0; size < size_classes.size(); ++size) {
      sharpness const& of = sum.sharpness[output][size];
      if (of.judged == 0) continue;
      sizes.push_back({output_names[output],
                       size_classes[size].name,
                       of.judged,
                       of.dull,
                       {*of.quartile(1), *of.quartile(2), *of.quartile(3)}});
    }
  return sizes;
}

/// The systematic errors of outputs with at least two calls.
std::vector<systematic_facts> systematic_of(judgement const& sum) {
  std::vector<systematic_facts> all;
  for (std::size_t output = 0; output < output_names.size(); ++output) {
    std::int64_t judged = 0;
    for (sharpness const& of : sum.sharpness[output]) judged += of.judged;
    for (std::size_t type = 0; type < sum.systematic[output].size(); ++type) {
      systematic_error const& of = sum.systematic[output][type];
      if (of.calls.count < 2) continue;
      all.push_back({output_names[output], std::string(problem::floating_rows[type].name), of.calls.count, of.rows,
                     of.elements, judged, of.of(error_sign::upwards), of.of(error_sign::away_from_0),
                     of.is_worth_a_note()});
    }
  }
  return all;
}

/// The outputs that no call returned, if calls returned others.
std::vector<std::string> not_returned(judgement const& sum) {
  std::vector<std::string> outputs;
  std::int64_t const calls = *std::ranges::max_element(sum.returned);
  for (std::size_t output = 0; output < output_names.size(); ++output)
    if (calls > 0 && sum.returned[output] == 0) outputs.emplace_back(output_names[output]);
  return outputs;
}

std::vector<omission> omissions_of(report const& kernel_report, judgement const& sum) {
  std::vector<omission> omissions = kernel_report.not_asked;
  if (kernel_report.shard)
    omissions.push_back({fmt::format("the inputs of the other shards than {} of {}", kernel_report.shard->first,
                                     kernel_report.shard->second),
                         "--shard"});
  for (check_result const& row : kernel_report.checks) {
    // This is said already, with the features that the kernel does not support.
    bool const is_said = row.unsupported == row.cases && row.sum.judged() == 0 &&
                         std::ranges::any_of(kernel_report.not_asked, [&](omission const& omitted) {
                           return omitted.what == refused_check(row.name);
                         });
    if (row.unsupported > 0 && !is_said)
      omissions.push_back({fmt::format("{} of {} inputs of {}", row.unsupported, row.cases, row.name),
                           row.unsupported == row.cases && row.sum.judged() > 0
                               ? "the kernel did not answer them, or not in full"
                               : "the kernel did not answer them"});
    for (std::string const& convention : row.conventions)
      omissions.push_back({fmt::format("inputs of {}", row.name), "the contract relaxes " + convention});
  }
  for (std::string const& output : not_returned(sum)) omissions.push_back({output, "no call returned it"});
  return omissions;
}

/// The first refuting finding as a clause, or why an audit is undecided.
std::string cause_of(report const& kernel_report) {
  if (kernel_report.verdict == verdict::undecided) return kernel_report.undecided_because;
  auto const first = std::ranges::find(kernel_report.findings, false, &finding::waived);
  if (kernel_report.verdict == verdict::certified || first == kernel_report.findings.end()) return "";
  return fmt::format("[{}] {}/{}: {}", first->class_token(), first->check, first->case_name, first->what.sentence);
}

/// The narrowest preset that holds for all failing cases that were judged again, if these are two or more. A preset of
/// less precision counts only if most of the answered inputs fail: else its bound may just be too wide to show the
/// cause.
std::optional<common_cause> common_cause_of(report const& kernel_report, verdict_facts const& facts) {
  std::vector<holding_preset> inside;
  std::int64_t cases = 0;
  for (failing_case const& failing : kernel_report.failing) {
    if (!failing.inside) continue;
    if (++cases == 1) inside = *failing.inside;
    std::erase_if(inside, [&](holding_preset& common) {
      auto const at = std::ranges::find(*failing.inside, common.name, &holding_preset::name);
      if (at != failing.inside->end()) common.worst = std::max(common.worst, at->worst);
      return at == failing.inside->end();
    });
  }
  if (cases < 2) return std::nullopt;
  for (holding_preset const& common : inside)
    if (wider_preset const* const wider = find_wider_preset(common.name);
        wider && (!wider->less_precise || 2 * facts.failed > facts.answered))
      return common_cause{common.name, std::string(wider->allows), cases, common.worst};
  return std::nullopt;
}

/// " All 414 failing cases are inside f64-in-f32: …" if there is such a preset.
std::string in_common(verdict_facts const& facts) {
  if (!facts.explained_by) return "";
  auto const& [preset, allows, cases, worst] = *facts.explained_by;
  std::string const which = cases == facts.failed ? fmt::format("All {} failing cases", grouped(cases))
                                                  : fmt::format("All {} failing cases that were judged again (of {})",
                                                                grouped(cases), grouped(facts.failed));
  return fmt::format(" {} are inside {}, with errors to {} of its bound: one cause would explain them ({}).", which,
                     preset, in_bounds(worst), allows);
}

/// " (but for 3 waived findings: empty-row)" where there are some.
std::string but_waived(verdict_facts const& facts) {
  return facts.waived == 0
             ? ""
             : fmt::format(" (but for {} waived findings: {})", facts.waived, fmt::join(facts.waived_classes, ", "));
}

/// " 12 elements were not judged (outside the hypotheses of the bound) and 3 are dull." if there are such elements.
std::string left_over(verdict_facts const& facts) {
  std::vector<std::string> clauses, reasons;
  for (std::size_t why = 0; why < facts.not_judged.size(); ++why)
    if (facts.not_judged[why] > 0) reasons.emplace_back(not_judged_words[why]);
  if (!reasons.empty())
    clauses.push_back(
        fmt::format("{} elements were not judged ({})", grouped(facts.all_not_judged()), fmt::join(reasons, "; ")));
  if (facts.dull > 0) clauses.push_back(fmt::format("{} judged elements are dull", grouped(facts.dull)));
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
          "CERTIFIED{}: all {} judged elements of {} inputs{} are within the bound of {}{}; the worst error is {} of "
          "its bound.{} Nothing is claimed for other inputs{}{}.",
          but_waived(facts), grouped(facts.judged), grouped(facts.answered),
          facts.seed ? fmt::format(" (seed {})", *facts.seed) : "", facts.contract,
          facts.findings == 0 ? "" : ", the waived ones apart", in_bounds(facts.max_error_in_bounds), left_over(facts),
          facts.inputs > facts.answered
              ? fmt::format(", nor for the {} that the kernel does not support", grouped(facts.inputs - facts.answered))
              : "",
          facts.not_returned.empty()
              ? ""
              : fmt::format(", nor for {}, which no call returned", fmt::join(facts.not_returned, " and ")));
    case verdict::refuted:
      return fmt::format("REFUTED: {}{} faults in {} of {} inputs under {}; {} elements were judged{}.{}",
                         facts.not_certified > 0 ? "at least " : "", grouped(facts.faults), grouped(facts.failed),
                         grouped(facts.inputs), facts.contract, grouped(facts.judged),
                         facts.not_certified > 0
                             ? fmt::format(", and {} in further wrong rows were not", grouped(facts.not_certified))
                             : "",
                         in_common(facts));
    case verdict::undecided: break;
  }
  return fmt::format("UNDECIDED{}: {}; {} elements were judged and none {}is wrong.{}", but_waived(facts), facts.cause,
                     grouped(facts.judged), facts.findings == 0 ? "" : "that is not waived ", left_over(facts));
}

std::string sentence_of(verdict_facts const& facts) { return sentence_by_verdict(facts) + several_builds(facts); }

/// "also inside f32-ordered: …", or how far outside.
std::string words_of(preset_comparison const& beside, std::int64_t one_in) {
  std::string const which = fmt::format("{} elements compared, of one row in {}", grouped(beside.compared), one_in);
  if (beside.outside == 0)
    return fmt::format("also inside {}: at most {} of its bound ({})", beside.preset, in_bounds(beside.worst), which);
  return fmt::format("outside {}: {} are beyond its bound, by up to {:.2g} times the bound of {} ({})", beside.preset,
                     grouped(beside.outside), beside.worst, beside.preset, which);
}

/// "+0.0012 ± 0.0003 ulp".
std::string words_of(mean_error const& of) { return fmt::format("{:+.4f} ± {:.4f} ulp", of.mean, of.standard_error); }

/// "systematic error of o (bf16): …": the means that are systematic, and the elements that are left out.
std::string words_of(systematic_facts const& of) {
  bool const by_size = of.away_from_0.is_systematic();
  return fmt::format(
      "systematic error of {} ({}), which no bound refutes: the mean error away from 0 is {}{}, the mean error upwards "
      "{} ({} calls, {} rows; {} of {} elements judged by bounds)",
      of.output, of.type, words_of(of.away_from_0),
      !by_size                  ? ""
      : of.away_from_0.mean < 0 ? " (too near 0, as truncation makes it)"
                                : " (too large)",
      words_of(of.upwards), grouped(of.calls), grouped(of.rows), grouped(of.elements), grouped(of.judged));
}

std::vector<std::string> notes_of(verdict_facts const& facts) {
  std::vector<std::string> notes;
  for (std::size_t why = 0; why < facts.not_judged.size(); ++why)
    if (facts.not_judged[why] > 0)
      notes.push_back(
          fmt::format("{} elements {} were not judged", grouped(facts.not_judged[why]), not_judged_words[why]));
  if (facts.most_outside)
    notes.push_back(
        fmt::format("the largest share outside the hypotheses: {} of {} in {} ({} of {}), beside inputs that "
                    "are made to reach beyond",
                    percent(facts.most_outside->of.share()), facts.most_outside->output, facts.most_outside->check,
                    grouped(facts.most_outside->of.outside),
                    grouped(facts.most_outside->of.judged + facts.most_outside->of.outside)));
  if (facts.undecided > 0)
    notes.push_back(
        fmt::format("{} elements overlap their bound at the last refinement: undecided", grouped(facts.undecided)));
  if (facts.suspicious > 0)
    notes.push_back(fmt::format("{} elements are suspicious: within their bound, above its warning level",
                                grouped(facts.suspicious)));
  if (facts.dull > 0)
    notes.push_back(
        fmt::format("{} elements are dull: their bound admits the mean of V, or a lost key", grouped(facts.dull)));
  for (systematic_facts const& of : facts.systematic)
    if (of.noted) notes.push_back(words_of(of));
  // A kernel that is wrong by its own contract is outside the sharper ones too.
  if (facts.verdict != verdict::refuted)
    for (preset_comparison const& beside : facts.beside)
      if (beside.compared > 0) notes.push_back(words_of(beside, facts.compared_row_in));
  if (!facts.covered.empty()) notes.push_back("covered: " + covered_words(facts.covered));
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

json object_of(verdict_facts const& facts) {
  json not_judged = json::object(), sizes = json::array(), beside = json::array(), not_asked = json::array();
  for (std::size_t why = 0; why < facts.not_judged.size(); ++why)
    not_judged[not_judged_names[why]] = facts.not_judged[why];
  for (sharpness_facts const& size : facts.sizes)
    sizes.push_back({{"output", size.output},
                     {"keys", size.keys},
                     {"judged", size.judged},
                     {"dull", size.dull},
                     {"quartiles", {hex(size.quartiles[0]), hex(size.quartiles[1]), hex(size.quartiles[2])}}});
  for (preset_comparison const& preset : facts.beside)
    beside.push_back({{"preset", preset.preset},
                      {"compared", preset.compared},
                      {"outside", preset.outside},
                      {"worst_in_bounds", hex(preset.worst)}});
  json systematic = json::array();
  auto const mean = [](mean_error const& of) {
    return json{{"mean_ulp", hex(of.mean)}, {"standard_error_ulp", hex(of.standard_error)}};
  };
  for (systematic_facts const& of : facts.systematic)
    systematic.push_back({{"output", of.output},
                          {"type", of.type},
                          {"calls", of.calls},
                          {"rows", of.rows},
                          {"elements", of.elements},
                          {"upwards", mean(of.upwards)},
                          {"away_from_0", mean(of.away_from_0)},
                          {"noted", of.noted}});
  for (omission const& omitted : facts.not_asked) not_asked.push_back({{"what", omitted.what}, {"why", omitted.why}});
  return {{"verdict", name_of(facts.verdict)},
          {"cause", facts.cause},
          {"explained_by", facts.explained_by ? json{{"preset", facts.explained_by->preset},
                                                     {"allows", facts.explained_by->allows},
                                                     {"cases", facts.explained_by->cases},
                                                     {"worst_in_bounds", hex(facts.explained_by->worst)}}
                                              : json()},
          {"contract", facts.contract},
          {"contract_revision", facts.contract_revision ? json(*facts.contract_revision) : json()},
          {"theorem_revision", facts.theorem_revision},
          {"inputs", {{"given", facts.inputs}, {"answered", facts.answered}, {"failed", facts.failed}}},
          {"judged",
           {{"elements", facts.judged},
            {"by_theorem", facts.by_theorem},
            {"by_dominance", facts.by_dominance},
            {"by_rule", facts.by_rule},
            {"sharp", facts.sharp},
            {"dull", facts.dull},
            {"suspicious", facts.suspicious},
            {"faults", facts.faults},
            {"undecided", facts.undecided},
            {"not_certified", facts.not_certified},
            {"max_error_in_bounds", hex(facts.max_error_in_bounds)}}},
          {"not_judged", std::move(not_judged)},
          {"outside",
           {{"limit", facts.outside_limit},
            {"largest", facts.most_outside ? json{{"check", facts.most_outside->check},
                                                  {"output", facts.most_outside->output},
                                                  {"judged", facts.most_outside->of.judged},
                                                  {"outside", facts.most_outside->of.outside},
                                                  {"share", facts.most_outside->of.share()}}
                                           : json()}}},
          {"sizes", std::move(sizes)},
          {"sharper_presets", std::move(beside)},
          {"systematic_errors", std::move(systematic)},
          {"not_asked", std::move(not_asked)},
          {"sampling", {{"judged_row_in", facts.judged_row_in}, {"compared_row_in", facts.compared_row_in}}},
          {"protections", facts.protections},
          {"missing_protections", facts.missing_protections},
          {"waived", {{"findings", facts.waived}, {"classes", facts.waived_classes}}}};
}

}  // namespace

std::int64_t verdict_facts::all_not_judged() const noexcept {
  return std::accumulate(not_judged.begin(), not_judged.end(), std::int64_t{0});
}

verdict_facts facts_of(report const& kernel_report) {
  judgement const sum = kernel_report.total();
  verdict_facts facts;
  facts.verdict = kernel_report.verdict, facts.cause = cause_of(kernel_report);
  facts.contract = kernel_report.contract, facts.contract_revision = kernel_report.contract_revision;
  facts.theorem_revision = kernel_report.theorem_revision, facts.seed = kernel_report.seed;
  if (kernel_report.kernel_builds.size() > 1)
    for (kernel_build const& build : kernel_report.kernel_builds) facts.builds.push_back(build.words());
  facts.inputs = kernel_report.cases, facts.answered = kernel_report.cases - unsupported_cases(kernel_report);
  for (check_result const& row : kernel_report.checks) facts.failed += row.failed;
  if (facts.verdict == verdict::refuted) facts.explained_by = common_cause_of(kernel_report, facts);
  facts.judged = sum.judged(), facts.faults = sum.failed;
  facts.by_theorem = sum.by_theorem, facts.by_dominance = sum.by_dominance, facts.by_rule = sum.by_rule;
  facts.dull = sum.dull(), facts.sharp = sum.by_theorem + sum.by_dominance - facts.dull;
  facts.suspicious = sum.suspicious, facts.undecided = sum.undecided, facts.not_judged = sum.left_out;
  facts.not_certified = sum.not_certified, facts.most_outside = most_outside(kernel_report);
  facts.outside_limit = kernel_report.outside_limit;
  facts.max_error_in_bounds = sum.max_error_in_bounds;
  std::set<std::string> classes;
  for (finding const& found : kernel_report.findings) {
    ++facts.findings;
    if (found.waived) ++facts.waived, classes.emplace(found.class_token());
  }
  facts.waived_classes.assign(classes.begin(), classes.end());
  facts.sizes = sizes_of(sum), facts.beside = sum.beside, facts.systematic = systematic_of(sum);
  facts.not_asked = omissions_of(kernel_report, sum), facts.not_returned = not_returned(sum);
  facts.covered = kernel_report.covered;
  facts.compared_row_in = reference::machine::further_one_in;
  facts.protections = kernel_report.protections;
  facts.missing_protections = kernel_report.missing_protections;
  return facts;
}

stated_verdict say(verdict_facts const& facts) {
  stated_verdict stated{sentence_of(facts), notes_of(facts), object_of(facts)};
  stated.object["sentence"] = stated.sentence;
  return stated;
}

std::string contract_words(std::string const& contract, std::optional<int> revision) {
  return revision ? fmt::format("{} (revision {})", contract, *revision) : contract;
}

}  // namespace attest::audit
