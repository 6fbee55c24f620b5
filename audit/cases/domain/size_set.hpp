// A set of sizes, such as the numbers of keys that a kernel takes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace attest::audit {

/// The listed sizes; without a list, the multiples of `granule` from `least` to `most`. With `one`, 1 beside them.
struct size_set {
  static constexpr std::int64_t unbounded = std::numeric_limits<std::int64_t>::max();

  std::vector<std::int64_t> listed{};  ///< in increasing order
  std::int64_t granule = 1, least = 0, most = unbounded;
  bool one = false;
  friend bool operator==(size_set const&, size_set const&) = default;

  static size_set only(std::int64_t x) { return {.listed = {x}}; }
  bool is_everything() const { return *this == size_set{}; }
  bool has(std::int64_t x) const {
    if (one && x == 1) return true;
    if (!listed.empty()) return std::ranges::binary_search(listed, x);
    return x >= least && x <= most && x % granule == 0;
  }
  /// The least member that is at least x ≥ 0. Returns nothing if there is no such member.
  std::optional<std::int64_t> at_least(std::int64_t x) const {
    if (one && x <= 1) return has(x) ? x : 1;
    return several_at_least(x);
  }
  /// The greatest member that is at most x. Returns nothing if there is no such member.
  std::optional<std::int64_t> at_most(std::int64_t x) const {
    auto const found = several_at_most(x);
    return one && x >= 1 ? std::max<std::int64_t>(found.value_or(1), 1) : found;
  }
  /// The member at least x if there is one, else the greatest. Requires  a set that is not empty
  std::int64_t near(std::int64_t x) const {
    if (auto const up = at_least(x)) return *up;
    return at_most(x).value_or(listed.empty() ? least : listed.front());
  }

 private:
  /// Without `one`.
  std::optional<std::int64_t> several_at_least(std::int64_t x) const {
    if (!listed.empty()) {
      auto const found = std::ranges::lower_bound(listed, x);
      return found == listed.end() ? std::nullopt : std::optional(*found);
    }
    std::int64_t const from = std::max(x, least);
    if (from > unbounded - granule) return std::nullopt;
    std::int64_t const up = (from + granule - 1) / granule * granule;
    return up <= most ? std::optional(up) : std::nullopt;
  }
  std::optional<std::int64_t> several_at_most(std::int64_t x) const {
    if (!listed.empty()) {
      auto const above = std::ranges::upper_bound(listed, x);
      return above == listed.begin() ? std::nullopt : std::optional(*(above - 1));
    }
    std::int64_t const down = std::min(x, most) / granule * granule;
    return down >= least ? std::optional(down) : std::nullopt;
  }
};

}  // namespace attest::audit
