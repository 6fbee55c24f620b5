// From a backward call to its tasks. Each owns the gradients that it writes, so nothing is added by two threads.
#include "fast/backward.hpp"

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "fast/backward_extras.hpp"
#include "fast/backward_tasks.hpp"
#include "fast/cache.hpp"
#include "fast/float_environment.hpp"
#include "fast/for_ranges.hpp"
#include "fast/kept_memory.hpp"
#include "fast/plan.hpp"

namespace attest::fast {
namespace {

/// The memory that one thread keeps for the backward calls of an element type.
template <class T>
struct gradient_memory {
  scratch arrays;
  std::vector<T> sums;
  releasable in_list{this, [](void* kept) noexcept { return static_cast<gradient_memory*>(kept)->release(); }};

  static gradient_memory& of_this_thread() {
    thread_local gradient_memory memory;
    return memory;
  }

 private:
  std::int64_t release() noexcept {
    std::size_t const bytes = arrays.bytes() + sums.capacity() * sizeof(T);
    arrays.release();
    std::vector<T>().swap(sums);
    return static_cast<std::int64_t>(bytes);
  }
};

/// One thread's memory while it works for a call.
template <class E>
class gradient_worker {
 public:
  using T = working<E>;

  /// Throws  std::bad_alloc
  gradient_worker(backward_context<E> const& call, gradient_shape const& shape, bool with_sums)
      : memory_(gradient_memory<T>::of_this_thread()),
        using_(memory_.in_list.used),
        space_(gradient_workspace<T>::in(memory_.arrays, shape)),
        runner_(call, space_, shape.key_blocks) {
    auto const needed = static_cast<std::size_t>((gradient_rows<T> + 1) * blocking_of<T>.keys);
    if (with_sums && memory_.sums.size() < needed) memory_.sums.resize(needed);
  }

  gradient_runner<E>& runner() noexcept { return runner_; }
  gradient_workspace<T> const& space() const noexcept { return space_; }
  std::vector<T>& sums() noexcept { return memory_.sums; }

 private:
  gradient_memory<T>& memory_;
  std::scoped_lock<std::mutex> using_;
  gradient_workspace<T> space_;
  gradient_runner<E> runner_;
};

// The functions below that are not inlined do arithmetic, which the compiler could otherwise move out of the scope of
// the float_environment.
template <class E>
[[gnu::noinline]] backward_context<E> context_within(problem::instance<E> const& instance,
                                                     backward_inputs<E> const& given,
                                                     gradients<E> const& wanted) noexcept {
  using T = working<E>;
  return {instance,
          given,
          wanted,
          best_operations<T>(),
          best_gradient_operations<T>(),
          score_scale<T>::of(instance.scale(), instance.size().d),
          score_cap<T>::of(instance.softcap()),
          sigma_of(instance),
          static_cast<T>(1 / (1 - instance.parameters().dropout))};
}

template <class E>
backward_context<E> context_of(problem::instance<E> const& instance, backward_inputs<E> const& given,
                               gradients<E> const& wanted) noexcept {
  float_environment const environment;
  return context_within(instance, given, wanted);
}

template <class E>
[[gnu::noinline]] void run_task(gradient_worker<E>& by, gradient_task const& task) noexcept {
  by.runner().run(task);
}

template <class E, class X>
[[gnu::noinline]] void run_bias_task(backward_context<E> const& call, gradient_worker<E>& by,
                                     problem::view<X> const& of, bias_task const& task) noexcept {
  write_bias_gradient(call, by.runner(), of, task, by.sums());
}

template <class E, class X>
[[gnu::noinline]] void run_sink(backward_context<E> const& call, gradient_worker<E> const& by,
                                problem::view<X> const& of, std::int64_t b, std::int64_t h) noexcept {
  bool const shared = of.shape[0] == 1;
  auto const sum = sink_gradient(call, b, shared ? call.instance.size().b : b + 1, h, by.space().row, by.space().dO);
  write_row(call, &sum, working<E>(1), 1, of.row(b, h, 0), by.space().row);
}

/// The tasks of dQ, dK and dV.
template <class E>
std::vector<gradient_task> tasks_of(problem::instance<E> const& instance, gradients<E> const& wanted, int threads) {
  using T = working<E>;
  auto const& size = instance.size();
  std::vector<gradient_task> tasks;
  if (size.hk == 0 || size.b == 0) return tasks;
  tile_results const all{bool(wanted.dq), wanted.dk || wanted.dv};
  std::int64_t const heads = size.b * size.hk, group = size.hq / size.hk;
  // Whole heads form scores and dP once. Blocks of them form them twice, in 7 products instead of 5.
  bool const whole =
      threads == 1 || (all.dQ && all.dK_dV && 5 * ceiling_division(heads, threads) * threads <= 7 * heads);
  std::int64_t const parts = whole ? 1 : ceiling_division(std::int64_t{4} * threads, heads);
  auto const cut = [&](interval const& all_of, std::int64_t block, auto&& add) {
    std::int64_t const step = rounded_up(std::max<std::int64_t>(1, ceiling_division(all_of.size(), parts)), block);
    for (std::int64_t at = all_of.first; at < all_of.last; at += step)
      add(interval{at, std::min(at + step, all_of.last)});
  };
  for (std::int64_t b = 0; b < size.b; ++b)
    for (std::int64_t h = 0; h < size.hk; ++h) {
      head_place const at{b, h};
      interval const rows{0, group * instance.queries(b)}, keys{0, instance.keys(b)};
      if (whole) {
        tasks.push_back({at, rows, keys, all});
        continue;
      }
      if (all.dK_dV)
        cut(keys, blocking_of<T>.keys, [&](interval const& some) { tasks.push_back({at, rows, some, {false, true}}); });
      if (all.dQ)
        cut(rows, gradient_rows<T>, [&](interval const& some) { tasks.push_back({at, some, keys, {true, false}}); });
    }
  return tasks;
}

template <class E>
gradient_shape shape_of(backward_context<E> const& call) noexcept {
  return {.d = call.instance.size().d, .dv = call.instance.size().dv};
}

template <class E>
void run_tasks(backward_context<E> const& call, std::vector<gradient_task> const& tasks, int threads,
               std::int64_t cache) {
  gradient_shape shape = shape_of(call);
  shape.key_blocks = key_blocks_a_visit<working<E>>(shape.d, shape.dv, cache > 0 ? cache : second_level_cache());
  for (gradient_task const& task : tasks) shape.dQ_rows = std::max(shape.dQ_rows, task.form.dQ ? task.rows.size() : 0);
  for_ranges(std::ssize(tasks), threads, [&](std::int64_t first, std::int64_t last) {
    gradient_worker<E> by(call, shape, false);
    float_environment const environment;
    for (std::int64_t at = first; at < last; ++at) run_task(by, tasks[static_cast<std::size_t>(at)]);
  });
}

template <class E, class X>
void run_bias(backward_context<E> const& call, problem::view<X> const& of, int threads) {
  auto const tasks = bias_tasks<working<E>>(of);
  for_ranges(std::ssize(tasks), threads, [&](std::int64_t first, std::int64_t last) {
    gradient_worker<E> by(call, shape_of(call), true);
    float_environment const environment;
    for (std::int64_t at = first; at < last; ++at) run_bias_task(call, by, of, tasks[static_cast<std::size_t>(at)]);
  });
}

template <class E, class X>
void run_sinks(backward_context<E> const& call, problem::view<X> const& of, int threads) {
  auto const& size = call.instance.size();
  for_ranges(of.shape[0] * size.hq, threads, [&](std::int64_t first, std::int64_t last) {
    gradient_worker<E> const by(call, shape_of(call), false);
    float_environment const environment;
    for (std::int64_t at = first; at < last; ++at) run_sink(call, by, of, at / size.hq, at % size.hq);
  });
}

template <class E>
double work_of(problem::instance<E> const& instance) noexcept {
  auto const& size = instance.size();
  double pairs = 0;
  for (std::int64_t b = 0; b < size.b; ++b)
    pairs += static_cast<double>(instance.queries(b)) * static_cast<double>(instance.keys(b));
  return pairs * static_cast<double>(size.hq) * static_cast<double>(3 * size.d + 2 * size.dv + 1);
}

template <class E>
std::optional<problem::error> fault_of(problem::instance<E> const& instance, backward_inputs<E> const& given,
                                       options const& chosen) {
  using problem::error, problem::error_code;
  if (chosen.threads < 0)
    return error{error_code::bad_value, "threads",
                 "is " + std::to_string(chosen.threads) + ", expected 0 (the kernel's own choice) or more"};
  if (chosen.cache < 0)
    return error{error_code::bad_value, "cache",
                 "is " + std::to_string(chosen.cache) + ", expected 0 (what there is) or more"};
  if (chosen.bf16_arithmetic != bf16_arithmetic::f32)
    return error{error_code::unsupported, "bf16_arithmetic", "is f32 in the backward pass"};
  if (instance.base() != problem::log_base::e)
    return error{error_code::unsupported, "base", "is 2, which the backward pass does not do"};
  if (!given.d_o) return error{error_code::missing, "do", "is missing: the gradient by O"};
  if (!given.o) return error{error_code::missing, "o", "is missing: what the forward pass wrote"};
  if (!given.lse) return error{error_code::missing, "lse", "is missing: what the forward pass wrote"};
  return std::nullopt;
}

}  // namespace

template <problem::floating_element E>
problem::result<std::monostate> attention_backward(problem::instance<E> const& instance,
                                                   backward_inputs<E> const& given, gradients<E> const& wanted,
                                                   options const& chosen) {
  if (auto why = fault_of(instance, given, chosen)) return *std::move(why);
  int const threads = threads_for(work_of(instance), chosen.threads);
  backward_context<E> const call = context_of(instance, given, wanted);
  if (wanted.dq || wanted.dk || wanted.dv) run_tasks(call, tasks_of(instance, wanted, threads), threads, chosen.cache);
  if (wanted.dbias) run_bias(call, wanted.dbias, threads);
  if (wanted.dbias_f32) run_bias(call, wanted.dbias_f32, threads);
  if (wanted.dsink) run_sinks(call, wanted.dsink, threads);
  if (wanted.dsink_f32) run_sinks(call, wanted.dsink_f32, threads);
  return std::monostate{};
}

static_assert(
    std::is_same_v<problem::floating_elements, problem::type_list<float, double, problem::bf16, problem::f16>>,
    "an instantiation below for each of the floating types");
template problem::result<std::monostate> attention_backward(problem::instance<float> const&,
                                                            backward_inputs<float> const&, gradients<float> const&,
                                                            options const&);
template problem::result<std::monostate> attention_backward(problem::instance<double> const&,
                                                            backward_inputs<double> const&, gradients<double> const&,
                                                            options const&);
template problem::result<std::monostate> attention_backward(problem::instance<problem::bf16> const&,
                                                            backward_inputs<problem::bf16> const&,
                                                            gradients<problem::bf16> const&, options const&);
template problem::result<std::monostate> attention_backward(problem::instance<problem::f16> const&,
                                                            backward_inputs<problem::f16> const&,
                                                            gradients<problem::f16> const&, options const&);

}  // namespace attest::fast
