// The rows about which the bound says nothing, so that no element of them is judged.
#pragma once

#include <cstdint>

#include "audit/judge/row_truth.hpp"

namespace attest::audit {

/// Does the bound say nothing about the row (b, h, i), whose truth is `truth`? Then none of its elements is judged,
/// whatever its value.
template <class T>
bool is_outside_hypotheses(problem::instance<T> const& p, problem::kernel_model const& model,
                           row_truth<first_width, T> const& truth, std::int64_t b, std::int64_t h, std::int64_t i);

}  // namespace attest::audit
