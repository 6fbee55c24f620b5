// Calls of the built-in kernel that are ready to be timed: their tensors, descriptors and answers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

#include <benchmark/benchmark.h>

#include "bench/fast_backward.hpp"
#include "bench/fast_peak.hpp"
#include "bench/fast_shapes.hpp"
#include "fast/attention.hpp"
#include "fast/merge.hpp"
#include "fast/plan.hpp"
#include "fast/simd/bf16_tiles.hpp"
#include "fast/simd/operations.hpp"

namespace attest::bench {

/// The second-level cache that is planned for, in bytes: --cache, 0 = what there is.
inline std::int64_t planned_cache = 0;

/// One call of the kernel on numbers it owns.
template <class T>
class prepared {
 public:
  explicit prepared(shape const& asked) : shape_(asked) {
    auto const& s = asked.size;
    normal_numbers draw;
    auto const fill = [&](std::vector<T>& to, std::int64_t h, std::int64_t rows, std::int64_t d, double factor) {
      to.resize(static_cast<std::size_t>(s.b * h * rows * d));
      for (T& x : to) x = stored<T>(draw() * factor);
    };
    fill(q_, s.hq, s.n, s.d, asked.subnormal ? 1e-20 : 1), fill(k_, s.hk, s.m, s.d, asked.subnormal ? 1e-25 : 1);
    fill(v_, s.hk, s.m, s.dv, asked.subnormal ? 1e-40 : 1);
    if (asked.bias) fill(bias_, 1, s.n, s.m, 1);
    if (asked.mask)
      for (std::int64_t at = 0; at < s.n * s.m; ++at) mask_.push_back(draw() > -1);  // 84 % visible, no empty tile
    o_.resize(static_cast<std::size_t>(s.b * s.hq * s.n * s.dv));
    if (asked.sink) fill(sink_, s.hq, 1, 1, 1);
    for (std::int64_t e = 0; e <= s.b; ++e) {
      q_offsets_.push_back(static_cast<std::int32_t>(e * s.n)),
          k_offsets_.push_back(static_cast<std::int32_t>(e * s.m));
      k_lengths_.push_back(static_cast<std::int32_t>(s.m));
    }
    if (asked.page > 0) {
      for (std::int64_t at = 0; at < s.b * s.m / asked.page; ++at) table_.push_back(static_cast<std::int32_t>(at));
      std::shuffle(table_.begin(), table_.end(), std::mt19937(1));
    }
    if (asked.blocks > 0) {
      // As many of each row of blocks, at other places in each.
      std::int64_t const rows = s.n / block, columns = s.m / block;
      auto const set = static_cast<std::int64_t>(asked.blocks * static_cast<double>(columns));
      std::vector<std::uint8_t> row(static_cast<std::size_t>(columns));
      std::fill_n(row.begin(), set, 1);
      std::mt19937 random(1);
      for (std::int64_t i = 0; i < rows; ++i)
        std::shuffle(row.begin(), row.end(), random), block_mask_.insert(block_mask_.end(), row.begin(), row.end());
    }
  }

  void call() {
    using problem::layout;
    auto const& s = shape_.size;
    problem::arguments<T> asked;
    asked.q = {q_.data(), layout::compact({s.b, s.hq, s.n, s.d})};
    asked.k = {k_.data(), layout::compact({s.b, s.hk, s.m, s.d})};
    asked.v = {v_.data(), layout::compact({s.b, s.hk, s.m, s.dv})};
    if (shape_.bias) asked.bias = problem::tensor<T const>{bias_.data(), layout::compact({s.n, s.m})};
    if (shape_.mask) asked.mask = problem::tensor<std::uint8_t const>{mask_.data(), layout::compact({s.n, s.m})};
    asked.softcap = shape_.softcap;
    if (shape_.causal) asked.band.right = 0;
    if (shape_.sink) asked.sink = problem::tensor<T const>{sink_.data(), layout::compact({s.hq})};
    auto const list = [](std::vector<std::int32_t> const& from, std::int64_t count) {
      return problem::tensor<std::int32_t const>{from.data(), layout::compact({count})};
    };
    problem::layout out = layout::compact({s.b, s.hq, s.n, s.dv});
    if (shape_.packed) {
      asked.q_offsets = list(q_offsets_, s.b + 1), asked.k_offsets = list(k_offsets_, s.b + 1);
      asked.q.layout = layout::compact({1, s.hq, s.b * s.n, s.d}), out = layout::compact({1, s.hq, s.b * s.n, s.dv});
      asked.k.layout = layout::compact({1, s.hk, s.b * s.m, s.d});
      asked.v.layout = layout::compact({1, s.hk, s.b * s.m, s.dv});
    }
    if (shape_.page > 0) {
      std::int64_t const pages = s.b * s.m / shape_.page;
      asked.k.layout = layout::compact({pages, s.hk, shape_.page, s.d});
      asked.v.layout = layout::compact({pages, s.hk, shape_.page, s.dv});
      asked.block_table = problem::tensor<std::int32_t const>{table_.data(), layout::compact({s.b, s.m / shape_.page})};
      asked.k_lengths = list(k_lengths_, s.b);
    }
    if (shape_.blocks > 0) {
      asked.block_mask =
          problem::tensor<std::uint8_t const>{block_mask_.data(), layout::compact({1, 1, s.n / block, s.m / block})};
      asked.block_q = asked.block_k = block;
    }
    auto const instance = problem::instance<T>::make(asked);
    fast::options const how{.threads = shape_.threads, .cache = planned_cache, .bf16_arithmetic = shape_.by};
    if (shape_.backward) return backward_.call(instance.value(), how);
    auto const given = problem::outputs<T>::make(instance.value(), {{o_.data(), out}, {}, {}});
    if (!fast::attention(instance.value(), given.value(), how)) std::abort();
  }

  double bytes() const { return static_cast<double>((k_.size() + v_.size()) * sizeof(T)); }
  /// Bytes a second at which so many threads only read K, then V: as much memory as a call reads, so that neither finds
  /// more of it in a cache.
  double read_rate(int threads) const {
    double const seconds = seconds_to_read(k_, threads) + seconds_to_read(v_, threads);
    return bytes() / seconds;
  }

 private:
  static constexpr std::int64_t block = 64;

  static double seconds_to_read(std::vector<T> const& numbers, int threads) {
    std::size_t const bytes = numbers.size() * sizeof(T);
    return static_cast<double>(bytes) /
           bench::read_rate(reinterpret_cast<float const*>(numbers.data()), bytes / sizeof(float), threads);
  }

  shape shape_;
  std::vector<T> q_, k_, v_, bias_, o_, sink_;
  std::vector<std::uint8_t> mask_, block_mask_;
  std::vector<std::int32_t> q_offsets_, k_offsets_, k_lengths_, table_;
  backward_arrays<T> backward_;
};

/// A merge of partial results in f32, by the kernel and by the plainest loop.
class prepared_merge {
 public:
  explicit prepared_merge(shape const& asked) : shape_(asked), rows_(asked.size.b * asked.size.hq * asked.size.n) {
    normal_numbers draw;
    o_.resize(static_cast<std::size_t>(asked.parts * rows_ * asked.size.dv));
    lse_.resize(static_cast<std::size_t>(asked.parts * rows_));
    for (float& x : o_) x = static_cast<float>(draw());
    for (float& x : lse_) x = static_cast<float>(draw());
    out_.resize(static_cast<std::size_t>(rows_ * asked.size.dv)), out_lse_.resize(static_cast<std::size_t>(rows_));
  }

  void call() {
    auto const& s = shape_.size;
    fast::merge_outputs<float, float> outputs;
    outputs.o = {out_.data(), {s.b, s.hq, s.n, s.dv}, {s.hq * s.n * s.dv, s.n * s.dv, s.dv}, true, {}};
    outputs.lse = {out_lse_.data(), {s.b, s.hq, s.n, 1}, {s.hq * s.n, s.n, 1}, true, {}};
    fast::merge(fast::merge_parts<float>{shape_.parts, this, part}, outputs, {.threads = 1});
  }

  /// Row by row: the largest LSE, weights, their sum, one division a number. As a compiler makes it of plain C++.
  void call_plain() {
    std::int64_t const dv = shape_.size.dv;
    for (std::int64_t r = 0; r < rows_; ++r) {
      float m = -std::numeric_limits<float>::infinity(), l = 0;
      for (std::int64_t s = 0; s < shape_.parts; ++s) m = std::max(m, lse_[static_cast<std::size_t>(s * rows_ + r)]);
      float* const to = out_.data() + r * dv;
      std::fill_n(to, dv, 0.0f);
      for (std::int64_t s = 0; s < shape_.parts; ++s) {
        float const w = std::exp(lse_[static_cast<std::size_t>(s * rows_ + r)] - m);
        float const* const from = o_.data() + (s * rows_ + r) * dv;
        l += w;
        for (std::int64_t c = 0; c < dv; ++c) to[c] += w * from[c];
      }
      for (std::int64_t c = 0; c < dv; ++c) to[c] /= l;
      out_lse_[static_cast<std::size_t>(r)] = m + std::log(l);
    }
  }

 private:
  static fast::merge_part<float> part(void const* described, std::int64_t s) noexcept {
    auto const& of = *static_cast<prepared_merge const*>(described);
    auto const& size = of.shape_.size;
    std::int64_t const n = size.n, dv = size.dv;
    return {of.o_.data() + s * of.rows_ * dv,
            {size.hq * n * dv, n * dv, dv},
            of.lse_.data() + s * of.rows_,
            {size.hq * n, n, 1}};
  }

  shape shape_;
  std::int64_t rows_;
  std::vector<float> o_, lse_, out_, out_lse_;
};

}  // namespace attest::bench
