// Parts that the other -inl.hpp files share: Highway, once for each SIMD target, and the sizes that follow from its
// vectors.
#if defined(ATTEST_FAST_SIMD_VECTORS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_FAST_SIMD_VECTORS_INL_HPP
#undef ATTEST_FAST_SIMD_VECTORS_INL_HPP
#else
#define ATTEST_FAST_SIMD_VECTORS_INL_HPP
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "fast/simd/operations.hpp"

HWY_BEFORE_NAMESPACE();
namespace attest::fast::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// A vector of at most sum_lanes numbers.
template <class T>
using tag = hn::CappedTag<T, static_cast<std::size_t>(sum_lanes)>;
template <class T>
using vector = hn::Vec<tag<T>>;

template <class T>
inline constexpr std::int64_t lanes = static_cast<std::int64_t>(hn::MaxLanes(tag<T>()));

/// The register tile of both products A·B: tile_rows × 2 vectors of sums, and in addition 2 vectors of B and one of A.
inline constexpr std::int64_t tile_rows = HWY_TARGET == HWY_AVX3 ? 12 : HWY_TARGET == HWY_AVX2 ? 6 : 4;
/// operations::few_rows: their sums fit in registers together with a transposed piece of K.
inline constexpr int few_rows = tile_rows < 8 ? tile_rows : 8;
template <class T>
inline constexpr std::int64_t panel_columns = 2 * lanes<T>;

static_assert(strip_rows % tile_rows == 0 && few_rows <= strip_rows);
static_assert(sum_lanes % lanes<float> == 0 && sum_lanes % lanes<double> == 0);
static_assert(panel_columns<float> % sum_lanes == 0 || sum_lanes % panel_columns<float> == 0);
static_assert(panel_columns<double> % sum_lanes == 0 || sum_lanes % panel_columns<double> == 0);

}  // namespace attest::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
