// Sinks in the problem of a case: one number for each head, or for each head of each entry.
#pragma once

#include <algorithm>
#include <cstdint>

#include "audit/tensors/elements.hpp"
#include "audit/tensors/problem_draft.hpp"

namespace attest::audit {

/// Sinks of f32: [hq], or [b, hq] where `entries` is more than 0; sink(b, h).
template <class F>
void add_sink(problem_draft& to, std::int64_t entries, F&& sink) {
  std::int64_t const heads = to.q.layout.shape[1];
  to.sink = entries > 0 ? owned_tensor::compact(problem::element_type::f32, {entries, heads})
                        : owned_tensor::compact(problem::element_type::f32, {heads});
  for (std::int64_t b = 0; b < std::max<std::int64_t>(entries, 1); ++b)
    for (std::int64_t h = 0; h < heads; ++h) store(*to.sink, static_cast<std::size_t>(b * heads + h), sink(b, h));
}

}  // namespace attest::audit
