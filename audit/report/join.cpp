#include "audit/report/join.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "audit/contract/contract_file.hpp"
#include "audit/report/builder.hpp"
#include "audit/report/cause_words.hpp"
#include "audit/report/consistency.hpp"
#include "audit/report/json_difference.hpp"
#include "audit/report/json_read.hpp"
#include "audit/report/json_write.hpp"
#include "audit/report/refused_check.hpp"
#include "audit/report/text.hpp"
#include "audit/support/printable.hpp"

namespace attest::audit {
namespace {

using json = nlohmann::ordered_json;
using problem::error;
using problem::error_code;

/// Throws where two contracts differ in a number or a convention. What their sentences say does not matter.
void require_same_contract(contract first, contract other, std::string const& first_name) {
  first.sentence = other.sentence = "";
  if (auto const wrong = difference(json::parse(contract_text(other)), json::parse(contract_text(first))))
    throw report_fault{fmt::format("its contract '{}' has {} for '{}', that of {} has {}", other.name, wrong->given,
                                   wrong->at, first_name, wrong->expected)};
}

/// Throws where two builds of a kernel differ, or where one is not known.
void require_same_build(report const& first, report const& other, std::string const& first_name) {
  kernel_build const &a = first.kernel_builds.front(), &b = other.kernel_builds.front();
  if (a == b && a.is_known()) return;
  throw report_fault{fmt::format("its kernel is {}, that of {} is {}; --same-kernel takes them for one kernel",
                                 b.words(), first_name, a.words())};
}

/// Throws the first difference in what all shards of one audit must share.
void require_same_audit(report const& first, report const& other, std::string const& first_name, bool same_kernel) {
  auto const same = [&](char const* field, std::string const& a, std::string const& b) {
    if (a != b) throw report_fault{fmt::format("its {} is '{}', that of {} is '{}'", field, b, first_name, a)};
  };
  // Bounds of different theorems do not add up to one verdict.
  same("revision of the theorem", std::to_string(first.theorem_revision), std::to_string(other.theorem_revision));
  auto const seed = [](report const& of) { return of.seed ? std::to_string(*of.seed) : std::string("none"); };
  same("kernel", first.kernel, other.kernel);
  same("contract", first.contract, other.contract);
  auto const revision = [](std::optional<int> of) { return of ? std::to_string(*of) : std::string("none"); };
  same("revision of the contract", revision(first.contract_revision), revision(other.contract_revision));
  require_same_contract(first.contracts.front(), other.contracts.front(), first_name);
  if (!same_kernel) require_same_build(first, other, first_name);
  same("seed", seed(first), seed(other));
  auto const replayed = [](report const& of) { return of.replayed.empty() ? std::string("none") : of.replayed; };
  same("'replayed', the SHA-256 of the file of --replay,", replayed(first), replayed(other));
  same("number of shards", std::to_string(first.shard->second), std::to_string(other.shard->second));
  same("list of options", first.options, other.options);
  same("limit of --outside", fmt::format("{}", first.outside_limit), fmt::format("{}", other.outside_limit));
  if (first.all_cases != 0 && other.all_cases != 0)
    same("number of cases", std::to_string(first.all_cases), std::to_string(other.all_cases));
  if (first.all_draws && other.all_draws)
    same("number of draws", std::to_string(*first.all_draws), std::to_string(*other.all_draws));
  auto const same_list = [&](char const* field, std::vector<std::string> const& a, std::vector<std::string> const& b) {
    same(field, fmt::format("{}", fmt::join(a, ", ")), fmt::format("{}", fmt::join(b, ", ")));
  };
  same_list("list of conventions", first.relaxed, other.relaxed);
  same_list("list of waived checks", first.waived, other.waived);
  same_list("list of required features", first.required_support, other.required_support);
}

/// The error where two shards tell of one case, or have more cases together than there are. `names` are their files.
std::optional<error> not_apart(std::vector<report> const& shards, std::vector<std::string> const& names) {
  std::map<std::int64_t, std::size_t> teller;
  std::int64_t cases = 0;
  for (std::size_t n = 0; n < shards.size(); ++n) {
    std::vector<std::int64_t> numbers;
    for (failing_case const& failing : shards[n].failing) numbers.push_back(failing.number);
    for (auto const& unanswered : shards[n].unanswered) numbers.push_back(unanswered.first);
    for (curve_point const& point : shards[n].curves) numbers.push_back(point.number);
    for (std::int64_t const number : numbers)
      if (auto const [at, fresh] = teller.emplace(number, n); !fresh && at->second != n)
        return error{error_code::bad_value, names[n],
                     fmt::format("tells of case {}, as {} does", number, names[at->second])};
    cases += shards[n].cases;
    if (shards[n].all_cases != 0 && cases > shards[n].all_cases)
      return error{error_code::bad_value, names[n],
                   fmt::format("its checks and those of the shards before it have {} cases, 'all_cases' is {}", cases,
                               shards[n].all_cases)};
  }
  return std::nullopt;
}

/// The observations that are about the run itself, rather than about a case or the count of such.
std::vector<std::string> of_the_run(report const& kernel_report) {
  std::vector<std::string> observations = kernel_report.observations;
  auto const drop = [&](std::string const& sentence) {
    if (auto const at = std::ranges::find(observations, sentence); at != observations.end()) observations.erase(at);
  };
  for (case_observation const& observation : kernel_report.case_observations) drop(observation.sentence);
  for (auto const& [kind, count] : kernel_report.observation_counts)
    drop(report_builder::unlisted_observations(kind, count));
  return observations;
}

/// The indices of `numbers` by rising value; equal values keep their order.
std::vector<std::size_t> in_order(std::vector<std::int64_t> const& numbers) {
  std::vector<std::pair<std::int64_t, std::size_t>> order;
  for (std::size_t n = 0; n < numbers.size(); ++n) order.emplace_back(numbers[n], n);
  std::ranges::sort(order);
  std::vector<std::size_t> indices;
  for (auto const& entry : order) indices.push_back(entry.second);
  return indices;
}

/// Adds those of `more` that `to` does not have.
template <class T>
void add_new(std::vector<T>& to, std::vector<T> const& more) {
  for (T const& item : more)
    if (std::ranges::find(to, item) == to.end()) to.push_back(item);
}

/// Makes one row of the rows of `all.not_asked` about a check, in the order of the checks: a shard says that its cases
/// of a check were refused, and for which features; the check was not asked where no case of any shard was answered.
void join_refused_checks(report& all) {
  auto const of_a_check = [&](omission const& row) {
    return std::ranges::any_of(all.checks,
                               [&](check_result const& check) { return row.what == refused_check(check.name); });
  };
  std::vector<omission> joined;
  for (check_result const& check : all.checks) {
    if (check.unsupported < check.cases) continue;
    feature_set unsupported;
    bool stated = false;
    for (omission const& row : all.not_asked)
      if (row.what == refused_check(check.name)) stated = true, unsupported = unsupported | refused_in(row.why);
    if (stated) joined.push_back({refused_check(check.name), words_of_refusal(unsupported)});
  }
  auto const first = std::ranges::find_if(all.not_asked, of_a_check) - all.not_asked.begin();
  std::erase_if(all.not_asked, of_a_check);
  all.not_asked.insert(all.not_asked.begin() + first, joined.begin(), joined.end());
}

report join(std::vector<report> const& shards) {
  report all;
  report const& first = shards.front();
  all.kernel = first.kernel, all.contract = first.contract, all.seed = first.seed, all.replayed = first.replayed,
  all.relaxed = first.relaxed;
  all.outside_limit = first.outside_limit, all.required_support = first.required_support;
  all.contracts = first.contracts;
  all.contract_revision = first.contract_revision, all.theorem_revision = first.theorem_revision;
  std::set<std::string, std::less<>> const waived(first.waived.begin(), first.waived.end());
  report_builder collect(all, waived);
  bool complete = true;
  std::string because;
  std::vector<finding> findings;
  std::vector<case_observation> observations;
  std::map<std::string, std::int64_t> kinds;
  std::vector<std::int64_t> finding_cases, observation_cases;
  for (report const& shard : shards) {
    all.cases += shard.cases, all.kernel_seconds += shard.kernel_seconds, all.oracle_seconds += shard.oracle_seconds;
    all.covered.merge(shard.covered), all.draws += shard.draws;
    all.draw_products = std::max(all.draw_products, shard.draw_products);
    complete = complete && shard.complete;
    if (!shard.complete && because.empty()) because = shard.incomplete_because;
    for (check_result const& row : shard.checks) {
      collect.set_case(row.first_case);
      check_result& into = collect.row_of_check(row.name);
      into.first_case = std::min(into.first_case, row.first_case);
      into.cases += row.cases, into.failed += row.failed, into.undecided += row.undecided;
      into.unsupported += row.unsupported, into.seconds += row.seconds;
      into.sum.merge(judgement(row.sum));
      into.conventions.insert(row.conventions.begin(), row.conventions.end());
    }
    add_new(all.observations, of_the_run(shard));
    add_new(all.not_asked, shard.not_asked);
    add_new(all.protections, shard.protections);
    add_new(all.missing_protections, shard.missing_protections);
    add_new(all.kernel_builds, shard.kernel_builds);
    for (auto const& [kind, count] : shard.observation_counts) kinds[kind] += count;
    for (case_observation const& observation : shard.case_observations)
      observations.push_back(observation), observation_cases.push_back(observation.number);
    for (finding const& found : shard.findings) findings.push_back(found), finding_cases.push_back(found.number);
    all.curves.insert(all.curves.end(), shard.curves.begin(), shard.curves.end());
    all.failing.insert(all.failing.end(), shard.failing.begin(), shard.failing.end());
    all.unanswered.insert(all.unanswered.end(), shard.unanswered.begin(), shard.unanswered.end());
  }
  std::ranges::sort(all.checks, {}, &check_result::first_case);
  join_refused_checks(all);
  std::ranges::sort(all.curves, {}, &curve_point::number);
  std::ranges::sort(all.failing, {}, &failing_case::number);
  if (all.failing.size() > report::kept_failing) all.failing.resize(report::kept_failing);
  std::ranges::sort(all.unanswered);
  for (std::size_t const at : in_order(observation_cases)) {
    collect.set_case(observations[at].number);
    collect.add_observation(observations[at].kind, observations[at].sentence);
  }
  for (auto& [kind, count] : all.observation_counts) count = kinds[kind];
  for (std::size_t const at : in_order(finding_cases)) collect.add_finding(std::move(findings[at]));
  collect.finish(complete, because);
  all.cause = joined_cause(shards);
  put_unexplained_first(all);
  return all;
}

constexpr json_limits report_limits{std::size_t{1} << 28, 16};

/// The report of a shard whose lists, counts and verdict agree, and that says nothing else than these.
report read_consistent(json const& from) {
  report part = read_shard(from);
  require_consistent(part);
  if (auto const wrong = difference(from, json::parse(as_json(part))))
    throw report_fault{fmt::format("contradicts itself: '{}' is {}, the rest of the file says {}", wrong->at,
                                   wrong->given, wrong->expected)};
  return part;
}

/// The reports of one file: several of them, one for each kernel, where it has the key 'reports'.
std::vector<report> read_shards(json const& from) {
  std::vector<report> reports;
  report_object const top(from, "the file");
  if (!top.has("reports")) reports.push_back(read_consistent(from));
  else
    for (json const& item : top.list("reports")) reports.push_back(read_consistent(item));
  if (reports.empty()) throw report_fault{"'reports' in the file is empty"};
  if (std::string const stated = top.text("verdict"); stated != name_of(worst(reports)))
    throw report_fault{fmt::format("contradicts itself: 'verdict' is '{}', the worst of its reports is '{}'", stated,
                                   name_of(worst(reports)))};
  for (report const& kernel_report : reports)
    if (kernel_report.shard != reports.front().shard) throw report_fault{"its kernels were not asked the same shard"};
  return reports;
}

void require_same_audits(std::vector<report> const& first, std::vector<report> const& other,
                         std::string const& first_name, bool same_kernel) {
  if (first.size() != other.size())
    throw report_fault{fmt::format("it is about {} kernels, {} about {}", other.size(), first_name, first.size())};
  for (std::size_t n = 0; n < first.size(); ++n) require_same_audit(first[n], other[n], first_name, same_kernel);
}

}  // namespace

problem::result<std::vector<report>> join_reports(std::vector<report_file> const& files, bool same_kernel) {
  std::map<std::int64_t, std::vector<report>> shards;  // by index, one report for each kernel
  std::map<std::int64_t, std::string> names;
  std::vector<report> first;
  for (report_file const& file : files) {
    std::string const name = printable(file.name, 200);
    auto const parsed = parse_strict(file.text, report_limits);
    if (!parsed) return error{error_code::unreadable, name, parsed.why().reason};
    try {
      std::vector<report> reports = read_shards(parsed.value());
      auto const [index, of] = *reports.front().shard;
      if (index < 1 || index > of) throw report_fault{fmt::format("is shard {}/{}, which there cannot be", index, of)};
      if (first.empty()) first = reports;
      require_same_audits(first, reports, printable(files.front().name, 200), same_kernel);
      auto const [at, fresh] = names.emplace(index, name);
      if (!fresh) throw report_fault{fmt::format("is shard {}/{}, as {} is", index, of, at->second)};
      shards.emplace(index, std::move(reports));
    } catch (report_fault const& wrong) { return error{error_code::bad_value, name, wrong.reason}; }
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
    std::vector<std::string> files_of;
    for (auto& [index, reports] : shards) parts.push_back(std::move(reports[kernel])), files_of.push_back(names[index]);
    if (auto why = not_apart(parts, files_of)) return *std::move(why);
    joined.push_back(join(parts));
  }
  return joined;
}

}  // namespace attest::audit
