// A failing form made as plain as it can be.
#pragma once

#include <array>

#include "audit/cases/domain/call_domain.hpp"
#include "audit/condition/traits.hpp"

namespace attest::audit {

struct simple_form {
  call_form base;  ///< wrong too
  /// By form_number: n and m, or d and dv, are equal and the kernel or the domain takes no other.
  std::array<bool, number_count> tied{};
};

/// Resets to what is plain whatever the form stays wrong without: values, memory, features, threads, heads, sizes.
/// Requires  `failing` is wrong
/// Cost      a question or two for each, some 15 in all
simple_form simplified(call_form const& failing, form_asker const& ask, call_domain const& domain = {});

/// The plain value of a number in a domain: the member nearest to the size of its row.
std::int64_t plain_in(call_domain const& domain, form_number of);

}  // namespace attest::audit
