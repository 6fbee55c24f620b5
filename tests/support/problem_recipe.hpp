// Problems from a handful of small numbers, so that RapidCheck shrinks the numbers and a fuzzer mutates them, and every
// result is a valid problem. One place for property tests and fuzz targets.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <ostream>

#include "audit/cases/random.hpp"

namespace attest::tests {

enum class score_regime : std::uint8_t {
  gaussian, equal, rising, falling, ties_at_the_maximum, one_dominant, huge, cancelling, near_underflow, subnormal
};
inline constexpr int score_regimes = 10;

enum class value_regime : std::uint8_t { gaussian, constant, offset, alternating, one_hot, near_overflow, subnormal };
inline constexpr int value_regimes = 7;

enum class mask_regime : std::uint8_t { none, random, empty_rows, padding, empty_blocks };
inline constexpr int mask_regimes = 5;

/// A problem, in numbers that mean something each; anything out of range is folded into range.
struct recipe {
  std::uint64_t seed = 0;
  problem::element_type type = problem::element_type::f32;  ///< one of the four floating ones
  std::int64_t b = 1, groups = 1, hk = 1, n = 1, m = 1, d = 1, dv = 1;
  score_regime scores = score_regime::gaussian;
  value_regime values = value_regime::gaussian;
  mask_regime mask = mask_regime::none;
  bool bias = false, bias_minus_infinity = false;
  std::int64_t diagonal = 0, left = -1, right = -1;
  int scale = 0;            ///< 0 default, 1 one, 2 negative, 3 zero, 4 an odd number
  int softcap = 0;          ///< 0 none, 1 one, 2 fifty, 3 an eighth
  std::int64_t gap = 0;     ///< elements between rows of Q, K, V
};

inline std::ostream& operator<<(std::ostream& out, recipe const& r) {
  return out << "recipe{seed " << r.seed << ", " << problem::name_of(r.type) << ", b " << r.b << ", groups " << r.groups
             << ", hk " << r.hk << ", n " << r.n << ", m " << r.m << ", d " << r.d << ", dv " << r.dv << ", scores "
             << static_cast<int>(r.scores) << ", values " << static_cast<int>(r.values) << ", mask "
             << static_cast<int>(r.mask) << ", bias " << r.bias << r.bias_minus_infinity << ", band (" << r.diagonal
             << ", " << r.left << ", " << r.right << "), scale " << r.scale << ", softcap " << r.softcap
             << ", gap " << r.gap << "}";
}

namespace detail {

inline void fill_scores(audit::problem_draft& p, recipe const& r, audit::random_stream& random) {
  auto const limits = audit::limits_of(p.q.type);
  double const far = r.type == problem::element_type::f64 ? 708 : 87;
  auto const m = static_cast<double>(std::max<std::int64_t>(r.m, 1));
  auto const normal = [&](auto...) { return random.normal(); };
  audit::fill(p.q, normal);
  audit::fill(p.k, normal);
  // Regimes that set scores exactly use the first dimension alone.
  auto const along_first = [&](auto&& score) {
    audit::fill(p.q, [](auto, auto, auto, auto t) { return t == 0 ? 1.0 : 0.0; });
    audit::fill(p.k, [&](auto, auto, auto j, auto t) { return t == 0 ? score(static_cast<double>(j)) : 0.0; });
  };
  switch (r.scores) {
    case score_regime::gaussian: break;
    case score_regime::equal: along_first([](double) { return 2.5; }); break;
    case score_regime::rising: along_first([&](double j) { return 60 * j / m; }); break;
    case score_regime::falling: along_first([&](double j) { return -60 * j / m; }); break;
    case score_regime::ties_at_the_maximum: along_first([&](double) { return random.below(2) ? 7.0 : -3.0; }); break;
    case score_regime::one_dominant: along_first([&](double j) { return j == std::floor(m / 2) ? 90.0 : 0.0; }); break;
    case score_regime::huge: {
      bool const small = r.type == problem::element_type::f16;
      double const size = std::pow(10.0, static_cast<double>(random.below(small ? 4 : 16)));  // scores to 1e30
      audit::fill(p.q, [&](auto...) { return size * random.normal(); });
      audit::fill(p.k, [&](auto...) { return size * random.normal(); });
      break;
    }
    case score_regime::cancelling:
      audit::fill(p.q, [&](auto, auto, auto, auto t) { return t < 2 ? 1e4 : random.normal(); });
      audit::fill(p.k, [&](auto, auto, auto, auto t) { return t == 0 ? 1e4 : t == 1 ? -1e4 : random.normal(); });
      break;
    case score_regime::near_underflow:
      along_first([&](double) { return random.below(3) ? -far - 20 * random.uniform() + 2 : 0.0; });
      break;
    case score_regime::subnormal:
      audit::fill(p.q, [&](auto...) { return limits.smallest * std::floor(1000 * random.normal()); });
      audit::fill(p.k, [&](auto...) { return limits.smallest * std::floor(1000 * random.normal()); });
      break;
  }
}

inline void fill_values(audit::problem_draft& p, recipe const& r, audit::random_stream& random) {
  auto const limits = audit::limits_of(p.q.type);
  audit::fill(p.v, [&](auto, auto, auto j, auto c) -> double {
    switch (r.values) {
      case value_regime::gaussian: return random.normal();
      case value_regime::constant: return 0.1 * static_cast<double>(c + 1);
      case value_regime::offset: return 1e4 + random.normal();
      case value_regime::alternating: return j % 2 ? -1.0 : 1.0;
      case value_regime::one_hot: return j == c ? 1 : 0;
      case value_regime::near_overflow: return limits.largest / 8 / static_cast<double>(r.m) * (2 * random.uniform() - 1);
      case value_regime::subnormal: return limits.smallest * std::floor(100 * random.uniform());
    }
    return 0;
  });
}

inline void add_visibility(audit::problem_draft& p, recipe const& r, audit::random_stream& random) {
  problem::sizes const s{r.b, r.groups * r.hk, r.hk, r.n, r.m, r.d, r.dv};
  switch (r.mask) {
    case mask_regime::none: break;
    case mask_regime::random:
      audit::add_mask(p, s.b, s.hq, s.n, s.m, [&](auto...) { return random.below(3) != 0; });
      break;
    case mask_regime::empty_rows:
      audit::add_mask(p, 1, 1, s.n, s.m, [&](auto, auto, auto i, auto) { return i % 2 == 0; });
      break;
    case mask_regime::padding:
      audit::add_mask(p, s.b, 1, 1, s.m, [&](auto b, auto, auto, auto j) { return j <= (b + 1) * s.m / (s.b + 1); });
      break;
    case mask_regime::empty_blocks:
      audit::add_mask(p, 1, 1, 1, s.m, [&](auto, auto, auto, auto j) { return j / 64 % 2 != 0 || j == 5; });
      break;
  }
  if (r.bias)
    audit::add_bias(p, 1, s.hq, s.n, s.m, [&](auto...) {
      double const b = random.normal();
      return r.bias_minus_infinity && b > 1 ? -std::numeric_limits<double>::infinity() : b;
    });
  p.band = {r.diagonal, r.left, r.right};
}

/// The same numbers in rows that are `gap` elements further apart; the gaps hold NaN.
inline void spread_rows(audit::owned_tensor& t, std::int64_t gap) {
  if (gap == 0) return;
  audit::owned_tensor tensor{t.type, t.layout, {}};
  auto& step = tensor.layout.stride;
  auto const& shape = t.layout.shape;
  step[2] = shape[3] + gap, step[1] = step[2] * shape[2], step[0] = step[1] * shape[1];
  tensor.bytes.assign(tensor.spanned_elements() * problem::size_of(t.type), std::byte{0xff});
  audit::fill(tensor, [&](auto... at) { return audit::load(t, audit::offset_of(t, at...)); });
  t = std::move(tensor);
}

}  // namespace detail

/// The problem of a recipe. Accepted by problem::make_instance whatever the recipe's numbers are, as long as its sizes
/// are not negative, hk and groups are at least 1, and left and right at least −1.
inline audit::problem_draft make_problem(recipe const& r) {
  audit::random_stream random(r.seed, "recipe");
  audit::problem_draft draft = audit::blank({r.b, r.groups * r.hk, r.hk, r.n, r.m, r.d, r.dv}, r.type);
  detail::fill_scores(draft, r, random);
  detail::fill_values(draft, r, random);
  detail::add_visibility(draft, r, random);
  switch (r.scale) {
    case 1: draft.scale = 1; break;
    case 2: draft.scale = -0.25; break;
    case 3: draft.scale = 0; break;
    case 4: draft.scale = 0.3; break;
    default:
      if (r.d > 0) draft.scale.reset();
  }
  constexpr double caps[] = {0, 1, 50, 0.125};
  draft.softcap = caps[r.softcap & 3];
  for (auto* tensor : {&draft.q, &draft.k, &draft.v}) detail::spread_rows(*tensor, r.gap);
  return draft;
}

}  // namespace attest::tests
