// The answers of recorded files, taken one after another into the report, and why that ends before the last.
#include <algorithm>

#include <fmt/format.h>

#include "audit/cases/default_contract.hpp"
#include "audit/cause/explain.hpp"
#include "audit/contract/preset_family.hpp"
#include "audit/session/take_recorded.hpp"
#include "audit/session/verify_session.hpp"
#include "audit/support/interruptible.hpp"
#include "audit/support/interruption.hpp"

namespace attest::audit {
namespace {

using problem::error;
using problem::error_code;

/// Why the claim cannot judge the problem; nothing if it can.
std::optional<error> why_not_judged(contract const& claim, audit_case const& of) {
  problem::element_type const type = of.problem.type();
  if (claim.type != type)
    return error{error_code::bad_type, fmt::format("{}.{}", of.name, of.problem.draft().of->takes.front()),
                 fmt::format("element type is {}, the contract {} is about {}", problem::name_of(type), claim.name,
                             problem::name_of(claim.type))};
  if (auto const why = why_not_under(claim, of.problem))
    return error{error_code::bad_value, "--contract", fmt::format("{}: {}", of.name, *why)};
  return std::nullopt;
}

}  // namespace

std::string verify_session::why_to_stop() const {
  if (interruption{options_.stop}.requested()) return by_user;
  std::chrono::duration<double> const spent = std::chrono::steady_clock::now() - options_.begun;
  return options_.budget && spent.count() > *options_.budget ? fmt::format("--budget {:g} is spent", *options_.budget)
                                                             : "";
}

problem::result<std::optional<session::judged_case>> verify_session::next() {
  if (number_ == std::ssize(cases_)) return std::optional<judged_case>();
  if (stopped_.empty()) stopped_ = why_to_stop();
  if (stopped_.empty() && options_.fail_fast && collect_.refuted()) stopped_ = "--fail-fast";
  if (!stopped_.empty()) return std::optional<judged_case>();
  recorded_case& entry = cases_[static_cast<std::size_t>(number_)];
  options_.on_progress(number_, std::ssize(cases_), entry.input.name);
  ++number_;
  if (options_.claim)
    if (auto why = why_not_judged(*options_.claim, entry.input)) return *std::move(why);
  contract const claim = contract_of(options_.claim, entry.input.problem);
  note_claim(claim);
  return std::optional(
      judged_case{&entry.input, entry.generated, number_, result_of(entry, claim), reproducer_of(options_, claim)});
}

case_result verify_session::result_of(recorded_case& entry, contract const& claim) {
  case_result found;
  if (!judge(entry, claim, found)) stopped_ = why_to_stop(), found.inside.reset();
  if (std::string const why = not_prepared(entry); !why.empty()) unprepared_[why].push_back(entry.input.full_name());
  // In a file that attest wrote, one plain problem must have outputs, as in an audit; in any other, every problem.
  if (found.unsupported && !entry.generated) note_unanswered(entry);
  if (auto const form = entry.generated ? form_of(entry.input.problem.draft()) : std::nullopt; form && is_bare(*form))
    plain_.add(found.unsupported ? reply::refused : reply::answered);
  any_ = any_ || !found.unsupported || found.judged.judged() > 0;
  return found;
}

/// Judges the outputs, and explains wrong ones. Returns false if the time ended before that.
bool verify_session::judge(recorded_case& entry, contract const& claim, case_result& into) {
  return !interruptible([&] { return !why_to_stop().empty(); },
                        [&] {
                          take_recorded(entry, claim, into, endings_);
                          bool const usable = into.judged.failed == 0;
                          judge_and_explain(entry.input, entry.outputs,
                                            {.claim = &claim, .reproducible = options_.reproducible}, into);
                          if (into.judged.failed == 0) return;
                          judge_by_wider_claims(entry, claim, usable, into);
                          tell_other_order(entry, claim, into);
                          tell_place_in_file(entry, into);
                          read_otherwise(entry, claim, into);
                        });
}

/// Judges wrong outputs also by the presets that are wider than the claim, if they are `usable` at all.
void verify_session::judge_by_wider_claims(recorded_case const& entry, contract const& claim, bool usable,
                                           case_result& into) {
  contract const& claimed = options_.claim ? *options_.claim : claim;
  wider_claims& claims = wider_.try_emplace(claimed.name, claimed).first->second;
  into.inside = usable
                    ? claims.holding(entry.input, entry.outputs, options_.reproducible, into.judged.violations.front())
                    : std::vector<holding_preset>();
  claims.keep(*into.inside);
}

/// Adds the other order of axes in which wrong outputs are right, if there is one.
void verify_session::read_otherwise(recorded_case const& entry, contract const& claim, case_result& into) {
  auto const reading = right_reading(entry, claim);
  if (!reading) return;
  for (violation& wrong : into.judged.violations) wrong.sentence += clause_of(*reading);
  if (!reading_) reading_ = reading;
  if (reading_->words == reading->words) ++cases_so_read_;
}

/// Notes in the report the contract of a case, if the user named none or another.
void verify_session::note_claim(contract const& claim) {
  if (options_.claim) {
    if (claim.name != options_.claim->name) merges_under_.insert(claim.name);
    return;
  }
  if (std::ranges::find(report_.contracts, claim.name, &contract::name) != report_.contracts.end()) return;
  // Several presets have one revision if it is the same for all.
  auto const revision = revision_of(claim);
  if (report_.contract.empty()) report_.contract_revision = revision;
  else if (report_.contract_revision != revision) report_.contract_revision.reset();
  report_.contract += (report_.contract.empty() ? "" : ",") + claim.name;
  report_.contracts.push_back(claim);
}

void verify_session::note_unanswered(recorded_case const& entry) {
  complete_ = false;
  collect_.set_case(number_);
  collect_.add_unanswered(entry.input.name);
  if (remedy_.empty()) remedy_ = remedy_of_missing(*entry.input.problem.draft().of, foreign_o_);
  report_.observations.push_back(words_of_missing(entry));
}

}  // namespace attest::audit
