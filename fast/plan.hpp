// How the work of one call is divided, as data, decided before it starts from its sizes, the threads and this machine's
// caches. Results depend on key blocks and splits, which are the same everywhere (blocking_of<T>). No result depends on
// the rest.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fast/algorithm/storage.hpp"
#include "fast/workspace.hpp"
#include "problem/instance.hpp"

namespace attest::fast {

struct plan {
  int threads = 1;              ///< threads to use; 1 if the work is too small to gain from a second
  std::int64_t cache = 0;       ///< bytes of second-level cache: of a core, or as asked for; more for block masks
  std::int64_t key_block = 1;   ///< keys of one key block
  std::int64_t splits = 1;      ///< partial rows of a query, merged in order; of the entry with the most keys
  std::int64_t rows = 0;        ///< queries of one kv head, those of all heads that read it, of the largest entry
  std::int64_t block_rows = 1;  ///< rows of one query block
  std::int64_t blocks = 0;      ///< query blocks of one kv head of the largest entry
  std::int64_t tasks = 0;       ///< query blocks of all kv heads of all entries
  bool shared = false;          ///< each split is a task of its own: few queries, many keys
  std::int64_t kept = 0;        ///< scores to keep of each row: for weights in bf16 or f16, which cannot hold them
  bool paged = false;           ///< K and V lie in pages
  bool block_mask = false;      ///< a key block is seen by some of the rows of a query block only
  bool in_place = false;  ///< so few queries that K and V need not be copied where all of them see all keys of a block
  std::vector<std::int64_t> ends{};  ///< tasks of entries 0 … e, for each e; empty where all entries have as many
};

/// The requirements of a call of this plan on its workspaces.
template <class E>
typename workspace<working<E>>::requirements requirements_of(plan const& cut) noexcept {
  return {cut.splits > 1, is_narrow<E> || cut.paged, cut.kept, cut.block_mask};
}

/// Threads for so many multiply-adds, at most `at_most`, 0 = the kernel's own choice.
int threads_for(double work, int at_most);

/// The plan of fast::attention for a call of these sizes, all of whose entries fill their slots. threads and cache are
/// members of fast::options.
template <problem::floating_element E>
plan plan_of(problem::sizes const& size, bool with_weights, int threads, std::int64_t cache = 0);

/// The same for any call. Entries that do not fill their slots have tasks for the queries that they have.
template <problem::floating_element E>
plan plan_of(problem::instance<E> const& instance, bool with_weights, int threads, std::int64_t cache = 0);

/// The memory of a call in addition to its inputs and outputs, in bytes.
struct plan_memory {
  std::int64_t thread = 0;  ///< working memory of one thread
  std::int64_t shared = 0;  ///< partial rows of all splits, if they are tasks of their own
};
template <problem::floating_element E>
plan_memory memory_of(problem::sizes const& size, plan const& cut);

/// The plan in words, a line for each decision with the numbers that led to it.
std::string explained(plan const& cut, plan_memory const& memory);

}  // namespace attest::fast
