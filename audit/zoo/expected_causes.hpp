// The rows of expected_cause(): a mutant and the name of its cause.
#pragma once

#include <span>
#include <string_view>
#include <utility>

namespace attest::zoo {

using cause_row = std::pair<std::string_view, std::string_view>;

std::span<cause_row const> causes_of_gradients();  ///< of backward passes

}  // namespace attest::zoo
