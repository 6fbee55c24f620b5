// The numbers of a condition are edges that were asked on both sides.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "audit/condition/condition.hpp"
#include "tests/support/catch.hpp"

namespace attest::audit::condition_edges_test {
namespace {

std::string sentence(std::optional<condition> const& found) { return found ? found->sentence : "none"; }

TEST_CASE("numbers between the edge of an observed condition and the next right one are said not to be asked",
          "[unit]") {
  std::vector<judged_form> asked;
  for (std::int64_t const group : {1, 2, 3, 4, 8, 16, 20, 24, 30, 32})
    asked.push_back({{.size = {1, group, 1, 8, 8, 8, 8}}, group > 8});
  auto const found = find_condition(asked.back().form, std::span(asked).first(9),
                                    [](question const&) { return std::optional<given_answer>(); });
  CHECK(sentence(found) ==
        "every failing input has heads > 15; no passing input has; heads from 9 to 15 was not asked");
}

TEST_CASE("where a growing bound hides the error of usual values there is no upper edge", "[unit]") {
  call_form const form{.size = {1, 1, 1, 24, 100, 8, 8}};
  auto const found = find_condition(form, {}, [&](question const& asked) {
    call_form const& f = asked.judged;
    bool const hidden = f.values == value_form::gaussian && f.size.m > 7000;
    return std::optional(given_answer{f.size.m > 64 && !hidden ? answer::wrong : answer::right});
  });
  CHECK(sentence(found) == "wrong from m = 65 on");
}

}  // namespace
}  // namespace attest::audit::condition_edges_test
