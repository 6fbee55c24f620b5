// What the isolation costs: one small call in a kernel's process, and the start of such a process.
//
//   isolation_bench KERNEL.so [google-benchmark's options]
#include <cstdio>
#include <string>
#include <utility>

#include <benchmark/benchmark.h>

#include "audit/isolation/isolated_kernel.hpp"

namespace {

using namespace attest::audit;
namespace problem = attest::problem;

std::string kernel_path;

/// Two queries, three keys, four dimensions.
owned_problem small_problem() {
  problem_draft draft;
  draft.q = owned_tensor::compact(problem::element_type::f32, {1, 1, 2, 4});
  draft.k = owned_tensor::compact(problem::element_type::f32, {1, 1, 3, 4});
  draft.v = owned_tensor::compact(problem::element_type::f32, {1, 1, 3, 2});
  return owned_problem::of_valid(std::move(draft));
}

void start_and_call(benchmark::State& state) {
  auto const asked = small_problem();
  for (auto _ : state) {
    auto kernel = isolated_kernel::open(kernel_path);
    owned_outputs outputs;
    if (!kernel || !kernel.value().run(asked, {}, outputs)) return state.SkipWithError("the kernel cannot be run");
  }
}

void call(benchmark::State& state) {
  auto const asked = small_problem();
  auto kernel = isolated_kernel::open(kernel_path);
  if (!kernel) return state.SkipWithError(kernel.why().message().c_str());
  owned_outputs outputs;
  for (auto _ : state)
    if (!kernel.value().run(asked, {}, outputs)) return state.SkipWithError("the kernel cannot be run");
}

BENCHMARK(start_and_call)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(call)->Unit(benchmark::kMicrosecond)->UseRealTime();

}  // namespace

int main(int count, char** arguments) {
  benchmark::Initialize(&count, arguments);
  if (count != 2) {
    std::fputs("usage: isolation_bench KERNEL.so\n", stderr);
    return 2;
  }
  kernel_path = arguments[1];
  benchmark::RunSpecifiedBenchmarks();
}
