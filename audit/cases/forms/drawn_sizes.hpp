// The sizes of drawn forms.
#pragma once

#include <algorithm>
#include <cmath>

#include "audit/cases/domain/call_domain.hpp"
#include "audit/cases/random.hpp"

namespace attest::audit {

inline constexpr std::int64_t largest_length = 16384, largest_width = 576, most_heads = 512;

template <class T, std::size_t N>
T one_of(T const (&all)[N], random_stream& random) {
  return all[random.below(static_cast<std::int64_t>(N))];
}

/// Log-uniform on 1 … most.
inline std::int64_t log_uniform(std::int64_t most, random_stream& random) {
  double const drawn = std::exp(random.uniform() * std::log(static_cast<double>(most) + 1));
  return std::clamp(static_cast<std::int64_t>(drawn), std::int64_t{1}, most);
}

/// Sizes near the domain, for keep_to: each axis by itself is a member of its set, where it has one. Without a domain
/// n, m ∈ [0, 16384], d, dv ∈ [1, 576], b·hq ∈ [1, 512].
problem::sizes drawn_sizes(call_domain const& domain, random_stream& random);

}  // namespace attest::audit
