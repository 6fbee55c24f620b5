// The sizes and the parameters of a call, in words.
#pragma once

#include <optional>
#include <string>
#include <type_traits>

#include <fmt/format.h>

#include "problem/instance.hpp"
#include "problem/parameters.hpp"

namespace attest::audit {

/// "b=1 hq=8 hk=2 n=64 m=128 d=64 dv=64"
inline std::string sizes_words(problem::sizes const& s) {
  return fmt::format("b={} hq={} hk={} n={} m={} d={} dv={}", s.b, s.hq, s.hk, s.n, s.m, s.d, s.dv);
}

/// " scale=-0.125 right=0": each parameter that is not neutral, by the name of its flag.
inline std::string parameters_words(problem::parameters const& p) {
  std::string words;
  problem::visit_parameters(p, [&]<class T>(problem::parameter<T> const& parameter, T const& value) {
    if (value == parameter.neutral) return;
    if constexpr (std::is_same_v<T, std::optional<double>>) words += fmt::format(" {}={}", parameter.name, *value);
    else words += fmt::format(" {}={}", parameter.name, value);
  });
  return words;
}

}  // namespace attest::audit
