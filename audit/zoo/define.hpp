// The macros that define a specimen: its name, its bug class, the issues that report it and a description, then the
// steps of honest.hpp that it overrides.
//
//   ATTEST_MUTANT(mean_of_v, bug_class::weak_test, "KernelBench#165", "every weight is 1") {
//     static F exp(F, std::int64_t) { return 1; }
//   };
#pragma once

#include "audit/zoo/kernel.hpp"
#include "audit/zoo/zoo.hpp"

/// The general form. `runner` (run or run_narrow of kernel.hpp) determines the element types F that the specimen
/// supports; `base` is honest<F>, honest<F, double> or honest_narrow<F>. The optional arguments are members of struct
/// specimen: contract, contained.
#define ATTEST_SPECIMEN_FOR(runner, name, base, kind, seen_in, description, ...)                     \
  namespace attest::zoo {                                                                            \
  template <class F>                                                                                 \
  struct name;                                                                                       \
  }                                                                                                  \
  extern "C" ATTEST_EXPORT attest_status zoo_##name(attest_call const* call) {                       \
    return attest::zoo::runner<attest::zoo::name>(call);                                             \
  }                                                                                                  \
  namespace attest::zoo {                                                                            \
  [[maybe_unused]] static bool const registered_##name =                                             \
      register_specimen({#name, kind, seen_in, description, zoo_##name __VA_OPT__(, ) __VA_ARGS__}); \
  }                                                                                                  \
  template <class F>                                                                                 \
  struct attest::zoo::name : base

#define ATTEST_SPECIMEN(name, base, kind, seen_in, description, ...) \
  ATTEST_SPECIMEN_FOR(run, name, base, kind, seen_in, description __VA_OPT__(, ) __VA_ARGS__)
#define ATTEST_HONEST(name, description, ...) \
  ATTEST_SPECIMEN(name, honest<F>, no_bug, "", description __VA_OPT__(, ) __VA_ARGS__)
#define ATTEST_MUTANT(name, kind, seen_in, description, ...) \
  ATTEST_SPECIMEN(name, honest<F>, kind, seen_in, description __VA_OPT__(, ) __VA_ARGS__)
/// For 16-bit tensors with float arithmetic. The contract determines the element type.
#define ATTEST_NARROW(name, kind, seen_in, description, contract) \
  ATTEST_SPECIMEN_FOR(run_narrow, name, honest_narrow<F>, kind, seen_in, description, contract)
