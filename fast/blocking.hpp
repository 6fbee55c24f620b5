// How the work is cut: block sizes as data. Nothing else in fast/ knows a block size.
#pragma once

#include <concepts>
#include <cstdint>

namespace attest::fast {

/// The tile of scores that one thread works on: `queries` rows by `keys` columns.
///
/// Key blocks lie at absolute key indices, [0, keys), [keys, 2·keys), …, whatever the mask or the band. So the tree in
/// which a row is summed is a function of m and T alone, and `queries` never shows in a result.
struct blocking {
  std::int64_t queries = 1;
  std::int64_t keys = 1;
  friend constexpr bool operator==(blocking const&, blocking const&) noexcept = default;
};

/// Why these   in f32 at d = dv = 64 a key panel, a tile of scores and a block of values take 16 KiB each; l and O meet
///             keys + m/keys − 2 additions, which has its minimum at keys = √m: 64 for m = 4096.
template <std::floating_point T>
inline constexpr blocking blocking_of{.queries = 64, .keys = 64};

template <>
inline constexpr blocking blocking_of<double>{.queries = 32, .keys = 64};

}  // namespace attest::fast
