// Facts of rows drawn at random, for bound_rows.cpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "reference/attention/attention.hpp"
#include "reference/bound/bound.hpp"
#include "reference/compiled/row.hpp"
#include "tests/reference/drawn_models.hpp"
#include "tests/support/owned.hpp"
#include "tests/support/written.hpp"

namespace attest::tests {

using reference::row_facts;

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

/// Any row, without a sink or dropout.
inline drawn_row plain_facts(generator& random) {
  for (;;) {
    drawn_row row = random.chance(0.7) ? random_facts(random) : problem_facts(random);
    if (!row.facts.has_sink && !row.facts.drops) return row;
  }
}

}  // namespace attest::tests
