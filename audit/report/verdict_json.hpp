// The facts of a verdict in a JSON report.
#pragma once

#include <nlohmann/json.hpp>

#include "audit/report/verdict_facts.hpp"

namespace attest::audit {

/// All facts: "evidence" of a report, without its "sentence".
nlohmann::ordered_json verdict_json(verdict_facts const& facts);

}  // namespace attest::audit
