// The worked examples of the source documents. proofs/documents/ proves their digits.
#include <initializer_list>

#include "audit/cases/random.hpp"

namespace attest::audit {
namespace {

void put(owned_tensor& t, std::initializer_list<double> values) {
  std::size_t at = 0;
  for (double const x : values) store(t, at++, x);
}

}  // namespace

void add_worked_examples(case_list& to) {
  auto const example = [&](char const* name, problem::sizes const& s, std::initializer_list<double> q,
                           std::initializer_list<double> k, std::initializer_list<double> v,
                           std::optional<double> scale = {}) {
    problem_draft draft = blank(s, to.type());
    draft.scale = scale;
    put(draft.q, q);
    put(draft.k, k);
    put(draft.v, v);
    to.add("worked-examples", name, std::move(draft));
  };
  // Day 11, "E11.1 Hand Computation".
  example("e11.1", {1, 1, 1, 3, 3, 2, 2}, {1, 0, 0, 1, 1, 1}, {1, 0, 0, 1, .5, .5}, {1, 0, 0, 1, .5, .5});
  // Day 74, "Money Bank Grows": from the printed Q and K; V = E.
  problem::sizes const three{1, 1, 1, 3, 3, 3, 3};
  example("money-bank-grows", three, {2, 1, 3, 1, 2, 1, 0, 1, 2}, {1, 0, 2, 2, 1, 0, 1, 3, 1},
          {2, 1, 3, 1, 2, 1, 0, 1, 2});
  example("money-bank-grows-unscaled", three, {2, 1, 3, 1, 2, 1, 0, 1, 2}, {1, 0, 2, 2, 1, 0, 1, 3, 1},
          {2, 1, 3, 1, 2, 1, 0, 1, 2}, 1);
  // "The Math", Step 1 and Step 3: Q = K = I, and softmax([2, 1, 0.1]) read through V = I.
  example("identity", {1, 1, 1, 2, 2, 2, 2}, {1, 0, 0, 1}, {1, 0, 0, 1}, {1, 0, 0, 1});
  example("softmax-2-1-0.1", {1, 1, 1, 1, 3, 1, 3}, {1}, {2, 1, .1}, {1, 0, 0, 0, 1, 0, 0, 0, 1}, 1);
  // Day 11, section 11.4: softmax([10, 0, 0]).
  example("softmax-10-0-0", {1, 1, 1, 1, 3, 1, 3}, {1}, {10, 0, 0}, {1, 0, 0, 0, 1, 0, 0, 0, 1}, 1);
  // Day 11, section 11.7: shapes (2, 5, 7, 64, 32).
  auto random = to.random("worked-examples", "shapes");
  to.add("worked-examples", "shapes-2-5-7-64-32", gaussian({2, 1, 1, 5, 7, 64, 32}, to.type(), random));
}

}  // namespace attest::audit
