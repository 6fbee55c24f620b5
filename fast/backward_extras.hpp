// dBias and dSink: sums over the axes in which the bias and the sinks are broadcast. A task owns some elements of them,
// and adds their terms in the order of entries, heads, rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "fast/algorithm/arithmetic.hpp"
#include "fast/backward_tasks.hpp"

namespace attest::fast {

/// The elements of a bias gradient that one task sums.
struct bias_task {
  std::int64_t b = 0, h = 0;  ///< 0 along an axis that is broadcast
  interval rows{};            ///< queries; one row if queries are broadcast
  interval keys{};            ///< at most one key block
};

/// Where a gradient that is summed over broadcast axes has them.
template <class X>
struct broadcast_axes {
  bool b, h, i;
  explicit broadcast_axes(problem::view<X> const& of) noexcept
      : b(of.shape[0] == 1), h(of.shape[1] == 1), i(of.shape[2] == 1) {}
};

/// The tasks that together own all elements of a bias gradient `of`.
template <class T, class X>
std::vector<bias_task> bias_tasks(problem::view<X> const& of) {
  std::vector<bias_task> tasks;
  constexpr std::int64_t block = gradient_rows<T>, key_block = blocking_of<T>.keys;
  auto const [entries, heads, rows, keys] = of.shape;
  for (std::int64_t b = 0; b < entries; ++b)
    for (std::int64_t h = 0; h < heads; ++h)
      for (std::int64_t i = 0; i < rows; i += block)
        for (std::int64_t j = 0; j < keys; j += key_block)
          tasks.push_back({b, h, {i, std::min(i + block, rows)}, {j, std::min(j + key_block, keys)}});
  return tasks;
}

/// Sums and writes the elements of one task. sums: memory for [gradient_rows, key block].
template <class E, class X>
void write_bias_gradient(backward_context<E> const& call, gradient_runner<E>& runner, problem::view<X> const& of,
                         bias_task const& task, std::vector<working<E>>& sums) noexcept {
  using T = working<E>;
  constexpr std::int64_t width = blocking_of<T>.keys, block = gradient_rows<T>;
  auto const& instance = call.instance;
  auto const& size = instance.size();
  broadcast_axes<X> const sum(of);
  std::int64_t const group = size.hk > 0 ? size.hq / size.hk : 1;
  std::fill_n(sums.data(), task.rows.size() * width, T(0));
  for (std::int64_t b = task.b; b < (sum.b ? size.b : task.b + 1); ++b)
    for (std::int64_t h = task.h; h < (sum.h ? size.hq : task.h + 1); ++h) {
      std::int64_t const n = instance.queries(b), before = h % group * n;
      interval const rows = sum.i ? interval{0, n} : intersection(task.rows, {0, n});
      interval const keys = intersection(task.keys, {0, instance.keys(b)});
      if (keys.empty()) continue;
      for (std::int64_t i = rows.first; i < rows.last; i += block) {
        interval const some{before + i, before + std::min(i + block, rows.last)};
        runner.each_dS({b, h / group}, some, keys, [&](std::int64_t r, T const* dS) {
          T* const to = sums.data() + (sum.i ? 0 : i + r - task.rows.first) * width;
          for (std::int64_t j = 0; j < keys.size(); ++j) to[j] += dS[j];
        });
      }
    }
  for (std::int64_t i = task.rows.first; i < task.rows.last; ++i)
    write_row(call, sums.data() + (i - task.rows.first) * width, T(1), task.keys.size(),
              of.row(task.b, task.h, i) + task.keys.first, sums.data() + block * width);
}

/// The weight of a sink, from its exponent. Beyond 2^bias it is ∞, as the weights of keys are.
template <std::floating_point T>
T sink_weight(T exponent) noexcept {
  constexpr T most = exp2_format<T>::bias + 1;
  return exp2_of_difference<T>(exponent > most ? most : exponent);
}

/// dSink of head h, of entry b or of all entries: −Σ_i 2^(t − LSE_i)·Δ_i over the rows that see a key.
template <class E>
working<E> sink_gradient(backward_context<E> const& call, std::int64_t b, std::int64_t last_b, std::int64_t h,
                         working<E>* buffer, working<E>* d_o_buffer) noexcept {
  using T = working<E>;
  T sum = 0;
  for (; b < last_b; ++b) {
    // (A sink of −∞ has the weight 0, and a gradient of NaN where a row of its head is NaN.)
    T const t = sink_in_log2(sink_of(call.instance, b, h));
    auto const band = call.instance.band(b);
    for (query_place at{h, 0}; at.i < call.instance.queries(b); ++at.i) {
      query_rules<E> rules;
      rules.describe(call.instance, b, band, at);
      if (!rules.shows_any()) continue;
      T const* const d_o = call.instance.size().dv == 0 ? nullptr
                                                        : converted(call.ops, call.given.d_o.row(b, at.h, at.i),
                                                                    call.instance.size().dv, d_o_buffer);
      T const x = t - lse_in_log2<T>(call.given.lse(b, at.h, at.i, 0));
      sum -= sink_weight(x) * delta_of(call, b, at, d_o, buffer);
    }
  }
  return sum;
}

}  // namespace attest::fast
