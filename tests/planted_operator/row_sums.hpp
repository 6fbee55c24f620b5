// The row of the planted operator, as it would stand in problem/operators.hpp.
#pragma once

#include <array>
#include <string_view>

#include "problem/operators.hpp"

namespace attest::tests {

/// Row sums: L_i = ln Σ_j e^(s_ij) over visible keys, of the scores of attention. There is no V and no O.
namespace of_row_sums {
inline constexpr std::array<std::string_view, 2> takes{"q", "k"};
inline constexpr std::array gives{problem::output_kind::lse};
}  // namespace of_row_sums

/// All operators, with the planted one.
inline constexpr std::array<problem::operator_row, 3> operators_and_row_sums{{
    problem::attention,
    problem::merge,
    {"row_sums", "a call of row sums", "attest_row_sums", problem::operator_form::call, of_row_sums::takes,
     of_row_sums::gives},
}};
inline constexpr problem::operator_row const& row_sums = operators_and_row_sums[2];

}  // namespace attest::tests
