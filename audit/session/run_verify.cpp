#include "audit/session/run_verify.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "audit/cases/default_contract.hpp"
#include "audit/contract/preset_family.hpp"
#include "audit/findings/draw_pictures.hpp"
#include "audit/findings/name_cause.hpp"
#include "audit/report/rows_of_parts.hpp"
#include "audit/session/read_recorded.hpp"
#include "audit/session/save_recorded.hpp"
#include "audit/session/verify_session.hpp"
#include "audit/support/files.hpp"

namespace attest::audit {
namespace {

/// The report before its first case: whose answers these are, the claim, and what the files do not hold.
report begun_report(verify_options const& options, problem_file const& recorded) {
  report begun;
  begun.kernel = name_of_input(options.outputs ? *options.outputs : options.inputs);
  if (options.claim) {
    begun.contract = options.claim->name;
    begun.contract_revision = revision_of(*options.claim);
    begun.contracts = {*options.claim};
    begun.relaxed = relaxed(options.claim->conventions);
  }
  begun.outside_limit = options.outside;
  std::ranges::copy(recorded.notes, std::back_inserter(begun.observations));
  for (std::string& sentence : sentences_of_ignored(recorded))
    begun.observations.emplace_back(std::move(sentence), kind_ignored);
  begun.not_asked = left_out_of(recorded.metadata);
  std::ranges::move(unjudged_weights(recorded), std::back_inserter(begun.not_asked));
  if (!options.only.empty()) begun.not_asked.push_back({"other problems of the file", "--only"});
  return begun;
}

}  // namespace

/// Says what was taken and what was not, and sets the verdict.
void verify_session::close() {
  auto const all = std::ssize(cases_);
  options_.on_progress(all, all, "");
  if (!stopped_.empty()) {
    report_.observations.push_back(fmt::format("stopped at problem {} of {}: {}", number_, all, stopped_));
    report_.not_asked.push_back({fmt::format("{} of {} problems", all - number_, all), stopped_});
  }
  if (!merges_under_.empty())
    report_.observations.push_back(fmt::format("merges are judged under {}", fmt::join(merges_under_, ", ")));
  report_.all_cases = all;
  report_.recorded = endings_;
  for (std::string& sentence : words_of_endings(endings_)) report_.observations.push_back(std::move(sentence));
  std::ranges::move(words_of_unprepared(unprepared_), std::back_inserter(report_.not_asked));
  bool const none_plain = plain_.asked > 0 && plain_.answered == 0;
  collect_.finish(complete_ && stopped_.empty() && any_ && !none_plain,
                  !stopped_.empty() ? "it stopped early: " + stopped_
                  : !any_           ? "there is no recorded output"
                  : none_plain      ? fmt::format("none of its {} plain problems has outputs", plain_.asked)
                                    : "");
  if (report_.verdict != verdict::undecided || remedy_.empty()) return;
  if (any_) report_.undecided_because += "; there " + remedy_;
  else report_.undecided_because = remedy_;
}

/// Names the other reading if it explains every failing case, else what a search finds in ten seconds, or in the
/// budget.
void verify_session::name_cause() {
  constexpr double unasked = 10, for_the_report = 0.1;
  if (reading_ && cases_so_read_ == std::ssize(report_.failing)) report_.cause = cause_of(*reading_, cases_so_read_);
  else
    name_recorded_cause(
        cases_, [&](audit_case const& of) { return contract_of(options_.claim, of.problem); },
        options_.budget ? (1 - for_the_report) * *options_.budget : unasked, [&] { return !why_to_stop().empty(); },
        report_);
}

/// Draws the findings that a report shows first, from the outputs that the files hold.
void verify_session::draw_findings() {
  constexpr std::size_t drawn = 12;
  for (std::size_t n = 0; n < report_.findings.size(); ++n) {
    finding& found = report_.findings[n];
    if (n >= drawn) {
      found.no_pictures = fmt::format("only the first {} findings have them", drawn);
      continue;
    }
    auto const at = std::ranges::find_if(cases_, [&](recorded_case const& c) {
      return c.input.check == found.check && c.input.name == found.case_name;
    });
    if (at == cases_.end()) continue;
    contract const claim = contract_of(options_.claim, at->input.call(found.what.call));
    found.no_pictures = not_drawn(at->input, found.what);
    found.pictures =
        draw_pictures(at->input, found.what, claim, {.of_call = [&] { return at->outputs[found.what.call]; }});
  }
}

void verify_session::save_findings() {
  draw_findings();
  if (!options_.findings.empty() && collect_.refuted() && !interrupted())
    save_recorded(options_, cases_, saved_, report_);
}

problem::result<report> run_verify(verify_options const& options) {
  auto recorded = read_recorded(options);
  if (!recorded) return recorded.why();
  report kernel_report = begun_report(options, recorded.value());
  std::string foreign_o = recorded.value().foreign_o;
  auto cases = cases_of(std::move(recorded).value());
  if (!cases) return cases.why();
  if (auto why = names_fault("--waive", options.waived, cases.value())) return *std::move(why);
  if (auto why = keep_only(options.only, cases.value())) return *std::move(why);
  if (options.claim)
    for (recorded_case& entry : cases.value()) put_under(*options.claim, entry.input);
  verify_session running(options, std::move(cases).value(), std::move(foreign_o), kernel_report);
  if (auto why = running.run()) return *std::move(why);
  in_rows_of_parts(kernel_report);
  return kernel_report;
}

}  // namespace attest::audit
