// From a call to tasks: one task for each block of queries of each head, in any order, on any thread.
#include "fast/attention.hpp"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "fast/float_environment.hpp"
#include "fast/query_block.hpp"

namespace attest::fast {
namespace {

/// The tasks of one call, numbered 0 … count() − 1.
template <class T>
class schedule {
 public:
  explicit schedule(problem::instance<T> const& asked) noexcept : size_(asked.size()) {
    constexpr std::int64_t step = blocking_of<T>.queries;
    blocks_ = size_.n / step + (size_.n % step != 0);
  }

  std::int64_t count() const noexcept { return size_.b * size_.hq * blocks_; }

  query_block operator[](std::int64_t task) const noexcept {
    std::int64_t const head = task / blocks_, first = task % blocks_ * blocking_of<T>.queries;
    return {head / size_.hq, head % size_.hq, {first, std::min(first + blocking_of<T>.queries, size_.n)}};
  }

 private:
  problem::sizes const& size_;
  std::int64_t blocks_ = 0;
};

/// Not inlined, so that no arithmetic of it can be moved out of the float_environment around the call.
template <class T>
[[gnu::noinline]] void run_tasks(problem::instance<T> const& asked, problem::outputs<T> const& given,
                                 schedule<T> const& tasks, std::int64_t first, std::int64_t last,
                                 workspace<T>& space) noexcept {
  auto const scale = score_scale<T>::of(asked.scale(), asked.size().d);
  for (std::int64_t task = first; task < last; ++task) {
    query_block const block = tasks[task];
    query_block_kernel<T>(asked, given, scale, block, space).run();
  }
}

template <class T>
problem::result<std::monostate> attend(problem::instance<T> const& asked, problem::outputs<T> const& given,
                                       options const& how) {
  using problem::error_code;
  if (asked.softcap() != 0) return problem::error{error_code::unsupported, "softcap", "is not supported yet"};
  if (how.threads < 0)
    return problem::error{error_code::bad_value, "threads",
                          "is " + std::to_string(how.threads) + ", expected 0 (the kernel's own choice) or more"};

  schedule<T> const tasks(asked);
  if (tasks.count() == 0) return std::monostate{};
  auto const run = [&](std::int64_t first, std::int64_t last, workspace<T>& space) noexcept {
    float_environment const environment;
    run_tasks(asked, given, tasks, first, last, space);
  };
  if (how.threads == 1 || tasks.count() == 1) {
    workspace<T> space(asked.size());
    run(0, tasks.count(), space);
    return std::monostate{};
  }
  namespace tbb = oneapi::tbb;
  // Tasks wait for nothing and start nothing: no schedule can deadlock, and no task can find its workspace in use.
  // Asked for more threads than there are cores, oneTBB would start fewer and say so on stderr.
  int const cores = tbb::info::default_concurrency();
  tbb::task_arena arena(how.threads == 0 ? cores : std::min(how.threads, cores));
  tbb::enumerable_thread_specific<workspace<T>> spaces([&] { return workspace<T>(asked.size()); });
  arena.execute([&] {
    tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, tasks.count()),
                      [&](auto const& range) { run(range.begin(), range.end(), spaces.local()); });
  });
  return std::monostate{};
}

}  // namespace

problem::result<std::monostate> attention(problem::instance<float> const& asked, problem::outputs<float> const& given,
                                          options const& how) {
  return attend(asked, given, how);
}

problem::result<std::monostate> attention(problem::instance<double> const& asked, problem::outputs<double> const& given,
                                          options const& how) {
  return attend(asked, given, how);
}

}  // namespace attest::fast
