// The infinity of double.
#pragma once

#include <limits>

namespace attest::reference {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace attest::reference
