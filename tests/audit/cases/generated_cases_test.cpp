// A check whose cases are made alone, without the cases of other checks.
#include <algorithm>
#include <string>
#include <vector>

#include "audit/cases/case.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::generated_cases_test {
namespace {

std::vector<std::string> names_of(std::vector<audit::audit_case> const& cases, std::string_view check) {
  std::vector<std::string> names;
  for (audit::audit_case const& made : cases)
    if (made.check == check) names.push_back(made.name);
  return names;
}

}  // namespace

TEST_CASE("a check has the same cases alone as among all", "[unit]") {
  audit::case_options const everything{.seed = 5, .quick = true};
  auto const all = audit::generated_cases(everything);
  for (audit::check const& check : audit::checks()) {
    INFO(check.name);
    audit::case_options wanted = everything;
    wanted.checks = {std::string(check.name)};
    auto const alone = audit::generated_cases(wanted);
    CHECK(names_of(alone, check.name) == names_of(all, check.name));
    CHECK(names_of(alone, check.name).size() == alone.size());
    auto const same = std::ranges::find(all, check.name, &audit::audit_case::check);
    if (same == all.end()) continue;
    CHECK(alone[0].problem.draft().q.bytes == same->problem.draft().q.bytes);
  }
}

}  // namespace attest::tests::generated_cases_test
