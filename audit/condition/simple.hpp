// A failing form made as plain as it can be.
#pragma once

#include <array>

#include "audit/condition/traits.hpp"

namespace attest::audit {

struct simple_form {
  call_form base;  ///< wrong too
  /// By form_number: n and m, or d and dv, are equal and the kernel takes no other.
  std::array<bool, number_count> tied{};
};

/// Resets to what is plain whatever the form stays wrong without: values, memory, features, threads, heads, sizes.
/// Requires  `failing` is wrong
/// Cost      a question or two for each, some 15 in all
simple_form simplified(call_form const& failing, form_asker const& ask);

}  // namespace attest::audit
