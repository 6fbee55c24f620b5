// The tensors of a call in a file, in the orders of axes that its metadata name.
#pragma once

#include <string>

#include "audit/files/axis_orders.hpp"
#include "audit/files/tensor_group.hpp"
#include "audit/tensors/owned_problem.hpp"
#include "problem/result.hpp"

namespace attest::audit {

/// How the axes of one prefix are ordered.
struct orders {
  axis_order rows = axis_order::bhnd;
  pool_order pools = pool_order::hnd;
};

/// The tensors of a call in these orders. Errors are about their types and ranks.
problem::result<problem_draft> draft_of(problem::operator_row const& of, std::string const& prefix,
                                        tensor_group const& tensors, orders const& in);

/// "; as [b, n, h, d] the shapes fit: --layout bnhd", where the tensors are a problem in another order of axes.
std::string fitting_order(problem::operator_row const& of, std::string const& prefix, tensor_group const& tensors,
                          orders const& in, problem::parameters const& numbers);

}  // namespace attest::audit
