// attest reference where no bound judges: by what a contract or a rule says, by known weights, by Clause H.
#include <cmath>
#include <random>

#include <unistd.h>

#include "audit/judge/by_law.hpp"
#include "audit/tensors/elements.hpp"
#include "tests/audit/oracle/referenced.hpp"
#include "tests/support/catch.hpp"

namespace attest::audit::reference_rules_test {
namespace {

namespace fs = std::filesystem;
using problem::element_type;

contract with_conventions(char const* preset, conventions const& how) {
  contract claim = *find_contract(preset);
  claim.name = "test", claim.conventions = how;
  return claim;
}

TEST_CASE("what a contract says of queries that see no key is in the file, with its bound", "[property]") {
  using row = conventions::row;
  using log = conventions::log;
  std::mt19937_64 random(23);
  for (row const empty : {row::zero, row::nan, row::mean, row::unmasked, row::nan_unless_no_keys})
    for (log const empty_lse : {log::minus_infinity, log::zero, log::plus_infinity}) {
      moved_outputs seen;
      contract const claim = with_conventions("f32", {.empty_row = empty, .empty_lse = empty_lse});
      for (int n = 0; n < 12; ++n) {
        problem_draft draft = drawn(element_type::f32, random);
        problem::layout const& q = draft.q.layout;
        draft.mask =
            owned_tensor::compact(element_type::u8, {q.shape[0], q.shape[1], q.shape[2], draft.k.layout.shape[2]});
        fill(*draft.mask, [&](auto, auto, std::int64_t i, auto) { return i % 2 == 0 ? 0. : 1.; });
        INFO(static_cast<int>(empty) << ' ' << static_cast<int>(empty_lse) << ", problem " << n);
        ends_are_judged_so(made(std::move(draft)), claim, random, seen);
      }
      CHECK(seen.outside > 50);
    }
  auto const hidden = [](std::vector<double> const& values) {
    problem_draft draft = row_of(element_type::f32, {1}, {0, 0}, values);
    draft.mask = owned_tensor::compact(element_type::u8, {1, 1, 1, 2});
    return made(std::move(draft));
  };
  auto const says = [&](row empty, log empty_lse) {
    return referenced_by(hidden({1, 4}), with_conventions("f32", {.empty_row = empty, .empty_lse = empty_lse})).of;
  };
  auto zero = says(row::zero, log::minus_infinity);
  CHECK((zero["o"][0] == 0 && zero["o.bound"][0] == 0 && zero["lse"][0] == -infinity && zero["lse.bound"][0] == 0));
  auto mean = says(row::mean, log::zero);
  CHECK((mean["o"][0] == 2.5 && mean["o.bound"][0] > 0 && mean["o.bound"][0] < 0.01));
  CHECK((mean["lse"][0] == 0 && mean["lse.bound"][0] == 0));
  auto none = says(row::nan, log::minus_infinity);
  CHECK((std::isnan(none["o"][0]) && none["o.bound"][0] == 0 && none["lse"][0] == -infinity));
  auto whole = says(row::unmasked, log::zero);
  CHECK((whole["o"][0] == 2.5 && whole["lse"][0] == static_cast<double>(static_cast<float>(std::log(2.0)))));
  CHECK(whole["lse.bound"][0] > 0);
}

TEST_CASE("a value that a rule asks for has the bound 0, one that is only not finite NaN, one left open +inf",
          "[unit]") {
  auto const f32 = *find_contract("f32");
  auto const says = [&](problem_draft draft, contract const& claim) {
    return referenced_by(made(std::move(draft)), claim).of;
  };
  auto values = says(row_of(element_type::f32, {1}, {0, 1}, {quiet, 1, infinity, 2, 3, 4}), f32);
  CHECK((std::isnan(values["o"][0]) && values["o.bound"][0] == 0));
  CHECK((std::isfinite(values["o"][1]) && values["o.bound"][1] > 0 && values["o.bound"][1] < 1));
  CHECK((std::isnan(values["o"][2]) && std::isnan(values["o.bound"][2])));
  CHECK((values["lse.bound"][0] > 0 && values["lse.bound"][0] < 1));
  auto rows = says(row_of(element_type::f32, {1}, {0, infinity}, {1, 2}), f32);  // a score of +∞
  CHECK((std::isnan(rows["o"][0]) && rows["o.bound"][0] == 0));
  CHECK((std::isnan(rows["lse"][0]) && std::isnan(rows["lse.bound"][0])));
  auto nan_row = says(row_of(element_type::f32, {quiet}, {0, 1}, {1, 2}), f32);
  CHECK((std::isnan(nan_row["lse"][0]) && nan_row["lse.bound"][0] == 0));
  problem_draft lost = row_of(element_type::f32, {1}, {0, 1}, {infinity, 2});  // ∞ at a key whose score is −∞
  lost.bias = owned_tensor::compact(element_type::f32, {1, 1, 1, 2});
  store(*lost.bias, 0, -infinity);
  auto left_open = says(lost, f32);
  CHECK((std::isnan(left_open["o"][0]) && left_open["o.bound"][0] == infinity && left_open["lse.bound"][0] < 1));
  auto outside = says(row_of(element_type::f32, {1e30, 1e30}, {1e30, 0, 0, 0}, {1, 2}), f32);  // no score of a float
  CHECK((outside["o.bound"][0] == infinity && outside["lse.bound"][0] == infinity));

  contract const unspecified = with_conventions("f32", {.nan = conventions::invalid::unspecified});
  auto free_values = says(row_of(element_type::f32, {1}, {0, 1}, {quiet, 1, infinity, 2, 3, 4}), unspecified);
  CHECK((free_values["o.bound"][0] == infinity && free_values["o.bound"][1] < 1 &&
         free_values["o.bound"][2] == infinity));
  auto free_row = says(row_of(element_type::f32, {quiet}, {0, 1}, {1, 2}), unspecified);
  CHECK((free_row["o.bound"][0] == infinity && free_row["lse.bound"][0] == infinity));

  problem_draft hiding = row_of(element_type::f32, {1}, {0, quiet}, {1, 2});
  hiding.mask = owned_tensor::compact(element_type::u8, {1, 1, 1, 2});
  store(*hiding.mask, 0, 1);
  auto never_read = says(hiding, f32);
  CHECK((never_read["o"][0] == 1 && never_read["o.bound"][0] < 1));
  auto finite_alone = says(hiding, with_conventions("f32", {.masked_values = conventions::masked::must_be_finite}));
  CHECK((finite_alone["o"][0] == 1 && finite_alone["o.bound"][0] == infinity &&
         finite_alone["lse.bound"][0] == infinity));
}

TEST_CASE("outputs of a kernel whose weights are known, or that Clause H limits, are never right beyond the bound",
          "[property]") {
  // Here more may be allowed on one side of the exact value than on the other: the file has the larger side.
  for (auto const& [type, preset, spread] : {std::tuple(element_type::bf16, "bf16-ordered", 1.),
                                             {element_type::f16, "f16-ieee-ordered", 1.},
                                             {element_type::f32, "f32", 3e4}}) {
    std::mt19937_64 random(37);
    contract const& claim = *find_contract(preset);
    std::int64_t outside = 0;
    for (int n = 0; n < 40; ++n) {
      problem_draft draft = drawn(type, random);
      draft.softcap = 0;
      for (std::size_t at = 0; at < draft.q.bytes.size() / problem::size_of(type); ++at)
        store(draft.q, at, spread * load(draft.q, at));
      auto const problem = made(std::move(draft));
      INFO(preset << ", problem " << n);
      answered const bounds = referenced_by(problem, claim);
      answered const exact = referenced_by(problem, claim, {.round = element_type::f64});
      auto const beyond = move_outputs(problem, exact, bounds, random, [] { return true; });
      judgement const refuted = judge_by_law(problem, beyond.outputs, claim);
      CHECK(refuted.failed >= beyond.outside);
      CHECK(refuted.not_judged() == beyond.open);
      outside += beyond.outside;
    }
    CHECK(outside > 300);
  }
}

}  // namespace
}  // namespace attest::audit::reference_rules_test
