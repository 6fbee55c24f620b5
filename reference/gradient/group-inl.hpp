// A group, block of rows by block of rows. Definitions of source.hpp, for the unit that instantiates them.
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
