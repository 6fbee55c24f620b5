// How a fuzz target says that something is wrong.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace attest::fuzz {

/// Ends the program where `holds` is false: the engine keeps the input.
inline void require(bool holds, char const* claim = "what holds of every input") {
  if (holds) return;
  std::fprintf(stderr, "not so: %s\n", claim);
  std::abort();
}

}  // namespace attest::fuzz
