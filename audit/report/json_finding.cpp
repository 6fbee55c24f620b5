#include "audit/report/json_finding.hpp"

#include <fmt/format.h>

namespace attest::audit {
namespace {

using json = nlohmann::ordered_json;

/// What a page can hold: more than the program draws, less than would choke a reader.
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
std::vector<bool> masked_in(report_object const& from, matrix_picture const& asked) {
  auto const lines = from.texts("visible");
  std::vector<bool> made;
  bool fits = std::ssize(lines) == asked.rows;
  for (std::string const& line : lines) {
    fits = fits && std::ssize(line) == asked.columns && line.find_first_not_of("#.") == line.npos;
    for (char const c : line) made.push_back(c == '.');
  }
  if (!fits) throw report_fault{"'visible' has not a # or a . for every weight in 'asked'"};
  return made;
}

finding_pictures pictures_in(report_object const& from) {
  finding_pictures made;
  made.b = from.count("batch"), made.h = from.count("head");
  made.keys_only = from.text("shows") == "keys";
  made.asked = matrix_in(from, "asked");
  made.masked = masked_in(from, made.asked);
  made.applied_by = from.text("applied_by"), made.output = from.text("errors_of");
  if (!from.at("applied").is_null()) {
    made.applied = matrix_in(from, "applied");
    if (made.applied->rows != made.asked.rows || made.applied->columns != made.asked.columns)
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

}  // namespace

finding read_finding(report_object const& from) {
  finding made;
  violation& what = made.what;
  made.check = from.text("check"), made.case_name = from.text("case"), made.reproducer = from.text("reproducer");
  made.waived = from.truth("waived"), made.sizes = sizes_in(from.inside("sizes"));
  std::string const token = from.text("class");
  what.bug_class = bug_class_named(token);
  if (!what.bug_class) made.foreign_class = token;
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

}  // namespace attest::audit
