// The base of logarithms and exponentials: of an LSE that a kernel returns, and of the LSE that a merge is given.
#pragma once

#include <cstdint>

namespace attest::problem {

enum class log_base : std::uint8_t { e, two };

}  // namespace attest::problem
