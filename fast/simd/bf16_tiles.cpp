// The operations of bf16_tiles.hpp, by AMX and by multiply-adds.
#include "fast/simd/bf16_tiles.hpp"

#include <hwy/base.h>

#include "fast/algorithm/blocking.hpp"
#include "fast/simd/bf16_few_rows-inl.hpp"

#if HWY_ARCH_X86_64
#include <cpuid.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace attest::fast {
namespace {

constexpr std::int64_t panel = bf16_pair_operations::panel, chunk = 16, row_stride = score_stride<float>,
                       panel_pairs = blocking_of<float>.keys / 2;
static_assert(panel == 2 * chunk && blocking_of<float>.keys % panel == 0, "whole panels of weights are whole chunks");

}  // namespace
}  // namespace attest::fast

// --- by multiply-adds of AVX2 and FMA -------------------------------------------------------------------------------
HWY_PUSH_ATTRIBUTES("avx2,fma")
namespace attest::fast {
namespace {

constexpr int lanes = 8, vectors = panel / lanes;

/// The first and the second numbers of pairs.
HWY_INLINE __m256 first_of(__m256i pairs) { return _mm256_castsi256_ps(_mm256_slli_epi32(pairs, 16)); }
HWY_INLINE __m256 second_of(__m256i pairs) {
  return _mm256_castsi256_ps(_mm256_and_si256(pairs, _mm256_set1_epi32(static_cast<int>(0xffff0000u))));
}

/// A panel of sums.
struct sums {
  __m256 of[vectors];
};

/// Σ_p a_p·b_p for `pairs` pairs, b_p from b + p·panel on. If shown[2p] or shown[2p + 1] is 0, that number of b_p
/// counts as 0; null: none does.
HWY_INLINE sums sums_of_products(bf16_pair const* a, bf16_pair const* b, std::int64_t pairs,
                                 std::uint8_t const* shown) {
  sums total;
  HWY_UNROLL(4) for (int v = 0; v < vectors; ++v) total.of[v] = _mm256_setzero_ps();
  for (std::int64_t first = 0; first < pairs; first += chunk) {
    sums even = {{_mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps()}}, odd = even;
    for (std::int64_t p = first; p < first + chunk; ++p) {
      __m256i const a_p = _mm256_set1_epi32(static_cast<int>(a[p]));
      __m256 const a_first = first_of(a_p), a_second = second_of(a_p);
      bf16_pair const keeps = shown == nullptr
                                  ? ~bf16_pair{0}
                                  : (shown[2 * p] != 0 ? 0xffffu : 0) | (shown[2 * p + 1] != 0 ? 0xffff0000u : 0);
      HWY_UNROLL(4) for (int v = 0; v < vectors; ++v) {
        __m256i const b_p =
            _mm256_and_si256(_mm256_loadu_si256(reinterpret_cast<__m256i const*>(b + p * panel + v * lanes)),
                             _mm256_set1_epi32(static_cast<int>(keeps)));
        even.of[v] = _mm256_fmadd_ps(a_first, first_of(b_p), even.of[v]);
        odd.of[v] = _mm256_fmadd_ps(a_second, second_of(b_p), odd.of[v]);
      }
    }
    HWY_UNROLL(4)
    for (int v = 0; v < vectors; ++v) total.of[v] = _mm256_add_ps(total.of[v], _mm256_add_ps(even.of[v], odd.of[v]));
  }
  return total;
}

/// o ← o·factor + sum for the vectors of a panel that hold some of so many columns.
HWY_INLINE void add_to(float* o, float factor, sums const& sum, std::int64_t columns) {
  for (int v = 0; v < vectors && v * lanes < columns; ++v)
    _mm256_storeu_ps(o + v * lanes, _mm256_fmadd_ps(_mm256_loadu_ps(o + v * lanes), _mm256_set1_ps(factor), sum.of[v]));
}

void scores_by_fma(bf16_pair const* Q, bf16_pair const* K, std::int64_t pairs, std::int64_t rows, interval keys,
                   float factor, float* S) noexcept {
  for (std::int64_t j = keys.first; j < keys.last; j += panel)
    for (std::int64_t i = 0; i < rows; ++i) {
      sums const sum = sums_of_products(Q + i * pairs, K + j * pairs, pairs, nullptr);
      HWY_UNROLL(4)
      for (int v = 0; v < vectors; ++v)
        _mm256_storeu_ps(S + i * row_stride + j + v * lanes, _mm256_mul_ps(sum.of[v], _mm256_set1_ps(factor)));
    }
}

void narrow_by_integers(float* S, interval keys) noexcept {
  auto* const to = reinterpret_cast<std::uint16_t*>(S);
  for (std::int64_t j = keys.first; j < keys.last; ++j) {
    std::uint32_t bits;
    __builtin_memcpy(&bits, S + j, sizeof bits);
    std::uint32_t const size = bits & 0x7fffffffu;
    std::uint32_t const rounded = size > 0x7f800000u   ? bits >> 16 | 0x40u
                                  : size < 0x00800000u ? bits >> 31 << 15
                                                       : (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
    __builtin_memcpy(to + j, &rounded, sizeof *to);
  }
}

/// P·V for one row.
HWY_INLINE void values_of_row(float const* P, bf16_pair const* V, std::uint8_t const* visible, interval pairs,
                              std::int64_t dv, float factor, float* O) {
  auto const* const weights = reinterpret_cast<bf16_pair const*>(P) + pairs.first;
  for (std::int64_t c = 0; c < dv; c += panel)
    add_to(O + c, factor,
           sums_of_products(weights, V + c * panel_pairs + pairs.first * panel, pairs.size(),
                            visible == nullptr ? nullptr : visible + 2 * pairs.first),
           dv - c);
}

void values_by_fma(float const* P, bf16_pair const* V, std::int64_t rows, interval pairs, std::int64_t dv,
                   float const* factor, matrix<float> O) noexcept {
  for (std::int64_t i = 0; i < rows; ++i) values_of_row(P + i * row_stride, V, nullptr, pairs, dv, factor[i], O.row(i));
}

void visible_values_by_fma(float const* P, bf16_pair const* V, std::uint8_t const* visible, interval pairs,
                           std::int64_t dv, float factor, float* O) noexcept {
  values_of_row(P, V, visible, pairs, dv, factor, O);
}

}  // namespace
}  // namespace attest::fast
HWY_POP_ATTRIBUTES

// --- few rows, by multiply-adds of AVX-512 --------------------------------------------------------------------------
HWY_PUSH_ATTRIBUTES("avx512f,avx512vl,avx512bw,avx512dq,avx512bf16")
namespace attest::fast {
namespace {

/// A sum of chunks in 16 lanes.
struct sum_of_chunks {
  static constexpr std::int64_t chunk = attest::fast::chunk;
  static constexpr int registers = 2;  // `total` is needed once in a chunk
  __m512 even, odd, total;

  HWY_INLINE void zero() { even = odd = total = _mm512_setzero_ps(); }
  HWY_INLINE void add(__m512i a, __m512i b) {
    even = _mm512_fmadd_ps(first_of(a), first_of(b), even), odd = _mm512_fmadd_ps(second_of(a), second_of(b), odd);
  }
  HWY_INLINE void end_chunk() {
    total = _mm512_add_ps(total, _mm512_add_ps(even, odd));
    even = odd = _mm512_setzero_ps();
  }
  HWY_INLINE __m512 value() const { return total; }

 private:
  static HWY_INLINE __m512 first_of(__m512i pairs) { return _mm512_castsi512_ps(_mm512_slli_epi32(pairs, 16)); }
  static HWY_INLINE __m512 second_of(__m512i pairs) {
    return _mm512_castsi512_ps(_mm512_and_si512(pairs, _mm512_set1_epi32(static_cast<int>(0xffff0000u))));
  }
};

/// Puts the operations of few rows into a table, if the processor has the instructions for which they and
/// bf16_few_rows-inl.hpp are compiled.
void take_few_rows(bf16_pair_operations& table) noexcept {
  if (bf16_pairs_here() == nullptr) return;
  using few = few_row_products<sum_of_chunks>;
  table.few_rows = most_few_rows;
  table.few_scores = few::scores, table.few_listed_scores = few::listed_scores;
  table.few_values = few::values, table.few_listed_values = few::listed_values;
}

}  // namespace
}  // namespace attest::fast
HWY_POP_ATTRIBUTES

// --- by AMX ---------------------------------------------------------------------------------------------------------
HWY_PUSH_ATTRIBUTES("amx-tile,amx-bf16,avx512f")
namespace attest::fast {
namespace {

// The eight tiles: sums of the upper 16 rows of a strip and of its other 8, for both halves of a panel, and their
// operands. All have 64 bytes a row.
constexpr int upper_sums = 0, lower_sums = 2, upper_rows = 4, lower_rows = 5, columns = 6;
constexpr std::int64_t upper = 16, lower = 8;
static_assert(upper + lower == strip_rows);

/// The argument of LDTILECFG.
struct alignas(64) tile_shapes {
  std::uint8_t palette = 1, start_row = 0, reserved[14]{};
  std::uint16_t row_bytes[16]{64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16]{upper, upper, lower, lower, upper, lower, chunk, chunk};
};
constexpr tile_shapes shapes_of_tiles{};

void begin() noexcept { asm volatile("ldtilecfg %0" ::"m"(shapes_of_tiles)); }
void end() noexcept { asm volatile("tilerelease"); }

// Intrinsics of g++ 12 do not tell the compiler that a load of a tile reads memory.
template <int tile>
HWY_INLINE void zero() {
  asm volatile("tilezero %%tmm%c0" ::"i"(tile));
}
template <int tile>
HWY_INLINE void load(void const* from, std::int64_t row_bytes) {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(from), "r"(row_bytes), "i"(tile) : "memory");
}
template <int tile>
HWY_INLINE void store(float* to, std::int64_t row_bytes) {
  asm volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(to), "r"(row_bytes), "i"(tile) : "memory");
}
/// sum ← sum + a·b
template <int sum, int a, int b>
HWY_INLINE void add_products() {
  asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(sum), "i"(a), "i"(b));
}

/// Sums of a strip for a panel of columns, in tiles: Σ_p a_ip·b_pv, a_ip at a + 4·(p + i·a_row) bytes and b_p from b +
/// p·panel on; then stored to `to`, to_row floats a row. Of 24 rows, only rows in tiles that hold some of `rows` are
/// computed.
template <bool has_upper, bool has_lower>
HWY_INLINE void multiply_tiles(bf16_pair const* a, std::int64_t a_row, bf16_pair const* b, std::int64_t pairs,
                               float* to, std::int64_t to_row) {
  constexpr std::int64_t pair_bytes = sizeof(bf16_pair), float_bytes = sizeof(float);
  constexpr std::int64_t first_lower = has_upper ? upper : 0;
  if constexpr (has_upper) zero<upper_sums>(), zero<upper_sums + 1>();
  if constexpr (has_lower) zero<lower_sums>(), zero<lower_sums + 1>();
  for (std::int64_t p = 0; p < pairs; p += chunk) {
    load<columns>(b + p * panel, panel * pair_bytes), load<columns + 1>(b + p * panel + chunk, panel * pair_bytes);
    if constexpr (has_upper) {
      load<upper_rows>(a + p, a_row * pair_bytes);
      add_products<upper_sums, upper_rows, columns>(), add_products<upper_sums + 1, upper_rows, columns + 1>();
    }
    if constexpr (has_lower) {
      load<lower_rows>(a + first_lower * a_row + p, a_row * pair_bytes);
      add_products<lower_sums, lower_rows, columns>(), add_products<lower_sums + 1, lower_rows, columns + 1>();
    }
  }
  if constexpr (has_upper)
    store<upper_sums>(to, to_row * float_bytes), store<upper_sums + 1>(to + chunk, to_row * float_bytes);
  if constexpr (has_lower) {
    store<lower_sums>(to + first_lower * to_row, to_row * float_bytes);
    store<lower_sums + 1>(to + first_lower * to_row + chunk, to_row * float_bytes);
  }
}

HWY_INLINE void multiply(bf16_pair const* a, std::int64_t a_row, bf16_pair const* b, std::int64_t pairs,
                         std::int64_t rows, float* to, std::int64_t to_row) {
  if (rows > upper) multiply_tiles<true, true>(a, a_row, b, pairs, to, to_row);
  else if (rows > lower) multiply_tiles<true, false>(a, a_row, b, pairs, to, to_row);
  else multiply_tiles<false, true>(a, a_row, b, pairs, to, to_row);
}

void scores_by_amx(bf16_pair const* Q, bf16_pair const* K, std::int64_t pairs, std::int64_t rows, interval keys,
                   float factor, float* S) noexcept {
  __m512 const f = _mm512_set1_ps(factor);
  for (std::int64_t j = keys.first; j < keys.last; j += panel) {
    multiply(Q, pairs, K + j * pairs, pairs, rows, S + j, row_stride);
    for (std::int64_t i = 0; i < rows; ++i)
      for (float* s = S + i * row_stride + j; s < S + i * row_stride + j + panel; s += chunk)
        _mm512_storeu_ps(s, _mm512_mul_ps(_mm512_loadu_ps(s), f));
  }
}

void values_by_amx(float const* P, bf16_pair const* V, std::int64_t rows, interval pairs, std::int64_t dv,
                   float const* factor, matrix<float> O) noexcept {
  auto const* const weights = reinterpret_cast<bf16_pair const*>(P) + pairs.first;
  alignas(64) float sum[strip_rows * panel];
  for (std::int64_t c = 0; c < dv; c += panel) {
    multiply(weights, row_stride, V + c * panel_pairs + pairs.first * panel, pairs.size(), rows, sum, panel);
    std::int64_t const there = dv - c > chunk ? panel : chunk;
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t v = 0; v < there; v += chunk) {
        float* const o = O.row(i) + c + v;
        _mm512_storeu_ps(
            o, _mm512_fmadd_ps(_mm512_loadu_ps(o), _mm512_set1_ps(factor[i]), _mm512_load_ps(sum + i * panel + v)));
      }
  }
}

/// Does the processor have AMX for bf16, and does the system let this process use the tiles? The system must be asked
/// for them.
bool may_use_tiles() noexcept {
#if defined(__linux__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned bf16_tiles = 1u << 22, tiles = 1u << 24;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (d & (bf16_tiles | tiles)) != (bf16_tiles | tiles)) return false;
  constexpr int request_permission = 0x1023, tile_data = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return ::syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
#else
  return false;
#endif
}

}  // namespace
}  // namespace attest::fast
HWY_POP_ATTRIBUTES

namespace attest::fast {
namespace {

bool has_fma() noexcept { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

}  // namespace

bf16_pair_operations const* bf16_tiles_by_fma() noexcept {
  static bf16_pair_operations const all = [] {
    bf16_pair_operations made{};
    made.chunk = chunk;
    made.scores = scores_by_fma, made.values = values_by_fma, made.visible_values = visible_values_by_fma;
    made.narrow = narrow_by_integers;
    take_few_rows(made);
    return made;
  }();
  static bool const here = has_fma();
  return here ? &all : nullptr;
}

bf16_pair_operations const* bf16_tiles_by_amx() noexcept {
  // Every processor with AMX for bf16 has AVX512-BF16, whose narrow() is the faster one.
  static bool const here = has_fma() && bf16_pairs_here() != nullptr && may_use_tiles();
  if (!here) return nullptr;
  static bf16_pair_operations const all = [] {
    bf16_pair_operations made = *bf16_tiles_by_fma();
    made.begin = begin, made.end = end;
    made.scores = scores_by_amx, made.values = values_by_amx, made.narrow = bf16_pairs_here()->narrow;
    return made;
  }();
  return &all;
}

}  // namespace attest::fast

#else

namespace attest::fast {
bf16_pair_operations const* bf16_tiles_by_amx() noexcept { return nullptr; }
bf16_pair_operations const* bf16_tiles_by_fma() noexcept { return nullptr; }
}  // namespace attest::fast

#endif
