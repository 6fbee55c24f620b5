// A group, block of rows by block of rows: numbers of each row, and the terms that it adds to every sum. Definitions of
// source.hpp, for the unit that instantiates them.
#pragma once

#include <algorithm>

#include "reference/gradient/row_reader-inl.hpp"
#include "reference/gradient/source.hpp"

namespace attest::reference::gradient_detail {

template <class T>
std::size_t source_state<T>::dbias_at(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const {
  auto const& s = dbias_shape;
  auto const at = [&](std::size_t axis, std::int64_t index) { return s[axis] == 1 ? 0 : index; };
  return static_cast<std::size_t>(((at(0, b) * s[1] + at(1, h)) * s[2] + at(2, i)) * s[3] + j);
}

/// n_j: rows of the group that see key j.
template <class T>
void source_state<T>::count_rows(std::int64_t b, std::int64_t g) {
  for (std::int64_t h = g * found.heads; h < (g + 1) * found.heads; ++h)
    for (std::int64_t i = 0; i < found.queries; ++i)
      for (std::size_t at = 0; at < kept_keys; ++at)
        if (visible(*p, b, h, i, kept_key(at))) totals[at].visible += 1;
  sum_places const all{found.heads, found.queries};
  for (auto& key : totals) {
    key.path_V = path_of_dV(terms, key.visible, all);
    key.path_K = path_of_dX(terms, key.visible, all, terms.backward.part_rows);
  }
}

/// The blocks of the rows that are needed: wanted themselves, or of a wanted key.
template <class T>
std::vector<row_run> source_state<T>::needed_runs() const {
  constexpr auto most = static_cast<std::int64_t>(block_of_rows);
  std::vector<row_run> found_runs;
  auto query = wanted ? wanted->queries.begin() : decltype(wanted->queries.begin()){};
  for (std::int64_t h = 0; h < found.heads; ++h)
    for (std::int64_t i = 0; i < found.queries; ++i) {
      bool needed = !wanted || (query != wanted->queries.end() && *query == wanted_rows::query{h, i});
      if (wanted && needed) ++query;
      for (std::size_t at = 0; at < kept_keys && !needed; ++at)
        needed = visible(*p, found.b, found.g * found.heads + h, i, kept_key(at));
      if (!needed) continue;
      bool const continues = !found_runs.empty() && found_runs.back().h == h && found_runs.back().count < most &&
                             found_runs.back().i0 + found_runs.back().count == i;
      if (continues) ++found_runs.back().count;
      else found_runs.push_back({h, i, 1});
    }
  return found_runs;
}

template <class T>
gradient_element* source_state<T>::result_of_row(std::int64_t h, std::int64_t i) {
  h -= found.g * found.heads;
  if (!wanted) return found.of_q.data() + static_cast<std::size_t>(h * found.queries + i) * d;
  auto const at = std::ranges::lower_bound(wanted->queries, wanted_rows::query{h, i});
  if (at == wanted->queries.end() || *at != wanted_rows::query{h, i}) return nullptr;
  return found.of_q.data() + static_cast<std::size_t>(at - wanted->queries.begin()) * d;
}

template <class T>
void source_state<T>::begin_group(std::int64_t b, std::int64_t g, wanted_rows const* some) {
  problem::sizes const& s = p->size();
  wanted = some;
  found.b = b, found.g = g, found.heads = s.hq / s.hk, found.queries = p->queries(b), found.keys = p->keys(b);
  found.d = s.d, found.dv = s.dv;
  keys = static_cast<std::size_t>(found.keys), d = static_cast<std::size_t>(s.d), dv = static_cast<std::size_t>(s.dv);
  key_stride = padded(keys), d_stride = padded(d), dv_stride = padded(dv);
  kept_keys = wanted ? wanted->keys.size() : keys;
  place_of_key.assign(keys, -1);
  for (std::size_t at = 0; at < kept_keys; ++at)
    place_of_key[static_cast<std::size_t>(kept_key(at))] = static_cast<std::ptrdiff_t>(at);
  std::size_t const kept_rows = wanted ? wanted->queries.size() : static_cast<std::size_t>(found.heads * found.queries);
  found.of_q.assign(kept_rows * d, {});
  found.of_k.assign(kept_keys * d, {}), found.of_v.assign(kept_keys * dv, {});
  k.assign(keys * d_stride, 0), v_transposed.assign(dv * key_stride, 0), value_norm.assign(keys, 0);
  largest_k.assign(d_stride, 0), largest_q = largest_dO = 0;
  k_is_finite.assign(keys, 1), v_is_finite.assign(keys, 1);
  for (std::size_t j = 0; j < keys; ++j) {
    auto const row_j = static_cast<std::int64_t>(j);
    T const* const key = p->k().row(b, g, row_j);
    T const* const value = p->v().row(b, g, row_j);
    k_is_finite[j] = kind_of_row(key, s.d) == value_kind::finite;
    v_is_finite[j] = kind_of_row(value, s.dv) == value_kind::finite;
    for (std::size_t t = 0; t < d; ++t) {
      double const x = k[j * d_stride + t] = finite_double(key[t]);
      largest_k[t] = larger(largest_k[t], absolute(x));
    }
    for (std::size_t c = 0; c < dv; ++c) v_transposed[c * key_stride + j] = finite_double(value[c]);
    value_norm[j] = norm_upper(value, s.dv);
  }
  totals.assign(kept_keys, {});
  for (auto [sums, width, columns] : {std::tuple{&sums_K, d_stride, d}, std::tuple{&sums_V, dv_stride, dv}}) {
    for (auto* array : {&sums->mid, &sums->bound, &sums->head, &sums->head_sizes}) array->assign(kept_keys * width, 0);
    sums->kind.assign(kept_keys * columns, value_kind::finite);
  }
  q.assign(block_of_rows * d_stride, 0), dO.assign(block_of_rows * dv_stride, 0),
      dO_compact.assign(block_of_rows * dv, 0);
  dO_V.assign(block_of_rows * key_stride, 0), dO_V_size.assign(block_of_rows * key_stride, 0);
  for (auto* array : {&weight_V, &error_V, &weight_K, &error_K}) array->assign(kept_keys * block_of_rows, 0);
  for (auto* array : {&row_dX, &row_slope, &row_bound, &row_common, &row_centred, &row_beside}) array->assign(keys, 0);
  for (auto* array : {&sum_dX, &sum_slope, &sum_bound, &sum_common}) array->assign(d_stride, 0);
  count_rows(b, g);
}

template <class T>
void source_state<T>::load_rows(std::int64_t b, std::int64_t h, std::int64_t i0, std::size_t rows_of_block) {
  problem::sizes const& s = p->size();
  std::ranges::fill(q, 0.0), std::ranges::fill(dO, 0.0), std::ranges::fill(dO_compact, 0.0);
  for (auto* array : {&weight_V, &error_V, &weight_K, &error_K}) std::ranges::fill(*array, 0.0);
  for (std::size_t r = 0; r < rows_of_block; ++r) {
    std::int64_t const i = i0 + static_cast<std::int64_t>(r);
    T const* const query = p->q().row(b, h, i);
    T const* const d_o = inputs.d_o.row(b, h, i);
    for (std::size_t t = 0; t < d; ++t) {
      double const x = q[r * d_stride + t] = finite_double(query[t]);
      largest_q = larger(largest_q, absolute(x));
    }
    for (std::size_t c = 0; c < dv; ++c) {
      double const x = dO[r * dv_stride + c] = dO_compact[r * dv + c] = finite_double(d_o[c]);
      largest_dO = larger(largest_dO, absolute(x));
    }
    plain[r] = kind_of_row(query, s.d) == value_kind::finite && kind_of_row(d_o, s.dv) == value_kind::finite &&
               sees_only_finite(b, h, i);
  }
}

template <class T>
bool source_state<T>::sees_only_finite(std::int64_t b, std::int64_t h, std::int64_t i) const {
  for (std::size_t j = 0; j < keys; ++j)
    if (!(k_is_finite[j] && v_is_finite[j]) && visible(*p, b, h, i, static_cast<std::int64_t>(j))) return false;
  return true;
}

template <class T>
void source_state<T>::block(std::int64_t b, std::int64_t h, std::int64_t i0, std::size_t rows_of_block) {
  load_rows(b, h, i0, rows_of_block);
  first_row = i0, first_key = kept_keys, last_key = 0;
  multiply_both(dO_compact.data(), v_transposed.data(), rows_of_block, dv, key_stride, dO_V.data(), dO_V_size.data());
  auto const from_balls = [&](std::int64_t i) { balls.read(*p, inputs.d_o, terms, b, h, i, row); };
  auto const take = [&](machine::certified_row const& certified) {
    auto const at = static_cast<std::size_t>(certified.i - i0);
    row.b = b, row.h = h, row.i = certified.i;
    if (certified.handed_over || !plain[at]) from_balls(certified.i);
    else read_row(*p, terms, certified, row);
    finish_row(at);
  };
  std::int64_t const i1 = i0 + static_cast<std::int64_t>(rows_of_block);
  if (rows) rows->each(b, h, i0, i1, take);
  else
    for (std::int64_t i = i0; i < i1; ++i) {
      machine::certified_row none;
      none.i = i;
      take(none);
    }
  double* const head_K = found.heads > 1 ? sums_K.head.data() : sums_K.mid.data();
  double* const head_V = found.heads > 1 ? sums_V.head.data() : sums_V.mid.data();
  add_rows(weight_K.data(), error_K.data(), q.data(), first_key, last_key, d_stride, head_K, sums_K.bound.data());
  add_rows(weight_V.data(), error_V.data(), dO.data(), first_key, last_key, dv_stride, head_V, sums_V.bound.data());
}

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

template <class T>
void source_state<T>::end_head() {
  if (found.heads == 1) return;
  for (column_sums* const sums : {&sums_K, &sums_V})
    for (std::size_t at = 0; at < sums->mid.size(); ++at) {
      sums->mid[at] += sums->head[at], sums->head_sizes[at] += absolute(sums->head[at]);
      sums->head[at] = 0;
    }
}

}  // namespace attest::reference::gradient_detail
