// What an audit does not ask, in the words of its report.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "audit/asking/plan.hpp"
#include "audit/support/words.hpp"

namespace attest::audit {
namespace {

/// The generated cases that the domain does not take, one sentence a reason: "31 inputs (bands 9, windows 21, masks)".
std::vector<omission> outside(audit_plan const& plan) {
  std::vector<std::pair<std::string, std::vector<std::pair<std::string, int>>>> reasons;  // in the order of the checks
  for (unfitted_case const& one : plan.unfitted) {
    auto reason = std::ranges::find(reasons, one.why, [](auto const& of) { return of.first; });
    if (reason == reasons.end()) reason = reasons.insert(reason, {one.why, {}});
    auto& checks = reason->second;
    auto check = std::ranges::find(checks, one.check, [](auto const& of) { return of.first; });
    if (check == checks.end()) check = checks.insert(check, {one.check, 0});
    ++check->second;
  }
  std::vector<omission> omissions;
  for (auto const& [why, checks] : reasons) {
    std::int64_t all = 0;
    std::vector<std::string> names;
    for (auto const& [check, count] : checks) {
      all += count;
      names.push_back(count == 1 ? check : fmt::format("{} {}", check, count));
    }
    omissions.push_back({fmt::format("{} ({})", counted(all, "input", "inputs"), fmt::join(names, ", ")),
                         "outside the domain: " + why});
  }
  return omissions;
}

}  // namespace

std::vector<omission> left_out(audit_options const& options, audit_plan const& plan) {
  bool const merges = is_of_merges(*options.claim);
  std::vector<omission> omissions;
  if (!options.only.empty()) omissions.push_back({"other checks and cases", "--only"});
  if (!plan.has_attention) omissions.push_back({"attention", "the library has no attest_attention"});
  if (merges) omissions.push_back({"attention", "the contract is about merges"});
  // All cases of a file are asked, even with --quick.
  if (options.quick && !options.replay)
    omissions.push_back({"larger inputs, and further ones of each check", "--quick"});
  if (options.replay) omissions.push_back({"every check, on generated inputs", "--replay"});
  for (omission& of_reason : outside(plan)) omissions.push_back(std::move(of_reason));
  std::string asked;
  if (options.draws.value_or(0) > 0) asked = fmt::format("--draws {}", *options.draws);
  if (options.soak) asked = fmt::format("--soak {:g}", *options.soak);
  std::string const why = options.replay          ? "--replay asks the cases of its file only"
                          : merges                ? "the contract is about merges"
                          : !options.only.empty() ? "--only does not name 'drawn'"
                                                  : "";
  if (!plan.draws && !asked.empty() && !why.empty()) omissions.push_back({"the draws of " + asked, why});
  return omissions;
}

}  // namespace attest::audit
