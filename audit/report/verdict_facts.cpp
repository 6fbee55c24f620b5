#include "audit/report/verdict_facts.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "audit/contract/preset_family.hpp"
#include "audit/report/coverage/refused_check.hpp"
#include "audit/report/number_words.hpp"
#include "audit/report/text.hpp"
#include "reference/machine/further_rows.hpp"

namespace attest::audit {
namespace {

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
/// Those of the operators that some call answered: of gradients, only if a backward pass was.
std::vector<std::string> not_returned(judgement const& sum) {
  auto const calls = [&](problem::output_kind which) { return sum.returned[static_cast<std::size_t>(which)]; };
  std::vector<std::string> outputs;
  for (problem::output_kind const which : problem::output_kinds) {
    bool const answered = std::ranges::any_of(problem::output_kinds, [&](problem::output_kind other) {
      return is_gradient(other) == is_gradient(which) && calls(other) > 0;
    });
    if (answered && calls(which) == 0) outputs.emplace_back(name_of(which));
  }
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
      omissions.push_back(
          {fmt::format("{} of {} of {}", grouped(row.unsupported), plural(row.cases, "input"), row.name),
           row.unsupported == row.cases && row.sum.judged() > 0 ? "not answered by the kernel, or not in full"
                                                                : "not answered by the kernel"});
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
  return fmt::format("[{}] {}: {}", first->class_token(), first->name(), first->what.sentence);
}

/// The narrowest preset that holds for all failing cases that were judged again, if these are two or more. A preset of
/// less precision counts only if most of the answered inputs fail and their errors reach an eighth of its bound: else
/// that may just be too wide to show anything.
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
  constexpr double least_used = 0.125;
  if (cases < 2) return std::nullopt;
  for (holding_preset const& common : inside)
    if (wider_preset const* const wider = find_wider_preset(common.name);
        wider && (!wider->less_precise || (2 * facts.failed > facts.answered && common.worst >= least_used)))
      return common_cause{common.name, std::string(wider->allows), cases, common.worst};
  return std::nullopt;
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
  facts.domain = kernel_report.domain.text;
  facts.domain_cut_short = kernel_report.domain.cut_short;
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

}  // namespace attest::audit
