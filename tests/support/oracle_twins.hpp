// Parts that the oracle's properties share: its tiers, twins of problems, and how two answers are compared. Twins are
// problems with the same exact answer. If only layout or company differs, their enclosures have the same bits. If the
// arithmetic differs, they overlap, and tame ones are narrow, so that an overlap says something.
#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "audit/tensors/slice.hpp"
#include "reference/machine/testing.hpp"
#include "tests/support/oracle_tiers.hpp"
#include "tests/support/property.hpp"
#include "tests/support/random_recipe.hpp"

namespace attest::tests {

using audit::owned_tensor;
using audit::problem_draft;
using problem::element_type;
using reference::decision;
using reference::row_kind;

/// Requires a valid problem, as for the next one.
inline problem::sizes sizes_of(problem_draft const& p) { return audit::owned_problem::of_valid(p).size(); }

/// Requires a selection that audit::sliced can follow.
inline problem_draft part_of(problem_draft const& p, audit::selection const& chosen) {
  return audit::sliced(audit::owned_problem::of_valid(p), chosen)->draft();
}

inline oracle_ball ball_of_double(double x) { return oracle_ball::from(reference::value_of(x)); }

struct tier {
  char const* name;
  std::function<oracle_answer(problem_draft const&)> ask;
  std::int64_t width;  ///< tame enclosures are within 2^−width
};

inline std::vector<tier> const& tiers() {
  static std::vector<tier> const all{
      {"ball", ball_tier, 90},
      {"machine", [](problem_draft const& p) { return machine_tier(p); }, 30},
      {"machine in double words", [](problem_draft const& p) { return machine_tier(p, true); }, 60}};
  return all;
}

/// Few rows, for the ball tier is slow.
inline recipe small(recipe r) {
  r.b = 1 + r.b % 2, r.groups = 1 + r.groups % 2, r.hk = 1 + r.hk % 2;
  r.n = 1 + r.n % 2, r.m = 1 + r.m % 13, r.d = 1 + r.d % 6, r.dv = 1 + r.dv % 4;
  return r;
}

/// check(tier, recipe) for every tier and element type.
template <class Check>
void holds(std::string const& says, Check&& check) {
  auto const targets = reference::machine::simd_targets();
  for (auto const type : {element_type::f32, element_type::f64, element_type::bf16, element_type::f16})
    property(says + ", " + std::string(problem::name_of(type)), [&](recipe const& drawn) {
      recipe r = small(drawn);
      r.type = type;
      RC_LOG() << r << '\n';
      reference::machine::use_simd_target(targets[r.seed % targets.size()]);
      for (tier const& oracle : tiers()) {
        RC_LOG() << oracle.name << " tier\n";
        check(oracle, r);
      }
    });
  reference::machine::use_simd_target("");
}

inline bool identical(oracle_ball const& a, oracle_ball const& b) {
  return a.mid == b.mid && a.exponent == b.exponent && a.radius.mantissa() == b.radius.mantissa() &&
         a.radius.exponent() == b.radius.exponent();
}
inline bool narrow(oracle_ball const& x, double size, std::int64_t bits) {
  return reference::upper_size(x - x) <= std::ldexp(size, static_cast<int>(-bits));
}
/// Is every element of x within 2^−bits of `at`?
inline bool is_near(oracle_ball const& x, double at, std::int64_t bits) {
  auto const off = reference::absolute(x - ball_of_double(at));
  return reference::at_most(off, oracle_ball(1).scaled_by_power_of_two(-bits)) == decision::yes;
}

/// The same kind, keys, weights, O and LSE, bit for bit.
inline void require_identical(oracle_answer const& a, oracle_answer const& b) {
  RC_ASSERT(a.size() == b.size());
  for (std::size_t row = 0; row < a.size(); ++row) {
    RC_ASSERT(a[row].has_value() == b[row].has_value());
    if (!a[row]) continue;
    oracle_row const &x = *a[row], &y = *b[row];
    RC_ASSERT(x.kind == y.kind);
    RC_ASSERT(x.keys == y.keys);
    for (std::size_t n = 0; n < x.weights.size(); ++n) RC_ASSERT(identical(x.weights[n], y.weights[n]));
    RC_ASSERT(x.o.size() == y.o.size());
    for (std::size_t c = 0; c < x.o.size(); ++c) {
      RC_ASSERT(x.o[c].has_value() == y.o[c].has_value());
      if (x.o[c]) RC_ASSERT(identical(*x.o[c], *y.o[c]));
    }
    RC_ASSERT(identical(x.lse, y.lse));
  }
}

/// May the answers be the same, b's LSE being a's plus `shift`? Rows that one tier leaves out are not compared.
inline void require_agreeing(oracle_answer const& a, oracle_answer const& b, double shift = 0) {
  RC_ASSERT(a.size() == b.size());
  for (std::size_t row = 0; row < a.size(); ++row) {
    if (!a[row] || !b[row]) continue;
    oracle_row const &x = *a[row], &y = *b[row];
    RC_ASSERT(x.kind == y.kind);
    RC_ASSERT(x.keys == y.keys);
    for (std::size_t n = 0; n < x.weights.size(); ++n) RC_ASSERT(reference::overlap(x.weights[n], y.weights[n]));
    for (std::size_t c = 0; c < x.o.size(); ++c)
      if (x.o[c] && y.o[c]) RC_ASSERT(reference::overlap(*x.o[c], *y.o[c]));
    if (x.kind == row_kind::finite) RC_ASSERT(reference::overlap(x.lse + ball_of_double(shift), y.lse));
  }
}

/// The finite rows that this tier answers: f(row, b, h, i).
template <class F>
void for_finite_rows(oracle_answer const& answers, problem::sizes const& s, F&& f) {
  std::size_t at = 0;
  for_each_row_of(s, [&](auto b, auto h, auto i) {
    auto const& row = answers[at++];
    if (row && row->kind == row_kind::finite) f(*row, b, h, i);
  });
}

/// By hand, not by the reference's own function: −left ≤ j − (i + diagonal) ≤ right, and the mask says 1.
inline bool may_see(problem_draft const& p, std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) {
  std::int64_t const at = j - (i + p.band.diagonal);
  if ((p.band.left >= 0 && at < -p.band.left) || (p.band.right >= 0 && at > p.band.right)) return false;
  if (!p.mask) return true;
  auto const& n = p.mask->layout.shape;
  return p.mask->as<std::uint8_t>()[audit::offset_of(*p.mask, n[0] == 1 ? 0 : b, n[1] == 1 ? 0 : h, n[2] == 1 ? 0 : i,
                                                     j)] != 0;
}

inline double bias_of(problem_draft const& p, std::int64_t h, std::int64_t i, std::int64_t j) {
  return p.bias ? audit::load(*p.bias, audit::offset_of(*p.bias, 0, h, i, j)) : 0;
}

/// Everything that p hides, as a mask.
inline problem_draft with_mask_alone(problem_draft p) {
  problem::sizes const s = sizes_of(p);
  problem_draft draft = p;
  audit::add_mask(draft, s.b, s.hq, s.n, s.m, [&](auto... at) { return may_see(p, at...); });
  draft.band = {};
  return draft;
}

template <class F>
void transform(owned_tensor& t, F&& f) {
  owned_tensor const from = t;
  audit::fill(t, [&](auto b, auto h, auto i, auto j) {
    return f(audit::load(from, audit::offset_of(from, b, h, i, j)), b, h, i, j);
  });
}

}  // namespace attest::tests
