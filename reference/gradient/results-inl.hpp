// docs/bound_backward.md, Lemmas 9 to 13: elements from the sums of a group. Definitions of source.hpp, for the unit
// that instantiates them.
#pragma once

#include <vector>

#include "reference/gradient/source.hpp"

namespace attest::reference::gradient_detail {

/// Lemma 10, form (c), at column t: |σ|{Σ_j(A_j(|y_j| + e_Δ) + P⁺_jN_j)|k_jt − μ| + e_Δ·off + |μ|·[ε_w +
/// Σ_jP⁺_j(N_j − N⁰_j) + (|Δ| + e_Δ)(r + u_delta) + ω_delta]} and what stands beside |k_jt|. Any μ will do: `mean` is
/// within `off` of Σ_jπ_jk_jt. A sink has k = 0.
template <class T>
double source_state<T>::centred_bound(std::size_t t, double mean, double off) const {
  double away = 0, beside = 0, extra = 0;
  for (auto const& key : row.keys) {
    extra += product(key.P, key.N_beside_N0);
    if (key.j == sink_index) {
      away += product(product(key.A, key.y.size() + row.e_delta) + product(key.P, key.N), absolute(mean));
      continue;
    }
    auto const j = static_cast<std::size_t>(key.j);
    double const x = k[j * d_stride + t];
    away += product(row_centred[j], absolute(x - mean)), beside += product(row_beside[j], absolute(x));
  }
  auto const& model = terms.backward;
  double const held =
      row.delta_rounding + extra + product(row.delta.size() + row.e_delta, row.r + model.u_delta) + model.omega_delta;
  double const sum = away + product(row.e_delta, off) + product(absolute(mean), held);
  double const bound = (product(terms.scale_upper, sum) + beside) * (1 + 0x1p-46);
  return bound == bound ? bound : infinity;
}

/// Lemmas 10, 13: row i of dQ.
template <class T>
void source_state<T>::write_dQ() {
  gradient_element* const to = result_of_row(row.h, row.i);
  if (!to) return;
  gradient_kinds const& kinds = row.kinds;
  if (!kinds.contributes || kinds.row != value_kind::finite) {
    bool const none = !kinds.contributes && kinds.row == value_kind::finite;
    for (std::size_t t = 0; t < d; ++t) to[t] = {0, 0, none ? 0 : infinity, kinds.row, none};
    return;
  }
  auto const real = row.keys.size() - (row.has_sink ? 1 : 0);
  std::size_t const row_first = real > 0 ? static_cast<std::size_t>(row.keys.front().j) : 0;
  std::size_t const row_last = real > 0 ? static_cast<std::size_t>(row.keys[real - 1].j) + 1 : 0;
  multiply_keys({row_dX.data(), row_slope.data(), row_bound.data(), row_common.data(), sum_dX.data(), sum_slope.data(),
                 sum_bound.data(), sum_common.data()},
                k.data(), row_first, row_last, d_stride);
  double const n = row.n(), omega = terms.forward.format.omega, above_one = terms.scale_or_one;
  double const slack = 1 + (16 * n + 8 * terms.d + 1024) * 0x1p-53, scale = terms.scale_upper;
  auto const path = path_of_dX(terms, n, {1, found.keys}, terms.backward.part_keys);
  double const lost_in_sums = 4 * omega * n + 2 * omega * total_dX + path.parts * terms.backward.omega_grad;
  double const lost = (1 + path.psi) * (above_one * lost_in_sums + 2 * omega);
  for (std::size_t t = 0; t < d; ++t) {
    // Δ̂ is off by one number for all keys, which meets the mean key.
    double const mean_off = (slope_off + slope_sum * 0x1p-50) * largest_k[t] * slack;
    double const mean = (absolute(sum_slope[t]) + mean_off) * slack;
    double const off = (smaller(product(sum_off, sum_bound[t]), product(common_off, sum_common[t])) +
                        product(scale, product(row.alone ? 0 : row.delta.off, mean))) *
                           slack +
                       n * 0x1p-1060;
    double const x = absolute(sum_dX[t]) + off;
    double const e_mean = terms.backward.delta_shared ? product(row.e_delta, mean) : 0;
    double const plain_bound = sum_bound[t] + product(scale, e_mean);
    double const common =
        product(exp_less_one_upper(row.lambda), x) + sum_common[t] + product(scale, product(row.growth, e_mean));
    double least = smaller(common == common ? common : infinity, plain_bound == plain_bound ? plain_bound : infinity);
    if (terms.centred) least = smaller(least, centred_bound(t, sum_slope[t], mean_off));
    double const b = (least + lost) * slack + n * 0x1p-1060;
    value_kind kind = value_kind::finite;
    if (!plain[static_cast<std::size_t>(row.i - first_row)])
      for (std::size_t j = 0; j < keys; ++j)
        if (!k_is_finite[j] && visible(*p, row.b, row.h, row.i, static_cast<std::int64_t>(j)) &&
            !value_of(p->k()(row.b, found.g, static_cast<std::int64_t>(j), static_cast<std::int64_t>(t))).is_finite())
          kind = value_kind::unspecified;
    double const largest = above_one * total_dX * largest_k[t] * slack;
    double const bound = row.judged ? stored_bound(terms, x, b, largest, terms.backward.part_keys > 0) : infinity;
    double const radius = row.judged ? off : infinity;
    to[t] = {rounded_down(sum_dX[t] - radius), rounded_up(sum_dX[t] + radius), bound * slack, kind, false};
  }
}

/// Lemmas 9, 11, 12, 13: dK and dV.
template <class T>
void source_state<T>::write_keys() {
  auto const& model = terms.backward;
  double const omega = terms.forward.format.omega, above_one = terms.scale_or_one;
  double const G = static_cast<double>(found.heads);
  bool const heads_are_stored = found.heads > 1 && (model.u_head > 0 || model.omega_head > 0);
  double const head_growth = 1 + gamma_below_quarter(G, terms.forward.format.u);
  for (std::size_t j = 0; j < kept_keys; ++j) {
    key_totals const& total = totals[j];
    double const n = total.visible, slack = 1 + (16 * n + 8 * (terms.d + terms.dv) + 1024) * 0x1p-53;
    auto const write = [&](column_sums const& sums, std::size_t stride, std::size_t columns, std::size_t t,
                           double ratio, double lost, double largest, gradient_element& to) {
      value_kind const kind = sums.kind[j * columns + t];
      if (kind != value_kind::finite) {
        to = {0, 0, infinity, kind, false};
        return;
      }
      if (total.live == 0) {
        to = {0, 0, 0, kind, true};
        return;
      }
      std::size_t const at = j * stride + t;
      double const mid = sums.mid[at], off = product(ratio, sums.bound[at]) * slack + n * 0x1p-1060;
      double const x = absolute(mid) + off;
      double b = (sums.bound[at] + lost) * slack + n * 0x1p-1060;
      bool held = true;
      if (heads_are_stored) {  // Lemma 12
        double const sizes = (sums.head_sizes[at] + off + b) * slack;
        held = sizes < terms.stored;
        b = (b + (model.u_head * sizes + G * model.omega_head) * head_growth) * slack;
      }
      double const bound = total.judged && held ? stored_bound(terms, x, b, largest, model.part_rows > 0) : infinity;
      to = {total.judged ? rounded_down(mid - off) : -infinity, total.judged ? rounded_up(mid + off) : infinity,
            bound * slack, kind, false};
    };
    double const lost_V =
        (1 + total.path_V.psi) *
        (total.path_V.parts * model.omega_grad + terms.omega_drop * total.weights +
         (2 * omega * (2 * n + 1) + (terms.flush + (terms.drop > 0 ? 1 : 0)) * 2 * omega * (total.weights + n)) *
             terms.drop_growth);
    double const lost_in_K = 4 * omega * n + 2 * omega * total.terms_of_dX + total.path_K.parts * model.omega_grad;
    double const lost_K = (1 + total.path_K.psi) * (above_one * lost_in_K + 2 * omega);
    double const largest_V = total.weights * terms.drop_growth * largest_dO * slack;
    double const largest_K = above_one * total.terms_of_dX * largest_q * slack;
    for (std::size_t t = 0; t < d; ++t)
      write(sums_K, d_stride, d, t, total.off_K, lost_K, largest_K, found.of_k[j * d + t]);
    for (std::size_t c = 0; c < dv; ++c)
      write(sums_V, dv_stride, dv, c, total.off_V, lost_V, largest_V, found.of_v[j * dv + c]);
  }
}

/// Lemma 13: what was summed, in the order of the elements.
inline shared_gradient finished(gradient_terms const& terms, std::array<std::int64_t, 4> const& shape,
                                std::vector<shared_sum> const& sums) {
  shared_gradient result{shape, {}};
  for (shared_sum const& sum : sums) {
    gradient_element element;
    element.kind = sum.kind;
    if (sum.kind == value_kind::finite && sum.count == 0) {
      element.bound = 0, element.no_terms = true;
    } else if (sum.kind == value_kind::finite) {
      double const H = sum.count - 1, slack = 1 + (16 * sum.count + 1024) * 0x1p-53;
      double const off = (sum.off + sum.size * (sum.count * 0x1p-53)) * slack + sum.count * 0x1p-1070;
      double const g = gamma_below_quarter(H, terms.forward.format.u);
      double const b = (product(sum.error, 1 + g) + product(g, sum.size) + 2 * H * terms.forward.format.omega) * slack;
      element.lower = rounded_down(sum.mid - off), element.upper = rounded_up(sum.mid + off);
      element.bound =
          sum.judged ? stored_bound(terms, absolute(sum.mid) + off, b, sum.size + b, false) * slack : infinity;
    }
    result.element.push_back(element);
  }
  return result;
}

}  // namespace attest::reference::gradient_detail
