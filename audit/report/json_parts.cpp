#include "audit/report/json_parts.hpp"

#include "audit/report/text.hpp"
#include "audit/support/real_number.hpp"

namespace attest::audit {
namespace {

using json = nlohmann::ordered_json;

json matrix_json(matrix_picture const& picture) {
  json rows = json::array();
  for (std::int64_t r = 0; r < picture.rows; ++r) {
    json row = json::array();
    for (std::int64_t c = 0; c < picture.columns; ++c) row.push_back(hex(picture.at(r, c)));
    rows.push_back(std::move(row));
  }
  return {{"first_row", picture.first_row}, {"first_column", picture.first_column}, {"rows", std::move(rows)}};
}

}  // namespace

json pictures_json(finding const& found) {
  if (!found.pictures) return nullptr;
  finding_pictures const& drawn = *found.pictures;
  json visible = json::array();
  for (std::int64_t r = 0; r < drawn.asked.rows; ++r) {
    std::string row;
    for (std::int64_t c = 0; c < drawn.asked.columns; ++c)
      row += drawn.masked[static_cast<std::size_t>(r * drawn.asked.columns + c)] ? '.' : '#';
    visible.push_back(std::move(row));
  }
  return {{"batch", drawn.b},
          {"head", drawn.h},
          {"shows", drawn.keys_only ? "keys" : "weights"},
          {"asked", matrix_json(drawn.asked)},
          {"visible", std::move(visible)},
          {"applied", drawn.applied ? matrix_json(*drawn.applied) : json()},
          {"applied_by", drawn.applied_by},
          {"errors_of", drawn.output},
          {"errors_in_bounds", drawn.errors ? matrix_json(*drawn.errors) : json()}};
}

json inputs_json(finding const& found) {
  json all = json::array();
  if (found.shrunk)
    for (input_listing const& each : found.shrunk->inputs) {
      json values = json::array();
      for (double const x : each.values) values.push_back(hex(x));
      all.push_back({{"name", each.name}, {"shape", each.shape}, {"values", std::move(values)}});
    }
  return all;
}

json curves_json(report const& what) {
  json all = json::array();
  for (curve_point const& point : what.curves)
    all.push_back({{"axis", point.axis},
                   {"place", hex(point.place)},
                   {"error_in_bounds", hex(point.error_in_bounds)},
                   {"failed", point.failed}});
  return all;
}

}  // namespace attest::audit
