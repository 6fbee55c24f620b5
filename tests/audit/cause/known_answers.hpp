// Answers of kernels whose mistake is known, and the cause that is found of them.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "audit/cases/case.hpp"
#include "audit/cause/cause_search.hpp"
#include "audit/cause/hypotheses/changes.hpp"
#include "audit/contract/contract.hpp"
#include "audit/report/cause_words.hpp"
#include "audit/tensors/elements.hpp"
#include "tests/support/builtin_kernel.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/guarded_call.hpp"

namespace attest::tests {

struct known_answers {
  std::vector<audit::searched_case> failing, passing;
  std::vector<audit::answered_case> answers;  // by number, from 1
  audit::seen_arithmetic arithmetic{};
};

/// The small cases of some checks without further calls, as a kernel answers them.
inline known_answers answers_of(std::function<audit::owned_outputs(audit::owned_problem const&)> const& kernel,
                                audit::contract const& claim, std::vector<std::string> const& checks) {
  known_answers known;
  for (audit::audit_case const& made :
       audit::generated_cases({.type = claim.type, .seed = 1, .quick = true, .checks = checks})) {
    audit::problem_draft const& draft = made.problem.draft();
    problem::sizes const& s = made.problem.size();
    if (!made.further.empty() || s.n * s.m > 4096 || draft.q.layout.rank != 4) continue;
    auto const outputs = kernel(made.problem);
    auto& answers = known.answers.emplace_back();
    answers.add(made.problem, outputs, claim, made.rows);
    (answers.is_wrong() ? known.failing : known.passing)
        .push_back({made.check, made.name, std::ssize(known.answers), {}});
  }
  REQUIRE(!known.failing.empty());
  return known;
}

inline known_answers answers_of(std::string_view specimen, std::vector<std::string> const& checks) {
  zoo::specimen const* const found = zoo::find_specimen(specimen);
  REQUIRE(found != nullptr);
  return answers_of(
      [&](audit::owned_problem const& problem) { return guarded_answer_of(found->kernel, problem.draft(), 0); },
      *audit::find_contract(found->contract), checks);
}

inline audit::named_cause cause_of(known_answers const& known) {
  auto const found =
      audit::find_cause({.failing = known.failing,
                         .passing = known.passing,
                         .contracts = {},
                         .answers = [&](audit::searched_case const& which) -> std::optional<audit::answered_case> {
                           return known.answers[static_cast<std::size_t>(which.number) - 1];
                         },
                         .concerns = [](auto const&, auto const&) { return true; },
                         .products = [](auto const&) { return 0.0; },
                         .late = [](double) { return false; },
                         .arithmetic = [&] { return known.arithmetic; }});
  REQUIRE(found);
  return *found;
}

inline std::set<std::string> names_of(audit::named_cause const& cause) {
  std::set<std::string> names;
  for (audit::named_mistake const& mistake : cause.mistakes) names.insert(mistake.name);
  return names;
}

}  // namespace attest::tests
