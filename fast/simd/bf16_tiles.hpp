// Products of tiles of bf16, which processors with AMX have as one instruction (TDPBF16PS: Sapphire Rapids and later
// ones): 16 rows by 16 columns of sums gain 16 pairs each, sixteen times as much as one multiply-add of 512 bits in f32
// and more.
#pragma once

#include "fast/simd/bf16_pairs.hpp"

namespace attest::fast {

/// The operations by AMX; null if the processor or the system does not allow them. A chunk is 16 pairs, and s ← s + Σ_p
/// a_p·b_p over the pairs a_p = (a_p0, a_p1) and b_p of a chunk is
///
///   fl(s + fl(e + o)),  e = Σ_p a_p0·b_p0,  o = Σ_p a_p1·b_p1
///
/// where e and o are chains of fused multiply-adds from 0, p in order, and fl rounds once, to nearest, ties to even.
/// Subnormal numbers count as 0, and subnormal results are 0, whatever MXCSR says.
/// Source  Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, TDPBF16PS
bf16_pair_operations const* bf16_tiles_by_amx() noexcept;

/// The same bits by AVX2 and FMA, with MXCSR as float_environment sets it; null if the processor lacks them. It takes
/// longer than the arithmetic in f32.
bf16_pair_operations const* bf16_tiles_by_fma() noexcept;

/// The faster of the available ones, or null.
inline bf16_pair_operations const* bf16_tiles_here() noexcept {
  static bf16_pair_operations const* const best =
      bf16_tiles_by_amx() != nullptr ? bf16_tiles_by_amx() : bf16_tiles_by_fma();
  return best;
}

}  // namespace attest::fast
