#include "audit/cases/families/plain.hpp"

namespace attest::audit {
namespace {

/// Does an element follow the one before it, in every axis of more than one element?
bool is_compact(owned_tensor const& tensor) {
  std::int64_t next = 1;
  for (auto axis = static_cast<std::size_t>(tensor.layout.rank); axis-- > 0;) {
    if (tensor.layout.shape[axis] > 1 && tensor.layout.stride[axis] != next) return false;
    next *= tensor.layout.shape[axis];
  }
  return true;
}

}  // namespace

bool is_plain(owned_problem const& problem) {
  if (problem.rank() != 4) return false;
  problem_draft const& draft = problem.draft();
  problem::sizes const& s = problem.size();
  bool const square = s.d == s.dv && s.d % 8 == 0 && s.hq == s.hk && s.n == s.m;
  int const kinds = (draft.mask ? 1 : 0) + (draft.bias ? 1 : 0) + (draft.band != problem::band{} ? 1 : 0);
  bool compact = is_compact(draft.q) && is_compact(draft.k) && is_compact(draft.v);
  if (draft.mask) compact = compact && is_compact(*draft.mask);
  if (draft.bias) compact = compact && is_compact(*draft.bias);
  return square && kinds <= 1 && compact;
}

}  // namespace attest::audit
