#include "audit/report/coverage/coverage_json.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace attest::audit {
namespace {

using json = nlohmann::ordered_json;

json met_json(combination_counts const& counts) {
  auto const one = [](met_count const& count) { return json{{"met", count.met}, {"of", count.of}}; };
  return {{"pairs", one(counts.pairs)}, {"triples", one(counts.triples)}};
}

json class_names(shape_axis axis) {
  json names = json::array();
  for (std::size_t at = 0; at < row_of(axis).classes; ++at) names.push_back(class_name(row_of(axis), at));
  return names;
}

/// {"rows": {axis: [classes]}, "columns", "calls": [[counts of a row]]}; without columns "calls" is [counts].
json map_json(shape_map const& map, std::vector<std::int64_t> const& cells) {
  json written{{"rows", {{row_of(map.rows).name, class_names(map.rows)}}}};
  if (!map.columns) {
    written["calls"] = cells;
    return written;
  }
  written["columns"] = {{row_of(*map.columns).name, class_names(*map.columns)}};
  written["calls"] = json::array();
  for (std::size_t row = 0; row < map.row_count(); ++row) {
    auto const begin = cells.begin() + static_cast<std::ptrdiff_t>(row * map.column_count());
    written["calls"].push_back(std::vector(begin, begin + static_cast<std::ptrdiff_t>(map.column_count())));
  }
  return written;
}

json count_json(reply_count const& count) { return {{"asked", count.asked}, {"answered", count.answered}}; }

/// [{"features": one or two, "asked", "answered", "without_others": {"asked", "answered"}}], of what was asked.
json support_json(coverage const& of) {
  json all = json::array();
  for (feature_row const& b : feature_table())
    for (feature_row const& a : feature_table().first(static_cast<std::size_t>(b.id) + 1)) {
      feature_support const& support = of.support(a.id, b.id);
      if (support.any.asked == 0) continue;
      json row{{"features", a.id == b.id ? json::array({a.name}) : json::array({a.name, b.name})}};
      row.update(count_json(support.any));
      row["without_others"] = count_json(support.only);
      all.push_back(std::move(row));
    }
  return all;
}

}  // namespace

json coverage_json(report const& kernel_report) {
  coverage const& of = kernel_report.covered;
  if (!has_coverage(kernel_report)) return nullptr;
  combinations const met = of.met();
  json maps = json::array();
  for (std::size_t at = 0; at < shape_maps.size(); ++at) maps.push_back(map_json(shape_maps[at], of.maps[at]));
  return {
      {"calls", count_json(of.calls)},
      {"lse", count_json(of.lse)},
      {"weights", count_json(of.weights)},
      {"elements", {{"judged", of.elements_judged}, {"existing", of.elements_existing}}},
      {"gradients",
       {{"judged", of.gradients_judged}, {"existing", of.gradients_existing}, {"sampled_calls", of.gradients_sampled}}},
      {"draws",
       {{"made", kernel_report.draws}, {"answered", of.draws_answered}, {"products", kernel_report.draw_products}}},
      {"features", met_json(met.features)},
      {"shapes", met_json(met.shapes)},
      {"features_and_shapes", met_json(met.mixed)},
      {"map", std::move(maps)},
      {"support", support_json(of)}};
}

}  // namespace attest::audit
