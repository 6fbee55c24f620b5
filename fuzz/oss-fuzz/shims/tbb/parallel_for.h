// oneTBB's names, one thread: what attest uses of it, for programs that must run where oneTBB is not installed
// (ATTEST_SELF_CONTAINED). A fuzzer wants one thread anyway: its inputs and coverage then repeat.
#pragma once

#include "tbb/blocked_range.h"

namespace tbb {

template <class Index, class Body>
void parallel_for(Index first, Index last, Body const& body) {
  for (; first < last; ++first) body(first);
}

template <class Index, class Body>
void parallel_for(blocked_range<Index> const& range, Body const& body) {
  if (range.begin() < range.end()) body(range);
}

}  // namespace tbb
