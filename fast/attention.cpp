// From a call to its tasks: one for each query block of each kv head, in any order, on any thread.
#include "fast/attention.hpp"

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "fast/bf16_products.hpp"
#include "fast/float_environment.hpp"
#include "fast/for_ranges.hpp"
#include "fast/kept_memory.hpp"
#include "fast/plan.hpp"
#include "fast/query_block.hpp"
#include "fast/simd/bf16_tiles.hpp"
#include "fast/working_products.hpp"

namespace attest::fast {
namespace {

/// The query block of one task of the plan, with all splits of its keys.
template <class E>
query_block block_of(plan const& cut, problem::instance<E> const& instance, std::int64_t task) noexcept {
  auto const& size = instance.size();
  std::int64_t b = 0, rows = cut.rows, blocks = cut.blocks;
  if (cut.ends.empty()) {
    b = task / (size.hk * blocks), task %= size.hk * blocks;
  } else {
    auto const end = std::upper_bound(cut.ends.begin(), cut.ends.end(), task);
    b = end - cut.ends.begin(), task -= b == 0 ? 0 : end[-1];
    rows = size.hq / size.hk * instance.queries(b), blocks = ceiling_division(rows, cut.block_rows);
  }
  std::int64_t const first = task % blocks * cut.block_rows;
  return {b, task / blocks, {first, std::min(first + cut.block_rows, rows)}, {0, cut.splits}};
}

/// Splits that hold keys of entry b, but at least one.
template <class E>
std::int64_t splits_of(problem::instance<E> const& instance, std::int64_t b) noexcept {
  return std::max<std::int64_t>(1, ceiling_division(instance.keys(b), blocking_of<working<E>>.split));
}

/// One thread's memory while it works for a call, and the kernel on it.
template <class E>
class worker {
 public:
  using T = working<E>;

  /// Throws  std::bad_alloc
  worker(call_context<E> const& call, plan const& cut)
      : call_(call), memory_(thread_memory<E>::of_this_thread()), using_(memory_.in_list.used) {
    auto const& size = call.instance.size();
    auto const rows = static_cast<std::size_t>(cut.block_rows);
    space_ = workspace<T>::in(memory_.arrays, cut.block_rows, size.d, size.dv, requirements_of<E>(cut));
    if (memory_.rules.size() < rows) memory_.rules.resize(rows);
    if (memory_.strips.size() < rows) memory_.strips.resize(rows);
  }

  template <class Products>
  query_block_kernel<E, Products> kernel(query_block const& block) const noexcept {
    return {call_, block, space_, memory_.rules.data(), memory_.strips.data()};
  }
  workspace<T> const& space() const noexcept { return space_; }

 private:
  call_context<E> const& call_;
  thread_memory<E>& memory_;
  std::scoped_lock<std::mutex> using_;
  workspace<T> space_{};
};

// The functions below that are not inlined do arithmetic, which the compiler could otherwise move out of the scope of
// the float_environment.
template <class E>
[[gnu::noinline]] call_context<E> context_within(problem::instance<E> const& instance,
                                                 problem::outputs<E> const& outputs) noexcept {
  using T = working<E>;
  return {instance, outputs, best_operations<T>(), score_scale<T>::of(instance.scale(), instance.size().d),
          score_cap<T>::of(instance.softcap())};
}

template <class E>
call_context<E> context_of(problem::instance<E> const& instance, problem::outputs<E> const& outputs) noexcept {
  float_environment const environment;
  return context_within(instance, outputs);
}

template <class Products, class E>
[[gnu::noinline]] void run_query_block(worker<E> const& by, query_block const& block) noexcept {
  auto kernel = by.template kernel<Products>(block);
  kernel.absorb_key_blocks();
  kernel.write_outputs();
}

/// The partial rows of every split of every task.
template <class E>
class partial_rows {
 public:
  using T = working<E>;

  partial_rows(plan const& cut, std::int64_t dv)
      : width_(workspace<T>::padded(dv)),
        rows_(cut.block_rows),
        splits_(cut.splits),
        numbers_(static_cast<std::size_t>(cut.tasks * splits_ * rows_ * (width_ + sum_lanes + 1))) {}

  row_states<T> states(std::int64_t task, std::int64_t split) noexcept {
    T* const first = place(task, split);
    return {first, first + rows_, nullptr};
  }
  matrix<T> O(std::int64_t task, std::int64_t split) noexcept {
    return {place(task, split) + rows_ * (sum_lanes + 1), width_};
  }

  static void copy(row_states<T> const& from, matrix<T> const& from_O, row_states<T> const& to, matrix<T> const& to_O,
                   std::int64_t rows) noexcept {
    std::copy_n(from.m, rows, to.m);
    std::copy_n(from.l, rows * sum_lanes, to.l);
    std::copy_n(from_O.data, rows * from_O.stride, to_O.data);
  }

 private:
  T* place(std::int64_t task, std::int64_t split) noexcept {
    return numbers_.data() + (task * splits_ + split) * rows_ * (width_ + sum_lanes + 1);
  }

  std::int64_t width_, rows_, splits_;
  std::vector<T> numbers_;
};

template <class Products, class E>
[[gnu::noinline]] void run_split(worker<E> const& by, query_block block, std::int64_t task, std::int64_t split,
                                 std::int64_t splits, partial_rows<E>& partial) noexcept {
  if (split >= splits) return;
  block.splits = {split, split + 1};
  by.template kernel<Products>(block).absorb_key_blocks();
  partial.copy(by.space().states, by.space().O, partial.states(task, split), partial.O(task, split), block.rows.size());
}

/// Merges the splits in the order of their keys, as a single task would.
template <class Products, class E>
[[gnu::noinline]] void merge_splits(worker<E> const& by, query_block const& block, std::int64_t task,
                                    std::int64_t splits, partial_rows<E>& partial) noexcept {
  partial.copy(partial.states(task, 0), partial.O(task, 0), by.space().states, by.space().O, block.rows.size());
  auto kernel = by.template kernel<Products>(block);
  for (std::int64_t c = 1; c < splits; ++c) kernel.merge_rows(partial.states(task, c), partial.O(task, c));
  kernel.write_outputs();
}

/// The call with products of class Products.
template <class Products, class E>
problem::result<std::monostate> attend(problem::instance<E> const& instance, problem::outputs<E> const& outputs,
                                       options const& chosen) {
  using problem::error_code;
  if (chosen.threads < 0)
    return problem::error{error_code::bad_value, "threads",
                          "is " + std::to_string(chosen.threads) + ", expected 0 (the kernel's own choice) or more"};

  if (chosen.cache < 0)
    return problem::error{error_code::bad_value, "cache",
                          "is " + std::to_string(chosen.cache) + ", expected 0 (what there is) or more"};

  if (instance.keep())
    return problem::error{error_code::unsupported, "keep", "dropout is something that this kernel does not do"};

  plan const cut = plan_of<E>(instance, bool(outputs.weights), chosen.threads, chosen.cache);
  int const threads = cut.threads;
  if (cut.tasks == 0) return std::monostate{};
  call_context<E> const call = context_of(instance, outputs);
  if (!cut.shared) {
    // For each query block i.
    for_ranges(cut.tasks, threads, [&](std::int64_t first, std::int64_t last) {
      worker<E> const by(call, cut);
      float_environment const environment;
      for (std::int64_t task = first; task < last; ++task) run_query_block<Products>(by, block_of(cut, instance, task));
    });
    return std::monostate{};
  }
  std::int64_t const splits = cut.splits;
  partial_rows<E> partial(cut, instance.size().dv);
  // For each split of each query block i, then for each query block i.
  for_ranges(cut.tasks * splits, threads, [&](std::int64_t first, std::int64_t last) {
    worker<E> const by(call, cut);
    float_environment const environment;
    for (std::int64_t at = first; at < last; ++at) {
      query_block const block = block_of(cut, instance, at / splits);
      run_split<Products>(by, block, at / splits, at % splits, splits_of(instance, block.b), partial);
    }
  });
  for_ranges(cut.tasks, 1, [&](std::int64_t first, std::int64_t last) {
    worker<E> const by(call, cut);
    float_environment const environment;
    for (std::int64_t task = first; task < last; ++task) {
      query_block const block = block_of(cut, instance, task);
      merge_splits<Products>(by, block, task, splits_of(instance, block.b), partial);
    }
  });
  return std::monostate{};
}

}  // namespace

bool is_here(bf16_arithmetic of) noexcept {
  if (of == bf16_arithmetic::f32) return true;
  return (of == bf16_arithmetic::dot_products ? bf16_pairs_here() : bf16_tiles_here()) != nullptr;
}

template <problem::floating_element E>
problem::result<std::monostate> attention(problem::instance<E> const& instance, problem::outputs<E> const& outputs,
                                          options const& chosen) {
  if (chosen.bf16_arithmetic == bf16_arithmetic::f32) return attend<working_products<E>>(instance, outputs, chosen);
  using problem::error_code;
  if constexpr (std::is_same_v<E, problem::bf16>) {
    bool const tiles = chosen.bf16_arithmetic == bf16_arithmetic::tile_products;
    if (!is_here(chosen.bf16_arithmetic))
      return problem::error{
          error_code::unsupported, "bf16_arithmetic",
          tiles ? "this processor has neither AMX nor AVX2 and FMA" : "this processor has no dot products of bf16"};
    return tiles ? attend<bf16_products<bf16_tiles_here>>(instance, outputs, chosen)
                 : attend<bf16_products<bf16_pairs_here>>(instance, outputs, chosen);
  }
  return problem::error{error_code::unsupported, "bf16_arithmetic", "products of bf16 need tensors of bf16"};
}

using problem::bf16, problem::f16, problem::instance, problem::outputs;
static_assert(std::is_same_v<problem::floating_elements, problem::type_list<float, double, bf16, f16>>,
              "one line below for each of the floating types");
template problem::result<std::monostate> attention(instance<float> const&, outputs<float> const&, options const&);
template problem::result<std::monostate> attention(instance<double> const&, outputs<double> const&, options const&);
template problem::result<std::monostate> attention(instance<bf16> const&, outputs<bf16> const&, options const&);
template problem::result<std::monostate> attention(instance<f16> const&, outputs<f16> const&, options const&);

}  // namespace attest::fast
