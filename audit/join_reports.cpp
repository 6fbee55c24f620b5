// attest merge: the reports of all shards of one audit as one report.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "audit/printable.hpp"
#include "audit/report.hpp"
#include "audit/strict_json.hpp"

namespace attest::audit {
namespace {

using json = nlohmann::ordered_json;
using problem::error;
using problem::error_code;

/// What is wrong with a file. Thrown by the readers below, caught by join_reports.
struct fault {
  std::string reason;
};

/// An object of a report, read key by key.
class object {
 public:
  object(json const& from, std::string name) : from_(from), name_(std::move(name)) {
    if (!from.is_object()) throw fault{fmt::format("{} is {}, expected an object", name_, kind_of(from))};
  }

  json const& at(char const* key) const {
    auto const found = from_.find(key);
    if (found == from_.end()) throw fault{fmt::format("there is no '{}' in {}", key, name_)};
    return *found;
  }
  bool has(char const* key) const { return from_.contains(key); }
  object inside(char const* key) const { return {at(key), fmt::format("'{}'", key)}; }
  json const& list(char const* key) const {
    json const& found = at(key);
    if (!found.is_array()) wrong(key, found, "an array");
    return found;
  }
  std::string text(char const* key) const {
    json const& found = at(key);
    if (!found.is_string()) wrong(key, found, "a string");
    return printable(found.get_ref<std::string const&>(), 8000);
  }
  std::vector<std::string> texts(char const* key) const {
    std::vector<std::string> made;
    for (json const& each : list(key)) {
      if (!each.is_string()) wrong(key, each, "strings");
      made.push_back(printable(each.get_ref<std::string const&>(), 8000));
    }
    return made;
  }
  bool truth(char const* key) const {
    json const& found = at(key);
    if (!found.is_boolean()) wrong(key, found, "true or false");
    return found.get<bool>();
  }
  std::int64_t count(char const* key) const { return counted(key, at(key)); }
  std::vector<std::int64_t> counts(char const* key) const {
    std::vector<std::int64_t> made;
    for (json const& each : list(key)) made.push_back(counted(key, each));
    return made;
  }
  std::optional<std::uint64_t> seed() const {
    json const& found = at("seed");
    if (found.is_null()) return std::nullopt;
    if (!found.is_number_unsigned()) wrong("seed", found, "a whole number that is not negative");
    return found.get<std::uint64_t>();
  }
  double seconds(char const* key) const { return timed(key, at(key)); }
  std::vector<double> all_seconds(char const* key) const {
    std::vector<double> made;
    for (json const& each : list(key)) made.push_back(timed(key, each));
    return made;
  }
  /// A hex float in a string, or "inf".
  double hex(char const* key) const {
    std::string const text = this->text(key);
    if (text == "inf") return std::numeric_limits<double>::infinity();
    double value = -1;
    if (text.starts_with("0x")) std::from_chars(text.data() + 2, text.data() + text.size(), value, std::chars_format::hex);
    if (!(value >= 0)) throw fault{fmt::format("'{}' in {} is '{}', expected a hex float that is not negative", key, name_, text)};
    return value;
  }

 private:
  [[noreturn]] void wrong(char const* key, json const& found, char const* expected) const {
    throw fault{fmt::format("'{}' in {} is {}, expected {}", key, name_, kind_of(found), expected)};
  }
  double timed(char const* key, json const& found) const {
    if (!found.is_number() || !(found.get<double>() >= 0)) wrong(key, found, "a number that is not negative");
    return found.get<double>();
  }
  std::int64_t counted(char const* key, json const& found) const {
    if (!found.is_number_integer()) wrong(key, found, "a whole number");
    double const value = found.get<double>();
    if (!(value >= 0 && value <= 0x1p40))  // so that no sum of as many as a file can hold overflows
      throw fault{fmt::format("'{}' in {} is {}, expected a number from 0 to 2^40", key, name_, found.dump())};
    return found.get<std::int64_t>();
  }

  json const& from_;
  std::string name_;
};

problem::sizes sizes_in(object const& from) {
  problem::sizes s;
  s.b = from.count("b"), s.hq = from.count("hq"), s.hk = from.count("hk"), s.n = from.count("n"), s.m = from.count("m");
  s.d = from.count("d"), s.dv = from.count("dv");
  return s;
}

/// One shard: its report as far as text and curves need it, and its findings as they were written.
struct shard_report {
  report what;
  std::vector<json> findings;
};

void require_length(char const* key, std::size_t found, std::size_t expected) {
  if (found != expected) throw fault{fmt::format("'{}' in 'shard' has {} entries, expected {}", key, found, expected)};
}

void read_checks(object const& from, object const& shard, report& into) {
  auto const first = shard.counts("first_cases");
  auto const seconds = shard.all_seconds("check_seconds");
  for (json const& each : from.list("checks")) {
    object const row(each, "a check");
    check_result made{.name = row.text("name"), .sum = {}, .conventions = {}};
    made.cases = row.count("cases"), made.failed = row.count("failed"), made.undecided = row.count("undecided");
    made.unsupported = row.count("unsupported");
    judgement& sum = made.sum;
    sum.failed = row.count("faults"), sum.suspicious = row.count("suspicious"), sum.undecided = row.count("undecided_elements");
    sum.not_judged = row.count("not_judged"), sum.by_theorem = row.count("judged_by_theorem");
    sum.by_dominance = row.count("judged_by_dominance"), sum.by_rule = row.count("judged_by_rule");
    sum.max_error_in_bounds = row.hex("max_error_in_bounds"), sum.max_ulp = row.hex("max_ulp");
    auto const relaxed = row.texts("conventions");
    made.conventions = {relaxed.begin(), relaxed.end()};
    into.checks.push_back(std::move(made));
    into.cases += into.checks.back().cases;
  }
  require_length("first_cases", first.size(), into.checks.size());
  require_length("check_seconds", seconds.size(), into.checks.size());
  for (std::size_t n = 0; n < first.size(); ++n) into.checks[n].first = first[n], into.checks[n].seconds = seconds[n];
}

shard_report read_shard(json const& from) {
  object const top(from, "the file");
  if (!top.has("shard")) throw fault{"is not the report of a shard: `attest audit --seed N --shard i/n --json FILE` writes one"};
  if (top.count("schema") != 1) throw fault{"has a schema that this attest does not know"};
  if (auto const written = top.text("attest"); written != version)
    throw fault{fmt::format("was written by attest {}, this is {}", written, version)};
  shard_report made;
  report& what = made.what;
  what.kernel = top.text("kernel"), what.contract = top.text("contract");
  what.seed = top.seed();
  object const shard = top.inside("shard"), summary = top.inside("summary");
  what.shard = {shard.count("index"), shard.count("of")};
  what.all_cases = shard.count("all_cases"), what.asked = shard.text("asked");
  what.complete = shard.truth("complete"), what.incomplete_because = shard.text("because");
  what.kernel_seconds = summary.seconds("kernel_seconds"), what.oracle_seconds = summary.seconds("oracle_seconds");
  what.observations = top.texts("observations"), what.relaxed = top.texts("conventions");
  what.waived_classes = top.texts("waived_classes");
  read_checks(top, shard, what);
  for (json const& each : shard.list("told")) {
    object const line(each, "'told'");
    what.told.push_back({line.text("kind"), line.count("case"), line.text("sentence")});
  }
  for (json const& each : shard.list("told_kinds")) {
    object const line(each, "'told_kinds'");
    what.told_kinds.emplace_back(line.text("kind"), line.count("count"));
  }
  auto const numbers = shard.counts("finding_cases");
  for (json const& each : top.list("findings")) {
    object const from_file(each, "a finding");
    violation v;
    v.bug_class = from_file.text("class"), v.sentence = from_file.text("sentence");
    what.findings.push_back({std::move(v), from_file.text("check"), from_file.text("case"), sizes_in(from_file.inside("sizes")),
                             from_file.text("reproducer"), from_file.truth("waived"), 0, {}});
    made.findings.push_back(each);
  }
  require_length("finding_cases", numbers.size(), what.findings.size());
  for (std::size_t n = 0; n < numbers.size(); ++n) what.findings[n].number = numbers[n];
  if (!top.has("curves")) return made;
  auto const places = shard.counts("curve_cases");
  for (json const& each : top.list("curves")) {
    object const point(each, "'curves'");
    what.curves.push_back({point.text("axis"), point.hex("place"), point.hex("error_in_bounds"), point.truth("failed"), 0});
  }
  require_length("curve_cases", places.size(), what.curves.size());
  for (std::size_t n = 0; n < places.size(); ++n) what.curves[n].number = places[n];
  return made;
}

/// What all shards of one audit share; the first difference is a fault of the later file.
void require_same_audit(report const& first, report const& other, std::string const& first_name) {
  auto const same = [&](char const* what, std::string const& a, std::string const& b) {
    if (a != b) throw fault{fmt::format("its {} is '{}', that of {} is '{}'", what, b, first_name, a)};
  };
  auto const seed = [](report const& of) { return of.seed ? std::to_string(*of.seed) : std::string("none"); };
  same("kernel", first.kernel, other.kernel);
  same("contract", first.contract, other.contract);
  same("seed", seed(first), seed(other));
  same("number of shards", std::to_string(first.shard->second), std::to_string(other.shard->second));
  same("list of options", first.asked, other.asked);
  if (first.all_cases != 0 && other.all_cases != 0)
    same("number of cases", std::to_string(first.all_cases), std::to_string(other.all_cases));
  same("list of conventions", fmt::format("{}", fmt::join(first.relaxed, ", ")), fmt::format("{}", fmt::join(other.relaxed, ", ")));
}

/// Sentences of the run itself: what is neither about a case nor counts those that are.
std::vector<std::string> of_the_run(report const& what) {
  std::vector<std::string> made = what.observations;
  auto const drop = [&](std::string const& sentence) {
    if (auto const at = std::ranges::find(made, sentence); at != made.end()) made.erase(at);
  };
  for (observation const& each : what.told) drop(each.sentence);
  for (auto const& [kind, count] : what.told_kinds) drop(collector::more_like_these(kind, count));
  return made;
}

/// Positions of `numbers` in rising order; equal ones stay as they were.
std::vector<std::size_t> in_order(std::vector<std::int64_t> const& numbers) {
  std::vector<std::pair<std::int64_t, std::size_t>> order;
  for (std::size_t n = 0; n < numbers.size(); ++n) order.emplace_back(numbers[n], n);
  std::ranges::sort(order);
  std::vector<std::size_t> made;
  for (auto const& each : order) made.push_back(each.second);
  return made;
}

joined_report join(std::vector<shard_report> const& shards) {
  joined_report made;
  report& all = made.what;
  report const& first = shards.front().what;
  all.kernel = first.kernel, all.contract = first.contract, all.seed = first.seed, all.relaxed = first.relaxed;
  std::set<std::string, std::less<>> const waived(first.waived_classes.begin(), first.waived_classes.end());
  collector collect(all, waived);
  bool complete = true;
  std::string because;
  std::vector<finding> findings;
  std::vector<observation> told;
  std::map<std::string, std::int64_t> kinds;
  std::vector<json> finding_texts;
  std::vector<std::int64_t> finding_cases, told_cases;
  for (auto const& [what, written] : shards) {
    all.cases += what.cases, all.kernel_seconds += what.kernel_seconds, all.oracle_seconds += what.oracle_seconds;
    if (!what.complete && complete) complete = false, because = what.incomplete_because;
    for (check_result const& row : what.checks) {
      collect.at(row.first);
      check_result& into = collect.check_named(row.name);
      into.first = std::min(into.first, row.first);
      into.cases += row.cases, into.failed += row.failed, into.undecided += row.undecided;
      into.unsupported += row.unsupported, into.seconds += row.seconds;
      into.sum.merge(judgement(row.sum));
      into.conventions.insert(row.conventions.begin(), row.conventions.end());
    }
    for (std::string const& each : of_the_run(what))
      if (std::ranges::find(all.observations, each) == all.observations.end()) all.observations.push_back(each);
    for (auto const& [kind, count] : what.told_kinds) kinds[kind] += count;
    for (observation const& each : what.told) told.push_back(each), told_cases.push_back(each.number);
    for (std::size_t n = 0; n < written.size(); ++n)
      findings.push_back(what.findings[n]), finding_texts.push_back(written[n]), finding_cases.push_back(what.findings[n].number);
    all.curves.insert(all.curves.end(), what.curves.begin(), what.curves.end());
  }
  std::ranges::sort(all.checks, {}, &check_result::first);
  std::ranges::sort(all.curves, {}, &curve_point::number);
  for (std::size_t const at : in_order(told_cases)) collect.at(told[at].number), collect.observe(told[at].kind, told[at].sentence);
  for (auto& [kind, count] : all.told_kinds) count = kinds[kind];
  for (std::size_t const at : in_order(finding_cases)) {
    finding each = findings[at];
    each.number = static_cast<std::int64_t>(at);  // where its text is, from here on
    collect.keep(std::move(each));
  }
  collect.finish(complete, because);
  json text = json::parse(as_json(all));
  text["findings"] = json::array();
  for (finding const& each : all.findings) text["findings"].push_back(finding_texts[static_cast<std::size_t>(each.number)]);
  made.json = text.dump(2, ' ', false, json::error_handler_t::replace) + '\n';
  return made;
}

constexpr json_limits report_limits{std::size_t{1} << 28, 16};

}  // namespace

problem::result<joined_report> join_reports(std::vector<report_file> const& files) {
  std::vector<shard_report> shards;
  std::map<std::int64_t, std::string> present;
  for (report_file const& each : files) {
    std::string const name = printable(each.name, 200);
    auto const parsed = parse_strict(each.text, report_limits);
    if (!parsed) return error{error_code::unreadable, name, parsed.why().reason};
    try {
      shard_report made = read_shard(parsed.value());
      auto const [index, of] = *made.what.shard;
      if (index < 1 || index > of) throw fault{fmt::format("is shard {}/{}, which there cannot be", index, of)};
      if (!shards.empty()) require_same_audit(shards.front().what, made.what, printable(files.front().name, 200));
      auto const [at, fresh] = present.emplace(index, name);
      if (!fresh) throw fault{fmt::format("is shard {}/{}, as {} is", index, of, at->second)};
      shards.push_back(std::move(made));
    } catch (fault const& wrong) {
      return error{error_code::bad_value, name, wrong.reason};
    }
  }
  if (shards.empty()) return error{error_code::missing, "", "there is no report to merge"};
  std::int64_t const of = shards.front().what.shard->second;
  for (std::int64_t index = 1; index <= of; ++index)
    if (!present.contains(index))
      return error{error_code::missing, "", fmt::format("shard {}/{} is missing; there are {} of {}", index, of, present.size(), of)};
  std::ranges::sort(shards, {}, [](shard_report const& s) { return s.what.shard->first; });
  return join(shards);
}

}  // namespace attest::audit
