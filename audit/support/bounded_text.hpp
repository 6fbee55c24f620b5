// Text in a field of fixed size, as in messages between processes.
#pragma once

#include <cstddef>
#include <string>

#include <string.h>

namespace attest::audit {

/// The text in such a field; a terminating 0 may be missing.
template <std::size_t N>
std::string bounded(char const (&text)[N]) {
  return {text, ::strnlen(text, N)};
}

}  // namespace attest::audit
