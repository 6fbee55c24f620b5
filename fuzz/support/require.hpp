// How a fuzz target says that something is wrong.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <iostream>

namespace attest::fuzz {

/// Ends the program where `holds` is false: the engine keeps the input.
inline void require(bool holds, char const* claim = "what holds of every input") {
  if (holds) return;
  std::fprintf(stderr, "not so: %s\n", claim);
  std::abort();
}

/// The same; what was tested is printed first.
template <class Tested>
void require(bool holds, char const* claim, Tested const& tested) {
  if (!holds) std::cerr << tested;
  require(holds, claim);
}

}  // namespace attest::fuzz
