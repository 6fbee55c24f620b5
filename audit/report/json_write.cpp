#include "audit/report/json_write.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "audit/report/text.hpp"
#include "audit/report/version.hpp"
#include "audit/support/real_number.hpp"

namespace attest::audit {
namespace {

using json = nlohmann::ordered_json;

json sizes_json(problem::sizes const& s) {
  return {{"b", s.b}, {"hq", s.hq}, {"hk", s.hk}, {"n", s.n}, {"m", s.m}, {"d", s.d}, {"dv", s.dv}};
}

/// {"first_row", "first_column", "rows": [[numbers]]}
json matrix_json(matrix_picture const& picture) {
  json rows = json::array();
  for (std::int64_t r = 0; r < picture.rows; ++r) {
    json row = json::array();
    for (std::int64_t c = 0; c < picture.columns; ++c) row.push_back(hex(picture.at(r, c)));
    rows.push_back(std::move(row));
  }
  return {{"first_row", picture.first_row}, {"first_column", picture.first_column}, {"rows", std::move(rows)}};
}

/// {"batch", "head", "shows": "weights|keys", "asked", "visible": [lines of # and .], "applied", "applied_by",
/// "errors_of", "errors_in_bounds"}; null where there are no pictures.
json pictures_json(finding const& found) {
  if (!found.pictures) return nullptr;
  finding_pictures const& drawn = *found.pictures;
  json visible = json::array();
  for (std::int64_t r = 0; r < drawn.expected.rows; ++r) {
    std::string row;
    for (std::int64_t c = 0; c < drawn.expected.columns; ++c)
      row += drawn.masked[static_cast<std::size_t>(r * drawn.expected.columns + c)] ? '.' : '#';
    visible.push_back(std::move(row));
  }
  return {{"batch", drawn.b},
          {"head", drawn.h},
          {"shows", drawn.keys_only ? "keys" : "weights"},
          {"asked", matrix_json(drawn.expected)},
          {"visible", std::move(visible)},
          {"applied", drawn.applied ? matrix_json(*drawn.applied) : json()},
          {"applied_by", drawn.applied_by},
          {"errors_of", drawn.output},
          {"errors_in_bounds", drawn.errors ? matrix_json(*drawn.errors) : json()}};
}

/// [{"name", "shape", "values"}] of the shrunk problem, where it has few elements.
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

/// [{"axis", "place", "error_in_bounds", "failed"}], one for each point, in the order of their cases.
json curves_json(report const& what) {
  json all = json::array();
  for (curve_point const& point : what.curves)
    all.push_back({{"axis", point.axis},
                   {"place", hex(point.place)},
                   {"error_in_bounds", hex(point.error_in_bounds)},
                   {"failed", point.failed}});
  return all;
}

/// What `attest merge` needs beside the report of a shard: the numbers of its cases among those of all shards.
json shard_json(report const& what) {
  json made{{"index", what.shard->first},   {"of", what.shard->second},       {"all_cases", what.all_cases},
            {"asked", what.options},        {"complete", what.complete},      {"because", what.incomplete_because},
            {"first_cases", json::array()}, {"check_seconds", json::array()}, {"finding_cases", json::array()},
            {"curve_cases", json::array()}, {"told", json::array()},          {"told_kinds", json::array()}};
  for (check_result const& row : what.checks) {
    made["first_cases"].push_back(row.first_case);
    made["check_seconds"].push_back(row.seconds);
  }
  for (finding const& each : what.findings) made["finding_cases"].push_back(each.number);
  for (curve_point const& each : what.curves) made["curve_cases"].push_back(each.number);
  for (case_observation const& each : what.case_observations)
    made["told"].push_back({{"kind", each.kind}, {"case", each.number}, {"sentence", each.sentence}});
  for (auto const& [kind, count] : what.observation_counts)
    made["told_kinds"].push_back({{"kind", kind}, {"count", count}});
  return made;
}

}  // namespace

std::string as_json(report const& what) {
  judgement const sum = what.total();
  json made;
  made["attest"] = version;
  made["schema"] = 1;
  made["kernel"] = what.kernel;
  made["contract"] = what.contract;
  made["seed"] = what.seed ? json(*what.seed) : json();
  made["verdict"] = name_of(what.verdict);
  if (what.verdict == verdict::undecided) made["undecided_because"] = what.undecided_because;
  made["summary"] = {{"cases", what.cases},
                     {"elements", sum.judged()},
                     {"unsupported", unsupported_cases(what)},
                     {"suspicious", sum.suspicious},
                     {"observations", what.observations.size()},
                     {"waived", std::ranges::count(what.findings, true, &finding::waived)},
                     {"undecided", sum.undecided},
                     {"not_judged", sum.not_judged},
                     {"judged_by_theorem", sum.by_theorem},
                     {"judged_by_dominance", sum.by_dominance},
                     {"judged_by_rule", sum.by_rule},
                     {"max_error_in_bounds", hex(sum.max_error_in_bounds)},
                     {"max_ulp", hex(sum.max_ulp)},
                     {"max_error", hex(sum.max_error)},
                     {"oracle_seconds", what.oracle_seconds},
                     {"kernel_seconds", what.kernel_seconds}};
  made["observations"] = what.observations;
  made["conventions"] = what.relaxed;
  made["waived_classes"] = what.waived_classes;
  made["checks"] = json::array();
  for (check_result const& row : what.checks)
    made["checks"].push_back({{"name", row.name},
                              {"cases", row.cases},
                              {"failed", row.failed},
                              {"undecided", row.undecided},
                              {"unsupported", row.unsupported},
                              {"conventions", row.conventions},
                              {"elements", row.sum.judged()},
                              {"faults", row.sum.failed},
                              {"suspicious", row.sum.suspicious},
                              {"undecided_elements", row.sum.undecided},
                              {"not_judged", row.sum.not_judged},
                              {"judged_by_theorem", row.sum.by_theorem},
                              {"judged_by_dominance", row.sum.by_dominance},
                              {"judged_by_rule", row.sum.by_rule},
                              {"max_error_in_bounds", hex(row.sum.max_error_in_bounds)},
                              {"max_ulp", hex(row.sum.max_ulp)},
                              {"max_error", hex(row.sum.max_error)}});
  made["findings"] = json::array();
  for (finding const& each : what.findings) {
    made["findings"].push_back({{"check", each.check},
                                {"class", each.class_token()},
                                {"case", each.case_name},
                                {"output", each.what.output},
                                {"index", each.what.index},
                                {"got", hex(each.what.got)},
                                {"truth_lower", hex(each.what.truth_lower)},
                                {"truth_upper", hex(each.what.truth_upper)},
                                {"bound", hex(each.what.bound)},
                                {"error_in_bounds", hex(each.what.error_in_bounds)},
                                {"sentence", each.what.sentence},
                                {"waived", each.waived},
                                {"sizes", sizes_json(each.sizes)},
                                {"file", each.shrunk ? each.shrunk->file : ""},
                                {"shrunk", sizes_json(each.smallest_sizes())},
                                {"reproducer", each.reproducer},
                                {"shrunk_sentence", each.shrunk ? json(each.shrunk->what.sentence) : json()},
                                {"shrunk_inputs", inputs_json(each)},
                                {"pictures", pictures_json(each)},
                                {"no_pictures", each.no_pictures}});
  }
  made["curves"] = curves_json(what);
  if (what.shard) made["shard"] = shard_json(what);
  return made.dump(2, ' ', false, json::error_handler_t::replace) + '\n';
}

}  // namespace attest::audit
