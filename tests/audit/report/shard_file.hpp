// Reports of shards as files, and what reading edited ones says.
#pragma once

#include <functional>

#include <nlohmann/json.hpp>

#include "audit/report/builder.hpp"
#include "audit/report/file/join.hpp"
#include "audit/report/file/json_write.hpp"
#include "audit/report/file/shard_file.hpp"
#include "audit/support/sha256.hpp"
#include "tests/support/property.hpp"

namespace attest::audit {

using json = nlohmann::ordered_json;
using pointer = json::json_pointer;

inline judgement judged_elements(std::int64_t count, double worst) {
  judgement found;
  found.by_theorem = count, found.by_rule = 2, found.returned = {1, 0, 0}, found.exist = count + 3;
  for (std::int64_t n = 0; n < count; ++n) found.sharpness[0][0].add(1e-6, 1, n == 0);
  found.systematic[0][2] = {{1, {-3, 4}, {5, 6}}, 2, 3};
  found.max_error_in_bounds = worst, found.max_error = worst * 1e-6;
  found.beside = {{"f32-ordered", count, 0, worst}};
  return found;
}

inline judgement wrong_elements() {
  judgement found = judged_elements(10, 3);
  found.failed = 2;
  found.violations.push_back(
      {.output = "o", .got = 1, .error_in_bounds = 3, .bug_class = bug_class::accuracy, .sentence = "is wrong"});
  return found;
}

inline finding_pictures drawn_pictures() {
  finding_pictures drawn;
  drawn.expected = {0, 0, 1, 2, {0.25, 0.75}}, drawn.masked = {false, true}, drawn.applied = drawn.expected;
  drawn.applied_by = "read through V", drawn.output = "o", drawn.errors = drawn.expected;
  return drawn;
}

enum class kind { certified, refuted, waived, unanswered };

/// Shard 1 or 2 of 2, of 10 cases: three of masks and two of poison each; the last of masks is what `is` says.
inline report shard_of(kind is, std::int64_t index) {
  report made;
  made.kernel = "drawn", made.contract = "f32", made.seed = 5, made.contract_revision = 2, made.shard = {index, 2};
  made.all_cases = 10, made.contracts = {*find_contract("f32")};
  made.kernel_builds = {{.sha256 = std::string(64, 'a'), .symbol = "attest_attention"}};
  std::set<std::string, std::less<>> waived{"lse"};
  if (is == kind::waived) waived.insert("masks");
  report_builder collect(made, waived);
  for (std::int64_t n = 0; n < 5; ++n) {
    std::int64_t const number = 2 * n + index;
    collect.set_case(number);
    check_result& row = collect.row_of_check(n < 3 ? "masks" : "poison");
    judgement judged = judged_elements(10, 0.5);
    if (n == 2 && (is == kind::refuted || is == kind::waived)) judged = wrong_elements();
    if (n == 2 && is == kind::unanswered) judged = {}, ++row.unsupported, collect.add_unanswered("masks/case-2");
    made.curves.push_back({"keys", 1, 0.5, judged.failed > 0, number});
    collect.add_observation("masks", "is odd");
    collect.add_judgement(row, "case-" + std::to_string(n), bug_class::accuracy, {1, 1, 1, 1, 1, 1, 1},
                          std::move(judged), "attest audit");
  }
  for (finding& found : made.findings) {
    found.pictures = drawn_pictures();
    found.shrunk.emplace().inputs = {{"q", {1, 1, 1, 2}, {1, 2}}};
  }
  made.observations.push_back(std::string("about the run"));
  collect.finish(is != kind::unanswered, "");
  return made;
}

/// With the hash of its facts, as an attacker who wants to deceive `merge` writes it.
inline json signed_again(json part) {
  part["shard"]["sha256"] = sha256_of(nlohmann::json(part["shard"]["facts"]).dump());
  return part;
}

/// Checks that the shards are refused, and why; with `whole`, that this is all that is said.
using edit_json = std::function<json(json)>;
inline problem::result<std::vector<report>> joined(kind is, edit_json const& edit_first) {
  return join_reports(
      {{"1.json", edit_first(json::parse(as_json(shard_of(is, 1)))).dump()}, {"2.json", as_json(shard_of(is, 2))}});
}
inline edit_json putting(std::string const& at, json const& value) {
  return [=](json part) { return part[pointer(at)] = value, part; };
}
inline edit_json signing(edit_json const& edit) {
  return [=](json part) { return signed_again(edit(std::move(part))); };
}

inline void check_refused(problem::result<std::vector<report>> const& found, std::string const& says,
                          bool whole = false) {
  INFO(says);
  REQUIRE_FALSE(found);
  INFO(found.why().message());
  CHECK((whole ? found.why().message() == says : found.why().message().find(says) != std::string::npos));
}

}  // namespace attest::audit
