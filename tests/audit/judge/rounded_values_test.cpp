// V that a kernel may round to fewer bits (u_v): what the model of a problem allows of that.
#include <functional>
#include <limits>

#include "audit/contract/contract.hpp"
#include "audit/judge/judge_outputs.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/owned_problem.hpp"
#include "tests/support/catch.hpp"

namespace attest::audit::rounded_values_test {
namespace {

contract const& claim() { return *find_contract("bf16-throughout"); }

/// One query, and one key that it sees of two.
owned_problem with_values(double first, double hidden = 1) {
  problem_draft draft;
  draft.q = draft.k = draft.v = owned_tensor::compact(problem::element_type::f32, {1, 1, 1, 4});
  draft.k = draft.v = owned_tensor::compact(problem::element_type::f32, {1, 1, 2, 4});
  for (owned_tensor* t : {&draft.q, &draft.k, &draft.v}) fill(*t, [](auto...) { return 1.0; });
  for (std::size_t c = 0; c < 4; ++c) store(draft.v, c, first), store(draft.v, 4 + c, hidden);
  draft.k_lengths = owned_tensor::compact(problem::element_type::i32, {1});
  store(*draft.k_lengths, 0, 1);
  return owned_problem::of_valid(std::move(draft));
}

bool counts(owned_problem const& problem) { return claim().model_for(problem.instance()).u_v > 0; }

std::int64_t faults(owned_problem const& problem, double o) {
  owned_outputs answer;
  answer.o = owned_tensor::compact(problem::element_type::f32, {1, 1, 1, 4});
  fill(*answer.o, [&](auto...) { return o; });
  return judge(problem.instance(), answer, claim()).failed;
}

}  // namespace

TEST_CASE("rounding V to bfloat16 counts if an element that a query may see has more bits", "[unit]") {
  for (double const fits : {0.0, -0.0, 1.0, -1.9921875, 0x1p-126, 0x1.fep127, std::numeric_limits<double>::infinity(),
                            std::numeric_limits<double>::quiet_NaN()})
    CHECK_FALSE(counts(with_values(fits)));
  for (double const is_longer : {1 + 0x1p-8, -(1 + 0x1p-23), 0x1p-127, 0x1p-149}) CHECK(counts(with_values(is_longer)));
  CHECK_FALSE(counts(with_values(1, 1 + 0x1p-8)));
}

TEST_CASE("rounding V counts in a backward pass, whose dO may be rounded so, too", "[unit]") {
  problem_draft draft = with_values(1).draft();
  draft.d_out = owned_tensor::compact(problem::element_type::f32, {1, 1, 1, 4});
  CHECK(counts(owned_problem::of_valid(std::move(draft))));
}

TEST_CASE("an O that is 1 % off is refuted where rounding V changes nothing", "[unit]") {
  CHECK(faults(with_values(1), 1) == 0);
  CHECK(faults(with_values(1), 1 + 0x1p-8) == 0);  // stored in bfloat16
  CHECK(faults(with_values(1), 1.01) == 4);
  CHECK(faults(with_values(1 + 0x1p-8), 1.01 * (1 + 0x1p-8)) == 0);
}

}  // namespace attest::audit::rounded_values_test
