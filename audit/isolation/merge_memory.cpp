#include "audit/isolation/merge_memory.hpp"

namespace attest::audit {

runner::merge_shape shape_of_merge(problem_draft const& merge, bool one_row) {
  std::int64_t const rows = merge.q.layout.shape[1];
  bool const whole = merge.merge->heads * merge.merge->queries == rows;
  return {1, one_row ? 1u : 0u, whole ? merge.merge->heads : rows, whole ? merge.merge->queries : 1};
}

}  // namespace attest::audit
