#include "audit/report/file/shard_file.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "audit/contract/preset_family.hpp"
#include "audit/report/file/facts.hpp"
#include "audit/report/version.hpp"
#include "audit/support/printable.hpp"
#include "audit/support/sha256.hpp"

namespace attest::audit {
namespace {

using json = nlohmann::ordered_json;

/// Rises with each release that changes the facts.
constexpr int shard_format = 3;
constexpr char const* ask_again = "run this shard again with this attest";

struct shard_facts {
  std::int64_t index = 0, of = 0;
  std::vector<report> reports;
};

template <class Archive>
void visit(Archive& facts, shard_facts& all) {
  facts("index", all.index), facts("of", all.of), facts("reports", all.reports);
  facts.require(1 <= all.index && all.index <= all.of, "has an 'index' that is not from 1 to 'of'");
  facts.require(!all.reports.empty(), "has no 'reports'");
}

std::string text_of(nlohmann::json const& facts) {
  return facts.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// The member `name` of an object, as text for a sentence; "" if it is no such string or number.
std::string shown(json const& object, char const* name) {
  if (!object.is_object() || !object.contains(name)) return "";
  json const& found = object[name];
  return found.is_string() ? printable(found.get_ref<std::string const&>(), 80) : found.is_number() ? found.dump() : "";
}

/// Earlier formats had a `shard` in the report of each kernel.
bool is_shard(json const& from) {
  if (!from.is_object()) return false;
  if (from.contains("shard")) return true;
  auto const reports = from.find("reports");
  return reports != from.end() && reports->is_array() && std::ranges::any_of(*reports, is_shard);
}

/// The facts of a file that this version wrote and that was not changed since.
json const& checked_facts(json const& from) {
  if (!is_shard(from))
    throw report_fault{"is not the report of a shard: `attest audit --seed N --shard i/n --json FILE` writes one"};
  if (auto const written = shown(from, "attest"); written != version)
    throw report_fault{fmt::format("was written by attest {}, this is {}; {}", written, version, ask_again)};
  static json const none;
  json const& shard = from.contains("shard") ? from["shard"] : none;
  if (shown(shard, "format") != std::to_string(shard_format))
    throw report_fault{
        fmt::format("is not in format {} of shards, which alone this attest reads; {}", shard_format, ask_again)};
  auto const facts = shard.find("facts");
  if (facts == shard.end()) throw report_fault{fmt::format("has no 'shard.facts'; {}", ask_again)};
  std::string const hash = sha256_of(text_of(*facts)), stated = shown(shard, "sha256");
  if (hash != stated)
    throw report_fault{
        fmt::format("was changed after attest wrote it: the SHA-256 of 'shard.facts' is {}, 'shard.sha256' is "
                    "'{}'; {}",
                    hash, stated, ask_again)};
  return *facts;
}

/// Fills in everything that follows from the facts, except the verdict.
void derive(report& of) {
  contract const& claim = of.contracts.front();
  of.contract = claim.name, of.contract_revision = revision_of(claim);
  for (check_result const& row : of.checks) of.cases += row.cases;
  for (finding& found : of.findings) found.waived = is_waived(of.waived, found.check, found.case_name);
}

}  // namespace

std::string shard_text(std::span<report const> all) {
  auto const [index, of] = *all.front().shard;
  auto facts = fact_writer::facts_of(shard_facts{index, of, {all.begin(), all.end()}});
  std::string const text = text_of(facts);
  return fmt::format(R"({{"format": {}, "sha256": "{}", "facts": {}}})", shard_format, sha256_of(text), text);
}

std::vector<report> read_shard(json const& from) {
  json const& facts = checked_facts(from);
  shard_facts all;
  fact_reader::place const top{nullptr, "shard.facts"};
  try {
    fact_reader reader(facts, top);
    visit(reader, all);
  } catch (report_fault const& wrong) { throw report_fault{fmt::format("{}; {}", wrong.reason, ask_again)}; }
  for (report& one : all.reports) one.shard = {all.index, all.of}, derive(one);
  return std::move(all.reports);
}

}  // namespace attest::audit
