#include "audit/report/consistency.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "audit/contract/preset_family.hpp"
#include "audit/report/builder.hpp"
#include "audit/report/json_object.hpp"
#include "audit/report/text.hpp"

namespace attest::audit {
namespace {

template <class... A>
void require(bool holds, fmt::format_string<A...> form, A&&... a) {
  if (!holds) throw report_fault{"contradicts itself: " + fmt::format(form, std::forward<A>(a)...)};
}

/// The largest quotient error/bound of an element within its bound: an upper bound of the error, divided and rounded.
constexpr double most_within = 1 + 0x1p-50;

void require_sharpness(check_result const& row) {
  std::int64_t by_bound = 0;
  for (std::size_t output = 0; output < output_names.size(); ++output)
    for (sharpness const& of : row.sum.sharpness[output]) {
      auto const ratios = std::accumulate(of.ratios.begin(), of.ratios.end(), std::int64_t{0});
      require(of.dull <= of.judged && ratios == of.judged,
              "in 'check_sharpness' of check '{}', {} elements of {} are judged, {} dull, and their ratios are {}",
              row.name, of.judged, output_names[output], of.dull, ratios);
      require(of.judged == 0 || row.sum.returned[output] > 0,
              "'check_sharpness' of check '{}' has elements of {}, which 'returned' says no call returned", row.name,
              output_names[output]);
      by_bound += of.judged;
    }
  require(by_bound == row.sum.judged_by_bound(),
          "'check_sharpness' of check '{}' has {} elements, 'judged_by_theorem' and 'judged_by_dominance' are {}",
          row.name, by_bound, row.sum.judged_by_bound());
}

void require_systematic(check_result const& row) {
  for (std::size_t output = 0; output < output_names.size(); ++output) {
    std::int64_t elements = 0, judged = 0;
    for (sharpness const& of : row.sum.sharpness[output]) judged += of.judged;
    for (systematic_error const& of : row.sum.systematic[output]) {
      elements += of.elements;
      mean_sums const& calls = of.calls;
      bool fits = calls.count <= of.rows && of.rows <= of.elements;
      for (std::size_t sign = 0; sign < error_signs; ++sign)
        fits = fits && calls.squares[sign] >= 0 && calls.squares[sign] <= calls.count * row_errors::most_square &&
               std::abs(calls.means[sign]) <= calls.count * row_errors::most_mean;
      require(fits, "'check_systematic_errors' of check '{}' has sums of {} that {} calls of {} rows cannot have", row.name,
              output_names[output], calls.count, of.rows);
    }
    require(elements <= judged, "'check_systematic_errors' of check '{}' has {} elements of {}, of {} judged", row.name,
            elements, output_names[output], judged);
  }
}

void require_shares(check_result const& row) {
  std::int64_t judged = 0, outside = 0, left_out = 0;
  for (outside_share const& of : row.sum.shares) judged += of.judged, outside += of.outside;
  for (std::size_t why = 0; why < row.sum.left_out.size(); ++why)
    if (is_outside(static_cast<not_judged_because>(why))) left_out += row.sum.left_out[why];
  require(judged <= row.sum.judged() && outside <= left_out,
          "'outside' of check '{}' has {} elements judged of {}, and {} outside of {}", row.name, judged,
          row.sum.judged(), outside, left_out);
}

void require_check(check_result const& row) {
  judgement const& sum = row.sum;
  require(row.cases > 0, "check '{}' has no 'cases'", row.name);
  for (auto const& [field, count] :
       {std::pair{"failed", row.failed}, {"undecided", row.undecided}, {"unsupported", row.unsupported}})
    require(count <= row.cases, "'{}' of check '{}' is {}, of {} 'cases'", field, row.name, count, row.cases);
  require(row.failed <= sum.failed && (row.failed > 0) == (sum.failed > 0),
          "'failed' of check '{}' is {}, its 'faults' are {}", row.name, row.failed, sum.failed);
  require(row.undecided <= sum.undecided && (row.undecided > 0) == (sum.undecided > 0),
          "'undecided' of check '{}' is {}, its 'undecided_elements' are {}", row.name, row.undecided, sum.undecided);
  require_sharpness(row);
  require_systematic(row);
  require_shares(row);
  for (auto const& [field, count] : {std::pair{"suspicious", sum.suspicious}, {"undecided_elements", sum.undecided}})
    require(count <= sum.judged_by_bound(), "'{}' of check '{}' is {}, of {} elements judged by a bound", field,
            row.name, count, sum.judged_by_bound());
  require(sum.failed > 0 || (sum.max_error_in_bounds <= most_within && std::isfinite(sum.max_error)),
          "check '{}' has no 'faults', and its 'max_error_in_bounds' is {:g}, its 'max_error' {:g}", row.name,
          sum.max_error_in_bounds, sum.max_error);
  require(sum.judged_by_bound() > 0 || (sum.max_error_in_bounds == 0 && sum.max_error == 0),
          "no element of check '{}' is judged by a bound, and its 'max_error_in_bounds' is {:g}", row.name,
          sum.max_error_in_bounds);
  for (preset_comparison const& beside : sum.beside)
    require(beside.outside <= beside.compared, "'sharper_presets' of check '{}' has {} elements 'outside', of {}",
            row.name, beside.outside, beside.compared);
}

/// Is the case of this number one of all that were planned?
bool exists(report const& part, std::int64_t number) {
  return number >= 1 && (part.all_cases == 0 || number <= part.all_cases);
}

void require_checks(report const& part) {
  std::set<std::string_view> names;
  for (check_result const& row : part.checks) {
    require(names.insert(row.name).second, "check '{}' is there twice", row.name);
    require(exists(part, row.first_case), "'first_cases' has {} for check '{}', of {} cases", row.first_case, row.name,
            part.all_cases);
    require_check(row);
  }
  require(part.all_cases == 0 || part.cases <= part.all_cases, "its checks have {} cases, 'all_cases' is {}",
          part.cases, part.all_cases);
}

/// A shard of a version that hashes the file of --replay has the hash. ('all_draws' came with it.)
void require_replayed(report const& part) {
  bool const replays = part.options.find(" --replay ") != std::string::npos;
  require(!replays || !part.all_draws || !part.replayed.empty(), "'asked' has --replay, and there is no 'replayed'");
}

/// A shard that is complete asked exactly its part of the cases, and of the draws too unless it says which it left out.
void require_whole_share(report const& part) {
  if (!part.complete || !part.shard || !part.all_draws) return;
  auto const [index, of] = *part.shard;
  if (index < 1 || index > of) return;  // `merge` refuses it
  require(*part.all_draws <= part.all_cases, "'all_draws' is {}, 'all_cases' is {}", *part.all_draws, part.all_cases);
  auto const share = [&](std::int64_t all) { return (all + of - index) / of; };
  std::int64_t const draws = share(*part.all_draws), fixed = share(part.all_cases - *part.all_draws);
  bool const says_so =
      std::ranges::any_of(part.not_asked, [](omission const& omitted) { return omitted.what.starts_with("draws "); });
  require(part.draws == draws || (part.draws < draws && says_so),
          "'complete' is true, and it has {} draws; shard {}/{} of the {} of 'all_draws' has {}", part.draws, index, of,
          *part.all_draws, draws);
  require(part.cases - part.draws == fixed,
          "'complete' is true, and its checks have {} cases beside {} draws; shard {}/{} of the {} of 'all_cases' "
          "has {}",
          part.cases - part.draws, part.draws, index, of, part.all_cases, fixed + draws);
}

/// What `failing` says of one check.
struct failing_check {
  std::int64_t cases = 0;
  std::set<std::string_view> classes;
};

/// Does `failing` hold every case that failed? It has an end.
bool lists_all(report const& part) { return part.failing.size() < report::kept_failing; }

void require_failing(report const& part) {
  std::map<std::string_view, failing_check> of_check;
  std::set<std::int64_t> numbers;
  for (failing_case const& failing : part.failing) {
    require(exists(part, failing.number) && numbers.insert(failing.number).second,
            "'failing' has case {} ({}/{}) twice, or there is no such case", failing.number, failing.check,
            failing.name);
    require(!failing.classes.empty(), "'failing' has no class for {}/{}", failing.check, failing.name);
    failing_check& listed = of_check[failing.check];
    ++listed.cases, listed.classes.insert(failing.classes.begin(), failing.classes.end());
  }
  std::set<std::pair<std::string_view, std::string_view>> found;
  for (finding const& one : part.findings) found.emplace(one.check, one.class_token());
  for (check_result const& row : part.checks) {
    failing_check const& listed = of_check[row.name];
    require(lists_all(part) ? listed.cases == row.failed : listed.cases <= row.failed,
            "'failing' has {} cases of check '{}', 'failed' is {}", listed.cases, row.name, row.failed);
    for (std::string_view const token : listed.classes)
      require(found.contains({row.name, token}),
              "'failing' has cases of check '{}' and class '{}', 'findings' has none", row.name, token);
    of_check.erase(row.name);
  }
  require(of_check.empty(), "'failing' is about check '{}', 'checks' is not",
          of_check.empty() ? "" : of_check.begin()->first);
}

void require_findings(report const& part) {
  std::map<std::int64_t, failing_case const*> failed;
  for (failing_case const& failing : part.failing) failed.emplace(failing.number, &failing);
  std::set<std::tuple<std::int64_t, std::string_view, std::string_view>> seen;
  for (finding const& found : part.findings) {
    auto const token = found.class_token();
    require(exists(part, found.number) && seen.emplace(found.number, found.what.output, token).second,
            "'findings' has '{}' of case {} ({}/{}) twice, or there is no such case", token, found.number, found.check,
            found.case_name);
    auto const names = [&](std::string const& name) { return std::ranges::find(part.waived, name) != part.waived.end(); };
    require(found.waived == (names(found.check) || names(found.check + "/" + found.case_name)),
            "'waived' of a finding of {}/{} is not what 'waive' says", found.check, found.case_name);
    auto const at = failed.find(found.number);
    require(at != failed.end() || !lists_all(part), "case {} ({}/{}) has a finding and is not in 'failing'",
            found.number, found.check, found.case_name);
    if (at == failed.end()) continue;
    failing_case const& failing = *at->second;
    require(failing.check == found.check && failing.name == found.case_name &&
                std::ranges::find(failing.classes, token) != failing.classes.end(),
            "a finding of class '{}' is of {}/{}, case {}; 'failing' has that number for {}/{} ({})", token,
            found.check, found.case_name, found.number, failing.check, failing.name, fmt::join(failing.classes, ", "));
  }
}

void require_answers(report const& part) {
  std::set<std::int64_t> numbers;
  for (auto const& [number, name] : part.unanswered)
    require(exists(part, number) && numbers.insert(number).second,
            "'unanswered' has case {} ({}) twice, or there is no such case", number, name);
  require(!part.complete || (part.unanswered.empty() && part.incomplete_because.empty()),
          "'complete' is true, and there are {} 'unanswered' cases; 'because' is '{}'", part.unanswered.size(),
          part.incomplete_because);
  require(part.complete || !part.unanswered.empty() || !part.incomplete_because.empty(),
          "'complete' is false, and there is neither a 'because' nor an 'unanswered' case");
}

void require_coverage(report const& part) {
  if (part.covered.empty() && part.draws == 0) return;
  auto const judged = part.total().judged();
  require(part.covered.elements_judged == judged, "'coverage' has {} elements judged, 'checks' {}",
          part.covered.elements_judged, judged);
  auto const drawn = std::ranges::find(part.checks, "drawn", &check_result::name);
  std::int64_t const cases = drawn == part.checks.end() ? 0 : drawn->cases;
  std::int64_t const unsupported = drawn == part.checks.end() ? 0 : drawn->unsupported;
  std::int64_t const answered = part.covered.draws_answered;
  // Others of its cases may have been named by --only, or come from a file.
  require(part.draws <= cases && answered <= cases - unsupported && part.draws - answered <= unsupported,
          "'draws' of 'coverage' has {} made and {} answered, check 'drawn' has {} cases and {} unsupported",
          part.draws, answered, cases, unsupported);
}

void require_curves(report const& part) {
  std::set<std::int64_t> failed;
  for (failing_case const& failing : part.failing) failed.insert(failing.number);
  for (curve_point const& point : part.curves) {
    require(exists(part, point.number), "'curve_cases' has case {}, of {}", point.number, part.all_cases);
    require(!lists_all(part) || point.failed == failed.contains(point.number),
            "'failed' of case {} in 'curves' is not what 'failing' says", point.number);
  }
}

void require_contract(report const& part) {
  if (part.contracts.size() != 1) return;
  contract const& claim = part.contracts.front();
  require(part.contract_revision == revision_of(claim), "'contract_revision' is {}, that of 'contracts' is {}",
          part.contract_revision.value_or(0), revision_of(claim).value_or(0));
}

void require_told(report const& part) {
  std::map<std::string_view, std::int64_t> told;
  for (case_observation const& line : part.case_observations) ++told[line.kind];
  for (auto const& [kind, count] : part.observation_counts) {
    std::int64_t const listed = told[kind], expected = std::min(count, report_builder::listed_per_kind);
    require(count > 0 && listed == expected, "'told' has {} observations of '{}', 'told_kinds' says {}", listed, kind,
            count);
    told.erase(kind);
  }
  require(told.empty(), "'told' has observations of '{}', 'told_kinds' has none",
          told.empty() ? "" : told.begin()->first);
}

void require_verdict(report const& part) {
  report again = part;
  std::set<std::string, std::less<>> const waived(part.waived.begin(), part.waived.end());
  report_builder(again, waived).finish(part.complete, part.incomplete_because);
  require(part.verdict == again.verdict && part.undecided_because == again.undecided_because,
          "'verdict' is '{}{}{}', its findings and counts say '{}{}{}'", name_of(part.verdict),
          part.undecided_because.empty() ? "" : ": ", part.undecided_because, name_of(again.verdict),
          again.undecided_because.empty() ? "" : ": ", again.undecided_because);
}

}  // namespace

void require_consistent(report const& part) {
  require_checks(part);
  require_whole_share(part);
  require_replayed(part);
  require_failing(part);
  require_findings(part);
  require_answers(part);
  require_coverage(part);
  require_curves(part);
  require_contract(part);
  require_told(part);
  require_verdict(part);
}

}  // namespace attest::audit
