// Three-valued answers: where the truth has three values, there is no bool.
#pragma once

#include <cstdint>

namespace attest::reference {

enum class answer : std::uint8_t { no, yes, undecided };

}  // namespace attest::reference
