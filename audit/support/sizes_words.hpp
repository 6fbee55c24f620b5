// The sizes of a call, in words.
#pragma once

#include <string>

#include <fmt/format.h>

#include "problem/instance.hpp"

namespace attest::audit {

/// "b=1 hq=8 hk=2 n=64 m=128 d=64 dv=64"
inline std::string sizes_words(problem::sizes const& s) {
  return fmt::format("b={} hq={} hk={} n={} m={} d={} dv={}", s.b, s.hq, s.hk, s.n, s.m, s.d, s.dv);
}

}  // namespace attest::audit
