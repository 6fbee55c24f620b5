#include "audit/report/file/json_write.hpp"

#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>

#include "audit/contract/contract_file.hpp"
#include "audit/report/builder.hpp"
#include "audit/report/cause_words.hpp"
#include "audit/report/coverage/coverage_json.hpp"
#include "audit/report/file/shard_file.hpp"
#include "audit/report/text.hpp"
#include "audit/report/verdict.hpp"
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
/// "errors_of", "errors_in_bounds"}; null if there are no pictures.
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

/// [{"name", "shape", "values"}] of the shrunk problem, if it has few elements.
json inputs_json(finding const& found) {
  json all = json::array();
  if (found.shrunk)
    for (input_listing const& input : found.shrunk->inputs) {
      json values = json::array();
      for (double const x : input.values) values.push_back(hex(x));
      all.push_back({{"name", input.name}, {"shape", input.shape}, {"values", std::move(values)}});
    }
  return all;
}

/// [{"axis", "place", "error_in_bounds", "failed"}], one for each point, in the order of their cases.
json curves_json(report const& kernel_report) {
  json all = json::array();
  for (curve_point const& point : kernel_report.curves)
    all.push_back({{"axis", point.axis},
                   {"place", hex(point.place)},
                   {"error_in_bounds", hex(point.error_in_bounds)},
                   {"failed", point.failed}});
  return all;
}

/// [{"check", "case", "number", "classes", "inside": [{"preset", "worst_in_bounds"}]}]. `inside` is null if the case
/// was not judged again. Presets that an earlier failing case is outside of are left out: whether the case was judged
/// by those presets depends on threads and shards.
json failing_json(std::vector<failing_case> const& cases) {
  json all = json::array();
  std::set<std::string> outside;
  for (failing_case const& failing : cases) {
    json inside;
    if (failing.inside) {
      inside = json::array();
      for (holding_preset const& preset : *failing.inside)
        if (!outside.contains(preset.name))
          inside.push_back({{"preset", preset.name}, {"worst_in_bounds", hex(preset.worst)}});
      for (contract const& preset : contracts())
        if (std::ranges::find(*failing.inside, preset.name, &holding_preset::name) == failing.inside->end())
          outside.insert(preset.name);
    }
    all.push_back({{"check", failing.check},
                   {"case", failing.name},
                   {"number", failing.number},
                   {"classes", failing.classes},
                   {"inside", std::move(inside)}});
  }
  return all;
}

/// {"calls", "answered", "errors", "killed", "hung", "unsupported", "silent", "unusable", "refusals": {TEXT: calls}}
json recorded_json(recorded_endings const& endings) {
  return {{"calls", endings.calls},   {"answered", endings.answered}, {"errors", endings.errors},
          {"killed", endings.killed}, {"hung", endings.hung},         {"unsupported", endings.unsupported},
          {"silent", endings.silent}, {"unusable", endings.unusable}, {"refusals", endings.refusals}};
}

/// {"outside_hypotheses", …}: the elements that were not judged, by reason.
json left_out_json(judgement const& sum) {
  json counts = json::object();
  for (std::size_t why = 0; why < sum.left_out.size(); ++why) counts[not_judged_names[why]] = sum.left_out[why];
  return counts;
}

/// {"o": {"judged", "outside"}, …}: the elements that were judged, and those outside the hypotheses of the bound.
json shares_json(judgement const& sum) {
  json shares = json::object();
  for (std::size_t output = 0; output < output_names.size(); ++output)
    shares[output_names[output]] = {{"judged", sum.shares[output].judged}, {"outside", sum.shares[output].outside}};
  return shares;
}

/// {"o", "lse", "weights"}: the calls that returned each.
json returned_json(judgement const& sum) {
  json calls = json::object();
  for (std::size_t output = 0; output < output_names.size(); ++output)
    calls[output_names[output]] = sum.returned[output];
  return calls;
}

/// [{"preset", "compared", "outside", "worst_in_bounds"}]
json beside_json(judgement const& sum) {
  json all = json::array();
  for (preset_comparison const& beside : sum.beside)
    all.push_back({{"preset", beside.preset},
                   {"compared", beside.compared},
                   {"outside", beside.outside},
                   {"worst_in_bounds", hex(beside.worst)}});
  return all;
}

/// [{"sha256", "symbol", "builtin": null or {"version", "instructions", "claim"}}]; "sha256" is null if it is not
/// known.
json builds_json(report const& kernel_report) {
  json all = json::array();
  for (kernel_build const& build : kernel_report.kernel_builds)
    all.push_back({{"sha256", build.sha256.empty() ? json() : json(build.sha256)},
                   {"symbol", build.symbol},
                   {"builtin",
                    build.is_builtin()
                        ? json{{"version", build.version}, {"instructions", build.instructions}, {"claim", build.claim}}
                        : json()}});
  return all;
}

/// Each contract as a contract file.
json contracts_json(report const& kernel_report) {
  json all = json::array();
  for (contract const& claim : kernel_report.contracts) all.push_back(json::parse(contract_text(claim)));
  return all;
}

/// {"text", "source", "refusals", "cut_short"}; null if no domain was searched for or declared.
json domain_json(asked_domain const& of) {
  if (of.from == domain_origin::nobody) return nullptr;
  return {{"text", of.text},
          {"source", domain_origin_names[static_cast<std::size_t>(of.from)]},
          {"refusals", of.strict_refusals ? "strict" : "rule"},
          {"cut_short", of.cut_short}};
}

json json_of(report const& kernel_report) {
  judgement const sum = kernel_report.total();
  auto const observations = sentences_of_observations(kernel_report);
  json document;
  document["attest"] = version;
  document["schema"] = 1;
  document["kernel"] = kernel_report.kernel;
  document["kernel_builds"] = builds_json(kernel_report);
  stated_verdict const stated = say(facts_of(kernel_report));
  document["contract"] = kernel_report.contract;
  document["contract_revision"] = stated.object["contract_revision"];
  document["contracts"] = contracts_json(kernel_report);
  document["theorem_revision"] = stated.object["theorem_revision"];
  document["domain"] = domain_json(kernel_report.domain);
  document["seed"] = kernel_report.seed ? json(*kernel_report.seed) : json();
  if (!kernel_report.replayed.empty()) document["replayed"] = kernel_report.replayed;
  document["verdict"] = name_of(kernel_report.verdict);
  if (kernel_report.verdict == verdict::undecided) document["undecided_because"] = kernel_report.undecided_because;
  document["summary"] = {{"cases", kernel_report.cases},
                         {"elements", sum.judged()},
                         {"unsupported", unsupported_cases(kernel_report)},
                         {"suspicious", sum.suspicious},
                         {"observations", observations.size()},
                         {"waived", std::ranges::count(kernel_report.findings, true, &finding::waived)},
                         {"undecided", sum.undecided},
                         {"not_judged", sum.not_judged()},
                         {"dull", sum.dull()},
                         {"sharpness", stated.object["sizes"]},
                         {"judged_by_theorem", sum.by_theorem},
                         {"judged_by_dominance", sum.by_dominance},
                         {"judged_by_rule", sum.by_rule},
                         {"max_error_in_bounds", hex(sum.max_error_in_bounds)},
                         {"max_ulp", hex(sum.max_ulp)},
                         {"max_error", hex(sum.max_error)},
                         {"oracle_seconds", kernel_report.oracle_seconds},
                         {"kernel_seconds", kernel_report.kernel_seconds}};
  document["cause"] = cause_json(kernel_report);
  document["evidence"] = stated.object;
  document["coverage"] = coverage_json(kernel_report);
  document["observations"] = observations;
  document["conventions"] = kernel_report.relaxed;
  document["waive"] = kernel_report.waived;
  document["waived_classes"] = stated.object["waived"]["classes"];
  document["checks"] = json::array();
  for (check_result const& row : kernel_report.checks)
    document["checks"].push_back({{"name", row.name},
                                  {"cases", row.cases},
                                  {"failed", row.failed},
                                  {"undecided", row.undecided},
                                  {"unsupported", row.unsupported},
                                  {"conventions", row.conventions},
                                  {"elements", row.sum.judged()},
                                  {"faults", row.sum.failed},
                                  {"suspicious", row.sum.suspicious},
                                  {"undecided_elements", row.sum.undecided},
                                  {"not_judged", row.sum.not_judged()},
                                  {"not_judged_because", left_out_json(row.sum)},
                                  {"outside", shares_json(row.sum)},
                                  {"not_certified", row.sum.not_certified},
                                  {"returned", returned_json(row.sum)},
                                  {"sharper_presets", beside_json(row.sum)},
                                  {"dull", row.sum.dull()},
                                  {"judged_by_theorem", row.sum.by_theorem},
                                  {"judged_by_dominance", row.sum.by_dominance},
                                  {"judged_by_rule", row.sum.by_rule},
                                  {"max_error_in_bounds", hex(row.sum.max_error_in_bounds)},
                                  {"max_ulp", hex(row.sum.max_ulp)},
                                  {"max_error", hex(row.sum.max_error)}});
  document["findings"] = json::array();
  for (finding const& found : kernel_report.findings) {
    document["findings"].push_back({{"check", found.check},
                                    {"class", found.class_token()},
                                    {"case", found.case_name},
                                    {"output", found.what.output},
                                    {"index", found.what.index},
                                    {"got", hex(found.what.got)},
                                    {"truth_lower", hex(found.what.truth_lower)},
                                    {"truth_upper", hex(found.what.truth_upper)},
                                    {"bound", hex(found.what.bound)},
                                    {"error_in_bounds", hex(found.what.error_in_bounds)},
                                    {"sentence", found.what.sentence},
                                    {"condition", found.condition},
                                    {"waived", found.waived},
                                    {"sizes", sizes_json(found.sizes)},
                                    {"file", found.shrunk ? found.shrunk->file : ""},
                                    {"shrunk", sizes_json(found.smallest_sizes())},
                                    {"reproducer", found.reproducer},
                                    {"shrunk_sentence", found.shrunk ? json(found.shrunk->what.sentence) : json()},
                                    {"shrunk_inputs", inputs_json(found)},
                                    {"explain", found.shrunk ? found.shrunk->explain : ""},
                                    {"pictures", pictures_json(found)},
                                    {"no_pictures", found.no_pictures}});
  }
  document["failing"] = failing_json(kernel_report.failing);
  document["unanswered"] = json::array();
  for (auto const& [number, name] : kernel_report.unanswered)
    document["unanswered"].push_back({{"case", name}, {"number", number}});
  if (kernel_report.recorded) document["recorded"] = recorded_json(*kernel_report.recorded);
  document["curves"] = curves_json(kernel_report);
  return document;
}

}  // namespace

std::string as_json(std::span<report const> all) {
  json document;
  if (all.size() == 1) document = json_of(all.front());
  else {
    document = {{"attest", version}, {"schema", 1}, {"verdict", name_of(worst(all))}, {"reports", json::array()}};
    for (report const& kernel_report : all) document["reports"].push_back(json_of(kernel_report));
  }
  std::string text = document.dump(2, ' ', false, json::error_handler_t::replace);
  if (all.front().shard) text.insert(text.rfind("\n}"), ",\n  \"shard\": " + shard_text(all));
  return text + '\n';
}

std::string as_json(report const& kernel_report) { return as_json(std::span(&kernel_report, 1)); }

}  // namespace attest::audit
