// The family `conditional`: each kernel is the project's fast kernel, except under one condition on the call or on the
// calls before it. One line a mutant:
//
//   ATTEST_CONDITIONAL(memory, o_plus_1, n_above_128, "n > 128", a.n > 128)
#pragma once

#include "audit/zoo/conditional/asked.hpp"
#include "audit/zoo/conditional/wrong.hpp"
#include "audit/zoo/define.hpp"

namespace attest::zoo {

using condition = bool (*)(asked const&);

/// The wrong answer if the condition holds, else the fast kernel's answer, to the bit.
attest_status answer_unless(attest_call const* call, call_history& calls, condition holds, wrong_answer* wrong);

}  // namespace attest::zoo

/// A mutant zoo_<name>. It answers by `wrong` (wrong.hpp) if `...`, an expression of the call `a` (asked.hpp), holds.
/// `where` says the condition in words.
#define ATTEST_CONDITIONAL_IN(contract, kind, wrong, name, where, ...)                                       \
  extern "C" ATTEST_EXPORT attest_status zoo_##name(attest_call const* call) {                               \
    static attest::zoo::call_history calls;                                                                  \
    constexpr attest::zoo::condition holds = []([[maybe_unused]] attest::zoo::asked const& a) -> bool {      \
      return __VA_ARGS__;                                                                                    \
    };                                                                                                       \
    return attest::zoo::answer_unless(call, calls, holds, attest::zoo::wrong);                               \
  }                                                                                                          \
  namespace attest::zoo {                                                                                    \
  [[maybe_unused]] static bool const registered_##name = register_specimen(                                  \
      {#name, bug_class::kind, "", #wrong " where " where, zoo_##name, contract, true, conditional_family}); \
  }
#define ATTEST_CONDITIONAL(kind, wrong, name, where, ...) \
  ATTEST_CONDITIONAL_IN("f32", kind, wrong, name, where, __VA_ARGS__)
