#include "audit/report/json_read.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "audit/report/version.hpp"

namespace attest::audit {
namespace {

using json = nlohmann::ordered_json;

/// Limits of what a page shows: more than the program draws, and little enough for a browser.
constexpr std::size_t most_rows = 4096, most_cells = std::size_t{1} << 16;
constexpr std::int64_t most_heads = 256, most_places = std::int64_t{1} << 20;

problem::sizes sizes_in(report_object const& from) {
  problem::sizes s;
  s.b = from.count("b"), s.hq = from.count("hq"), s.hk = from.count("hk"), s.n = from.count("n"), s.m = from.count("m");
  s.d = from.count("d"), s.dv = from.count("dv");
  return s;
}

/// {"first_row", "first_column", "rows": [[numbers]]}
matrix_picture matrix_in(report_object const& from, char const* key) {
  report_object const written = from.inside(key);
  matrix_picture made;
  made.first_row = written.count("first_row"), made.first_column = written.count("first_column");
  json const& rows = written.list("rows");
  for (json const& each : rows) {
    json row;
    row["row"] = each;
    auto const values = report_object(row, fmt::format("'{}'", key)).numbers("row");
    if (made.rows++ > 0 && std::ssize(values) != made.columns)
      throw report_fault{fmt::format("the rows of '{}' have different lengths", key)};
    made.columns = std::ssize(values);
    made.values.insert(made.values.end(), values.begin(), values.end());
    if (rows.size() > most_rows || made.values.size() > most_cells)
      throw report_fault{fmt::format("'{}' is too large to draw", key)};
  }
  return made;
}

/// "visible": a line for each query, '#' where it sees the key and '.' where it does not.
std::vector<bool> masked_in(report_object const& from, matrix_picture const& expected) {
  auto const lines = from.texts("visible");
  std::vector<bool> made;
  bool fits = std::ssize(lines) == expected.rows;
  for (std::string const& line : lines) {
    fits = fits && std::ssize(line) == expected.columns && line.find_first_not_of("#.") == line.npos;
    for (char const c : line) made.push_back(c == '.');
  }
  if (!fits) throw report_fault{"'visible' has not a # or a . for every weight in 'asked'"};
  return made;
}

finding_pictures pictures_in(report_object const& from) {
  finding_pictures made;
  made.b = from.count("batch"), made.h = from.count("head");
  made.keys_only = from.text("shows") == "keys";
  made.expected = matrix_in(from, "asked");
  made.masked = masked_in(from, made.expected);
  made.applied_by = from.text("applied_by"), made.output = from.text("errors_of");
  if (!from.at("applied").is_null()) {
    made.applied = matrix_in(from, "applied");
    if (made.applied->rows != made.expected.rows || made.applied->columns != made.expected.columns)
      throw report_fault{"'applied' has not the size of 'asked'"};
  }
  if (!from.at("errors_in_bounds").is_null()) made.errors = matrix_in(from, "errors_in_bounds");
  return made;
}

/// [{"name", "shape", "values"}]
std::vector<input_listing> inputs_in(json const& from) {
  std::vector<input_listing> made;
  for (json const& each : from) {
    report_object const tensor(each, "'shrunk_inputs'");
    input_listing& one =
        made.emplace_back(input_listing{tensor.text("name"), tensor.counts("shape"), tensor.numbers("values")});
    std::int64_t values = 1, places = 1;
    for (std::int64_t const extent : one.shape) {
      values *= std::min(extent, most_places),
          places = std::min(places * std::max<std::int64_t>(extent, 1), 2 * most_places);
      values = std::min(values, 2 * most_places);
    }
    if (one.shape.size() != 4 || values != std::ssize(one.values) || places > most_places ||
        one.shape[0] > most_heads || one.shape[1] > most_heads)
      throw report_fault{fmt::format("'shape' and 'values' of '{}' do not fit each other", one.name)};
  }
  return made;
}

/// The finding of a JSON report, with its pictures and the inputs of the small problem; the number of its case is 0.
finding read_finding(report_object const& from) {
  finding made;
  violation& what = made.what;
  made.check = from.text("check"), made.case_name = from.text("case"), made.reproducer = from.text("reproducer");
  made.waived = from.boolean("waived"), made.sizes = sizes_in(from.inside("sizes"));
  std::string const token = from.text("class");
  what.bug_class = bug_class_named(token);
  if (!what.bug_class) made.unknown_class = token;
  what.sentence = from.text("sentence"), what.output = from.text("output");
  auto const index = from.counts("index");
  if (index.size() != what.index.size())
    throw report_fault{
        fmt::format("'index' in a finding has {} numbers, expected {}", index.size(), what.index.size())};
  std::ranges::copy(index, what.index.begin());
  what.got = from.number("got"), what.truth_lower = from.number("truth_lower"),
  what.truth_upper = from.number("truth_upper");
  what.bound = from.number("bound"), what.error_in_bounds = from.number("error_in_bounds");
  if (!from.at("shrunk_sentence").is_null()) {
    made.shrunk.emplace();
    made.shrunk->what.sentence = from.text("shrunk_sentence"), made.shrunk->file = from.text("file");
    made.shrunk->sizes = sizes_in(from.inside("shrunk"));
    made.shrunk->inputs = inputs_in(from.list("shrunk_inputs"));
  }
  if (!from.at("pictures").is_null()) made.pictures = pictures_in(from.inside("pictures"));
  made.no_pictures = from.text("no_pictures");
  return made;
}

void require_length(char const* key, std::size_t found, std::size_t expected) {
  if (found != expected)
    throw report_fault{fmt::format("'{}' in 'shard' has {} entries, expected {}", key, found, expected)};
}

void read_checks(report_object const& from, report_object const& shard, report& into) {
  auto const first = shard.counts("first_cases");
  auto const seconds = shard.all_seconds("check_seconds");
  for (json const& each : from.list("checks")) {
    report_object const row(each, "a check");
    check_result made{.name = row.text("name"), .sum = {}, .conventions = {}};
    made.cases = row.count("cases"), made.failed = row.count("failed"), made.undecided = row.count("undecided");
    made.unsupported = row.count("unsupported");
    judgement& sum = made.sum;
    sum.failed = row.count("faults"), sum.suspicious = row.count("suspicious"),
    sum.undecided = row.count("undecided_elements");
    sum.not_judged = row.count("not_judged"), sum.by_theorem = row.count("judged_by_theorem");
    sum.by_dominance = row.count("judged_by_dominance"), sum.by_rule = row.count("judged_by_rule");
    sum.max_error_in_bounds = row.magnitude("max_error_in_bounds"), sum.max_ulp = row.magnitude("max_ulp");
    sum.max_error = row.magnitude("max_error");
    auto const relaxed = row.texts("conventions");
    made.conventions = {relaxed.begin(), relaxed.end()};
    into.checks.push_back(std::move(made));
    into.cases += into.checks.back().cases;
  }
  require_length("first_cases", first.size(), into.checks.size());
  require_length("check_seconds", seconds.size(), into.checks.size());
  for (std::size_t n = 0; n < first.size(); ++n)
    into.checks[n].first_case = first[n], into.checks[n].seconds = seconds[n];
}

}  // namespace

report read_shard(json const& from) {
  report_object const top(from, "the file");
  if (!top.has("shard"))
    throw report_fault{"is not the report of a shard: `attest audit --seed N --shard i/n --json FILE` writes one"};
  if (top.count("schema") != 1) throw report_fault{"has a schema that this attest does not know"};
  if (auto const written = top.text("attest"); written != version)
    throw report_fault{fmt::format("was written by attest {}, this is {}", written, version)};
  report what;
  what.kernel = top.text("kernel"), what.contract = top.text("contract");
  what.seed = top.seed();
  report_object const shard = top.inside("shard"), summary = top.inside("summary");
  what.shard = {shard.count("index"), shard.count("of")};
  what.all_cases = shard.count("all_cases"), what.options = shard.text("asked");
  what.complete = shard.boolean("complete"), what.incomplete_because = shard.text("because");
  what.kernel_seconds = summary.seconds("kernel_seconds"), what.oracle_seconds = summary.seconds("oracle_seconds");
  what.observations = top.texts("observations"), what.relaxed = top.texts("conventions");
  what.waived_classes = top.texts("waived_classes");
  read_checks(top, shard, what);
  for (json const& each : shard.list("told")) {
    report_object const line(each, "'told'");
    what.case_observations.push_back({line.text("kind"), line.count("case"), line.text("sentence")});
  }
  for (json const& each : shard.list("told_kinds")) {
    report_object const line(each, "'told_kinds'");
    what.observation_counts.emplace_back(line.text("kind"), line.count("count"));
  }
  auto const numbers = shard.counts("finding_cases");
  for (json const& each : top.list("findings")) what.findings.push_back(read_finding(report_object(each, "a finding")));
  require_length("finding_cases", numbers.size(), what.findings.size());
  for (std::size_t n = 0; n < numbers.size(); ++n) what.findings[n].number = numbers[n];
  if (!top.has("curves")) return what;
  auto const places = shard.counts("curve_cases");
  for (json const& each : top.list("curves")) {
    report_object const point(each, "'curves'");
    what.curves.push_back(
        {point.text("axis"), point.number("place"), point.magnitude("error_in_bounds"), point.boolean("failed"), 0});
  }
  require_length("curve_cases", places.size(), what.curves.size());
  for (std::size_t n = 0; n < places.size(); ++n) what.curves[n].number = places[n];
  return what;
}

}  // namespace attest::audit
