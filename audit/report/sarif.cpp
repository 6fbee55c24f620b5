#include "audit/report/sarif.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "audit/report/class_advice.hpp"
#include "audit/report/text.hpp"
#include "audit/report/verdict.hpp"
#include "audit/report/version.hpp"
#include "audit/support/printable.hpp"
#include "audit/support/sha256.hpp"

namespace attest::audit {
namespace {

using json = nlohmann::ordered_json;

constexpr std::string_view undecided_rule = "undecided";

json text(std::string_view of) { return {{"text", printable_lines(of)}}; }

/// A path as a URI reference (RFC 3986): every byte that is not unreserved is escaped, except for '/'.
std::string uri_of(std::string_view path) {
  std::string uri;
  for (char const c : path) {
    bool const plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~/").find(c) != std::string_view::npos;
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri.starts_with("./") ? uri.substr(2) : uri;
}

/// The file of a kernel without its symbol; the recorded file of `verify`.
std::string_view file_of(report const& of) {
  std::string_view const name = of.kernel;
  auto const end = name.rfind(".so:");
  return end == name.npos ? name : name.substr(0, end + 3);
}

/// The classes of the findings, as rules, in the order of the table.
std::vector<bug_class> rules_of(report const& of) {
  std::vector<bug_class> rules;
  for (bug_class_row const& row : bug_class_table)
    if (std::ranges::find(of.findings, row.token, &finding::class_token) != of.findings.end()) rules.push_back(row.id);
  return rules;
}

json rule_of(bug_class which) {
  return {{"id", token_of(which)},
          {"shortDescription", text(row_of(which).meaning)},
          {"fullDescription", text(fmt::format("usual cause: {}", advice_of(which).cause))},
          {"help", text(advice_of(which).fix)},
          {"defaultConfiguration", {{"level", "error"}}}};
}

/// What stays the same when numbers, seeds and names of cases change.
std::string fingerprint_of(report const& of, finding const& found) {
  std::string causes;
  if (of.cause)
    for (named_mistake const& mistake : of.cause->mistakes) causes += mistake.name + ' ';
  return sha256_of(fmt::format("{} {} {} {} {}", file_of(of), of.contract, found.check, found.class_token(), causes));
}

json location_of(report const& of, std::string_view name) {
  json const file{{"artifactLocation", {{"uri", uri_of(file_of(of))}}}, {"region", {{"startLine", 1}}}};
  json location{{"physicalLocation", file}};
  if (!name.empty()) location["logicalLocations"] = json::array({{{"fullyQualifiedName", printable(name, 1000)}}});
  return location;
}

json result_of(report const& of, finding const& found, std::size_t rule) {
  std::string said = fmt::format("{}: {}", found.name(), found.what.sentence);
  if (!found.condition.empty()) said += fmt::format("\n{}", found.condition);
  said += fmt::format("\n{}", found.reproducer);
  json result{{"ruleId", found.class_token()},
              {"ruleIndex", rule},
              {"level", found.waived ? "note" : "error"},
              {"message", text(said)},
              {"locations", json::array({location_of(of, fmt::format("{}/{}", found.check, found.case_name))})},
              {"partialFingerprints", {{"attestCause/v1", fingerprint_of(of, found)}}}};
  if (found.waived)
    result["suppressions"] =
        json::array({{{"kind", "external"}, {"justification", "waived, or known by the baseline"}}});
  return result;
}

json run_of(report const& of) {
  json rules = json::array(), results = json::array();
  auto const classes = rules_of(of);
  for (bug_class const which : classes) rules.push_back(rule_of(which));
  for (finding const& found : of.findings) {
    auto const at = std::ranges::find(classes, found.class_token(), token_of);
    if (at != classes.end()) results.push_back(result_of(of, found, static_cast<std::size_t>(at - classes.begin())));
  }
  if (of.verdict == verdict::undecided) {
    results.push_back({{"ruleId", undecided_rule},
                       {"ruleIndex", rules.size()},
                       {"level", "warning"},
                       {"message", text(of.undecided_because)},
                       {"locations", json::array({location_of(of, "")})}});
    rules.push_back(
        {{"id", undecided_rule}, {"shortDescription", text("too little was answered, or could be judged")}});
  }
  return {
      {"tool", {{"driver", {{"name", "attest"}, {"version", version}, {"rules", std::move(rules)}}}}},
      {"invocations", json::array({{{"executionSuccessful", true}, {"exitCode", static_cast<int>(of.verdict)}}})},
      {"results", std::move(results)},
      {"properties", {{"verdict", name_of(of.verdict)}, {"kernel", printable(of.kernel)}, {"contract", of.contract}}}};
}

}  // namespace

std::string as_sarif(std::span<report const> all) {
  json runs = json::array();
  for (report const& of : all) runs.push_back(run_of(of));
  json const log{
      {"$schema", "https://json.schemastore.org/sarif-2.1.0.json"}, {"version", "2.1.0"}, {"runs", std::move(runs)}};
  return log.dump(2, ' ', false, json::error_handler_t::replace) + '\n';
}

}  // namespace attest::audit
