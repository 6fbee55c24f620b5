// Elements against the bounds of sharper presets.
#include <cmath>
#include <limits>

#include "audit/contract/preset_family.hpp"
#include "audit/judge/exact_row_judge.hpp"
#include "audit/tensors/problem_draft.hpp"
#include "reference/machine/rows.hpp"
#include "tests/audit/judge/answers_near_exact.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/one_check.hpp"

namespace attest::audit::preset_comparison_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST_CASE("an element is inside a bound, beyond it, or not compared", "[unit]") {
  preset_comparison of{"f32-ordered"};
  of.add(0.1, 0.25);
  CHECK(of.compared == 1);
  CHECK(of.worst == 0.25);
  of.add(0.9, 1.1);  // its two ends do not decide it
  of.add(std::nan(""), std::nan(""));
  of.add(0, 0);
  CHECK(of.compared == 2);
  CHECK(of.outside == 0);
  CHECK(of.worst == 0.25);
  of.add(2.5, 2.75);
  CHECK(of.compared == 3);
  CHECK(of.outside == 1);
  CHECK(of.worst == 2.5);  // so far at least
  of.add(infinity, infinity);
  CHECK(of.worst == infinity);
}

TEST_CASE("an answer is compared with the bound, and with that of known weights where there is one", "[unit]") {
  using reference::judged_by;
  auto const compared = [](double got, double error, reference::error_bound const& bound) {
    preset_comparison of{"bf16-ordered"};
    compare(of, got, error, error, bound);
    return of;
  };
  reference::error_bound bound{2, judged_by::theorem};
  CHECK(compared(1, 1, bound).worst >= 0.5);
  CHECK(compared(1, 1, bound).worst < 0.5001);
  CHECK(compared(1, 3, bound).outside == 1);
  CHECK(compared(1, 2, bound).compared == 0);  // at the bound, within the rounding of a quotient
  CHECK(compared(infinity, 0, bound).outside == 1);
  CHECK(compared(1, 0, {0, judged_by::theorem}).worst == 0);
  CHECK(compared(1, 0, {}).compared == 0);
  CHECK(compared(1, 0, {infinity, judged_by::theorem}).compared == 0);  // an empty bound says nothing
  bound.known_center = 1.5, bound.known_size = 0.25;
  CHECK(compared(1, 1, bound).outside == 1);
  CHECK(compared(1, 1, bound).worst < 2);
  CHECK(compared(1, 1, bound).worst > 1.999);
  CHECK(compared(1.5, 1, bound).outside == 0);
  CHECK(compared(1.5, 3, bound).outside == 1);
}

TEST_CASE("a kernel inside f32 may be outside f32-ordered, and the comparison says how far", "[unit]") {
  problem_draft const draft = gaussian(34, 512, 8, 5);
  contract const& claim = *find_contract("f32");
  auto const exact = [](double o, double) { return o; };
  auto const at_the_bound = [](double o, double bound) { return o + 0.9 * bound; };
  judgement const honest = judged(draft, answer<float>(draft, claim, exact), "f32");
  judgement const beyond = judged(draft, answer<float>(draft, claim, at_the_bound), "f32");
  constexpr std::int64_t compared = 2 * 5;  // rows 0 and 32
  static_assert(reference::machine::further_one_in == 32);
  for (judgement const* const found : {&honest, &beyond}) {
    CHECK(found->failed == 0);
    REQUIRE(found->beside.size() == 1);
    CHECK(found->beside[0].preset == "f32-ordered");
    CHECK(found->beside[0].compared == compared);
  }
  CHECK(honest.beside[0].outside == 0);
  CHECK(honest.beside[0].worst < 0.01);
  CHECK(beyond.beside[0].outside == compared);
  CHECK(beyond.beside[0].worst > 1.5);
  CHECK(beyond.beside[0].worst < 100);
  // Beside a preset that is as sharp as the contract nothing is said.
  CHECK(judged(draft, answer<float>(draft, claim, exact), "f32-ordered").beside.empty());
  judgement const any = judged(draft, answer<float>(draft, claim, at_the_bound), "f32-any");
  REQUIRE(any.beside.size() == 2);
  CHECK(any.beside[0].preset == "f32");
  CHECK(any.beside[0].outside == 0);
  CHECK(any.beside[0].worst > 0.89);
  CHECK(any.beside[0].worst < 0.91);
  CHECK(any.beside[1].outside == compared);
}

TEST_CASE("a sharper preset is of the same type, and its bounds are no larger", "[unit]") {
  std::int64_t pairs = 0;
  for (contract const& claim : contracts())
    for (contract const* const sharper : sharper_presets(claim)) {
      INFO(claim.name << " and " << sharper->name);
      ++pairs;
      CHECK(sharper->type == claim.type);
      CHECK_FALSE(sharper->fixed == claim.fixed);
      problem_draft const draft = gaussian(7, 300, 8, 3, claim.type);
      std::visit(
          [&]<class T>(problem::instance<T> const& p) {
            auto loose = reference::machine::row_source<T>::make(p, claim.fixed).value();
            auto tight = reference::machine::row_source<T>::make(p, sharper->fixed).value();
            std::vector<double> bounds, sharper_bounds;
            auto const into = [](std::vector<double>& all) {
              return [&all](reference::machine::certified_row const& row) {
                REQUIRE_FALSE(row.handed_over);
                all.insert(all.end(), row.o_bound.begin(), row.o_bound.end());
              };
            };
            loose.each(0, 0, 0, 7, into(bounds));
            tight.each(0, 0, 0, 7, into(sharper_bounds));
            for (std::size_t n = 0; n < bounds.size(); ++n) CHECK(sharper_bounds[n] < bounds[n]);
          },
          problem::make_instance(draft.arguments()).value());
    }
  CHECK(pairs == 18);
}

}  // namespace
}  // namespace attest::audit::preset_comparison_test
