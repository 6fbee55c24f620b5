#include "audit/report/file/shard_rules.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "audit/contract/contract_file.hpp"
#include "audit/report/file/fact_archive.hpp"
#include "audit/support/printable.hpp"

namespace attest::audit {
namespace {

using json = nlohmann::ordered_json;
using problem::error;
using problem::error_code;

/// Throws if two contracts differ in a number or a convention. Differences in their sentences do not matter.
void require_same_contract(contract first, contract other, std::string const& first_name) {
  first.sentence = other.sentence = "";
  json const here = json::parse(contract_text(first)), there = json::parse(contract_text(other));
  json const edits = json::diff(here, there);
  if (edits.empty()) return;
  json::json_pointer const at(edits.front()["path"].get<std::string>());
  auto const value = [&](json const& of) { return of.contains(at) ? printable(of[at].dump(), 200) : "nothing"; };
  std::string path = at.to_string().substr(1);
  std::ranges::replace(path, '/', '.');
  throw report_fault{fmt::format("its contract '{}' has {} for '{}'; in {} it is {}", other.name, value(there), path,
                                 first_name, value(here))};
}

/// Throws if two builds of a kernel differ, or if one is not known.
void require_same_build(report const& first, report const& other, std::string const& first_name) {
  kernel_build const &a = first.kernel_builds.front(), &b = other.kernel_builds.front();
  if (a == b && a.is_known()) return;
  throw report_fault{fmt::format("its kernel is {}; in {} it is {}; --same-kernel takes them for one kernel", b.words(),
                                 first_name, a.words())};
}

}  // namespace

void require_same_audit(report const& first, report const& other, std::string const& first_name, bool same_kernel) {
  auto const same = [&](char const* field, auto const& of) {
    std::string const a = of(first), b = of(other);
    if (a != b) throw report_fault{fmt::format("its {} is '{}'; in {} it is '{}'", field, b, first_name, a)};
  };
  auto const number = [](auto member) { return [=](report const& of) { return fmt::format("{}", of.*member); }; };
  auto const list = [](auto member) {
    return [=](report const& of) { return fmt::format("{}", fmt::join(of.*member, ", ")); };
  };
  // Bounds of different theorems do not add up to one verdict.
  same("revision of the theorem", number(&report::theorem_revision));
  same("kernel", number(&report::kernel));
  same("contract", number(&report::contract));
  require_same_contract(first.contracts.front(), other.contracts.front(), first_name);
  if (!same_kernel) require_same_build(first, other, first_name);
  same("seed", [](report const& of) { return of.seed ? std::to_string(*of.seed) : std::string("none"); });
  same("'replayed', the SHA-256 of the file of --replay,",
       [](report const& of) { return of.replayed.empty() ? std::string("none") : of.replayed; });
  same("number of shards", [](report const& of) { return std::to_string(of.shard->second); });
  same("domain", [](report const& of) { return of.domain.text; });
  same("list of options", number(&report::options));
  same("limit of --outside", number(&report::outside_limit));
  same("number of cases", number(&report::all_cases));
  same("number of draws", number(&report::all_draws));
  same("list of waived checks", list(&report::waived));
  same("list of required features", list(&report::required_support));
}

void require_whole_share(report const& shard) {
  if (!shard.complete()) return;
  auto const [index, of] = *shard.shard;
  auto const share = [&](std::int64_t all) { return (all + of - index) / of; };
  std::int64_t const draws = share(shard.all_draws), fixed = share(shard.all_cases - shard.all_draws);
  bool const says_so =
      std::ranges::any_of(shard.not_asked, [](omission const& omitted) { return omitted.what.starts_with("draws "); });
  auto const require = [&](bool holds, char const* what, std::int64_t found, std::int64_t expected) {
    if (!holds)
      throw report_fault{fmt::format("has {} {}; shard {}/{} of this audit has {}; run this shard again", found, what,
                                     index, of, expected)};
  };
  require(shard.draws == draws || (shard.draws < draws && says_so), "draws", shard.draws, draws);
  require(shard.cases - shard.draws == fixed, "cases beside its draws", shard.cases - shard.draws, fixed);
}

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
    if (cases > shards[n].all_cases)
      return error{error_code::bad_value, names[n],
                   fmt::format("its checks and the checks of the shards before it have {} cases; the audit has {}",
                               cases, shards[n].all_cases)};
  }
  return std::nullopt;
}

}  // namespace attest::audit
