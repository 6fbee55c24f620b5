// The decisions of a plan.
#include "fast/plan.hpp"

#include <algorithm>

#include <oneapi/tbb/info.h>

#include "fast/algorithm/blocking.hpp"
#include "fast/cache.hpp"

namespace attest::fast {
namespace {

/// Scores that a thread may keep for weights in bf16 and f16, whose output cannot hold them.
constexpr std::int64_t scores_kept = std::int64_t{1} << 20;

/// A block mask shows a key block to a part of the rows of a query block. So four times as many rows share its packing,
/// and the cache still holds most of the data that these rows need.
constexpr std::int64_t caches_of_block_mask = 4;

/// Multiply-adds below which a second thread costs more than it gains.
constexpr double work_worth_a_thread = 4e6;

/// The second-level cache to plan for, in bytes: the requested one, or the machine's.
std::int64_t cache_or_own(std::int64_t asked) noexcept { return asked > 0 ? asked : second_level_cache(); }

/// The plan of entries that are all as large as `size` says, with `pairs` pairs of a query and a key for each head.
/// slot: keys of a row of weights.
template <problem::floating_element E>
plan equal_entries(problem::sizes const& size, double pairs, std::int64_t slot, bool with_weights, int threads,
                   std::int64_t cache) {
  using T = working<E>;
  plan cut;
  cut.threads = threads_for(static_cast<double>(size.hq) * pairs * static_cast<double>(size.d + size.dv + 1), threads);
  cut.cache = cache_or_own(cache);
  cut.key_block = blocking_of<T>.keys;
  cut.splits = std::max<std::int64_t>(1, ceiling_division(size.m, blocking_of<T>.split));
  cut.rows = size.hk > 0 ? size.hq / size.hk * size.n : 0;
  std::int64_t const heads = cut.rows > 0 ? size.b * size.hk : 0;  // without queries, more than memory bounds
  cut.block_rows =
      query_block_rows<T>(cut.rows, heads, size.d, size.dv, cut.cache, cut.threads > 1 ? 4 * cut.threads : 1);
  cut.kept = with_weights && is_narrow<E> ? slot : 0;
  if (cut.kept > 0)
    cut.block_rows = std::clamp(scores_kept / cut.kept / strip_rows * strip_rows, strip_rows, cut.block_rows);
  cut.in_place = std::min(cut.rows, cut.block_rows) <= best_operations<T>().few_rows;
  cut.blocks = cut.rows > 0 ? ceiling_division(cut.rows, cut.block_rows) : 0;
  cut.tasks = heads * cut.blocks;
  return cut;
}

plan with_sharing(plan cut, bool with_weights) {
  cut.shared = !with_weights && cut.splits > 1 && cut.tasks < 2 * cut.threads;
  return cut;
}

/// The plan of a call, whatever its block mask.
template <problem::floating_element E>
plan plan_of_entries(problem::instance<E> const& instance, bool with_weights, int threads, std::int64_t cache) {
  problem::sizes const& slots = instance.size();
  if (instance.entries().are_dense()) return plan_of<E>(slots, with_weights, threads, cache);
  problem::sizes largest = slots;
  largest.n = largest.m = 0;
  double pairs = 0;
  for (std::int64_t e = 0; e < slots.b; ++e) {
    largest.n = std::max(largest.n, instance.queries(e)), largest.m = std::max(largest.m, instance.keys(e));
    pairs += static_cast<double>(instance.queries(e)) * static_cast<double>(instance.keys(e));
  }
  plan cut = equal_entries<E>(largest, pairs, slots.m, with_weights, threads, cache);
  cut.paged = !instance.k().has_row_stride();
  if (instance.entries().queries.lengths == nullptr && !instance.entries().queries.is_packed())
    return with_sharing(cut, with_weights);  // as many queries in every entry
  if (cut.tasks == 0) return cut;
  cut.tasks = 0;
  for (std::int64_t e = 0; e < slots.b; ++e) {
    cut.tasks += slots.hk * ceiling_division(slots.hq / slots.hk * instance.queries(e), cut.block_rows);
    cut.ends.push_back(cut.tasks);
  }
  return with_sharing(cut, with_weights);
}

}  // namespace

int threads_for(double work, int at_most) {
  if (at_most == 1 || work < work_worth_a_thread) return 1;
  // If it is asked for more threads than there are cores, oneTBB starts fewer and reports that on stderr.
  int const cores = oneapi::tbb::info::default_concurrency();
  return at_most == 0 ? cores : std::min(at_most, cores);
}

template <problem::floating_element E>
plan plan_of(problem::sizes const& size, bool with_weights, int threads, std::int64_t cache) {
  double const pairs = static_cast<double>(size.b) * static_cast<double>(size.n) * static_cast<double>(size.m);
  return with_sharing(equal_entries<E>(size, pairs, size.m, with_weights, threads, cache), with_weights);
}

template <problem::floating_element E>
plan plan_of(problem::instance<E> const& instance, bool with_weights, int threads, std::int64_t cache) {
  if (!instance.block_mask()) return plan_of_entries(instance, with_weights, threads, cache);
  plan cut = plan_of_entries(instance, with_weights, threads, caches_of_block_mask * cache_or_own(cache));
  cut.block_mask = true;
  return cut;
}

template <problem::floating_element E>
plan_memory memory_of(problem::sizes const& size, plan const& cut) {
  using T = working<E>;
  plan_memory memory{workspace<T>::bytes(cut.block_rows, size.d, size.dv, requirements_of<E>(cut)), 0};
  if (cut.shared)
    memory.shared = cut.tasks * cut.splits * cut.block_rows * (workspace<T>::padded(size.dv) + sum_lanes + 1) *
                    static_cast<std::int64_t>(sizeof(T));
  return memory;
}

using problem::bf16, problem::f16;
static_assert(std::is_same_v<problem::floating_elements, problem::type_list<float, double, bf16, f16>>,
              "three lines below for each of the floating types");
template plan plan_of<float>(problem::sizes const&, bool, int, std::int64_t);
template plan plan_of<double>(problem::sizes const&, bool, int, std::int64_t);
template plan plan_of<bf16>(problem::sizes const&, bool, int, std::int64_t);
template plan plan_of<f16>(problem::sizes const&, bool, int, std::int64_t);
template plan plan_of<float>(problem::instance<float> const&, bool, int, std::int64_t);
template plan plan_of<double>(problem::instance<double> const&, bool, int, std::int64_t);
template plan plan_of<bf16>(problem::instance<bf16> const&, bool, int, std::int64_t);
template plan plan_of<f16>(problem::instance<f16> const&, bool, int, std::int64_t);
template plan_memory memory_of<float>(problem::sizes const&, plan const&);
template plan_memory memory_of<double>(problem::sizes const&, plan const&);
template plan_memory memory_of<bf16>(problem::sizes const&, plan const&);
template plan_memory memory_of<f16>(problem::sizes const&, plan const&);

std::string explained(plan const& cut, plan_memory const& memory) {
  auto const count = [](std::int64_t n, std::string const& noun) {
    return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
  };
  auto const kib = [](std::int64_t bytes) { return std::to_string((bytes + 1023) / 1024) + " KiB"; };
  std::string text;
  text += "queries  " + std::to_string(cut.rows) + " rows a kv head, in " + count(cut.blocks, "block") + " of " +
          std::to_string(cut.block_rows) + ": Q, O and row states fill at most half of the second-level cache, " +
          kib(cut.cache) + "\n";
  bool const few = std::min(cut.rows, cut.block_rows) <= strip_rows;  // query_block_kernel::has_one_strip()
  text += "keys     blocks of " + std::to_string(cut.key_block) +
          (cut.in_place ? ", read where they lie where they can be; "
           : few        ? ", K copied panel by panel, V read where it lies where it can be; "
                        : ", packed once for each block of queries; ") +
          count(cut.splits, "partial row") + (cut.splits > 1 ? ", merged in order\n" : "\n");
  text += "tasks    " + count(cut.tasks, "block") + " of queries" +
          (cut.shared ? ", each split of the keys a task of its own (fewer blocks than twice the threads)" : "") +
          ", on " + count(cut.threads, "thread") + "\n";
  text += "memory   " + kib(memory.thread) + " a thread";
  if (memory.shared > 0) text += ", " + kib(memory.shared) + " of partial rows";
  if (cut.kept > 0) text += ", " + count(cut.kept, "score") + " a row kept for its weights";
  return text + "\n";
}

}  // namespace attest::fast
