// q·k and Σ|q_t·k_t| of a block of query rows and all keys. Compiled once for every SIMD target.
#if defined(ATTEST_REFERENCE_MACHINE_SCORES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_REFERENCE_MACHINE_SCORES_INL_HPP
#undef ATTEST_REFERENCE_MACHINE_SCORES_INL_HPP
#else
#define ATTEST_REFERENCE_MACHINE_SCORES_INL_HPP
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "problem/instance.hpp"
#include "reference/attention/visibility.hpp"
#include "reference/machine/lanes-inl.hpp"
#include "reference/machine/workspace.hpp"

HWY_BEFORE_NAMESPACE();
namespace attest::reference::machine::HWY_NAMESPACE {

/// Converts keys j0 ≤ j < j0 + count of K to doubles, transposed, with ‖k_j‖₁; the rest of the tile is 0.
/// Ensures   exact; each norm within γ_d of Σ_t |k_jt|
template <class T>
void convert_keys(problem::instance<T> const& p, std::int64_t b, std::int64_t hk, std::int64_t j0, std::size_t count,
                  workspace& memory) {
  auto const d = static_cast<std::size_t>(p.size().d);
  double* const tile = memory.k_tile.data();
  T const* rows[tile_keys];
  for (std::size_t j = 0; j < count; ++j) rows[j] = p.k().row(b, hk, j0 + static_cast<std::int64_t>(j));
  if (count < tile_keys) std::fill(tile, tile + d * tile_keys, 0.0);
  for (std::size_t t0 = 0; t0 < d; t0 += 8) {  // one cache line of K, all its columns
    std::size_t const t1 = std::min(d, t0 + 8);
    for (std::size_t j = 0; j < count; ++j)
      for (std::size_t t = t0; t < t1; ++t) tile[t * tile_keys + j] = load_value(rows[j] + t);
  }
  for (std::size_t j = 0; j < tile_keys; j += lane_count) {
    lanes sum(0.0);
    for (std::size_t t = 0; t < d; ++t) sum = sum + absolute(load<lanes>(tile + t * tile_keys + j));
    store(sum, memory.key_norm.data() + j0 + static_cast<std::int64_t>(j));
  }
}

/// Products are summed in chunks, and the sums of chunks are added: fewer roundings on one path.
inline constexpr std::size_t dot_chunk = 16;
/// Roundings of a dot product of d elements, on any path.
inline double dot_roundings(double d) { return smaller(d, static_cast<double>(dot_chunk) + d / dot_chunk + 1); }

/// dot[r][j] and size[r][j] of Rows rows and the 2·lane_count keys at j of the tile.
/// Ensures   |dot − q·k| ≤ γ_h·Σ|q_t·k_t|, |size − Σ|q_t·k_t|| ≤ γ_h·Σ|q_t·k_t|, h = dot_roundings(d)
/// Why       products of two f32 (f16, bf16) are exact in double and far from its underflow: only sums round, dot_chunk
///           of them and one for each chunk
template <std::size_t Rows>
HWY_INLINE void multiply_tile(double const* q, double const* k_tile, std::size_t d, double* dot, double* size,
                              std::size_t stride) {
  lanes sum[Rows][2], sizes[Rows][2], total[Rows][2], total_size[Rows][2];
  auto const clear = [](lanes(&x)[Rows][2]) {
    for (auto& row : x) row[0] = row[1] = lanes(0.0);
  };
  clear(total), clear(total_size);
  for (std::size_t t0 = 0; t0 < d; t0 += dot_chunk) {
    clear(sum), clear(sizes);
    std::size_t const t1 = std::min(d, t0 + dot_chunk);
    for (std::size_t t = t0; t < t1; ++t) {
      lanes const k0 = load<lanes>(k_tile + t * tile_keys), k1 = load<lanes>(k_tile + t * tile_keys + lane_count);
      lanes const size0 = absolute(k0), size1 = absolute(k1);
      for (std::size_t r = 0; r < Rows; ++r) {
        lanes const x(q[r * d + t]), x_size = absolute(x);
        sum[r][0] = mul_add(x, k0, sum[r][0]);
        sum[r][1] = mul_add(x, k1, sum[r][1]);
        sizes[r][0] = mul_add(x_size, size0, sizes[r][0]);
        sizes[r][1] = mul_add(x_size, size1, sizes[r][1]);
      }
    }
    for (std::size_t r = 0; r < Rows; ++r)
      for (std::size_t half = 0; half < 2; ++half) {
        total[r][half] = total[r][half] + sum[r][half];
        total_size[r][half] = total_size[r][half] + sizes[r][half];
      }
  }
  for (std::size_t r = 0; r < Rows; ++r)
    for (std::size_t half = 0; half < 2; ++half) {
      store(total[r][half], dot + r * stride + half * lane_count);
      store(total_size[r][half], size + r * stride + half * lane_count);
    }
}

/// Query rows i0 ≤ i < i0 + rows as doubles; the rest of the block is 0.
template <class T>
void load_queries(problem::instance<T> const& p, std::int64_t b, std::int64_t h, std::int64_t i0, std::size_t rows,
                  workspace& memory) {
  auto const d = static_cast<std::size_t>(p.size().d);
  for (std::size_t r = 0; r < block_rows; ++r)
    for (std::size_t t = 0; t < d; ++t)
      memory.q[r * d + t] = r < rows ? load_value(p.q().row(b, h, i0 + static_cast<std::int64_t>(r)) + t) : 0;
}

/// Fills dot, size and key_norm for rows i0 ≤ i < i0 + rows, rows ≤ block_rows.
template <class T>
void block_scores(problem::instance<T> const& p, std::int64_t b, std::int64_t h, std::int64_t i0, std::size_t rows,
                  workspace& memory) {
  static_assert(tile_keys % (2 * lane_count) == 0);
  problem::sizes const& s = p.size();
  auto const d = static_cast<std::size_t>(s.d);
  std::size_t const stride = static_cast<std::size_t>(s.m) + tile_keys;
  load_queries(p, b, h, i0, rows, memory);
  for (std::int64_t j0 = 0; j0 < p.keys(b); j0 += static_cast<std::int64_t>(tile_keys)) {
    std::size_t const count = std::min(tile_keys, static_cast<std::size_t>(p.keys(b) - j0));
    convert_keys(p, b, key_head(s, h), j0, count, memory);
    for (std::size_t j = 0; j < count; j += 2 * lane_count)
      for (std::size_t r = 0; r < rows; r += 4) {
        std::size_t const at = r * stride + static_cast<std::size_t>(j0) + j;
        multiply_tile<4>(memory.q.data() + r * d, memory.k_tile.data() + j, d, memory.dot.data() + at,
                         memory.size.data() + at, stride);
      }
  }
}

}  // namespace attest::reference::machine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
