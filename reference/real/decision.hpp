// The results that enclosures can have: yes, no, or nothing. Where the truth has three values, there is no bool.
#pragma once

#include <cstdint>

namespace attest::reference {

enum class decision : std::uint8_t { no, yes, undecided };

}  // namespace attest::reference
