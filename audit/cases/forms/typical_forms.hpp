// Calls as kernels with a typical domain take them: whole tiles, usual head sizes, decoding.
#pragma once

#include <vector>

#include "audit/cases/forms/call_form.hpp"

namespace attest::audit {

/// Tiles of 128 and 64 queries and keys at d = 64 and 128, plain and causal; one query in groups; widths of MLA at the
/// default scale; each option of version 1 at d = 128 or 256 beyond one tile. Together about 4·10⁸ multiplications.
std::vector<call_form> typical_forms();

}  // namespace attest::audit
