// The parts of a JSON report that are pictures and curves.
#pragma once

#include <nlohmann/json.hpp>

#include "audit/report/report.hpp"

namespace attest::audit {

/// {"batch", "head", "shows": "weights|keys", "asked", "visible": [lines of # and .], "applied", "applied_by",
/// "errors_of", "errors_in_bounds"}; null where there are no pictures. A matrix is {"first_row", "first_column",
/// "rows": [[numbers]]}.
nlohmann::ordered_json pictures_json(finding const& found);

/// [{"name", "shape", "values"}] of the shrunk problem, where it is small.
nlohmann::ordered_json inputs_json(finding const& found);

/// [{"axis", "place", "error_in_bounds", "failed"}], a point each, in the order of their cases.
nlohmann::ordered_json curves_json(report const& what);

}  // namespace attest::audit
