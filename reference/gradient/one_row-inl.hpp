// One row of a group: its numbers, and the terms that it adds to every sum. Definitions of source.hpp, for the unit
// that instantiates them.
#pragma once

#include <algorithm>

#include "reference/gradient/source.hpp"

namespace attest::reference::gradient_detail {

/// The products of the row with dO, the lemmas, and the row's part of every sum.
template <class T>
void source_state<T>::finish_row(std::size_t at) {
  problem::sizes const& s = p->size();
  row.dO.assign(dO_compact.begin() + static_cast<std::ptrdiff_t>(at * dv),
                dO_compact.begin() + static_cast<std::ptrdiff_t>((at + 1) * dv));
  if (terms.mode != gradient_mode::own) {
    row.recorded_o.assign(dv, 0);
    if (inputs.o.present)
      for (std::size_t c = 0; c < dv; ++c) {
        T const stored = inputs.o(row.b, row.h, row.i, static_cast<std::int64_t>(c));
        row.recorded_o[c] = value_of(stored).is_finite() ? finite_double(stored) : infinity;
      }
    auto const stored = static_cast<double>(inputs.lse(row.b, row.h, row.i, 0));
    row.recorded_lse = {stored, 0};
    if (inputs.lse_base == problem::log_base::two) {
      constexpr double ln2 = 0x1.62e42fefa39efp-1;  // within 2⁻⁵⁴ of ln 2
      row.recorded_lse = {stored * ln2, absolute(stored) * 0x1p-53 + 0x1p-1074};
    }
    if (terms.mode == gradient_mode::local)
      row.kinds =
          with_recorded(row.kinds, absolute(stored) < infinity, kind_of_row(inputs.o.row(row.b, row.h, row.i), s.dv));
  }
  bool const lost_in_range = std::ranges::all_of(row.without_weight, [&](std::int64_t j) {
    return 1.25 * dO_V_size[at * key_stride + static_cast<std::size_t>(j)] < terms.limit;
  });
  if (!lost_in_range && !row.kinds.contributes) row.kinds.row = sum_of_kinds(row.kinds.row, value_kind::unspecified);
  if (!row.kinds.contributes || row.kinds.nan_scores || row.kinds.open_weights) {
    add_kinds();
    return write_dQ();
  }
  bool const finite = row.kinds.row == value_kind::finite;
  row.dO_norm = 0;
  for (double& x : row.dO) row.dO_norm += absolute(x), x = finite ? x : 0;
  row.dO_norm *= 1 + (terms.dv + 1) * 0x1p-52;
  if (!finite) std::ranges::fill(row.recorded_o, 0.0);
  for (auto& key : row.keys) {
    if (key.j == sink_index || !finite) continue;
    auto const j = static_cast<std::size_t>(key.j);
    double const W = dO_V[at * key_stride + j];
    double const size = dO_V_size[at * key_stride + j] * (1 + (terms.dv + 2) * 0x1p-52) + terms.dv * 0x1p-1073;
    if (key.dropped) {
      key.product_size = size * terms.kept_upper;
      continue;
    }
    double const off = size * (roundings_of(dv, chunk_of_columns) * 0x1p-53) * (1 + 0x1p-40) + terms.dv * 0x1p-1073;
    key.product = {W, off}, key.product_size = size, key.value_norm = value_norm[j];
    if (row.scalars.drops && terms.kept_upper > 1) {
      key.product = {W * terms.kept, (off * terms.kept_upper + absolute(W) * terms.kept_off) * (1 + 0x1p-50) +
                                         absolute(W * terms.kept) * 0x1p-52 + 0x1p-1073};
      key.product_size = size * terms.kept_upper * (1 + 0x1p-50);
    }
  }
  evaluate(terms, row);
  if (observe) observe(row);
  if (!finite) {  // dV alone is judged, which rests on the weights
    row.judged = row.in_range && (terms.mode != gradient_mode::own || row.by_theorem);
    for (auto const& key : row.keys)
      row.judged = row.judged && key.P < 0x1p60 && key.P * terms.drop_growth < terms.forward.p_limit;
  }
  row.judged = row.judged && lost_in_range;
  add_row(at);
  if (!finite || !row.without_weight.empty() || !plain[at]) add_kinds();
  write_dQ();
  add_shared();
}

/// The row's terms of dK and dV of one key.
template <class T>
void source_state<T>::add_key(std::size_t at, gradient_key const& key, std::size_t of_key, double rows_h) {
  bool const finite = row.kinds.row == value_kind::finite;
  double const scale = terms.scale_upper, omega = terms.forward.format.omega;
  key_totals& total = totals[of_key];
  std::size_t const place = of_key * block_of_rows + at;
  first_key = std::min(first_key, of_key), last_key = std::max(last_key, of_key + 1);
  total.live += 1, total.judged = total.judged && row.judged;
  total.weights += key.P;
  double const weight = key.weight.size();
  if (!key.dropped) {  // Lemma 9
    double const psi = total.path_V.psi;
    double const lost = terms.forward.omega_p + terms.flush * 2 * omega;
    double const e = ((key.A * (1 + psi) + product(psi, weight)) * terms.kept_upper +
                      (1 + psi) * (lost * terms.drop_growth + terms.omega_drop)) *
                     (1 + 0x1p-46);
    weight_V[place] = key.weight.mid * terms.kept;
    double const off = (key.weight.off * terms.kept_upper + absolute(key.weight.mid) * terms.kept_off +
                        weight_V[place] * (rows_h * 0x1p-53)) *
                           (1 + 0x1p-40) +
                       0x1p-1073;
    error_V[place] = row.judged ? e : 0;
    total.off_V = larger(total.off_V, e > 0 ? off / e : infinity);
  }
  if (!finite) return;
  total.terms_of_dX += key.dX.size() + key.error_x;
  // Lemma 11: |σ|e^K + (1 + ψ)σ⁺(ν^X + 2ω)
  double const w = weight * smaller(1, key.slope.size());
  double const lost = terms.scale_or_one * (key.nu_x + 2 * omega);
  double const psi_K = total.path_K.psi;
  double const e_K =
      (product(scale, error_of_term(row, key, key.A, key.P, psi_K) + product(w, row.e_delta)) + (1 + psi_K) * lost) *
      (1 + 0x1p-46);
  double const dX = key.dX.mid * terms.scale;
  double const off_X = (key.dX.off * scale + absolute(key.dX.mid) * terms.scale_off) * (1 + 0x1p-50) +
                       absolute(dX) * 0x1p-53 + 0x1p-1073;
  double const off_K = (off_X + absolute(dX) * (rows_h * 0x1p-53)) * (1 + 0x1p-40);
  weight_K[place] = dX, error_K[place] = row.judged ? e_K : 0;
  total.off_K = larger(total.off_K, e_K > 0 ? off_K / e_K : infinity);
}

/// The row's terms of dK and dV, and its factors for dQ.
template <class T>
void source_state<T>::add_row(std::size_t at) {
  std::ranges::fill(row_dX, 0.0), std::ranges::fill(row_slope, 0.0), std::ranges::fill(row_bound, 0.0);
  for (auto* array : {&row_common, &row_centred, &row_beside}) std::ranges::fill(*array, 0.0);
  bool const finite = row.kinds.row == value_kind::finite;
  double const scale = terms.scale_upper, above_one = terms.scale_or_one;
  double const omega = terms.forward.format.omega, n = roundings_of(keys, chunk_of_keys);
  // Of a sum over rows: the product, the chain of a block, the sums of blocks, the sums of heads. Adding to 0 is exact.
  double const rows_h =
      wanted ? block_of_rows + runs + 2 * static_cast<double>(found.heads)
             : roundings_of(static_cast<std::size_t>(found.queries), block_of_rows) +
                   static_cast<double>(found.heads - 1) * (static_cast<double>(found.queries) / block_of_rows + 2);
  double const count = row.n();
  auto const path_Q = path_of_dX(terms, count, {1, found.keys}, terms.backward.part_keys);
  sum_off = common_off = 0, total_dX = 0, slope_off = 0, slope_sum = 0;
  bool const has_result = result_of_row(row.h, row.i) != nullptr;
  for (auto const& key : row.keys) {
    if (key.j == sink_index) continue;
    auto const j = static_cast<std::size_t>(key.j);
    double const weight = key.weight.size();
    if (place_of_key[j] >= 0) add_key(at, key, static_cast<std::size_t>(place_of_key[j]), rows_h);
    if (!finite) continue;
    total_dX += key.dX.size() + key.error_x;
    if (!has_result) continue;
    double const w = weight * smaller(1, key.slope.size());
    double const lost = above_one * (key.nu_x + 2 * omega);
    double const dX = key.dX.mid * terms.scale;
    // Lemma 10: (a) and (b), with what underflows beside a key.
    double const A_common = key.piT + product(row.growth, key.zeta);
    double const beside = terms.backward.delta_shared ? 0 : product(w, row.e_delta);
    double const f = error_of_term(row, key, key.A, key.P, path_Q.psi) + beside;
    double const f_common = error_of_term(row, key, A_common, weight + A_common, path_Q.psi) + beside;
    row_dX[j] = dX, row_slope[j] = key.weight.mid * key.slope.mid;
    row_bound[j] = (product(scale, f) + (1 + path_Q.psi) * lost) * (1 + 0x1p-46);
    row_common[j] = (product(scale, product(row.growth, f_common)) + (1 + path_Q.psi) * lost) * (1 + 0x1p-46);
    if (terms.centred) {
      double const reach = key.y.size() + row.e_delta;
      row_centred[j] = product(key.A, reach) + product(key.P, key.N);
      row_beside[j] = product(scale, product(path_Q.psi, product(key.P, reach + key.N))) + (1 + path_Q.psi) * lost;
    }
    double const own = (key.dX_beside_delta * scale + absolute(key.dX.mid) * terms.scale_off) * (1 + 0x1p-50) +
                       absolute(dX) * 0x1p-53 + 0x1p-1073;
    double const off_Q = (own + absolute(dX) * (n * 0x1p-53)) * (1 + 0x1p-40);
    sum_off = larger(sum_off, row_bound[j] > 0 ? off_Q / row_bound[j] : infinity);
    common_off = larger(common_off, row_common[j] > 0 ? off_Q / row_common[j] : infinity);
    slope_off += key.weight.off + weight * key.slope.off + w * (n * 0x1p-53), slope_sum += w;
  }
}

/// Kinds of the keys that the row sees, where not everything is finite.
template <class T>
void source_state<T>::add_kinds() {
  gradient_kinds const& kinds = row.kinds;
  if (!kinds.contributes && kinds.row == value_kind::finite) return;
  problem::sizes const& s = p->size();
  T const* const query = p->q().row(row.b, row.h, row.i);
  T const* const d_o = inputs.d_o.row(row.b, row.h, row.i);
  std::vector<char> weighted(keys, 0);
  for (auto const& key : row.keys)
    if (key.j != sink_index) weighted[static_cast<std::size_t>(key.j)] = 1;
  for (std::size_t j = 0; j < keys; ++j) {
    auto const key = static_cast<std::int64_t>(j);
    if (!visible(*p, row.b, row.h, row.i, key)) continue;
    bool const has_weight = kinds.nan_scores ? !is_without_weight(*p, row.b, row.h, row.i, key) : weighted[j] != 0;
    key_part const part = part_of(*p, row.b, row.h, row.i, key, has_weight);
    value_kind const of_dS = kinds.contributes ? kind_of_dS(kinds, part) : kinds.row;
    if (p->has_bias() && !wanted) {
      auto& to = dbias[dbias_at(row.b, row.h, row.i, key)].kind;
      to = sum_of_kinds(to, of_dS);
    }
    if (place_of_key[j] < 0) continue;
    auto const place = static_cast<std::size_t>(place_of_key[j]);
    for (std::size_t t = 0; t < d; ++t) {
      value_kind of_dK = of_dS;
      if (kind_of(value_of(query[t])) != value_kind::finite) of_dK = sum_of_kinds(of_dK, value_kind::unspecified);
      auto& to = sums_K.kind[place * d + t];
      to = sum_of_kinds(to, of_dK);
    }
    for (std::size_t c = 0; c < dv; ++c) {
      value_kind const of_dV = kinds.contributes ? kind_of_dV(kinds, kind_of(value_of(d_o[c])), part) : kinds.row;
      auto& to = sums_V.kind[place * dv + c];
      to = sum_of_kinds(to, of_dV);
    }
  }
  if (p->has_sink() && !wanted) {
    auto& to = dsink[static_cast<std::size_t>((dsink_shape[0] == 1 ? 0 : row.b) * s.hq + row.h)].kind;
    to = sum_of_kinds(to, kinds.row);
  }
}

/// The row's terms of dBias and dSink.
template <class T>
void source_state<T>::add_shared() {
  if (wanted || row.kinds.row != value_kind::finite) return;
  // ds_scaled: fl(σ·dS)/σ loses ω_ds/|σ|, where ν_j has ω_ds.
  problem::gradient_model const& how = terms.backward;
  double const least_scale = absolute(terms.scale) - terms.scale_off;
  double const behind_scale = !how.ds_scaled || how.omega_ds == 0 || least_scale >= 1 ? 0
                              : least_scale > 0 ? rounded_up(how.omega_ds * (1 / least_scale - 1) * (1 + 0x1p-50))
                                                : infinity;
  for (auto const& key : row.keys) {
    if (key.j == sink_index) {
      bool const known = terms.from_saved ? key.saved_error < infinity : true;
      dsink[static_cast<std::size_t>((dsink_shape[0] == 1 ? 0 : row.b) * p->size().hq + row.h)].add(
          key.dS, key.error, row.judged && known);
    } else if (p->has_bias()) {
      dbias[dbias_at(row.b, row.h, row.i, key.j)].add(key.dS, key.error + behind_scale, row.judged);
    }
  }
}

}  // namespace attest::reference::gradient_detail
