#include "audit/report/json_read.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "audit/contract/contract_file.hpp"
#include "audit/report/cause_words.hpp"
#include "audit/report/coverage_json.hpp"
#include "audit/report/text.hpp"
#include "audit/report/version.hpp"
#include "audit/support/printable.hpp"

namespace attest::audit {
namespace {

using json = nlohmann::ordered_json;

/// Limits of what a page shows: more than the program draws, and little enough for a browser.
constexpr std::size_t most_rows = 4096, most_cells = std::size_t{1} << 16;
constexpr std::size_t most_axes = 5;  ///< parts of a merge: [parts, b, hq, n, dv]
constexpr std::int64_t most_places = std::int64_t{1} << 20;

problem::sizes sizes_in(report_object const& from) {
  problem::sizes s;
  s.b = from.count("b"), s.hq = from.count("hq"), s.hk = from.count("hk"), s.n = from.count("n"), s.m = from.count("m");
  s.d = from.count("d"), s.dv = from.count("dv");
  return s;
}

/// {"first_row", "first_column", "rows": [[numbers]]}
matrix_picture matrix_in(report_object const& from, char const* key) {
  report_object const written = from.inside(key);
  matrix_picture picture;
  picture.first_row = written.count("first_row"), picture.first_column = written.count("first_column");
  json const& rows = written.list("rows");
  for (json const& values_of_row : rows) {
    json row;
    row["row"] = values_of_row;
    auto const values = report_object(row, fmt::format("'{}'", key)).numbers("row");
    if (picture.rows++ > 0 && std::ssize(values) != picture.columns)
      throw report_fault{fmt::format("the rows of '{}' have different lengths", key)};
    picture.columns = std::ssize(values);
    picture.values.insert(picture.values.end(), values.begin(), values.end());
    if (rows.size() > most_rows || picture.values.size() > most_cells)
      throw report_fault{fmt::format("'{}' is too large to draw", key)};
  }
  return picture;
}

/// "visible": a line for each query, '#' where it sees the key and '.' where it does not.
std::vector<bool> masked_in(report_object const& from, matrix_picture const& expected) {
  auto const lines = from.texts("visible");
  std::vector<bool> masked;
  bool fits = std::ssize(lines) == expected.rows;
  for (std::string const& line : lines) {
    fits = fits && std::ssize(line) == expected.columns && line.find_first_not_of("#.") == line.npos;
    for (char const c : line) masked.push_back(c == '.');
  }
  if (!fits) throw report_fault{"'visible' has not a # or a . for every weight in 'asked'"};
  return masked;
}

finding_pictures pictures_in(report_object const& from) {
  finding_pictures pictures;
  pictures.b = from.count("batch"), pictures.h = from.count("head");
  pictures.keys_only = from.text("shows") == "keys";
  pictures.expected = matrix_in(from, "asked");
  pictures.masked = masked_in(from, pictures.expected);
  pictures.applied_by = from.text("applied_by"), pictures.output = from.text("errors_of");
  if (!from.at("applied").is_null()) {
    pictures.applied = matrix_in(from, "applied");
    if (pictures.applied->rows != pictures.expected.rows || pictures.applied->columns != pictures.expected.columns)
      throw report_fault{"'applied' has not the size of 'asked'"};
  }
  if (!from.at("errors_in_bounds").is_null()) pictures.errors = matrix_in(from, "errors_in_bounds");
  return pictures;
}

/// [{"name", "shape", "values"}]
std::vector<input_listing> inputs_in(json const& from) {
  std::vector<input_listing> listings;
  for (json const& item : from) {
    report_object const tensor(item, "'shrunk_inputs'");
    input_listing& listing =
        listings.emplace_back(input_listing{tensor.text("name"), tensor.counts("shape"), tensor.numbers("values")});
    std::int64_t values = 1, places = 1;
    for (std::int64_t const extent : listing.shape) {
      values *= std::min(extent, most_places),
          places = std::min(places * std::max<std::int64_t>(extent, 1), 2 * most_places);
      values = std::min(values, 2 * most_places);
    }
    if (listing.shape.empty() || listing.shape.size() > most_axes || values != std::ssize(listing.values) ||
        places > most_places)
      throw report_fault{fmt::format("'shape' and 'values' of '{}' do not fit each other", listing.name)};
  }
  return listings;
}

/// The finding of a JSON report, with its pictures and the inputs of the small problem; the number of its case is 0.
finding read_finding(report_object const& from) {
  finding found;
  violation& wrong = found.what;
  found.check = from.text("check"), found.case_name = from.text("case"), found.reproducer = from.text("reproducer");
  found.waived = from.boolean("waived"), found.sizes = sizes_in(from.inside("sizes"));
  std::string const token = from.text("class");
  wrong.bug_class = bug_class_named(token);
  if (!wrong.bug_class) found.unknown_class = token;
  wrong.sentence = from.text("sentence"), wrong.output = from.text("output");
  auto const index = from.counts("index");
  if (index.size() != wrong.index.size())
    throw report_fault{
        fmt::format("'index' in a finding has {} numbers, expected {}", index.size(), wrong.index.size())};
  std::ranges::copy(index, wrong.index.begin());
  wrong.got = from.number("got"), wrong.truth_lower = from.number("truth_lower"),
  wrong.truth_upper = from.number("truth_upper");
  wrong.bound = from.number("bound"), wrong.error_in_bounds = from.number("error_in_bounds");
  if (!from.at("shrunk_sentence").is_null()) {
    found.shrunk.emplace();
    found.shrunk->what.sentence = from.text("shrunk_sentence"), found.shrunk->file = from.text("file");
    found.shrunk->sizes = sizes_in(from.inside("shrunk"));
    found.shrunk->inputs = inputs_in(from.list("shrunk_inputs"));
  }
  if (!from.at("pictures").is_null()) found.pictures = pictures_in(from.inside("pictures"));
  found.no_pictures = from.text("no_pictures");
  if (from.has("condition")) found.condition = from.text("condition");
  return found;
}

void require_length(char const* key, std::size_t found, std::size_t expected) {
  if (found != expected)
    throw report_fault{fmt::format("'{}' in 'shard' has {} entries, expected {}", key, found, expected)};
}

/// The counts that sharpness_counts wrote.
sharpness_table sharpness_in(json const& from) {
  sharpness_table table{};
  std::size_t const places = output_names.size() * size_classes.size();
  auto const fits = [](json const& counts) {
    return counts.is_array() && std::ranges::all_of(counts, [](json const& count) {
             return count.is_number_unsigned() && count.get<std::uint64_t>() < (std::uint64_t{1} << 53);
           });
  };
  if (!from.is_array() || from.size() != places || !std::ranges::all_of(from, fits))
    throw report_fault{"'check_sharpness' in 'shard' is not a list of counts for each output and size"};
  for (std::size_t at = 0; at < places; ++at) {
    json const& counts = from[at];
    sharpness& of = table[at / size_classes.size()][at % size_classes.size()];
    std::size_t const expected = counts.size() < 2 ? 2 : counts[0] == 0 ? 2 : 2 + of.ratios.size();
    if (counts.size() != expected) throw report_fault{"'check_sharpness' in 'shard' has the wrong number of counts"};
    of.judged = counts[0].get<std::int64_t>(), of.dull = counts[1].get<std::int64_t>();
    for (std::size_t n = 2; n < counts.size(); ++n) of.ratios[n - 2] = counts[n].get<std::int64_t>();
  }
  return table;
}

/// What systematic_sums wrote.
systematic_table systematic_in(json const& from) {
  systematic_table table{};
  json list;
  list["of"] = from;
  for (json const& item : report_object(list, "'check_systematic_errors'").list("of")) {
    report_object const written(item, "'check_systematic_errors'");
    auto const output = std::ranges::find(output_names, written.text("output"));
    auto const type = std::ranges::find(problem::floating_rows, written.text("type"), &problem::element_row::name);
    if (output == output_names.end() || type == problem::floating_rows.end())
      throw report_fault{fmt::format("'check_systematic_errors' in 'shard' is about '{}' in '{}', which there is not",
                                     written.text("output"), written.text("type"))};
    systematic_error& of = table[static_cast<std::size_t>(output - output_names.begin())]
                                [static_cast<std::size_t>(type - problem::floating_rows.begin())];
    of.calls.count = written.count("calls"), of.rows = written.count("rows"), of.elements = written.count("elements");
    for (std::size_t sign = 0; sign < error_signs; ++sign) {
      auto const sums = written.wholes(sign == 0 ? "upwards" : "away_from_0");
      if (sums.size() != 2) throw report_fault{"a sum in 'check_systematic_errors' is no pair of numbers"};
      of.calls.means[sign] = sums[0], of.calls.squares[sign] = sums[1];
    }
  }
  return table;
}

void read_checks(report_object const& from, report_object const& shard, report& into) {
  auto const first = shard.counts("first_cases");
  auto const seconds = shard.all_seconds("check_seconds");
  for (json const& item : from.list("checks")) {
    report_object const row(item, "a check");
    check_result checked{.name = row.text("name"), .sum = {}, .conventions = {}};
    checked.cases = row.count("cases"), checked.failed = row.count("failed"),
    checked.undecided = row.count("undecided");
    checked.unsupported = row.count("unsupported");
    judgement& sum = checked.sum;
    sum.failed = row.count("faults"), sum.suspicious = row.count("suspicious"),
    sum.undecided = row.count("undecided_elements");
    sum.by_theorem = row.count("judged_by_theorem");
    sum.by_dominance = row.count("judged_by_dominance"), sum.by_rule = row.count("judged_by_rule");
    sum.max_error_in_bounds = row.magnitude("max_error_in_bounds"), sum.max_ulp = row.magnitude("max_ulp");
    sum.max_error = row.magnitude("max_error");
    report_object const left_out = row.inside("not_judged_because"), returned = row.inside("returned");
    for (std::size_t why = 0; why < sum.left_out.size(); ++why)
      sum.left_out[why] = left_out.count(not_judged_names[why]);
    sum.not_certified = row.count("not_certified");
    report_object const shares = row.inside("outside");
    for (std::size_t output = 0; output < output_names.size(); ++output) {
      sum.returned[output] = returned.count(output_names[output]);
      report_object const share = shares.inside(output_names[output]);
      sum.shares[output] = {share.count("judged"), share.count("outside")};
    }
    for (json const& comparison : row.list("sharper_presets")) {
      report_object const beside(comparison, "'sharper_presets'");
      merge(sum.beside, {beside.text("preset"), beside.count("compared"), beside.count("outside"),
                         beside.magnitude("worst_in_bounds")});
    }
    auto const relaxed = row.texts("conventions");
    checked.conventions = {relaxed.begin(), relaxed.end()};
    into.checks.push_back(std::move(checked));
    into.cases += into.checks.back().cases;
  }
  json const& sharpness_of = shard.list("check_sharpness");
  require_length("check_sharpness", sharpness_of.size(), into.checks.size());
  for (std::size_t n = 0; n < sharpness_of.size(); ++n) into.checks[n].sum.sharpness = sharpness_in(sharpness_of[n]);
  json const& systematic = shard.list("check_systematic_errors");
  require_length("check_systematic_errors", systematic.size(), into.checks.size());
  for (std::size_t n = 0; n < systematic.size(); ++n) into.checks[n].sum.systematic = systematic_in(systematic[n]);
  require_length("first_cases", first.size(), into.checks.size());
  require_length("check_seconds", seconds.size(), into.checks.size());
  for (std::size_t n = 0; n < first.size(); ++n)
    into.checks[n].first_case = first[n], into.checks[n].seconds = seconds[n];
}

/// The SHA-256 under this key of `where`.
std::string hash_in(report_object const& from, char const* key, std::string_view where) {
  std::string hash = from.text(key);
  if (hash.size() != 64 || hash.find_first_not_of("0123456789abcdef") != std::string::npos)
    throw report_fault{fmt::format("'{}' in {} is '{}', expected 64 hexadecimal digits", key, where, hash)};
  return hash;
}

/// What tells the build of a kernel; exactly one.
void read_build(report_object const& from, report& into) {
  json const& builds = from.list("kernel_builds");
  if (builds.size() != 1)
    throw report_fault{fmt::format("'kernel_builds' in the file has {} entries, expected 1", builds.size())};
  report_object const written(builds.front(), "'kernel_builds'");
  kernel_build& build = into.kernel_builds.emplace_back();
  build.symbol = written.text("symbol");
  if (!written.at("sha256").is_null()) build.sha256 = hash_in(written, "sha256", "'kernel_builds'");
  if (written.at("builtin").is_null()) return;
  report_object const builtin = written.inside("builtin");
  build.version = builtin.text("version"), build.instructions = builtin.text("instructions");
  build.claim = builtin.text("claim");
}

/// All numbers of the contract, and that they are of the contract that the report names.
void read_contract_of(report_object const& from, report& into) {
  json const& contracts = from.list("contracts");
  if (contracts.size() != 1)
    throw report_fault{fmt::format("'contracts' in the file has {} entries, expected 1", contracts.size())};
  auto claim = parse_contract(contracts.front().dump(), into.contract);
  if (!claim) throw report_fault{"'contracts' in the file: " + claim.why().message()};
  std::string const name = printable(claim.value().name, 8000);
  if (name != into.contract)
    throw report_fault{
        fmt::format("contradicts itself: 'contract' is '{}', 'contracts' has '{}'", into.contract, name)};
  into.contracts.push_back(std::move(claim).value());
}

/// The verdict as the file states it, and why where it is undecided.
void read_verdict(report_object const& from, report& into) {
  std::string const stated = from.text("verdict");
  for (verdict const one : {verdict::certified, verdict::refuted, verdict::undecided})
    if (stated == name_of(one)) {
      into.verdict = one;
      if (one == verdict::undecided) into.undecided_because = from.text("undecided_because");
      return;
    }
  throw report_fault{fmt::format("'verdict' in the file is '{}', expected certified, refuted or undecided", stated)};
}

}  // namespace

report read_shard(json const& from) {
  report_object const top(from, "the file");
  if (!top.has("shard"))
    throw report_fault{"is not the report of a shard: `attest audit --seed N --shard i/n --json FILE` writes one"};
  if (top.count("schema") != 1) throw report_fault{"has a schema that this attest does not know"};
  if (auto const written = top.text("attest"); written != version)
    throw report_fault{fmt::format("was written by attest {}, this is {}", written, version)};
  report kernel_report;
  kernel_report.kernel = top.text("kernel"), kernel_report.contract = top.text("contract");
  read_build(top, kernel_report);
  read_contract_of(top, kernel_report);
  kernel_report.seed = top.seed();
  if (top.has("replayed")) kernel_report.replayed = hash_in(top, "replayed", "the file");
  read_verdict(top, kernel_report);
  kernel_report.theorem_revision = static_cast<int>(top.count("theorem_revision"));
  if (!top.at("contract_revision").is_null())
    kernel_report.contract_revision = static_cast<int>(top.count("contract_revision"));
  kernel_report.protections = top.inside("evidence").texts("protections");
  kernel_report.missing_protections = top.inside("evidence").texts("missing_protections");
  report_object const shard = top.inside("shard"), summary = top.inside("summary");
  kernel_report.shard = {shard.count("index"), shard.count("of")};
  kernel_report.all_cases = shard.count("all_cases"), kernel_report.options = shard.text("asked");
  if (shard.has("all_draws")) kernel_report.all_draws = shard.count("all_draws");
  kernel_report.complete = shard.boolean("complete"), kernel_report.incomplete_because = shard.text("because");
  kernel_report.kernel_seconds = summary.seconds("kernel_seconds"),
  kernel_report.oracle_seconds = summary.seconds("oracle_seconds");
  kernel_report.observations = top.texts("observations"), kernel_report.relaxed = top.texts("conventions");
  kernel_report.waived = top.texts("waive");
  read_checks(top, shard, kernel_report);
  read_coverage(top, shard, kernel_report);
  kernel_report.outside_limit = shard.magnitude("outside_limit");
  kernel_report.required_support = shard.texts("required_support");
  for (json const& item : shard.list("told")) {
    report_object const line(item, "'told'");
    kernel_report.case_observations.push_back({line.text("kind"), line.count("case"), line.text("sentence")});
  }
  for (json const& item : shard.list("not_asked")) {
    report_object const omitted(item, "'not_asked'");
    kernel_report.not_asked.push_back({omitted.text("what"), omitted.text("why")});
  }
  for (json const& item : shard.list("told_kinds")) {
    report_object const line(item, "'told_kinds'");
    kernel_report.observation_counts.emplace_back(line.text("kind"), line.count("count"));
  }
  for (json const& item : top.list("failing")) {
    report_object const failing(item, "'failing'");
    kernel_report.failing.push_back(
        {failing.text("check"), failing.text("case"), failing.count("number"), failing.texts("classes")});
    if (failing.at("inside").is_null()) continue;
    auto& inside = kernel_report.failing.back().inside.emplace();
    for (json const& holding : failing.list("inside")) {
      report_object const preset(holding, "'inside'");
      inside.push_back({preset.text("preset"), preset.magnitude("worst_in_bounds")});
    }
  }
  kernel_report.cause = cause_in(top);
  for (json const& item : top.list("unanswered")) {
    report_object const unanswered(item, "'unanswered'");
    kernel_report.unanswered.emplace_back(unanswered.count("number"), unanswered.text("case"));
  }
  auto const numbers = shard.counts("finding_cases");
  for (json const& item : top.list("findings"))
    kernel_report.findings.push_back(read_finding(report_object(item, "a finding")));
  require_length("finding_cases", numbers.size(), kernel_report.findings.size());
  for (std::size_t n = 0; n < numbers.size(); ++n) kernel_report.findings[n].number = numbers[n];
  if (!top.has("curves")) return kernel_report;
  auto const places = shard.counts("curve_cases");
  for (json const& item : top.list("curves")) {
    report_object const point(item, "'curves'");
    kernel_report.curves.push_back(
        {point.text("axis"), point.number("place"), point.magnitude("error_in_bounds"), point.boolean("failed"), 0});
  }
  require_length("curve_cases", places.size(), kernel_report.curves.size());
  for (std::size_t n = 0; n < places.size(); ++n) kernel_report.curves[n].number = places[n];
  return kernel_report;
}

}  // namespace attest::audit
