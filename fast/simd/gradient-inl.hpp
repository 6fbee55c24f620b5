// The loops of the backward pass that the forward pass lacks: P and dS of a strip, Δ of a row, and the products Pᵀ·dO
// and dSᵀ·Q.
#if defined(ATTEST_FAST_SIMD_GRADIENT_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_FAST_SIMD_GRADIENT_INL_HPP
#undef ATTEST_FAST_SIMD_GRADIENT_INL_HPP
#else
#define ATTEST_FAST_SIMD_GRADIENT_INL_HPP
#endif

#include "fast/simd/exponential-inl.hpp"
#include "fast/simd/product-inl.hpp"
#include "fast/simd/softcap-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace attest::fast::HWY_NAMESPACE {

/// 2^x for any x: ∞ from 2^bias + 1 on, where a recorded LSE contradicts the scores. exp2() for the rest.
template <class T, class D>
HWY_INLINE hn::Vec<D> exp2_of_any(D d, hn::Vec<D> x) {
  auto const most = hn::Set(d, T(exp2_format<T>::bias + 1));
  return exp2<T>(d, hn::IfThenElse(hn::Gt(x, most), most, x));
}

/// gradient_operations::weights
template <class T>
void gradient_weights(T* S, T* dP, std::int64_t rows, interval keys, T const* lse, T const* delta) noexcept {
  tag<T> const d;
  for (std::int64_t i = 0; i < rows; ++i) {
    T *HWY_RESTRICT const s = S + i * score_stride<T>, *HWY_RESTRICT const w = dP + i * score_stride<T>;
    auto const l = hn::Set(d, lse[i]), mean = hn::Set(d, delta[i]);
    std::int64_t j = keys.first;
    for (; j + 2 * lanes<T> <= keys.last; j += 2 * lanes<T>) {
      auto const p = exp2_of_any<T>(d, hn::Sub(hn::LoadU(d, s + j), l));
      auto const q = exp2_of_any<T>(d, hn::Sub(hn::LoadU(d, s + j + lanes<T>), l));
      hn::StoreU(p, d, s + j);
      hn::StoreU(q, d, s + j + lanes<T>);
      hn::StoreU(hn::Mul(p, hn::Sub(hn::LoadU(d, w + j), mean)), d, w + j);
      hn::StoreU(hn::Mul(q, hn::Sub(hn::LoadU(d, w + j + lanes<T>), mean)), d, w + j + lanes<T>);
    }
    for (; j < keys.last; j += lanes<T>) {
      auto const p = exp2_of_any<T>(d, hn::Sub(hn::LoadU(d, s + j), l));
      hn::StoreU(p, d, s + j);
      hn::StoreU(hn::Mul(p, hn::Sub(hn::LoadU(d, w + j), mean)), d, w + j);
    }
  }
}

/// gradient_operations::softcap
template <class T>
void softcap_and_slope(T* s, score_cap<T> const& cap, std::int64_t count, T* slope) noexcept {
  tag<T> const d;
  auto const to_power = hn::Set(d, cap.to_power), to_score = hn::Set(d, cap.to_score), one = hn::Set(d, T(1));
  for (std::int64_t j = 0; j < count; j += lanes<T>) {
    auto const t = tanh_of_power<T>(d, hn::Mul(hn::LoadU(d, s + j), to_power));
    hn::StoreU(hn::NegMulAdd(t, t, one), d, slope + j);
    hn::StoreU(hn::Mul(t, to_score), d, s + j);
  }
}

/// gradient_operations::multiply_by
template <class T>
void multiply_by(T* x, T const* factors, std::int64_t count) noexcept {
  for (std::int64_t j = 0; j < count; ++j) x[j] = x[j] * factors[j];
}

/// gradient_operations::drop
template <class T>
void drop(T* x, std::uint8_t const* keep, T factor, std::int64_t count) noexcept {
  for (std::int64_t j = 0; j < count; ++j) x[j] = keep[j] != 0 ? x[j] * factor : T(0);
}

/// gradient_operations::clear_masked
template <class T>
void clear_masked(T* x, std::uint8_t const* mask, std::int64_t count) noexcept {
  for (std::int64_t j = 0; j < count; ++j) x[j] = mask[j] != 0 ? x[j] : T(0);
}

/// gradient_operations::dot. The last numbers are multiplied in a copy that 0 fills up.
template <class T>
T dot(T const* a, T const* b, std::int64_t count) noexcept {
  tag<T> const d;
  constexpr auto vectors = static_cast<int>(sum_lanes / lanes<T>);
  vector<T> sum[vectors];
  HWY_UNROLL(16) for (int v = 0; v < vectors; ++v) sum[v] = hn::Zero(d);
  auto const add = [&](T const* x, T const* y) {
    HWY_UNROLL(16)
    for (int v = 0; v < vectors; ++v)
      sum[v] = hn::MulAdd(hn::LoadU(d, x + v * lanes<T>), hn::LoadU(d, y + v * lanes<T>), sum[v]);
  };
  std::int64_t c = 0;
  for (; c + sum_lanes <= count; c += sum_lanes) add(a + c, b + c);
  if (c < count) {
    T x[sum_lanes]{}, y[sum_lanes]{};
    for (std::int64_t t = c; t < count; ++t) x[t - c] = a[t], y[t - c] = b[t];
    add(x, y);
  }
  T lane[sum_lanes];
  HWY_UNROLL(16) for (int v = 0; v < vectors; ++v) hn::StoreU(sum[v], d, lane + v * lanes<T>);
  return folded(lane);
}

/// C_i ← C_i + Σ_t A_ti·B_t for `rows` columns i of A and `vectors` vectors of B. `next`: what to prefetch of A.
template <int rows, int vectors, class T>
HWY_INLINE void transposed_tile(T const* HWY_RESTRICT a, T const* HWY_RESTRICT b, std::int64_t depth, T* C,
                                std::int64_t stride) {
  tag<T> const d;
  HWY_UNROLL(16)
  for (int i = 0; i < rows; ++i)
    HWY_UNROLL(8) for (int v = 0; v < vectors; ++v) hwy::Prefetch(C + i * stride + v * lanes<T>);
  register_tile<T, rows, vectors> tile;
  HWY_UNROLL(16)
  for (int i = 0; i < rows; ++i) HWY_UNROLL(8) for (int v = 0; v < vectors; ++v) tile.sum[i][v] = hn::Zero(d);
  for (std::int64_t t = 0; t < depth; ++t) {
    vector<T> row[vectors];
    HWY_UNROLL(8) for (int v = 0; v < vectors; ++v) row[v] = hn::LoadU(d, b + v * lanes<T>);
    hwy::Prefetch(a + rows);
    HWY_UNROLL(16) for (int i = 0; i < rows; ++i) {
      auto const factor = hn::Set(d, a[i]);
      HWY_UNROLL(8) for (int v = 0; v < vectors; ++v) tile.sum[i][v] = hn::MulAdd(factor, row[v], tile.sum[i][v]);
    }
    a += score_stride<T>, b += panel_columns<T>;
  }
  HWY_UNROLL(16) for (int i = 0; i < rows; ++i) HWY_UNROLL(8) for (int v = 0; v < vectors; ++v) {
    T* const c = C + i * stride + v * lanes<T>;
    hn::StoreU(hn::Add(hn::LoadU(d, c), tile.sum[i][v]), d, c);
  }
}

template <int vectors, class T>
HWY_INLINE void transposed_panel(T const* A, T const* B, std::int64_t depth, std::int64_t columns, matrix<T> C) {
  each_tile(columns, [&]<int height>(std::integral_constant<int, height>, std::int64_t i) {
    transposed_tile<height, vectors>(A + i, B, depth, C.row(i), C.stride);
  });
}

/// gradient_operations::transposed_values
template <class T>
void transposed_values(T const* A, T const* B, interval rows, interval columns, std::int64_t width,
                       matrix<T> C) noexcept {
  constexpr std::int64_t P = panel_columns<T>;
  T const* const a = A + rows.first * score_stride<T> + columns.first;
  for (std::int64_t c = 0; c < width; c += P) {
    T const* const panel = B + c * blocking_of<T>.keys + rows.first * P;
    matrix<T> const to{C.row(columns.first) + c, C.stride};
    if (c + lanes<T> < width) transposed_panel<2>(a, panel, rows.size(), columns.size(), to);
    else transposed_panel<1>(a, panel, rows.size(), columns.size(), to);
  }
}

/// gradient_operations::finish
template <class T>
void finish_gradient(T const* from, T factor, std::int64_t count, T* to) noexcept {
  constexpr T nan = std::numeric_limits<T>::quiet_NaN();
  for (std::int64_t c = 0; c < count; ++c) {
    T const x = from[c] * factor;
    to[c] = x == x ? x : nan;
  }
}

}  // namespace attest::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
