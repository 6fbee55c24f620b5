// Helpers of the tests of isolated kernels: opening a test kernel, a small problem, one call.
#pragma once

#include <chrono>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <thread>
#include <utility>

#include <unistd.h>

#include "audit/isolation/isolated_kernel.hpp"
#include "tests/support/property.hpp"

namespace attest::tests {

using namespace attest::audit;
namespace fs = std::filesystem;
using problem::element_type;

/// The runner, and the folder of the kernels of tests/isolation_kernels.
struct test_files {
  fs::path runner = ATTEST_TEST_RUNNER, kernels = ATTEST_TEST_KERNELS;
};
/// Those of the build. A process that became another user may have copies (tests/audit/isolation/open_copies.hpp).
inline test_files test_files_here;

/// A library of tests/isolation_kernels.
inline fs::path library(std::string const& name) { return test_files_here.kernels / (name + ".so"); }

inline problem::result<isolated_kernel> open_kernel(std::string const& name, double seconds = 10,
                                                    kernel_needs const& needs = {}) {
  return isolated_kernel::open(library(name), "attest_attention",
                               {.seconds = seconds, .resting_seconds = seconds, .needs = needs},
                               test_files_here.runner);
}

inline isolated_kernel opened(std::string const& name, double seconds = 10) {
  auto kernel = open_kernel(name, seconds);
  if (!kernel) FAIL(kernel.why().message());
  return std::move(kernel).value();
}

inline owned_tensor filled(element_type type, std::initializer_list<std::int64_t> shape, double first = 1) {
  auto tensor = owned_tensor::compact(type, shape);
  for (std::size_t i = 0; i < tensor.spanned_elements(); ++i) {
    double const value = first + 0.25 * static_cast<double>(i % 7);
    if (type == element_type::f32) tensor.as<float>()[i] = static_cast<float>(value);
    if (type == element_type::f64) tensor.as<double>()[i] = value;
  }
  return tensor;
}

/// b = 1, hq = 2, hk = 1, n = 2, m = 3, d = 4, dv = 5.
inline problem_draft small_draft(element_type type = element_type::f32) {
  problem_draft draft;
  draft.q = filled(type, {1, 2, 2, 4});
  draft.k = filled(type, {1, 1, 3, 4});
  draft.v = filled(type, {1, 1, 3, 5});
  return draft;
}

inline owned_problem valid(problem_draft draft) { return owned_problem::of_valid(std::move(draft)); }
inline owned_problem small_problem(element_type type = element_type::f32) { return valid(small_draft(type)); }

inline call_report run_once(isolated_kernel& kernel, owned_problem const& problem, call_request const& request = {}) {
  owned_outputs outputs;
  auto report = kernel.run(problem, request, outputs);
  if (!report) FAIL(report.why().message());
  return report.value();
}

/// The process that this thread started last and that has not been reaped; 0 if there is none.
inline int last_child() {
  std::ifstream children("/proc/self/task/" + std::to_string(::gettid()) + "/children");
  int child = 0;
  while (children >> child) continue;
  return child;
}

/// Waits as long as it takes: CTest's limit is for what never comes.
template <class Event>
void wait_for(Event&& has_come) {
  while (!has_come()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

/// It has ended, reaped or not.
inline bool is_gone(int process) {
  std::ifstream stat("/proc/" + std::to_string(process) + "/stat");
  std::string number, name, state;
  return !(stat >> number >> name >> state) || state == "Z";
}

/// A kernel that went wrong serves the next call as if nothing had been.
inline void still_answers_unsupported(isolated_kernel& kernel) {
  auto draft = small_draft();
  draft.softcap = 30;
  CHECK(run_once(kernel, valid(draft)).outcome == call_outcome::unsupported);
}

inline constexpr placement all_positions[] = {placement::end, placement::start, placement::unaligned};

}  // namespace attest::tests
