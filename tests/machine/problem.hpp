// Random and adversarial problems for the machine tier, every element type, small enough for the ball tier.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "problem/instance.hpp"
#include "tests/support/written.hpp"

namespace attest::tests {

template <class T>
struct machine_problem : written<T> {
  using written<T>::q, written<T>::k, written<T>::v, written<T>::bias, written<T>::mask;
  using written<T>::scale, written<T>::softcap, written<T>::band, written<T>::base;
  problem::sizes s;
  bool tame = true;  ///< moderate numbers only: the machine tier must answer every row that sees a key

  explicit machine_problem(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    auto const below = [&](std::uint64_t end) { return static_cast<std::int64_t>(random() % end); };
    auto const one_in = [&](std::uint64_t chance) { return random() % chance == 0; };
    s.b = 1 + below(2), s.hk = 1 + below(2), s.hq = s.hk * (1 + below(2));
    s.n = 1 + below(20), s.m = one_in(4) ? 100 + below(250) : 1 + below(40), s.d = 1 + below(20), s.dv = 1 + below(40);
    if (s.m > 100) s.b = s.hk = s.hq = 1, s.n = 2;
    bool const narrow = sizeof(T) == 2;
    constexpr bool wide = sizeof(T) == 8;
    double const largest = wide ? 1e308 : std::is_same_v<T, problem::f16> ? 60000 : 1e38;
    double const score_size = std::pow(10.0, static_cast<double>(below(narrow ? 5 : 7)) - 3);
    double const value_size = wide && one_in(3)
                                  ? std::pow(10.0, static_cast<double>(below(560)) - 300)
                                  : std::pow(10.0, static_cast<double>(below(narrow ? 6 : 60)) - (narrow ? 3 : 40));
    tame = score_size < 1e3;
    q = owned<T>({s.b, s.hq, s.n, s.d}), k = owned<T>({s.b, s.hk, s.m, s.d}), v = owned<T>({s.b, s.hk, s.m, s.dv});
    // In f64 also factors far from 1, and scores so small that products have rests below the smallest subnormal.
    double const shift = wide && one_in(4) ? std::pow(10.0, static_cast<double>(below(560)) - 290) : 1;
    double const back = shift < 1 && one_in(2) ? 1e-20 : 1 / shift;
    for (T& x : q.values) x = element_from<T>(normal(random) * score_size * shift);
    for (T& x : k.values) x = element_from<T>(normal(random) * back);
    double const offset = one_in(3) ? 1000 * value_size : 0;
    auto const kind = below(5);
    for (T& x : v.values) {
      double const drawn = kind == 0 ? 1 : kind == 1 ? static_cast<double>(below(3) - 1) : normal(random);
      x = element_from<T>(std::fmin(largest, std::fmax(-largest, drawn * value_size + offset)));
    }
    auto const ties = below(4);  // equal keys, or every key the same
    for (std::int64_t row = 0; ties < 2 && row < s.b * s.hk * s.m; ++row)
      if (ties == 0 || one_in(2))
        for (std::int64_t t = 0; t < s.d; ++t) k.values[at(row, t)] = k.values[at(0, t)];
    if (one_in(3)) scale = one_in(4) ? 0.0 : one_in(3) ? -0.75 : normal(random);
    if (one_in(3)) band = {below(9) - 4, below(8) - 1, below(8) - 1};
    if (one_in(3)) {
      mask = owned<std::uint8_t>({s.b, s.hq, s.n, s.m});
      for (auto& x : mask.values) x = !one_in(3);
    }
    if (one_in(2)) {
      bias = owned<T>({s.b, s.hq, s.n, s.m});
      bool const cut = one_in(3);
      double const infinity = std::numeric_limits<double>::infinity();
      for (T& x : bias.values) x = element_from<T>(cut && one_in(3) ? -infinity : normal(random) * 4);
    }
    if (one_in(4)) softcap = one_in(3) ? 1 : one_in(2) ? 50 : 0.125;
    if (scale && softcap == 0 && one_in(2)) base = problem::log_base::two;
    if (base == problem::log_base::two && !bias.is_absent() && one_in(2)) become_merge(random);
    if (one_in(8)) spoil(random);
  }

  /// No depth, and scores that are biases of any size: errors of products hide none of theirs.
  void become_merge(std::mt19937_64& random) {
    std::normal_distribution<double> normal;
    s.d = 0, q = owned<T>({s.b, s.hq, s.n, 0}), k = owned<T>({s.b, s.hk, s.m, 0});
    double const size = std::pow(10.0, static_cast<double>(random() % 4)), offset = random() % 2 ? size : 0;
    tame = true;
    for (T& x : bias.values) x = element_from<T>(normal(random) + offset);
  }

  /// Infinities and NaN here and there.
  void spoil(std::mt19937_64& random) {
    tame = false;
    double const infinity = std::numeric_limits<double>::infinity(), bad[] = {infinity, -infinity, std::nan("")};
    for (auto* values : {&q.values, &k.values, &v.values})
      if (random() % 2 && !values->empty()) (*values)[random() % values->size()] = element_from<T>(bad[random() % 3]);
  }

  std::size_t at(std::int64_t row, std::int64_t t) const { return static_cast<std::size_t>(row * s.d + t); }
};

}  // namespace attest::tests
