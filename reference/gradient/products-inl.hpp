// The loops of products.hpp on lanes. Compiled once for every SIMD target.
//
// A lane is one result, so that the order of a sum depends on no target; a fused multiply-add, where there is one, only
// leaves a rounding out.
#if defined(ATTEST_REFERENCE_GRADIENT_PRODUCTS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_REFERENCE_GRADIENT_PRODUCTS_INL_HPP
#undef ATTEST_REFERENCE_GRADIENT_PRODUCTS_INL_HPP
#else
#define ATTEST_REFERENCE_GRADIENT_PRODUCTS_INL_HPP
#endif

#include <cstddef>

#include <hwy/highway.h>

#include "reference/gradient/products.hpp"

HWY_BEFORE_NAMESPACE();
namespace attest::reference::gradient_detail::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using double_tag = hn::CappedTag<double, 4>;
using vector = hn::Vec<double_tag>;
inline constexpr double_tag tag{};
inline constexpr std::size_t lane_count = hn::MaxLanes(double_tag{});
static_assert(row_pad % (2 * lane_count) == 0, "rows are padded to whole tiles of two vectors");

HWY_INLINE void add_to(double* to, vector x) { hn::StoreU(hn::Add(hn::LoadU(tag, to), x), tag, to); }

/// Rows r to r + 3 and two vectors of columns from j on.
HWY_INLINE void multiply_tile(double const* left, double const* right, std::size_t count, std::size_t columns,
                              double* sum, double* size) {
  for (std::size_t r = 0; r < 4; ++r)
    for (std::size_t v = 0; v < 2; ++v) {
      hn::StoreU(hn::Zero(tag), tag, sum + r * columns + v * lane_count);
      hn::StoreU(hn::Zero(tag), tag, size + r * columns + v * lane_count);
    }
  for (std::size_t begin = 0; begin < count; begin += chunk_of_columns) {
    std::size_t const end = begin + chunk_of_columns < count ? begin + chunk_of_columns : count;
    vector sums[4][2], sizes[4][2];
    for (std::size_t r = 0; r < 4; ++r)
      for (std::size_t v = 0; v < 2; ++v) sums[r][v] = sizes[r][v] = hn::Zero(tag);
    for (std::size_t c = begin; c < end; ++c) {
      vector const x0 = hn::LoadU(tag, right + c * columns), x1 = hn::LoadU(tag, right + c * columns + lane_count);
      vector const size0 = hn::Abs(x0), size1 = hn::Abs(x1);
      for (std::size_t r = 0; r < 4; ++r) {
        vector const y = hn::Set(tag, left[r * count + c]), y_size = hn::Abs(y);
        sums[r][0] = hn::MulAdd(y, x0, sums[r][0]), sums[r][1] = hn::MulAdd(y, x1, sums[r][1]);
        sizes[r][0] = hn::MulAdd(y_size, size0, sizes[r][0]), sizes[r][1] = hn::MulAdd(y_size, size1, sizes[r][1]);
      }
    }
    for (std::size_t r = 0; r < 4; ++r)
      for (std::size_t v = 0; v < 2; ++v) {
        add_to(sum + r * columns + v * lane_count, sums[r][v]);
        add_to(size + r * columns + v * lane_count, sizes[r][v]);
      }
  }
}

void multiply_both_here(double const* left, double const* right, std::size_t rows, std::size_t count,
                        std::size_t columns, double* sum, double* size) {
  for (std::size_t j = 0; j < columns; j += 2 * lane_count)
    for (std::size_t r = 0; r < rows; r += 4)
      multiply_tile(left + r * count, right + j, count, columns, sum + r * columns + j, size + r * columns + j);
}

/// `Width` vectors of columns from k on.
template <std::size_t Width>
HWY_INLINE void keys_tile(key_sums const& sums, double const* k, std::size_t t, std::size_t first, std::size_t last,
                          std::size_t columns) {
  for (double* const to : {sums.of_dX, sums.of_slope, sums.of_bound, sums.of_bound_common})
    for (std::size_t v = 0; v < Width; ++v) hn::StoreU(hn::Zero(tag), tag, to + t + v * lane_count);
  for (std::size_t begin = first; begin < last; begin += chunk_of_keys) {
    std::size_t const end = begin + chunk_of_keys < last ? begin + chunk_of_keys : last;
    vector dX[Width], slope[Width], bound[Width], common[Width];
    for (std::size_t v = 0; v < Width; ++v) dX[v] = slope[v] = bound[v] = common[v] = hn::Zero(tag);
    for (std::size_t j = begin; j < end; ++j) {
      vector const x = hn::Set(tag, sums.dX[j]), s = hn::Set(tag, sums.slope[j]), b = hn::Set(tag, sums.bound[j]),
                   c = hn::Set(tag, sums.bound_common[j]);
      for (std::size_t v = 0; v < Width; ++v) {
        vector const y = hn::LoadU(tag, k + j * columns + t + v * lane_count), size = hn::Abs(y);
        dX[v] = hn::MulAdd(x, y, dX[v]), slope[v] = hn::MulAdd(s, y, slope[v]);
        bound[v] = hn::MulAdd(b, size, bound[v]), common[v] = hn::MulAdd(c, size, common[v]);
      }
    }
    for (std::size_t v = 0; v < Width; ++v) {
      std::size_t const at = t + v * lane_count;
      add_to(sums.of_dX + at, dX[v]), add_to(sums.of_slope + at, slope[v]);
      add_to(sums.of_bound + at, bound[v]), add_to(sums.of_bound_common + at, common[v]);
    }
  }
}

void multiply_keys_here(key_sums const& sums, double const* k, std::size_t first, std::size_t last,
                        std::size_t columns) {
  for (std::size_t t = 0; t < columns; t += 2 * lane_count) keys_tile<2>(sums, k, t, first, last, columns);
}

/// Keys j and j + 1, or key j alone, and two vectors of columns.
template <std::size_t Keys>
HWY_INLINE void rows_tile(double const* weight, double const* error, double const* x, std::size_t columns, double* sum,
                          double* bound) {
  vector sums[Keys][2], bounds[Keys][2];
  for (std::size_t n = 0; n < Keys; ++n)
    for (std::size_t v = 0; v < 2; ++v) sums[n][v] = bounds[n][v] = hn::Zero(tag);
  for (std::size_t r = 0; r < block_of_rows; ++r) {
    vector const x0 = hn::LoadU(tag, x + r * columns), x1 = hn::LoadU(tag, x + r * columns + lane_count);
    vector const size0 = hn::Abs(x0), size1 = hn::Abs(x1);
    for (std::size_t n = 0; n < Keys; ++n) {
      vector const w = hn::Set(tag, weight[n * block_of_rows + r]), e = hn::Set(tag, error[n * block_of_rows + r]);
      sums[n][0] = hn::MulAdd(w, x0, sums[n][0]), sums[n][1] = hn::MulAdd(w, x1, sums[n][1]);
      bounds[n][0] = hn::MulAdd(e, size0, bounds[n][0]), bounds[n][1] = hn::MulAdd(e, size1, bounds[n][1]);
    }
  }
  for (std::size_t n = 0; n < Keys; ++n)
    for (std::size_t v = 0; v < 2; ++v) {
      std::size_t const at = n * columns + v * lane_count;
      add_to(sum + at, sums[n][v]), add_to(bound + at, bounds[n][v]);
    }
}

void add_rows_here(double const* weight, double const* error, double const* x, std::size_t first, std::size_t last,
                   std::size_t columns, double* sum, double* bound) {
  for (std::size_t t = 0; t < columns; t += 2 * lane_count) {
    std::size_t j = first;
    auto const at = [&](std::size_t key) { return key * block_of_rows; };
    for (; j + 4 <= last; j += 4)
      rows_tile<4>(weight + at(j), error + at(j), x + t, columns, sum + j * columns + t, bound + j * columns + t);
    for (; j < last; ++j)
      rows_tile<1>(weight + at(j), error + at(j), x + t, columns, sum + j * columns + t, bound + j * columns + t);
  }
}

}  // namespace attest::reference::gradient_detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
