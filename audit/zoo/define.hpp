// How a specimen is written down: its name, its class, where it was seen, what it does; then the step it overrides.
//
//   ATTEST_MUTANT(mean_of_v, bug_class::weak_test, "KernelBench#165", "every weight is 1") {
//     static F exp(F, std::int64_t) { return 1; }
//   };
#pragma once

#include "audit/zoo/kernel.hpp"
#include "audit/zoo/zoo.hpp"

namespace attest::zoo {

/// Enters a specimen at start-up; specimens() sorts them.
bool enter(specimen const& made);

}  // namespace attest::zoo

/// What all kinds share. `runner` says for which element types F it is made, `base` is honest<F>, honest<F, double> or
/// honest_narrow<F>. Further arguments: contract, contained.
#define ATTEST_SPECIMEN_FOR(runner, name, base, kind, seen_in, says, ...)         \
  namespace attest::zoo {                                                         \
  template <class F>                                                              \
  struct name;                                                                    \
  }                                                                               \
  extern "C" ATTEST_EXPORT attest_status zoo_##name(attest_call const* call) {    \
    return attest::zoo::runner<attest::zoo::name>(call);                          \
  }                                                                               \
  namespace attest::zoo {                                                         \
  [[maybe_unused]] static bool const entered_##name =                             \
      enter({#name, kind, seen_in, says, zoo_##name __VA_OPT__(, ) __VA_ARGS__}); \
  }                                                                               \
  template <class F>                                                              \
  struct attest::zoo::name : base

#define ATTEST_SPECIMEN(name, base, kind, seen_in, says, ...) \
  ATTEST_SPECIMEN_FOR(run, name, base, kind, seen_in, says __VA_OPT__(, ) __VA_ARGS__)
#define ATTEST_HONEST(name, says, ...) ATTEST_SPECIMEN(name, honest<F>, no_bug, "", says __VA_OPT__(, ) __VA_ARGS__)
#define ATTEST_MUTANT(name, kind, seen_in, says, ...) \
  ATTEST_SPECIMEN(name, honest<F>, kind, seen_in, says __VA_OPT__(, ) __VA_ARGS__)
/// 16-bit tensors, float arithmetic. The contract names the element type.
#define ATTEST_NARROW(name, kind, seen_in, says, contract) \
  ATTEST_SPECIMEN_FOR(run_narrow, name, honest_narrow<F>, kind, seen_in, says, contract)
