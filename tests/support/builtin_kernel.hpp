// The built-in kernel, called in this process: for properties and fuzzing, where a process a call would be too slow.
#pragma once

#include "audit/contract/contract.hpp"
#include "audit/files/problem_file.hpp"
#include "audit/tensors/owned_problem.hpp"
#include "fast/algorithm/model.hpp"
#include "fast/attention.hpp"
#include "problem/erased.hpp"

namespace attest::tests {

/// The claim of the built-in kernel for this problem: fast::model, whatever the element type.
inline audit::contract builtin_claim(problem::any_instance const& instance) {
  audit::contract claim;
  claim.name = "fast::model";
  claim.fixed = std::visit([](auto const& p) { return fast::model(p); }, instance);
  return claim;
}

/// The claim for bf16 by dot products.
inline audit::contract dot_product_claim(problem::any_instance const& instance) {
  audit::contract claim;
  claim.name = "fast::dot_product_model";
  claim.fixed = fast::dot_product_model(std::get<problem::instance<problem::bf16>>(instance));
  return claim;
}

/// O, LSE and (where rows are not packed) weights of the built-in kernel, pre-filled with 0xff… (NaN).
/// Requires  `draft` accepted by problem::make_instance, of rank 4
inline audit::owned_outputs builtin_answer(audit::problem_draft const& draft, fast::options const& options = {}) {
  auto const instance = problem::make_instance(draft.arguments()).value();
  audit::owned_outputs answer;
  std::visit(
      [&]<class T>(problem::instance<T> const& p) {
        problem::sizes const& s = p.size();
        auto const type = problem::type_of<T>;
        bool const packed = p.entries().queries.is_packed();
        std::int64_t const entries = packed ? 1 : s.b, rows = packed ? p.entries().queries.total : s.n;
        answer.o = audit::owned_tensor::compact(type, {entries, s.hq, rows, s.dv});
        answer.lse = audit::owned_tensor::compact(problem::type_of<problem::lse_element<T>>, {entries, s.hq, rows});
        if (!packed && p.k().map.starts == nullptr)
          answer.weights = audit::owned_tensor::compact(type, {s.b, s.hq, s.n, s.m});
        problem::erased_outputs tensors{.o = answer.o->erased(), .lse = answer.lse->erased(), .weights = {}};
        for (auto* t : {&*answer.o, &*answer.lse}) std::ranges::fill(t->bytes, std::byte{0xff});
        if (answer.weights) {
          std::ranges::fill(answer.weights->bytes, std::byte{0xff});
          tensors.weights = answer.weights->erased();
        }
        auto const outputs = problem::make_outputs(p, tensors).value();
        if (!fast::attention(p, outputs, options)) answer = {};
      },
      instance);
  return answer;
}

}  // namespace attest::tests
