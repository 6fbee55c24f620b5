// Which rows are bounded by more than one kernel model: row_options::further in reference/machine/rows.hpp.
#pragma once

#include <cstdint>

#include "problem/instance.hpp"

namespace attest::reference::machine {

/// One row in so many is bounded by row_options::further: a second bound costs about as much as the first. Which ones
/// differs from one number of keys to the next, so that problems of a single row are not always among them.
inline constexpr std::int64_t further_one_in = 32;
constexpr bool bounded_again(problem::sizes const& s, std::int64_t b, std::int64_t h, std::int64_t i) noexcept {
  return ((b * s.hq + h) * s.n + i + s.m) % further_one_in == 0;
}

}  // namespace attest::reference::machine
