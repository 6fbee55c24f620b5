#include "audit/report/file/join.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "audit/report/builder.hpp"
#include "audit/report/cause_words.hpp"
#include "audit/report/coverage/refused_check.hpp"
#include "audit/report/file/shard_file.hpp"
#include "audit/report/file/shard_rules.hpp"
#include "audit/report/name_classes.hpp"
#include "audit/support/printable.hpp"
#include "audit/support/sort_by.hpp"
#include "audit/support/strict_json.hpp"

namespace attest::audit {
namespace {

using problem::error;
using problem::error_code;

/// Adds the elements of `more` that `to` does not have.
template <class T>
void add_new(std::vector<T>& to, std::vector<T> const& more) {
  for (T const& item : more)
    if (std::ranges::find(to, item) == to.end()) to.push_back(item);
}

/// Joins the rows of `all.not_asked` about one check into one, in the order of the checks. A row of a shard says that
/// its cases of a check were refused, and for which features. A check was not asked if no case of any shard was
/// answered.
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
  all.relaxed = first.relaxed, all.domain = first.domain;
  all.outside_limit = first.outside_limit, all.required_support = first.required_support;
  all.contracts = first.contracts;
  all.contract_revision = first.contract_revision, all.theorem_revision = first.theorem_revision;
  std::set<std::string, std::less<>> const waived(first.waived.begin(), first.waived.end());
  report_builder collect(all, waived);
  bool complete = true;
  std::string because;
  std::vector<finding> findings;
  std::vector<observation> of_cases;
  std::map<std::string, std::int64_t> kinds;
  for (report const& shard : shards) {
    all.cases += shard.cases, all.kernel_seconds += shard.kernel_seconds, all.oracle_seconds += shard.oracle_seconds;
    all.covered.merge(shard.covered), all.draws += shard.draws;
    all.draw_products = std::max(all.draw_products, shard.draw_products);
    complete = complete && shard.complete();
    if (because.empty()) because = shard.incomplete_because;
    if (all.refusal.empty()) all.refusal = shard.refusal;
    for (check_result const& row : shard.checks) {
      collect.set_case(row.first_case);
      check_result& into = collect.row_of_check(row.name);
      into.first_case = std::min(into.first_case, row.first_case);
      into.cases += row.cases, into.failed += row.failed, into.undecided += row.undecided;
      into.unsupported += row.unsupported, into.seconds += row.seconds;
      into.sum.merge(judgement(row.sum));
      into.conventions.insert(row.conventions.begin(), row.conventions.end());
    }
    add_new(all.not_asked, shard.not_asked);
    add_new(all.protections, shard.protections);
    add_new(all.missing_protections, shard.missing_protections);
    add_new(all.kernel_builds, shard.kernel_builds);
    for (auto const& [kind, count] : shard.observation_counts) kinds[kind] += count;
    for (observation const& told : shard.observations)
      if (told.number > 0) of_cases.push_back(told);
      else if (std::ranges::find(all.observations, told.sentence, &observation::sentence) == all.observations.end())
        all.observations.push_back(told);
    findings.insert(findings.end(), shard.findings.begin(), shard.findings.end());
    all.curves.insert(all.curves.end(), shard.curves.begin(), shard.curves.end());
    all.failing.insert(all.failing.end(), shard.failing.begin(), shard.failing.end());
    all.plain_wrong.insert(shard.plain_wrong.begin(), shard.plain_wrong.end());
    all.unanswered.insert(all.unanswered.end(), shard.unanswered.begin(), shard.unanswered.end());
  }
  std::ranges::sort(all.checks, {}, &check_result::first_case);
  join_refused_checks(all);
  std::ranges::sort(all.curves, {}, &curve_point::number);
  std::ranges::sort(all.failing, {}, &failing_case::number);
  if (all.failing.size() > report::kept_failing) all.failing.resize(report::kept_failing);
  std::ranges::sort(all.unanswered);
  sort_by(of_cases, &observation::number);
  for (observation& told : of_cases) {
    collect.set_case(told.number);
    collect.add_observation(told.kind, std::move(told.sentence));
  }
  for (auto& [kind, count] : all.observation_counts) count = kinds[kind];
  sort_by(findings, &finding::number);
  for (finding& found : findings) {
    found.what.bug_class = found.judged.is, found.what.basis = found.judged.basis;  // a shard knows a part of the cause
    collect.add_finding(std::move(found));
  }
  collect.finish(complete, because);
  all.cause = joined_cause(shards);
  put_unexplained_first(all);
  name_classes(all);
  return all;
}

constexpr json_limits report_limits{std::size_t{1} << 28, 16};

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
      std::vector<report> reports = read_shard(parsed.value());
      auto const [index, of] = *reports.front().shard;
      std::ranges::for_each(reports, require_whole_share);
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
