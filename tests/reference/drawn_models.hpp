// Kernel models drawn at random, for drawn_rows.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <random>

#include "problem/kernel_model.hpp"
#include "reference/bound/bound.hpp"

namespace attest::tests {

using problem::kernel_model;

constexpr double infinity = reference::infinity;

struct generator {
  std::mt19937_64 bits;

  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  double between(double least, double most) { return least + (most - least) * uniform(); }
  std::int64_t whole(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(most - least + 1));
  }
  bool chance(double probability) { return uniform() < probability; }
  double gaussian() {
    double sum = -6;
    for (int n = 0; n < 12; ++n) sum += uniform();
    return sum;
  }
  /// 2^e times a number between 1 and 2, e between the two exponents.
  double scaled(int least, int most) { return std::ldexp(1 + uniform(), static_cast<int>(whole(least, most))); }
  template <class T>
  T one_of(std::initializer_list<T> choices) {
    return choices.begin()[whole(0, static_cast<std::int64_t>(choices.size()) - 1)];
  }
};

constexpr problem::working_format bf16{0x1p-8, 0x1p-134, 87, 87.3, 0x1p-125, 0x1p126};
/// f32 with an early limit: a sunk key need not be far, nor a large score beyond every other line of H0.
constexpr problem::working_format early{0x1p-24, 0x1p-150, 87, 87.3, 0x1p-125, 0x1p12};
constexpr problem::working_format f16{0x1p-11, 0x1p-25, 9.7, 9.7, 0x1p-13, 0x1p14};

/// Weights that are rounded relative to a declared reference. Most are as the theorem of known weights asks
/// (docs/bound.md, section 5); each of its conditions is broken now and then. Formats of P: the formats of element
/// types, the same with flushed subnormals or none, a narrower format, and a format whose unit roundoff is no power of
/// two.
inline void declare_reference(kernel_model& m, generator& random) {
  using namespace problem;
  m.weight_reference = random.one_of(
      {weight_reference::rising, weight_reference::falling, weight_reference::whole_row, weight_reference::own_block});
  constexpr double element_types[][2] = {{0x1p-8, 0x1p-134}, {0x1p-11, 0x1p-25}, {0x1p-24, 0x1p-150}};
  constexpr double others[][2] = {{0x1p-8, 0x1p-126}, {0x1p-11, 0x1p-14}, {0x1p-8, 0}, {0x1p-5, 0x1p-12}, {0.003, 0}};
  auto const& format = random.chance(0.6) ? element_types[random.whole(0, 2)] : others[random.whole(0, 4)];
  auto const rarely = [&] { return random.chance(0.02); };
  m.u_p = rarely() ? 0 : format[0], m.omega_p = format[1];
  m.p_limit = random.chance(0.3) ? 65504.0 : infinity;
  if (!random.chance(0.1)) m.u_s = m.omega_s = 0, m.u_qk = 0, m.x0 = infinity;
  m.block = random.one_of({1, 2, 3, 16, 64});
  m.p_shared = rarely(), m.k_pre = rarely() ? 1 : 0;
  m.p_normalised = rarely() ? normalised_first::unknown : rarely() ? normalised_first::yes : normalised_first::no;
  m.tau = rarely() ? 5.6 : 0, m.splits = rarely() ? 2 : 1;
  m.merge = rarely() ? split_merge::lse : rarely() ? split_merge::lse_normalised : split_merge::raw;
  m.normalise = rarely() ? normaliser::lse : normaliser::sum;
}

/// Every field of a model at random, each mostly at its default.
inline kernel_model random_model(generator& random) {
  kernel_model m;
  using namespace problem;
  bool const declared = random.chance(0.4);
  m.format = random.one_of(
      {formats::f32, formats::f32, formats::f32_flushed, formats::f64, formats::f64_flushed, bf16, f16, early});
  if (declared) m.format = random.one_of({m.format, formats::f32, formats::f32_flushed, formats::f64});
  double const u = m.format.u;
  auto const few = [&](double probability, std::int64_t most) {
    return random.chance(probability) ? static_cast<int>(random.whole(1, most)) : 0;
  };
  m.flushes = random.chance(0.3);
  m.k_qk_per_d = static_cast<int>(random.whole(0, 2));
  m.k_qk_base = static_cast<int>(random.whole(m.k_qk_per_d == 0 ? 1 : 0, 6));
  m.u_qk = random.one_of({0.0, 0.0, u, 2 * u, 0x1p-11});
  m.fold_q = random.chance(0.4);
  m.fold_k = random.chance(0.4);
  m.folded_overflow = random.one_of({folded_overflow::survived, folded_overflow::unspecified});
  m.bias_first = random.chance(0.3);
  m.k_add = few(0.6, 3);
  m.g_b = random.chance(0.3) ? random.uniform() * 4 * u : 0;
  m.e_c = random.chance(0.5) ? random.uniform() * 16 * u : 0;
  m.a_t = random.chance(0.5) ? random.uniform() * 8 * u : 0;
  if (random.chance(0.2))
    m.u_s = random.one_of({0x1p-8, 0x1p-11, 0x1p-24}), m.omega_s = random.one_of({0x1p-25, 0x1p-134});
  if (random.chance(0.1)) m.s_limit = random.one_of({65504.0, 3.3e38});
  m.k_x = static_cast<int>(random.whole(0, 4));
  m.c_m = few(0.5, 4);
  m.eps = random.chance(0.9) ? random.uniform() * 8 * u : 0;
  m.large_scores = random.chance(0.5) ? large_scores::stable : large_scores::unspecified;
  if (random.chance(0.2)) m.mask_limit = random.one_of({1e4, 1e9, 3e38});
  m.rescales = random.one_of({rescale_count::none, rescale_count::per_block, rescale_count::rank_of_score});
  m.order = random.chance(0.4) ? key_order::index : key_order::any;
  m.least_block = random.one_of({1, 1, 3, 16, 64, 300});
  m.merges = few(0.5, 16);
  m.unchanged_rescale = random.chance(0.15) ? unchanged_rescale::rounded : unchanged_rescale::exact;
  m.tau = random.chance(0.3) ? random.between(0, 8) : 0;
  if (random.chance(0.15)) m.x0 = random.between(0.3, 1) * m.format.largest_x0;
  if (random.chance(0.35)) {
    m.u_p = random.one_of({0x1p-8, 0x1p-11, u});
    m.omega_p = random.one_of({0.0, 0x1p-134, 0x1p-126, 0x1p-25, 0x1p-14});
    m.p_limit = random.one_of({infinity, 65504.0, 3.3e38});
    m.p_shared = random.chance(0.3);
    m.p_normalised = random.one_of({normalised_first::no, normalised_first::yes, normalised_first::unknown});
    m.returned_weights =
        random.one_of({returned_weights::unrounded, returned_weights::rounded, returned_weights::unknown});
  }
  m.block = random.one_of({1, 2, 16, 64, 128});
  m.height = random.one_of({sum_height::in_sequence, sum_height::block_local, sum_height::declared});
  m.height_divisor = random.one_of({1, 4, 8, 64});
  m.height_base = random.whole(0, 12);
  m.k_pre = few(0.4, 2);
  m.u_pv = random.one_of({0.0, 0.0, u, u / 2, 2 * u, 2 * u});
  m.promote = random.chance(0.15) ? random.whole(1, 64) : 0;
  m.splits = random.chance(0.35) ? static_cast<int>(random.whole(2, 64)) : 1;
  m.merge = random.chance(0.4) ? split_merge::raw
                               : random.one_of({split_merge::lse, split_merge::lse_normalised, split_merge::sigmoid,
                                                split_merge::logsigmoid});
  m.merge_levels = random.chance(0.3) ? static_cast<int>(random.whole(2, 8)) : 1;
  m.parts_are_keys = random.chance(0.15);
  m.k_block = random.chance(0.3) ? static_cast<int>(random.whole(1, 3)) : 0;
  m.divided_block = random.one_of({1, 4, 64});
  m.normalise = random.chance(0.1) ? normaliser::lse : normaliser::sum;
  m.k_f = static_cast<int>(random.whole(0, random.chance(0.05) ? 8 : 3));
  if (random.chance(0.4)) {
    m.u_out = std::max(u, random.one_of({0x1p-8, 0x1p-11, 0x1p-24})),
    m.omega_out = random.one_of({0x1p-134, 0x1p-25, 0x1p-14});
    m.out_limit = random.one_of({infinity, 65520.0});
  }
  m.k_t = static_cast<int>(random.whole(0, 4));
  if (random.chance(0.2)) m.u_t = random.one_of({0x1p-8, 0x1p-11}), m.omega_t = random.one_of({0x1p-134, 0x1p-25});
  if (random.chance(0.2)) m.sink_limit = random.one_of({86.0, 20.0});
  m.sink_form = random.one_of({sink_form::term, sink_form::rescale, sink_form::any});
  m.k_sink = static_cast<int>(random.whole(1, 5));
  if (random.chance(0.3))
    m.u_sink = random.one_of({0x1p-8, 0x1p-11}), m.omega_sink = random.one_of({0x1p-134, 0x1p-25});
  m.k_drop = static_cast<int>(random.whole(0, 3));
  if (random.chance(0.4))
    m.u_drop = random.one_of({0x1p-8, 0x1p-11}), m.omega_drop = random.one_of({0x1p-134, 0x1p-25});
  m.eps_log = random.uniform() * 4 * u;
  m.k_lse = static_cast<int>(random.whole(1, 3));
  if (declared) declare_reference(m, random);
  // By numbers of another stream, so that a seed keeps its rows: they notice every edit of tests/proof_edits.
  generator copy = random, states{std::mt19937_64(copy.bits())};
  if (states.chance(0.4)) {
    m.u_state = states.one_of({0x1p-3, 0x1p-8, 0x1p-11}), m.omega_state = states.one_of({0x1p-134, 0x1p-25});
    m.state_limit = states.one_of({infinity, 65520.0});
  }
  if (states.chance(0.3)) m.u_rate = states.one_of({0x1p-53, 0x1p-24, 0x1p-8});
  if (states.chance(0.4)) m.zero_products = zero_products::exact;
  if (states.chance(0.3)) m.eps_rescale = states.uniform() * 8 * u;
  if (states.chance(0.3)) m.l_height_divisor = states.one_of({1, 4, 64}), m.l_height_base = states.whole(0, 12);
  if (states.chance(0.3)) m.omega_log = states.uniform() * 4 * u;
  if (m.normalise == normaliser::sum && states.chance(by_sigmoid(m.merge) ? 0.03 : 0.15))
    m.normalise = normaliser::first_pass;
  if (states.chance(0.3)) m.block_most = m.block * states.one_of({2, 4, 64});
  if (states.chance(0.25))
    m.block_fma = states.one_of({1, 2, 4, 8, 16}), m.alignment_bits = static_cast<int>(states.whole(0, 3));
  if (states.chance(0.5)) m.accumulator = accumulator::one;
  if (states.chance(declared ? 0.02 : 0.2)) m.u_v = states.one_of({0x1p-8, 0x1p-11});
  return m;
}

/// One that declares its weights (docs/bound.md, section 5), in f32 or f64.
inline kernel_model declared_model(generator& random) {
  for (;;) {
    kernel_model const m = random_model(random);
    if (reference::declares_weights(m) && m.format.u <= problem::formats::f32.u) return m;
  }
}

/// One of the family of proofs/coq/formula.v: merges raw, none of the fields that it leaves out.
inline kernel_model tied_model(generator& random) {
  using namespace problem;
  kernel_model m = random_model(random);
  m.merge = split_merge::raw, m.order = key_order::any, m.parts_are_keys = false;
  if (m.normalise == normaliser::lse) m.normalise = random.one_of({normaliser::sum, normaliser::first_pass});
  m.block_fma = m.alignment_bits = 0;
  m.x0 = infinity, m.s_limit = infinity, m.splits = random.chance(0.5) ? 1 : static_cast<int>(random.whole(2, 8));
  return m;
}

}  // namespace attest::tests
