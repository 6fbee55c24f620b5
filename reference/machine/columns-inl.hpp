// Output columns of one row: o_c, its radius and its bound. Compiled once for every SIMD target.
//
// Two sweeps over the keys, with lanes along the columns: the first computes o and the sizes of the values, the second
// the distances of the values from o. The bound needs both: Φ_c, and A_c of the Theorem of docs/bound.md.
#if defined(ATTEST_REFERENCE_MACHINE_COLUMNS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_REFERENCE_MACHINE_COLUMNS_INL_HPP
#undef ATTEST_REFERENCE_MACHINE_COLUMNS_INL_HPP
#else
#define ATTEST_REFERENCE_MACHINE_COLUMNS_INL_HPP
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "problem/instance.hpp"
#include "reference/attention/dropout.hpp"
#include "reference/machine/bounds-inl.hpp"
#include "reference/machine/workspace.hpp"

HWY_BEFORE_NAMESPACE();
namespace attest::reference::machine::HWY_NAMESPACE {

/// Keys are summed in chunks, and the sums of chunks are added: fewer roundings on one path.
inline constexpr std::size_t chunk = 128;

inline std::size_t heaviest_of(key_columns const& keys, std::size_t n) {
  auto const first = keys.weight.begin();
  return static_cast<std::size_t>(std::max_element(first, first + static_cast<std::ptrdiff_t>(n)) - first);
}

template <class T>
struct column_task {
  key_columns const& keys;
  std::size_t n;
  double Z, mean_error;
  row_terms const& terms;
  double sum_eta;
  bool all_keys;  ///< every key is visible: memory.value_sum, value_total and value_largest apply
  workspace& memory;
  std::size_t heaviest = heaviest_of(keys, n);  ///< a key with the largest weight

  /// The row of V of the key at position j.
  HWY_INLINE T const* row(std::size_t j) const { return static_cast<T const*>(keys.value[j]); }
};

/// (h + 4)·1.01u, h = chunk + n/chunk + (sums of Z): the relative rounding error of o, given the weights of n keys.
inline double column_rounding(std::size_t keys) {
  auto const n = static_cast<double>(keys);
  double const roundings = static_cast<double>(chunk) + n / static_cast<double>(chunk) + 2 +
                           n / static_cast<double>(lane_count) + static_cast<double>(2 * lane_count) + 2;
  return (roundings + 4) * 0x1p-53 * 1.01;
}

/// Columns c ≤ · < c + At·(lanes of R). With DoubleWords, memory.o + memory.o_low ± memory.o_radius is known already
/// (double_word/columns-inl.hpp), and only the bound is computed.
/// Ensures   |o − o_c| ≤ radius = ε̄·(max_j|v_j| + |o| + r) + r, r = (h + 4)·1.01u·(ā + |o|) + n·2⁻¹⁰⁷³, where ε̄ is
///           the mean relative error of the weights and h = chunk + n/chunk + (sums of Z). With a sink, under which all
///           outputs may be tiny, the radius comes from enclosures-inl.hpp, which weights each |v_j|
/// Why       with õ = Σŵ_jv_j/Σŵ_j:  o_c − õ = Σ(e_j − ŵ_j)(v_j − õ)/Σe_j, at most ε̄·max|v_j − õ| by find_weights;
///           the computed o differs from õ by the rounding of two sums and a quotient, r
template <bool DoubleWords, class R, std::size_t At, class T>
HWY_INLINE void sweep(column_task<T> const& task, std::size_t c) {
  constexpr std::size_t step = std::is_same_v<R, double> ? 1 : lane_count;
  key_columns const& keys = task.keys;
  row_terms const& terms = task.terms;
  R total[At], mid[At], low[At];
  column_sizes<R> sizes[At];
  for (std::size_t a = 0; a < At; ++a) {
    total[a] = R(0), sizes[a] = column_sizes<R>{};
    if (task.all_keys) {
      sizes[a].sum = load<R>(&task.memory.value_sum[c + a * step]);
      sizes[a].total = load<R>(&task.memory.value_total[c + a * step]);
      sizes[a].largest = load<R>(&task.memory.value_largest[c + a * step]);
    }
  }
  if (!task.all_keys)
    for (std::size_t j = 0; j < task.n; ++j)
      for (std::size_t a = 0; a < At; ++a) sizes[a].add_value(load_as<R>(task.row(j) + c + a * step));
  for (std::size_t begin = 0; begin < task.n; begin += chunk) {
    std::size_t const end = std::min(task.n, begin + chunk);
    R part[At];
    for (std::size_t a = 0; a < At; ++a) part[a] = R(0);
    for (std::size_t j = begin; j < end; ++j) {
      T const* const v = task.row(j) + c;
      R const weight(keys.weight[j]), shared(keys.shared_gamma[j]);
      R const lower(keys.weight_lower[j]), upper(keys.weight_upper[j]);
      for (std::size_t a = 0; a < At; ++a) {
        R const x = load_as<R>(v + a * step);
        if constexpr (!DoubleWords) part[a] = mul_add(weight, x, part[a]);
        sizes[a].add(absolute(x), lower, upper, shared);
      }
    }
    for (std::size_t a = 0; a < At; ++a) total[a] = total[a] + part[a];
  }
  R const Z(task.Z);
  for (std::size_t a = 0; a < At; ++a) {
    sizes[a].finish(terms);
    sizes[a].heaviest = load_as<R>(task.row(task.heaviest) + c + a * step);
    mid[a] = DoubleWords ? load<R>(&task.memory.o[c + a * step]) : total[a] / Z;
    low[a] = DoubleWords ? load<R>(&task.memory.o_low[c + a * step]) : R(0);
  }
  auto const off = [&](R const& x, std::size_t a) {
    if constexpr (DoubleWords) return absolute((x - mid[a]) - low[a]);
    else return absolute(x - mid[a]);
  };

  column_deviations<R> deviations[At];
  column_clauses<R> clauses[At];
  R lowest[At], highest[At];
  for (std::size_t a = 0; a < At; ++a) {
    deviations[a] = column_deviations<R>{}, clauses[a] = column_clauses<R>{};
    lowest[a] = R(infinity), highest[a] = R(-infinity);
  }
  if (terms.theorem_is_sharpest) {
    for (std::size_t j = 0; j < task.n; ++j) {
      T const* const v = task.row(j) + c;
      R const P(keys.P[j]), variance(keys.variance[j]);
      for (std::size_t a = 0; a < At; ++a) {
        R const x = load_as<R>(v + a * step);
        deviations[a].add(off(x, a), absolute(absolute(x) - sizes[a].middle), P, variance);
      }
    }
  } else {
    for (std::size_t j = 0; j < task.n; ++j) {
      T const* const v = task.row(j) + c;
      R const P(keys.P[j]), variance(keys.variance[j]), in_J(keys.in_J[j]), eta(keys.eta[j]);
      for (std::size_t a = 0; a < At; ++a) {
        R const x = load_as<R>(v + a * step);
        R const distance = off(x, a), size_distance = absolute(absolute(x) - sizes[a].middle);
        deviations[a].add(distance, size_distance, P, variance);
        clauses[a].add(distance, size_distance, in_J, eta);
        lowest[a] = smaller(lowest[a], x);
        highest[a] = larger(highest[a], x);
      }
    }
  }

  known_sums<R> known[At];
  for (std::size_t a = 0; a < At; ++a) known[a] = known_sums<R>{};
  known_weights const& weights = task.memory.known;
  if (weights.hold)
    for (known_weights::group const& at : weights.walk) {
      for (std::size_t j = at.begin; j < at.end; ++j) {
        T const* const v = task.row(j) + c;
        R const center(weights.center[j]), deviation(weights.deviation[j]);
        for (std::size_t a = 0; a < At; ++a) known[a].add(load_as<R>(v + a * step), center, deviation);
      }
      for (std::size_t a = 0; a < At; ++a) known[a].end_group(static_cast<double>(at.end - at.begin));
    }

  R errors[At];  // Σŵ_jη_j|v_jc|
  for (std::size_t a = 0; a < At; ++a) errors[a] = R(0);
  if (!DoubleWords && terms.has_sink)
    for (std::size_t j = 0; j < task.n; ++j) {
      T const* const v = task.row(j) + c;
      R const error(keys.weight[j] * keys.weight_error[j]);
      for (std::size_t a = 0; a < At; ++a) errors[a] = mul_add(error, absolute(load_as<R>(v + a * step)), errors[a]);
    }

  auto const n = static_cast<double>(task.n);
  double const rounding = column_rounding(task.n), epsilon = task.mean_error;
  workspace& memory = task.memory;
  for (std::size_t a = 0; a < At; ++a) {
    R const r = (sizes[a].average + absolute(mid[a])) * rounding + n * 0x1p-1073;
    R const radius = DoubleWords      ? load<R>(&memory.o_radius[c + a * step])
                     : terms.has_sink ? errors[a] / Z * 1.02 + (absolute(mid[a]) + r) * epsilon + r * 1.01 +
                                            (sizes[a].largest + absolute(mid[a])) * (n * 4 * below_exp_lowest)
                                      : ((sizes[a].largest + absolute(mid[a]) + r) * epsilon + r) * (1 + 0x1p-40);
    auto const beside =
        weights.hold ? known_bound(terms, weights, known[a], sizes[a].largest) : known_output<R>{R(0), R(infinity)};
    std::size_t const at = c + a * step;
    column_alone<R> alone{};
    if (terms.factor.asked)
      alone = {load<R>(&memory.alone.bound[at]), load<R>(&memory.alone.warning[at]), load<R>(&memory.alone.o_size[at]),
               R(0.5) < load<R>(&memory.alone.judged[at]), R(0.5) < load<R>(&memory.alone.by_theorem[at])};
    auto const bound =
        output_bound(terms, mid[a], radius, sizes[a], deviations[a], clauses[a], task.sum_eta, beside, alone);
    auto const usable = sizes[a].sum < R(0x1p1000);  // no infinity, no NaN
    if constexpr (!DoubleWords) store(mid[a], &memory.o[at]);
    store(select(usable, radius, R(infinity)), &memory.o_radius[at]);
    store(bound.size, &memory.o_bound[at]);
    store(bound.warning, &memory.o_warning[at]);
    store(beside.center, &memory.o_known[at]);
    store(beside.size, &memory.o_known_bound[at]);
    store(lowest[a], &memory.lowest[at]);
    store(highest[a], &memory.highest[at]);
    double judged[step], by_theorem[step], dull[step];
    store(as_number(bound.judged), judged);
    store(as_number(bound.by_theorem), by_theorem);
    store(as_number(bound.dull), dull);
    for (std::size_t i = 0; i < step; ++i) {
      memory.o_dull[at + i] = dull[i] > 0;
      memory.o_by[at + i] = !terms.judges() || judged[i] < 1 ? judged_by::nothing
                            : by_theorem[i] > 0              ? judged_by::theorem
                                                             : judged_by::dominance;
    }
  }
}

/// Σ_j |v_jc|, Σ_j v_jc and max_j |v_jc| over all keys of an entry, for the rows to which all of them are visible.
/// Requires  their rows at the first places of memory.keys.value
template <class T, class R>
HWY_INLINE void measure(std::size_t c, std::size_t m, workspace& memory) {
  column_sizes<R> sizes{};
  for (std::size_t j = 0; j < m; ++j) sizes.add_value(load_as<R>(static_cast<T const*>(memory.keys.value[j]) + c));
  store(sizes.sum, &memory.value_sum[c]);
  store(sizes.total, &memory.value_total[c]);
  store(sizes.largest, &memory.value_largest[c]);
}
template <class T>
void measure_values(problem::instance<T> const& p, std::int64_t b, std::int64_t hk, workspace& memory) {
  if (memory.measured_b == b && memory.measured_head == hk) return;
  auto const dv = static_cast<std::size_t>(p.size().dv), m = static_cast<std::size_t>(p.keys(b));
  std::size_t c = 0;
  for (; c + lane_count <= dv; c += lane_count) measure<T, lanes>(c, m, memory);
  for (; c < dv; ++c) measure<T, double>(c, m, memory);
  memory.measured_b = b, memory.measured_head = hk;
}

/// o/(1 − p), its radius, and min and max_j v_jc/(1 − p) outward, into memory.kept_o, …, lowest and highest.
/// Why       1 − p, its reciprocal and the product round once each: 3.1u
template <class T>
void scale_outputs(problem::instance<T> const& p, bool bounds, workspace& memory) {
  double const dropped = dropout_of(p);
  if (!(dropped > 0)) return;
  double const factor = 1 / (1 - dropped);
  for (auto* array : {&memory.kept_o, &memory.kept_radius}) array->resize(memory.o.size());
  for (std::size_t c = 0; c < memory.o.size(); ++c) {
    double const o = memory.kept_o[c] = memory.o[c] * factor, radius = memory.o_radius[c];
    bool const zero = radius == 0 && o == 0;
    memory.kept_radius[c] = zero ? 0 : radius * factor * (1 + 0x1p-49) + (absolute(o) * 0x1p-51 + 0x1p-1073);
    if (!bounds) continue;
    double const low = memory.lowest[c] * factor, high = memory.highest[c] * factor;
    memory.lowest[c] = rounded_down(low - absolute(low) * 0x1p-50);
    memory.highest[c] = rounded_up(high + absolute(high) * 0x1p-50);
  }
}

template <bool DoubleWords = false, class T>
void sweep_columns(column_task<T> const& task, std::size_t dv) {
  std::size_t c = 0;
  for (; c + 2 * lane_count <= dv; c += 2 * lane_count) sweep<DoubleWords, lanes, 2>(task, c);
  for (; c + lane_count <= dv; c += lane_count) sweep<DoubleWords, lanes, 1>(task, c);
  for (; c < dv; ++c) sweep<DoubleWords, double, 1>(task, c);
}

}  // namespace attest::reference::machine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
