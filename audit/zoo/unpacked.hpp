// A call of the interface as a problem of f32 or f64, for specimens that read it as a problem.
#pragma once

#include <type_traits>
#include <variant>

#include "problem/dlpack.hpp"
#include "problem/instance.hpp"

namespace attest::zoo {

/// answer(instance, what was unpacked), or ATTEST_UNSUPPORTED where the call is no problem of f32 or f64.
template <class Unpacked, class Answer>
attest_status answered(problem::result<Unpacked> const& unpacked, Answer const& answer) {
  if (!unpacked) return ATTEST_UNSUPPORTED;
  auto const instance = problem::make_instance(unpacked.value().arguments);
  if (!instance) return ATTEST_UNSUPPORTED;
  return std::visit(
      [&]<class T>(problem::instance<T> const& p) -> attest_status {
        if constexpr (std::is_floating_point_v<T>) return answer(p, unpacked.value());
        else return ATTEST_UNSUPPORTED;
      },
      instance.value());
}

}  // namespace attest::zoo
