// How elements were rounded: reference/machine/rounded.hpp.
#pragma once

#include <cstdint>

namespace attest::reference::machine {

struct rounding_tally {
  std::int64_t elements = 0;         ///< that were rounded: all except elements that are NaN or −∞ by definition
  std::int64_t in_double_words = 0;  ///< of these, by double words after doubles did not decide them
  std::int64_t in_balls = 0;         ///< of these, by the ball tier
  std::int64_t undecided = 0;        ///< of these, decided neither by theorem N nor by a width
  rounding_tally& operator+=(rounding_tally const& other) noexcept {
    elements += other.elements, in_double_words += other.in_double_words, in_balls += other.in_balls,
        undecided += other.undecided;
    return *this;
  }
};

}  // namespace attest::reference::machine
