// Reports of drawn judgements.
#pragma once

#include <nlohmann/json.hpp>

#include "audit/report/builder.hpp"
#include "audit/support/markup.hpp"
#include "tests/support/catch.hpp"

namespace attest::audit {

inline bool has(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

/// 100 elements of o by bounds, two of them dull; 7 by rules; 5 not judged; LSE dull in one check.
inline judgement drawn_judgement() {
  judgement found;
  found.by_theorem = 90, found.by_dominance = 16, found.by_rule = 7;
  for (int n = 0; n < 100; ++n) found.sharpness[0][1].add(1e-5, 1, n < 2);
  for (int n = 0; n < 6; ++n) found.sharpness[1][1].add(1e-6, 1, false);
  found.leave_out(output_kind::o, 4, not_judged_because::outside_hypotheses);
  found.leave_out(output_kind::o, 1, not_judged_because::format_overflows);
  found.shares[0] = {100, 1};  // the other three are of a case that reaches beyond
  found.returned = {3, 3, 0};
  found.max_error_in_bounds = 0.25;
  found.beside = {{"f32-ordered", 50, 0, 0.5}};
  return found;
}

inline judgement dull_lse() {
  judgement found;
  found.by_theorem = 1;
  found.sharpness[1][0].add(9, 1, true);
  found.returned = {1, 1, 0};
  found.beside = {{"f32-ordered", 4, 3, 2.25}};
  return found;
}

struct drawn_report {
  std::set<std::string, std::less<>> waived;
  report is;

  explicit drawn_report(bool wrong = false, bool complete = true) {
    is.kernel = "drawn", is.contract = "f32", is.contract_revision = 2, is.seed = 5;
    is.contracts = {*find_contract("f32")},
    is.kernel_builds = {{.sha256 = std::string(64, 'a'), .symbol = "attest_attention"}};
    is.protections = {"a process of its own"}, is.not_asked = {{"other checks and cases", "--only"}};
    report_builder collect(is, waived);
    collect.set_case(1);
    check_result& masks = collect.row_of_check("masks");
    ++masks.unsupported;
    collect.add_judgement(masks, "none", bug_class::accuracy, {}, {}, "");
    collect.set_case(2);
    judgement found = drawn_judgement();
    if (wrong) {
      found.failed = 1;
      found.violations.push_back(
          {.output = "o", .error_in_bounds = 3, .bug_class = bug_class::accuracy, .sentence = "o[0] is 7"});
    }
    collect.add_judgement(collect.row_of_check("masks"), "one", bug_class::accuracy, {}, std::move(found), "");
    collect.set_case(3);
    collect.add_judgement(collect.row_of_check("tails"), "two", bug_class::accuracy, {}, dull_lse(), "");
    collect.finish(complete, "the audit stopped early");
  }
};

}  // namespace attest::audit
