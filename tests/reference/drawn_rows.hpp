// Kernel models and facts drawn at random, for bound_rows.cpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <random>
#include <span>
#include <vector>

#include "reference/attention/attention.hpp"
#include "reference/bound/bound.hpp"
#include "reference/compiled/row.hpp"
#include "tests/support/owned.hpp"
#include "tests/support/written.hpp"

namespace attest::tests {

using problem::kernel_model;
using reference::row_facts;

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

// --- models ---------------------------------------------------------------------------------------------------------

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
  return m;
}

/// One of the family of proofs/coq/formula.v: merges raw, none of the fields that it leaves out.
inline kernel_model tied_model(generator& random) {
  using namespace problem;
  kernel_model m = random_model(random);
  m.merge = split_merge::raw, m.order = key_order::any, m.parts_are_keys = false;
  if (m.normalise == normaliser::lse) m.normalise = random.one_of({normaliser::sum, normaliser::first_pass});
  m.x0 = infinity, m.s_limit = infinity, m.splits = random.chance(0.5) ? 1 : static_cast<int>(random.whole(2, 8));
  return m;
}

// --- rows -----------------------------------------------------------------------------------------------------------

struct drawn_row {
  row_facts facts{};
  std::vector<std::vector<double>> values{};  ///< of each column, in the order of facts.keys
};

inline double value_of_family(int family, generator& random) {
  switch (family) {
    case 0: return random.gaussian();
    case 1: return 1e4 + random.gaussian();
    case 2: return random.chance(0.1) ? 1 : 0;
    case 3: return 0.7;
    case 4: return std::ldexp(random.gaussian(), -150);
    case 5: return random.gaussian() * 1e37;
    default: return random.chance(0.5) ? random.uniform() : -random.uniform() * 1e-3;
  }
}

inline void draw_values(drawn_row& row, std::size_t columns, generator& random) {
  row.values.assign(columns, std::vector<double>(row.facts.keys.size()));
  for (auto& column : row.values) {
    int const family = static_cast<int>(random.whole(0, 6));
    for (double& v : column) v = static_cast<float>(value_of_family(family, random));
    if (row.facts.has_sink) column.back() = 0;
  }
}

/// A sink behind the keys, near them or far from them on either side.
inline void add_sink(row_facts& facts, std::vector<double>& scores, generator& random) {
  double const m = *std::max_element(scores.begin(), scores.end());
  double const t = m +
                   random.one_of({0.0, 1.0, -1.0, 5.0, -16.0, 30.0, 86.5, 88.0, 95.0, -87.0, -120.0, 700.0, 1e4, -1e5,
                                  -1e30, 1e38, -3e38}) +
                   random.gaussian();
  reference::key_facts sink;
  sink.index = reference::sink_index, sink.bias = t;
  facts.keys.push_back(sink), scores.push_back(t);
  facts.has_sink = true;
}

inline void drop_some(row_facts& facts, generator& random) {
  facts.drops = true;
  double const dropped = random.one_of({0.0, 0.25, 0.1, 0.9, 1 - 0x1p-20});
  facts.kept_factor = dropped > 0 ? 1 / (1 - dropped) * (1 + 0x1p-52) : 1;
}

inline std::int64_t drawn_count(generator& random) {
  return random.chance(0.15) ? random.whole(60, 200) : random.chance(0.6) ? random.whole(1, 12) : random.whole(1, 60);
}

/// x_j, π_j, Z and LSE of the scores, as a computation in doubles knows them: `width` is the relative width of x_j.
inline void fill_softmax(row_facts& facts, std::vector<double> const& scores, double width) {
  double const m = *std::max_element(scores.begin(), scores.end());
  double low_sum = 0, high_sum = 0;
  for (std::size_t j = 0; j < scores.size(); ++j) {
    auto& key = facts.keys[j];
    double const x = scores[j] - m;
    key.x_lower = x * (1 + width), key.x_upper = x * (1 - width);
    key.score_upper = std::abs(scores[j]) * (1 + 0x1p-52);
    low_sum += std::exp(key.x_lower), high_sum += std::exp(key.x_upper);
  }
  for (auto& key : facts.keys) {
    key.weight_lower = std::exp(key.x_lower) / high_sum * (1 - 0x1p-44);
    key.weight_upper = std::min(1.0, std::exp(key.x_upper) / low_sum * (1 + 0x1p-44) + 0x1p-1074);
  }
  facts.max_upper = std::abs(m);
  facts.normaliser_lower = std::max(1.0, low_sum * (1 - 0x1p-44));
  facts.lse_above_max = std::max(0.0, std::log(high_sum)) * (1 + 0x1p-44) + 0x1p-60;
  facts.lse_upper = std::abs(m) * (1 + 0x1p-52) + facts.lse_above_max;
}

/// The same of the keys without their sink.
inline void fill_keys_alone(row_facts& facts, std::vector<double> scores, double width) {
  double const t = scores.back();
  row_facts alone = facts;
  alone.keys.pop_back(), scores.pop_back();
  alone.has_sink = false;
  fill_softmax(alone, scores, width);
  double const lse = *std::max_element(scores.begin(), scores.end()) + alone.lse_above_max;
  double const open = (std::abs(lse) + std::abs(t)) * 0x1p-50 + alone.lse_above_max * (width + 0x1p-40);
  facts.keys_alone = {alone};
  facts.sink_above_lower = t - lse - open, facts.sink_above_upper = t - lse + open;
}

/// Moves some scores to where something changes: near −far, or to a weight near a midpoint of 8 or 11 bits.
inline void place_scores(row_facts& facts, std::vector<double>& scores, generator& random) {
  double const m = *std::max_element(scores.begin(), scores.end());
  double const far = random.one_of({9.7, 87.0, 708.0}), noise = std::pow(10, random.between(-9, -2));
  int const bits = random.one_of({8, 11});
  for (std::size_t j = 0; j < scores.size(); ++j) {
    auto& key = facts.keys[j];
    if (key.bias != 0 || scores[j] == m || random.chance(0.5)) continue;
    auto const steps = static_cast<double>(2 * random.whole(std::int64_t{1} << (bits - 1), (1LL << bits) - 1) + 1);
    double const midpoint = std::ldexp(steps, -bits - 1 - static_cast<int>(random.whole(0, 6)));
    scores[j] =
        m + (random.chance(0.3) ? -far * random.between(0.95, 1) : std::log(midpoint) + noise * random.gaussian());
    key.product_upper = std::max(key.product_upper, std::abs(scores[j]) / facts.scale_upper * (1 + 0x1p-20));
  }
}

/// Facts that need not come from a problem: scores and products of any size, masks, ties, far keys.
inline drawn_row random_facts(generator& random) {
  drawn_row row;
  row_facts& facts = row.facts;
  std::int64_t const n = drawn_count(random);
  facts.d = random.one_of({1, 2, 8, 64, 128});
  generator copy = random;
  facts.nonzero = copy.whole(0, facts.d);
  facts.scale_upper =
      random.chance(0.1) ? random.scaled(-40, 40) : random.one_of({1.0, 0.125, 0.08838834764831845, 3.0});
  facts.softcap = random.chance(0.15) ? random.one_of({0.5, 30.0, 50.0, 1e-3, 1e10, 1e18, 1e-40}) : 0;
  double score_size = random.one_of({1.0, 1.0, 1.0, 0.01, 6.0, 30.0, 200.0});
  if (random.chance(0.2)) score_size = std::exp(random.between(0, random.chance(0.5) ? 20 : 80));
  double const offset = random.chance(0.3) ? random.gaussian() * score_size * random.one_of({1.0, 10.0, 1000.0}) : 0;
  bool const ties = random.chance(0.2), padded = random.chance(0.05), masked = random.chance(0.3),
             biased = random.chance(0.3);
  double const mask = -std::pow(10, random.between(4, random.chance(0.2) ? 38.4 : 30));
  std::vector<double> scores;
  for (std::int64_t j = 0, index = 0; j < n; ++j) {
    reference::key_facts key;
    index += random.chance(0.8) ? 1 : random.whole(2, 5);
    key.index = index - 1;
    double product = offset + random.gaussian() * score_size;
    if (ties) product = std::round(product / score_size) * score_size;
    if (facts.softcap > 0) product = facts.softcap * std::tanh(product / facts.softcap);
    if (biased) key.bias = random.gaussian() * score_size;
    if (padded || (masked && random.chance(0.4))) key.bias = mask;
    if (padded && j > 0 && random.chance(0.05)) product = -1e12, key.bias = 0;  // below a mask of −10⁴ all by itself
    scores.push_back(product + key.bias);
    key.product_upper = std::abs(product) / facts.scale_upper * (1 + random.uniform()) + random.uniform() * 1e-3;
    if (key.bias == mask && random.chance(0.2))  // a bias of about S_j: is the key masked?
      key.product_upper =
          -mask / facts.scale_upper * (1 - std::ldexp(random.uniform(), -static_cast<int>(random.whole(2, 24))));
    key.key_norm = key.product_upper * random.between(0.1, 2);
    facts.query_norm = std::max(facts.query_norm, random.between(0.5, 4));
    if (random.chance(0.01)) key.key_norm = random.scaled(6, 14);
    facts.keys.push_back(key);
  }
  facts.m = facts.keys.back().index + random.whole(1, 4);
  if (random.chance(0.2)) facts.query_norm = random.scaled(6, 14);
  if (random.chance(0.03)) facts.lost_upper = random.scaled(-10, 127), facts.lost_norm = random.scaled(-10, 127);
  if (random.chance(0.01)) facts.finite_products = false;
  if (facts.softcap == 0 && random.chance(0.25)) place_scores(facts, scores, random);
  if (random.chance(0.25)) add_sink(facts, scores, random);
  if (random.chance(0.2)) drop_some(facts, random);
  double const width = random.chance(0.3) ? random.one_of({0x1p-30, 0x1p-50}) : 0;
  fill_softmax(facts, scores, width);
  if (facts.has_sink) fill_keys_alone(facts, scores, width);
  draw_values(row, 2, random);
  return row;
}

/// Up to 16 keys without a sink or dropout.
inline drawn_row tied_facts(generator& random) {
  for (;;) {
    drawn_row row = random_facts(random);
    if (row.facts.keys.size() <= 16 && !row.facts.has_sink && !row.facts.drops) return row;
  }
}

/// The facts of a small problem, from enclosures.
inline drawn_row problem_facts(generator& random) {
  drawn_row row;
  std::int64_t const n = random.chance(0.1) ? random.whole(20, 100) : random.whole(1, 16), d = random.whole(1, 8);
  tests::written<float> problem(n, d, 2);
  double const size = random.one_of({1.0, 1.0, 1e-4, 6.0, 30.0, 1e5, 1e12});
  for (float& x : problem.q.values) x = static_cast<float>(random.gaussian() * size);
  for (float& x : problem.k.values) x = static_cast<float>(random.gaussian());
  if (random.chance(0.2))
    for (std::size_t t = 0; t < problem.k.values.size(); ++t)
      problem.k.values[t] = problem.k.values[t % static_cast<std::size_t>(d)];
  if (random.chance(0.4)) {
    double const mask = -std::pow(10, random.between(0, 38));
    for (std::int64_t j = 0; j < n; ++j)
      problem.bias.values.push_back(random.chance(0.5) ? static_cast<float>(mask) : 0.0F);
  }
  if (random.chance(0.2)) problem.softcap = random.one_of({0.5, 3.0, 30.0, 1e10});
  if (random.chance(0.5)) problem.scale = random.one_of({1.0, 0.5, 0.1, -3.0});
  if (random.chance(0.25))
    problem.sink.values = {static_cast<float>(random.gaussian() * random.one_of({1.0, 10.0, 200.0, 1e30}))};
  if (random.chance(0.2)) {
    for (std::int64_t j = 0; j < n; ++j) problem.keep.values.push_back(random.chance(0.7) ? 1 : 0);
    problem.dropout = random.one_of({0.0, 0.25, 0.1, 0.9});
  }
  auto const instance = problem.instance();
  reference::enclosed_row<128, float> enclosed;
  reference::compiled::enclose_row(instance, 0, 0, 0, enclosed);
  reference::compiled::collect_facts(instance, enclosed, row.facts);
  draw_values(row, 2, random);
  return row;
}

}  // namespace attest::tests
