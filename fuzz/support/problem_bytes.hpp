// Bytes → a valid problem, for every target that asks one: a header of one byte a field, each folded into its field's
// range, then patches of single elements. A mutation of one byte changes one thing, and fuzz/support/mutator.cpp knows
// the places.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>

#include "fuzz/support/require.hpp"
#include "tests/support/problem_recipe.hpp"

namespace attest::fuzz {

/// The bytes of the header, in this order. fuzz/seeds/problem.py writes the same.
enum field : std::size_t {
  seed,
  seed_high,
  type,
  b,
  groups,
  hk,
  n,
  m,
  d,
  dv,
  scores,
  values,
  mask,
  bias,
  diagonal,
  left,
  right,
  scale,
  softcap,
  gap,
  choice,  ///< for the target itself: an instruction set, a type to round to
  entries,
  page,
  sink,
  block_q,
  block_k,
  keep,
  fields
};

/// One patch: 12 bytes behind the header.
enum patch_byte : std::size_t { patch_tensor, patch_how, patch_place, patch_value = 4, patch_bytes = 12 };

/// The effect of a patch on its element.
enum patch_kind : std::uint8_t {
  bits,     ///< the element's bits become the value's: NaN, infinities, subnormals among them
  ulps,     ///< the element moves by value ulps, −128 … 127
  twin,     ///< the element becomes the one in the row before, moved by value ulps: ties, and what is next to a tie
  special,  ///< the element becomes one of special_values
  patch_kinds
};

/// The largest sizes that a target can afford; n and m are divided by f64_part in f64, where the judge works harder.
/// `drops`: whether it can be asked dropout.
struct largest_sizes {
  std::int64_t b = 2, groups = 3, hk = 2, n = 16, m = 160, d = 24, dv = 24, f64_part = 2;
  bool drops = true;
};

namespace detail {

inline double special_value(problem::element_type type, std::uint64_t which) {
  auto const limits = audit::limits_of(type);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::array const all{0.0,
                       -0.0,
                       1.0,
                       -1.0,
                       limits.largest,
                       -limits.largest,
                       limits.smallest,
                       -limits.smallest,
                       limits.smallest_normal,
                       limits.epsilon,
                       1 + limits.epsilon,
                       87.5,
                       104.0,
                       -150.0,
                       infinity,
                       -infinity,
                       std::numeric_limits<double>::quiet_NaN()};
  return all[which % all.size()];
}

/// Moves a stored number by `by` units of its bits: ulps of its size; the sign stays.
inline void move(std::byte* at, std::size_t size, std::int64_t by) {
  std::uint64_t stored = 0;
  std::memcpy(&stored, at, size);
  std::uint64_t const sign = std::uint64_t{1} << (8 * size - 1);
  std::uint64_t const magnitude = ((stored & (sign - 1)) + static_cast<std::uint64_t>(by)) & (sign - 1);
  stored = (stored & sign) | magnitude;
  std::memcpy(at, &stored, size);
}

inline void apply_patch(audit::problem_draft& p, std::span<std::uint8_t const> patch) {
  audit::owned_tensor* const tensors[] = {&p.q, &p.k, &p.v, p.bias ? &*p.bias : &p.k};
  audit::owned_tensor& t = *tensors[patch[patch_tensor] & 3];
  auto const& shape = t.layout.shape;
  std::int64_t const elements = shape[0] * shape[1] * shape[2] * shape[3];
  if (elements == 0) return;
  std::int64_t rest = (patch[patch_place] | patch[patch_place + 1] << 8) % elements;
  std::array<std::int64_t, 4> at{};
  for (std::size_t axis = 4; axis-- > 0; rest /= shape[axis]) at[axis] = rest % shape[axis];
  std::size_t const size = problem::size_of(t.type), place = audit::offset_of(t, at[0], at[1], at[2], at[3]);
  std::byte* const element = t.bytes.data() + place * size;
  std::uint64_t value = 0;
  std::memcpy(&value, patch.data() + patch_value, 8);
  auto const by = static_cast<std::int64_t>(static_cast<std::int8_t>(value & 0xff));
  switch (static_cast<patch_kind>(patch[patch_how] % patch_kinds)) {
    case bits: std::memcpy(element, &value, size); break;
    case ulps: move(element, size, by); break;
    case twin:
      if (at[2] > 0) std::memcpy(element, element - static_cast<std::size_t>(t.layout.stride[2]) * size, size);
      move(element, size, by);
      break;
    case special:
    case patch_kinds: audit::store(t, place, special_value(t.type, value)); break;
  }
}

}  // namespace detail

/// The meaning of the bytes, with zeros past their end.
struct decoded {
  std::array<std::uint8_t, fields> header{};
  tests::recipe recipe;
  audit::problem_draft problem;
};

/// Ensures   problem::make_instance accepts the problem
/// Cost      sizes at most `most`, and at most 64 patches
inline decoded decode(std::span<std::uint8_t const> input, largest_sizes const& most = {}) {
  using problem::element_type;
  decoded result;
  std::size_t const header_bytes = std::min<std::size_t>(input.size(), fields);
  std::copy_n(input.begin(), header_bytes, result.header.begin());
  auto const number = [&](field which, std::int64_t from, std::int64_t to) {
    return from + result.header[which] % (to - from + 1);
  };
  tests::recipe& r = result.recipe;
  r.seed = result.header[seed] | static_cast<std::uint64_t>(result.header[seed_high]) << 8;
  constexpr std::array types{element_type::f32, element_type::bf16, element_type::f16, element_type::f32,
                             element_type::f64};
  r.type = types[result.header[type] % types.size()];
  // Mostly one batch entry and one head: the others repeat what one does.
  constexpr std::array<std::int64_t, 8> few{1, 2, 3, 1, 1, 1, 1, 1};
  auto const heads = [&](field which, std::int64_t largest) {
    return std::min(few[result.header[which] % few.size()], largest);
  };
  r.b = heads(b, most.b), r.groups = heads(groups, most.groups), r.hk = heads(hk, most.hk);
  std::int64_t const part = r.type == element_type::f64 ? most.f64_part : 1;
  r.n = number(n, 0, most.n / part), r.m = number(m, 0, most.m / part), r.d = number(d, 0, most.d),
  r.dv = number(dv, 0, most.dv);
  r.scores = static_cast<tests::score_regime>(number(scores, 0, tests::score_regimes - 1));
  r.values = static_cast<tests::value_regime>(number(values, 0, tests::value_regimes - 1));
  r.mask = static_cast<tests::mask_regime>(number(mask, 0, tests::mask_regimes - 1));
  r.bias = (result.header[bias] & 1) != 0, r.bias_minus_infinity = (result.header[bias] & 2) != 0;
  r.diagonal = number(diagonal, 0, 255) - 128, r.left = number(left, -1, 100), r.right = number(right, -1, 100);
  r.scale = static_cast<int>(number(scale, 0, 4));
  r.softcap = std::max(0, static_cast<int>(number(softcap, 0, 7)) - 4);
  r.gap = std::max<std::int64_t>(0, number(gap, 0, 15) - 8);
  r.entries = static_cast<tests::entry_regime>(number(entries, 0, tests::entry_regimes - 1));
  r.align = (result.header[entries] & 128) != 0;
  r.page = number(page, 1, 20);
  r.sink = static_cast<tests::sink_regime>(number(sink, 0, tests::sink_regimes - 1));
  r.block_q = std::max<std::int64_t>(0, number(block_q, 0, 15) - 8), r.block_k = number(block_k, 1, 70);
  if (most.drops) r.keep = static_cast<tests::keep_regime>(number(keep, 0, tests::keep_regimes - 1));
  result.problem = tests::make_problem(r);
  static bool const reports_work = std::getenv("ATTEST_FUZZ_WORK") != nullptr;  // for the campaign's summary
  if (reports_work) std::printf("work %lld\n", static_cast<long long>(r.n * r.m * (r.d + r.dv)));
  std::span<std::uint8_t const> patches = input.subspan(header_bytes);
  for (int left_over = 64; left_over > 0 && patches.size() >= patch_bytes; --left_over) {
    detail::apply_patch(result.problem, patches.first(patch_bytes));
    patches = patches.subspan(patch_bytes);
  }
  return result;
}

/// Calls f(the problem), and f(the same problem whose scores are in base 2, as in a merge) where these may be.
template <class F>
void in_each_base(audit::problem_draft const& draft, F&& f) {
  problem::erased_arguments arguments = draft.arguments();
  auto const natural = problem::make_instance(arguments);
  require(natural.has_value(), "a decoded problem is a valid one");
  std::visit(f, natural.value());
  arguments.base = problem::log_base::two;
  if (auto const in_base_2 = problem::make_instance(arguments)) std::visit(f, in_base_2.value());
}

}  // namespace attest::fuzz
