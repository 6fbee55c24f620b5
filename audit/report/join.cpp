// attest merge: the reports of all shards of one audit as one report a kernel.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "audit/report/json_finding.hpp"
#include "audit/report/text.hpp"
#include "audit/support/printable.hpp"

namespace attest::audit {
namespace {

using json = nlohmann::ordered_json;
using object = report_object;
using fault = report_fault;
using problem::error;
using problem::error_code;

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
    sum.failed = row.count("faults"), sum.suspicious = row.count("suspicious"),
    sum.undecided = row.count("undecided_elements");
    sum.not_judged = row.count("not_judged"), sum.by_theorem = row.count("judged_by_theorem");
    sum.by_dominance = row.count("judged_by_dominance"), sum.by_rule = row.count("judged_by_rule");
    sum.max_error_in_bounds = row.size("max_error_in_bounds"), sum.max_ulp = row.size("max_ulp");
    sum.max_error = row.size("max_error");
    auto const relaxed = row.texts("conventions");
    made.conventions = {relaxed.begin(), relaxed.end()};
    into.checks.push_back(std::move(made));
    into.cases += into.checks.back().cases;
  }
  require_length("first_cases", first.size(), into.checks.size());
  require_length("check_seconds", seconds.size(), into.checks.size());
  for (std::size_t n = 0; n < first.size(); ++n) into.checks[n].first = first[n], into.checks[n].seconds = seconds[n];
}

/// The report of one shard, as it was before it was written.
report read_shard(json const& from) {
  object const top(from, "the file");
  if (!top.has("shard"))
    throw fault{"is not the report of a shard: `attest audit --seed N --shard i/n --json FILE` writes one"};
  if (top.count("schema") != 1) throw fault{"has a schema that this attest does not know"};
  if (auto const written = top.text("attest"); written != version)
    throw fault{fmt::format("was written by attest {}, this is {}", written, version)};
  report what;
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
  for (json const& each : top.list("findings")) what.findings.push_back(read_finding(object(each, "a finding")));
  require_length("finding_cases", numbers.size(), what.findings.size());
  for (std::size_t n = 0; n < numbers.size(); ++n) what.findings[n].number = numbers[n];
  if (!top.has("curves")) return what;
  auto const places = shard.counts("curve_cases");
  for (json const& each : top.list("curves")) {
    object const point(each, "'curves'");
    what.curves.push_back(
        {point.text("axis"), point.number("place"), point.size("error_in_bounds"), point.truth("failed"), 0});
  }
  require_length("curve_cases", places.size(), what.curves.size());
  for (std::size_t n = 0; n < places.size(); ++n) what.curves[n].number = places[n];
  return what;
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
  same("list of conventions", fmt::format("{}", fmt::join(first.relaxed, ", ")),
       fmt::format("{}", fmt::join(other.relaxed, ", ")));
}

/// Sentences of the run itself: what is neither about a case nor counts those that are.
std::vector<std::string> of_the_run(report const& what) {
  std::vector<std::string> made = what.observations;
  auto const drop = [&](std::string const& sentence) {
    if (auto const at = std::ranges::find(made, sentence); at != made.end()) made.erase(at);
  };
  for (observation const& each : what.told) drop(each.sentence);
  for (auto const& [kind, count] : what.told_kinds) drop(report_builder::more_like_these(kind, count));
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

report join(std::vector<report> const& shards) {
  report all;
  report const& first = shards.front();
  all.kernel = first.kernel, all.contract = first.contract, all.seed = first.seed, all.relaxed = first.relaxed;
  std::set<std::string, std::less<>> const waived(first.waived_classes.begin(), first.waived_classes.end());
  report_builder collect(all, waived);
  bool complete = true;
  std::string because;
  std::vector<finding> findings;
  std::vector<observation> told;
  std::map<std::string, std::int64_t> kinds;
  std::vector<std::int64_t> finding_cases, told_cases;
  for (report const& what : shards) {
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
    for (finding const& each : what.findings) findings.push_back(each), finding_cases.push_back(each.number);
    all.curves.insert(all.curves.end(), what.curves.begin(), what.curves.end());
  }
  std::ranges::sort(all.checks, {}, &check_result::first);
  std::ranges::sort(all.curves, {}, &curve_point::number);
  for (std::size_t const at : in_order(told_cases))
    collect.at(told[at].number), collect.observe(told[at].kind, told[at].sentence);
  for (auto& [kind, count] : all.told_kinds) count = kinds[kind];
  for (std::size_t const at : in_order(finding_cases)) collect.keep(std::move(findings[at]));
  collect.finish(complete, because);
  return all;
}

constexpr json_limits report_limits{std::size_t{1} << 28, 16};

/// The reports of one file: of several kernels where it has 'reports'.
std::vector<report> read_shards(json const& from) {
  std::vector<report> made;
  object const top(from, "the file");
  if (!top.has("reports")) made.push_back(read_shard(from));
  else
    for (json const& each : top.list("reports")) made.push_back(read_shard(each));
  if (made.empty()) throw fault{"'reports' in the file is empty"};
  for (report const& each : made)
    if (each.shard != made.front().shard) throw fault{"its kernels were not asked the same shard"};
  return made;
}

void require_same_audits(std::vector<report> const& first, std::vector<report> const& other,
                         std::string const& first_name) {
  if (first.size() != other.size())
    throw fault{fmt::format("it is about {} kernels, {} about {}", other.size(), first_name, first.size())};
  for (std::size_t n = 0; n < first.size(); ++n) require_same_audit(first[n], other[n], first_name);
}

}  // namespace

problem::result<std::vector<report>> join_reports(std::vector<report_file> const& files) {
  std::map<std::int64_t, std::vector<report>> shards;  // by index
  std::map<std::int64_t, std::string> names;
  std::vector<report> first;
  for (report_file const& each : files) {
    std::string const name = printable(each.name, 200);
    auto const parsed = parse_strict(each.text, report_limits);
    if (!parsed) return error{error_code::unreadable, name, parsed.why().reason};
    try {
      std::vector<report> made = read_shards(parsed.value());
      auto const [index, of] = *made.front().shard;
      if (index < 1 || index > of) throw fault{fmt::format("is shard {}/{}, which there cannot be", index, of)};
      if (first.empty()) first = made;
      require_same_audits(first, made, printable(files.front().name, 200));
      auto const [at, fresh] = names.emplace(index, name);
      if (!fresh) throw fault{fmt::format("is shard {}/{}, as {} is", index, of, at->second)};
      shards.emplace(index, std::move(made));
    } catch (fault const& wrong) { return error{error_code::bad_value, name, wrong.reason}; }
  }
  if (shards.empty()) return error{error_code::missing, "", "there is no report to merge"};
  std::int64_t const of = first.front().shard->second;
  for (std::int64_t index = 1; index <= of; ++index)
    if (!shards.contains(index))
      return error{error_code::missing, "",
                   fmt::format("shard {}/{} is missing; there are {} of {}", index, of, shards.size(), of)};
  std::vector<report> joined;
  for (std::size_t kernel = 0; kernel < first.size(); ++kernel) {
    std::vector<report> parts;
    for (auto& [index, made] : shards) parts.push_back(std::move(made[kernel]));
    joined.push_back(join(parts));
  }
  return joined;
}

}  // namespace attest::audit
