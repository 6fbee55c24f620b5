// The sink of a row: one more score, without a key and a value.
#pragma once

#include <cstdint>

#include "problem/instance.hpp"
#include "reference/real/element.hpp"

namespace attest::reference {

/// The index of the sink among the keys of a row, which has no place in K and V.
inline constexpr std::int64_t sink_index = -1;

/// t of head h in entry b, exactly: −∞ if there is no sink.
template <class T>
constexpr element sink_at(problem::instance<T> const& p, std::int64_t b, std::int64_t h) noexcept {
  if (p.sink().present) return value_of(p.sink()(b, h, 0, 0));
  if (p.sink_f32().present) return value_of(p.sink_f32()(b, h, 0, 0));
  return {number_class::minus_infinity, 0, 0};
}

}  // namespace attest::reference
