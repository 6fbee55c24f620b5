// A drawn problem with entries, sinks, block masks and dropout, and the dense problem with a mask that means the same.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "audit/tensors/owned_problem.hpp"
#include "tests/support/problem_recipe.hpp"

namespace attest::tests {

/// A problem stated in both ways. What stands where no key is, in the tensors of the call, is NaN.
struct stated_twice {
  audit::problem_draft slots, call;  ///< the same rows in dense slots, and as the entries of a call
  std::vector<std::int32_t> q_lengths, k_lengths;

  explicit stated_twice(recipe const& r) : slots(made_slots(r)), call(make_problem(r)) {
    auto const lengths = [&](auto const& given, auto const& offsets, std::int64_t slot) {
      std::vector<std::int32_t> made(static_cast<std::size_t>(r.b), static_cast<std::int32_t>(slot));
      for (std::int64_t e = 0; e < r.b; ++e) {
        auto const* const starts = offsets ? offsets->template as<std::int32_t>() : nullptr;
        if (given) made[static_cast<std::size_t>(e)] = given->template as<std::int32_t>()[e];
        else if (starts) made[static_cast<std::size_t>(e)] = starts[e + 1] - starts[e];
      }
      return made;
    };
    q_lengths = lengths(call.q_lengths, call.q_offsets, r.n), k_lengths = lengths(call.k_lengths, call.k_offsets, r.m);
  }

  /// Is key j visible to query i of entry e: the rule of docs/semantics.md, in the test's own words.
  bool sees(std::int64_t e, std::int64_t h, std::int64_t i, std::int64_t j) const {
    auto const keys = k_lengths[static_cast<std::size_t>(e)], queries = q_lengths[static_cast<std::size_t>(e)];
    std::int64_t const off = j - (i + slots.band.diagonal + (slots.align ? keys - queries : 0));
    if (j >= keys || (slots.band.left >= 0 && off < -slots.band.left)) return false;
    if (slots.band.right >= 0 && off > slots.band.right) return false;
    auto const is_set = [&](audit::owned_tensor const& of, std::int64_t row, std::int64_t column) {
      auto const& shape = of.layout.shape;
      return audit::load(of, audit::offset_of(of, shape[0] == 1 ? 0 : e, shape[1] == 1 ? 0 : h, shape[2] == 1 ? 0 : row,
                                              column)) != 0;
    };
    return (!slots.mask || is_set(*slots.mask, i, j)) &&
           (!slots.block_mask || is_set(*slots.block_mask, i / slots.block_q, j / slots.block_k));
  }

  /// The dense call whose mask says what is visible. with_key appends the sink as a key of its own (k = 0, v = 0, bias
  /// t) instead of a sink, without dropout. Requires a sink then
  audit::problem_draft dense(bool with_key = false) const {
    auto const [b, hq, n, d] = slots.q.layout.shape;
    std::int64_t const m = slots.k.layout.shape[2];
    audit::problem_draft made = slots;
    made.band = {}, made.align = false, made.block_q = made.block_k = 0;
    made.block_mask.reset();
    audit::add_mask(made, b, hq, n, m + with_key,
                    [&](auto e, auto h, auto i, auto j) { return j == m || sees(e, h, i, j); });
    if (!with_key) return made;
    for (auto* tensor : {&made.k, &made.v}) {
      auto const from = *tensor;
      auto const& shape = from.layout.shape;
      *tensor = audit::owned_tensor::compact(from.type, {shape[0], shape[1], m + 1, shape[3]});
      audit::fill(*tensor, [&](auto e, auto h, auto j, auto t) {
        return j == m ? 0 : audit::load(from, audit::offset_of(from, e, h, j, t));
      });
    }
    auto const& sinks = *slots.sink;
    audit::add_bias(made, b, hq, n, m + 1, [&](auto e, auto h, auto i, auto j) {
      if (j == m) return audit::load(sinks, static_cast<std::size_t>((sinks.layout.shape[0] == 1 ? 0 : e) * hq + h));
      return slots.bias ? audit::load(*slots.bias, audit::offset_of(*slots.bias, 0, h, i, j)) : 0;
    });
    made.sink.reset(), made.keep.reset();
    made.dropout = 0;
    return made;
  }

  /// Calls row(e, h, i) for every row of the problem.
  template <class Row>
  void each_row(Row&& row) const {
    for (std::int64_t e = 0; e < slots.q.layout.shape[0]; ++e)
      for (std::int64_t h = 0; h < slots.q.layout.shape[1]; ++h)
        for (std::int64_t i = 0; i < q_lengths[static_cast<std::size_t>(e)]; ++i) row(e, h, i);
  }

 private:
  static audit::problem_draft made_slots(recipe const& r) {
    audit::random_stream random(r.seed, "recipe");
    return make_slots(r, random);
  }
};

/// Requires  a problem of this element type
template <class T>
problem::instance<T> const& instance_of(audit::owned_problem const& problem) {
  return std::get<problem::instance<T>>(problem.instance());
}

}  // namespace attest::tests
