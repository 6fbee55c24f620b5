// The data that the tasks of one call share, and the description of one task.
#pragma once

#include <cstdint>

#include "fast/algorithm/band.hpp"
#include "fast/scale.hpp"
#include "fast/simd/operations.hpp"
#include "problem/instance.hpp"

namespace attest::fast {

/// Some rows of one kv head of entry b, and some splits of its keys.
struct query_block {
  std::int64_t b = 0, kv_head = 0;
  interval rows{};    ///< row r is query r % n of head kv_head·(hq/hk) + r / n, of the n queries of the entry
  interval splits{};  ///< split c is keys [c·split, (c+1)·split)
};

/// The data that all tasks of a call share.
template <class E>
struct call_context {
  problem::instance<E> const& instance;
  problem::outputs<E> const& outputs;
  operations<working<E>> const& ops;
  score_scale<working<E>> scale;
  score_cap<working<E>> cap;
};

}  // namespace attest::fast
