// Problems from a handful of small numbers, so that RapidCheck shrinks the numbers and a fuzzer mutates them, and every
// result is a valid problem. One place for property tests and fuzz targets.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <ostream>

#include "audit/cases/arranged.hpp"
#include "audit/cases/random.hpp"

namespace attest::tests {

enum class score_regime : std::uint8_t {
  gaussian,
  equal,
  rising,
  falling,
  ties_at_the_maximum,
  one_dominant,
  huge,
  cancelling,
  near_underflow,
  subnormal
};
inline constexpr int score_regimes = 10;

enum class value_regime : std::uint8_t { gaussian, constant, offset, alternating, one_hot, near_overflow, subnormal };
inline constexpr int value_regimes = 7;

enum class mask_regime : std::uint8_t { none, random, empty_rows, padding, empty_blocks };
inline constexpr int mask_regimes = 5;

/// How entries lie in memory. Except under `slots`, each has a length of its own. Over packed rows there is no mask,
/// bias, block mask or keep.
enum class entry_regime : std::uint8_t {
  slots,
  lengths,
  packed_queries,
  packed_keys,
  packed,
  paged,
  packed_over_pages
};
inline constexpr int entry_regimes = 7;

enum class sink_regime : std::uint8_t { none, normal, by_entry, in_f32, far_above, far_below, special };
inline constexpr int sink_regimes = 7;

enum class keep_regime : std::uint8_t { none, all_factors_one, quarter, most_dropped, nothing_kept };
inline constexpr int keep_regimes = 5;

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
  int scale = 0;         ///< 0 default, 1 one, 2 negative, 3 zero, 4 an odd number
  int softcap = 0;       ///< 0 none, 1 one, 2 fifty, 3 an eighth
  std::int64_t gap = 0;  ///< elements between rows of Q, K, V
  entry_regime entries = entry_regime::slots;
  std::int64_t page = 16;  ///< keys of a page
  bool align = false;      ///< the band hangs on the end of each entry
  sink_regime sink = sink_regime::none;
  std::int64_t block_q = 0, block_k = 0;  ///< 0: no block mask
  keep_regime keep = keep_regime::none;
};

/// Scores that doubles keep many bits of.
inline bool is_tame(recipe const& r) { return r.scores != score_regime::huge && r.scores != score_regime::cancelling; }

inline std::ostream& operator<<(std::ostream& out, recipe const& r) {
  return out << "recipe{seed " << r.seed << ", " << problem::name_of(r.type) << ", b " << r.b << ", groups " << r.groups
             << ", hk " << r.hk << ", n " << r.n << ", m " << r.m << ", d " << r.d << ", dv " << r.dv << ", scores "
             << static_cast<int>(r.scores) << ", values " << static_cast<int>(r.values) << ", mask "
             << static_cast<int>(r.mask) << ", bias " << r.bias << r.bias_minus_infinity << ", band (" << r.diagonal
             << ", " << r.left << ", " << r.right << "), scale " << r.scale << ", softcap " << r.softcap << ", gap "
             << r.gap << ", entries " << static_cast<int>(r.entries) << " of pages of " << r.page << ", align "
             << r.align << ", sink " << static_cast<int>(r.sink) << ", blocks " << r.block_q << " x " << r.block_k
             << ", keep " << static_cast<int>(r.keep) << "}";
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
      case value_regime::near_overflow:
        return limits.largest / 8 / static_cast<double>(r.m) * (2 * random.uniform() - 1);
      case value_regime::subnormal: return limits.smallest * std::floor(100 * random.uniform());
    }
    return 0;
  });
}

constexpr bool packs_queries(entry_regime how) {
  return how == entry_regime::packed_queries || how == entry_regime::packed || how == entry_regime::packed_over_pages;
}
constexpr bool packs_keys(entry_regime how) { return how == entry_regime::packed_keys || how == entry_regime::packed; }

inline void add_visibility(audit::problem_draft& p, recipe const& r, audit::random_stream& random) {
  problem::sizes const s{r.b, r.groups * r.hk, r.hk, r.n, r.m, r.d, r.dv};
  p.band = {r.diagonal, r.left, r.right};
  p.align = r.align;
  if (packs_queries(r.entries) || packs_keys(r.entries)) return;
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
  auto const bytes = [&](std::int64_t rows, std::int64_t columns, std::int64_t one_in) {
    auto made = audit::owned_tensor::compact(problem::element_type::u8, {1, s.hq, rows, columns});
    for (std::byte& each : made.bytes) each = static_cast<std::byte>(one_in > 0 && random.below(one_in) == 0);
    return made;
  };
  auto const blocks = [](std::int64_t rows, std::int64_t block) { return (rows + block - 1) / block; };
  if (r.block_q > 0 && r.block_k > 0) {
    p.block_q = r.block_q, p.block_k = r.block_k;
    p.block_mask = bytes(blocks(s.n, r.block_q), blocks(s.m, r.block_k), 2);
  }
  constexpr double factors[] = {0, 0, 0.25, 0.9375, 0.5};
  constexpr std::int64_t kept_one_in[] = {0, 2, 1, 8, 0};
  if (r.keep == keep_regime::none) return;
  p.keep = bytes(s.n, s.m, kept_one_in[static_cast<int>(r.keep)]);
  p.dropout = factors[static_cast<int>(r.keep)];
}

inline void add_sink(audit::problem_draft& p, recipe const& r, audit::random_stream& random) {
  if (r.sink == sink_regime::none) return;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double specials[] = {infinity, -infinity, std::numeric_limits<double>::quiet_NaN(), -0.0};
  std::int64_t const heads = r.groups * r.hk, rows = r.sink == sink_regime::by_entry ? r.b : 1;
  auto sink =
      audit::owned_tensor::compact(r.sink == sink_regime::in_f32 ? problem::element_type::f32 : r.type, {rows, heads});
  for (std::int64_t at = 0; at < rows * heads; ++at) {
    double const normal = random.normal();
    audit::store(sink, static_cast<std::size_t>(at),
                 r.sink == sink_regime::far_above   ? 100 + normal
                 : r.sink == sink_regime::far_below ? -100 + normal
                 : r.sink == sink_regime::special   ? specials[random.below(4)]
                                                    : 3 * normal);
  }
  p.sink = std::move(sink);
}

/// NaN in the rows of slots that belong to no entry.
inline void forget_behind(audit::owned_tensor& rows, audit::owned_tensor const& lengths) {
  auto const made = rows;
  audit::fill(rows, [&](auto b, auto h, auto i, auto t) {
    return i < lengths.as<std::int32_t>()[b] ? audit::load(made, audit::offset_of(made, b, h, i, t))
                                             : std::numeric_limits<double>::quiet_NaN();
  });
}

/// Packs and pages what was made with slots.
inline void arrange_entries(audit::problem_draft& p, recipe const& r, audit::random_stream& random) {
  if (r.entries == entry_regime::slots) return;
  audit::draw_lengths(p, random);
  forget_behind(p.q, *p.q_lengths), forget_behind(p.k, *p.k_lengths), forget_behind(p.v, *p.k_lengths);
  if (packs_queries(r.entries)) audit::pack_queries(p, random.below(3));
  if (packs_keys(r.entries)) audit::pack_keys(p, random.below(3));
  if (r.entries == entry_regime::paged || r.entries == entry_regime::packed_over_pages)
    audit::page_keys(p, {.page = r.page, .shared = random.below(2) != 0}, random);
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

/// The problem of a recipe, all of whose entries are as long as their slots. Advances `random`.
inline audit::problem_draft make_slots(recipe const& r, audit::random_stream& random) {
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
  detail::add_sink(draft, r, random);
  return draft;
}

/// The problem of a recipe. problem::make_instance accepts it whatever the recipe's numbers are, as long as its sizes
/// are not negative. hk, groups and page must be at least 1, and left and right at least −1.
inline audit::problem_draft make_problem(recipe const& r) {
  audit::random_stream random(r.seed, "recipe");
  audit::problem_draft draft = make_slots(r, random);
  detail::arrange_entries(draft, r, random);
  for (auto* tensor : {&draft.q, &draft.k, &draft.v}) detail::spread_rows(*tensor, r.gap);
  return draft;
}

}  // namespace attest::tests
