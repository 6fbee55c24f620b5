// The built-in kernel, called in this process: for properties and fuzzing, where a process a call would be too slow.
#pragma once

#include "audit/recorded.hpp"
#include "audit/stored.hpp"
#include "fast/attention.hpp"
#include "problem/erased.hpp"

namespace attest::tests {

/// O, LSE and weights of the built-in kernel, pre-filled with 0xff… (NaN).
/// Requires  `asked` accepted by problem::make_instance, of rank 4, f32 or f64, without softcap
inline audit::recorded_answer builtin_answer(audit::stored_problem const& asked, fast::options const& options = {}) {
  auto const instance = problem::make_instance(asked.arguments()).value();
  audit::recorded_answer answer;
  std::visit(
      [&]<class T>(problem::instance<T> const& p) {
        if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
          problem::sizes const& s = p.size();
          auto const type = problem::type_of<T>;
          answer.o = audit::stored_tensor::compact(type, {s.b, s.hq, s.n, s.dv});
          answer.lse = audit::stored_tensor::compact(type, {s.b, s.hq, s.n});
          answer.weights = audit::stored_tensor::compact(type, {s.b, s.hq, s.n, s.m});
          for (auto* t : {&*answer.o, &*answer.lse, &*answer.weights}) std::ranges::fill(t->bytes, std::byte{0xff});
          problem::erased_outputs const given{answer.o->erased(), answer.lse->erased(), answer.weights->erased()};
          auto const outputs = problem::make_outputs(p, given).value();
          if (!fast::attention(p, outputs, options)) answer = {};
        }
      },
      instance);
  return answer;
}

}  // namespace attest::tests
