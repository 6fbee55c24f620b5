// How one call is cut, as data: decided from its sizes, the threads and this machine's caches before it starts. What a
// result depends on (key blocks, splits) is blocking_of<T>'s and the same everywhere; the rest never shows in a result.
#pragma once

#include <cstdint>
#include <string>

#include "fast/algorithm/storage.hpp"
#include "fast/workspace.hpp"
#include "problem/instance.hpp"

namespace attest::fast {

struct plan {
  int threads = 1;               ///< that will run; 1 where a second costs more than it brings
  std::int64_t cache = 0;        ///< bytes of one core's second-level cache
  std::int64_t key_block = 1;    ///< keys of one block: packed K and V of so many keys at a time
  std::int64_t splits = 1;       ///< partial rows of a query, merged in order
  std::int64_t rows = 0;         ///< queries of one kv head: those of all its query heads
  std::int64_t block_rows = 1;   ///< of these, so many share one packing of K and V
  std::int64_t blocks = 0;       ///< of queries, per kv head
  std::int64_t tasks = 0;        ///< b·hk·blocks
  bool shared = false;           ///< whether each split is a task of its own: few queries, many keys
  std::int64_t kept = 0;         ///< scores kept for each row: weights in bf16 or f16, which cannot hold them
};

/// Arrays that a call of this plan needs.
template <class E>
typename workspace<working<E>>::wishes wishes_of(plan const& how) noexcept {
  return {how.splits > 1, is_narrow<E>, how.kept};
}

/// The plan of fast::attention for a call of these sizes. threads: options::threads, 0 = the kernel's own choice.
template <problem::floating_element E>
plan plan_of(problem::sizes const& size, bool with_weights, int threads);

/// Bytes beyond inputs and outputs.
struct plan_memory {
  std::int64_t thread = 0;  ///< working memory of one thread
  std::int64_t shared = 0;  ///< partial rows of all splits, where they are tasks of their own
};
template <problem::floating_element E>
plan_memory memory_of(problem::sizes const& size, plan const& how);

/// The plan in words, for people: a line for each decision, with the numbers behind it.
std::string explained(plan const& how, plan_memory const& memory);

}  // namespace attest::fast
