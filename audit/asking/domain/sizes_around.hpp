// The sizes that a kernel takes along one axis, found from a size that it takes.
#pragma once

#include <functional>
#include <span>

#include "audit/cases/domain/size_set.hpp"

namespace attest::audit {

/// How far an axis is searched.
struct axis_limits {
  std::int64_t most = 4096;                              ///< a kernel that takes this size takes all above
  bool zero = false;                                     ///< is 0 asked, too?
  std::function<bool()> is_slow = [] { return false; };  ///< after the last size: larger ones take too long to ask
};

/// { x : takes(x) } near `at`, if these are the multiples of a granule in an interval: a granule of 1 to 128 that is a
/// power of two, or 192 or 256. {at} if no such neighbour is taken.
/// Requires  takes(at), at > 0
/// Cost      about 4 refused calls, and as many answered ones as there are doublings up to limits.most
size_set sizes_around(std::function<bool(std::int64_t)> const& takes, std::int64_t at, axis_limits const& limits);

/// The sizes that are in both, if the result is a set of this form; else a part of them.
size_set common(size_set const& a, size_set const& b);

/// Everything if each of the sizes asked is taken. sizes_around(at) if that tells these sizes apart as the kernel does,
/// at least three of them are taken, and they are the multiples of a granule in an interval. Else a list of `at` and
/// the sizes that are taken.
/// Requires  sizes in increasing order, takes(at)
size_set sizes_among(std::span<std::int64_t const> asked, std::function<bool(std::int64_t)> const& takes,
                     std::int64_t at, axis_limits const& limits);

}  // namespace attest::audit
