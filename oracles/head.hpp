// One head of attention in plain numbers: what every oracle is asked.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace attest::oracles {

/// The keys that a query attends to and how they are scored: s_j = cap(σ·q·k_j) + bias_j, times ln 2 in base 2,
/// o = Σ e^(s_j) v_j / Σ e^(s_j). The caller handles masks, bands and infinities: every key here takes part, and is
/// finite. A double holds any element exactly.
struct head {
  std::size_t keys = 0, d = 0, dv = 0;
  std::vector<double> k, v;     ///< [keys, d], [keys, dv]
  std::optional<double> scale;  ///< σ; 1/√d where absent
  double softcap = 0;           ///< cap(x) = c·tanh(x/c); 0: cap(x) = x
  bool in_base_2 = false;       ///< the scores are logarithms to the base 2; the LSE is natural
};

/// Scaled by 1/√d, without softcap. Requires d ≥ 1
template <class T>
head head_of(std::vector<T> const& k, std::vector<T> const& v, std::size_t d, std::size_t dv) {
  return {k.size() / d, d, dv, {k.begin(), k.end()}, {v.begin(), v.end()}, {}, 0, false};
}

}  // namespace attest::oracles
