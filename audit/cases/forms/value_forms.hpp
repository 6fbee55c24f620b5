// The values of Q, K and V of large calls.
#pragma once

#include <cstdint>
#include <string_view>

#include "audit/tensors/problem_draft.hpp"

namespace attest::audit {

class random_stream;  // audit/cases/random.hpp

/// What the values of Q, K and V are.
enum class value_form : std::uint8_t {
  gaussian,        ///< all Gaussian: scores of deviation 1
  digits,          ///< Q = 0: all visible keys have one weight. V holds the digits of some keys (value_forms.cpp)
  pointed,         ///< each query is twice the key that it points to, which so gets most of the weight where d ≥ 32
  edge_digits,     ///< digits at the first key, the last, the middle ones and those at powers of two
  nan_value,       ///< Gaussian, but V of the first key is NaN
  weightless_nan,  ///< likewise, and the score of that key is −∞
  far_block,       ///< the scores of the first half of the keys lie 24 below the others; V is 0 but there
};
std::string_view name_of(value_form form) noexcept;

/// Every element := spread·x with x nearly N(0, 1), as nearly_normal draws it.
/// Requires  a compact tensor of a floating type
/// Cost      about 2 ns an element
void fill_normal(owned_tensor& to, random_stream& random, double spread);

/// Sets Q, K and V as the form says. Requires  sizes, band, mask and bias that are set, Q = K = V = 0.
void set_values(value_form form, problem_draft& to, random_stream& random);

}  // namespace attest::audit
