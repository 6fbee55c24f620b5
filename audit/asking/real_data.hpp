// The cases of the check `real-data`: Q, K, V of two layers of a sentence encoder.
#pragma once

#include <vector>

#include "audit/cases/case.hpp"
#include "problem/result.hpp"

namespace attest::audit {

/// Each layer as a case, with the outputs of PyTorch. NOTICE names the source of the tensors.
problem::result<std::vector<audit_case>> real_data_cases();

}  // namespace attest::audit
