// Partial results of one problem, merged: O = Σ_s w_s·O_s and LSE = ln Σ_s e^(LSE_s), w_s = e^(LSE_s − LSE).
#pragma once

#include <array>
#include <cstdint>

#include "fast/attention.hpp"
#include "problem/element_type.hpp"
#include "problem/view.hpp"

namespace attest::fast {

/// One partial result in memory. It has strides for b, h and i; rows of O have stride 1.
template <problem::floating_element E>
struct merge_part {
  E const* o = nullptr;
  std::array<std::int64_t, 3> o_stride{};
  problem::lse_element<E> const* lse = nullptr;
  std::array<std::int64_t, 3> lse_stride{};
};

/// S partial results, each described when it is asked for, so that no list of them has to be made.
template <problem::floating_element E>
struct merge_parts {
  std::int64_t count = 0;
  void const* described = nullptr;  ///< argument of `at`
  merge_part<E> (*at)(void const* described, std::int64_t s) noexcept = nullptr;
};

/// O [b, h, n, dv] and LSE [b, h, n, 1], which may be absent.
template <problem::floating_element E, problem::floating_element Out>
struct merge_outputs {
  problem::view<Out> o{};
  problem::view<problem::lse_element<E>> lse{};
};

/// The merge of `parts`, which have the rows of the outputs: M = max_s LSE_s, w_s = 2^((LSE_s − M)·log₂ e), and O = Σ_s
/// w_s·O_s / Σ_s w_s, in the working type of E.
///
/// Requires  parts.count ≥ 1; threads ≥ 0; outputs overlap nothing
/// Ensures   A part whose LSE is −∞ in a row is not read there; if all are, O = 0 and LSE = −∞. A NaN or +∞ among them
///           makes a NaN row. If one part is left, O and LSE are that part's, bit for bit (O is rounded to nearest if
///           Out is not E). Roundings: merge_model (model.hpp). Subnormal numbers are kept. The bits are the same for
///           any number of threads, and on AVX2 and AVX-512. The floating-point environment is restored
/// Source    docs/semantics.md; FlashAttention-3's combine (weights by the maximum)
/// Cost      S·dv multiply-adds a row, and S exponentials for every 256 columns; no memory of its own except what
///           oneTBB takes for a second thread
template <problem::floating_element E, problem::floating_element Out>
void merge(merge_parts<E> const& parts, merge_outputs<E, Out> const& outputs, options const& chosen = {});

}  // namespace attest::fast
