// The shape of a merge, as the runner is told.
#pragma once

#include "audit/isolation/runner/protocol.hpp"
#include "audit/tensors/merge_strides.hpp"

namespace attest::audit {

/// `one_row`: the odd parts are one row (merge_strides.hpp), and have stride 0.
runner::merge_shape shape_of_merge(problem_draft const& merge, bool one_row);

}  // namespace attest::audit
