#include "audit/session/run_verify.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "audit/cases/default_contract.hpp"
#include "audit/cause/explain.hpp"
#include "audit/contract/preset_family.hpp"
#include "audit/files/case_file.hpp"
#include "audit/findings/draw_pictures.hpp"
#include "audit/findings/name_cause.hpp"
#include "audit/judge/case_result.hpp"
#include "audit/judge/wider_claims.hpp"
#include "audit/report/builder.hpp"
#include "audit/report/rows_of_parts.hpp"
#include "audit/session/other_layout.hpp"
#include "audit/session/read_recorded.hpp"
#include "audit/session/save_recorded.hpp"
#include "audit/session/take_recorded.hpp"
#include "audit/session/take_result.hpp"
#include "audit/support/files.hpp"
#include "audit/support/interruptible.hpp"
#include "audit/support/words.hpp"

namespace attest::audit {
namespace {

using problem::error;
using problem::error_code;

std::string reproducer(verify_options const& options, contract const& claim) {
  std::string text = "attest verify " + shell_word(options.inputs.native());
  if (options.outputs) text += " " + shell_word(options.outputs->native());
  text += " --contract " + shell_word(options.contract_argument.empty() ? claim.name : options.contract_argument);
  problem::visit_parameters(problem::parameters{}, [&](auto const& parameter, auto const&) {
    auto const flag = options.flags.find(parameter.name);
    if (flag != options.flags.end() && flag->second)
      text += fmt::format(" --{}={}", parameter.name, shell_word(*flag->second));
  });
  text += options.words.options();
  if (!options.only.empty()) text += " --only " + shell_word(fmt::format("{}", fmt::join(options.only, ",")));
  return text + (options.reproducible ? " --reproducible" : "");
}

/// The words that distinguish this run from others that save findings in the same folder.
findings_run run_of(verify_options const& options) {
  std::string run = "verify " + shell_word(options.inputs.native());
  if (options.outputs) run += " " + shell_word(options.outputs->native());
  if (!options.contract_argument.empty()) run += " --contract " + shell_word(options.contract_argument);
  return {run, options.only.empty() ? "" : fmt::format(" --only {}", fmt::join(options.only, ",")), "", 0};
}

constexpr char const* interrupted = "interrupted";

/// Why no further case is judged; empty if there is time.
std::string why_to_stop(verify_options const& options) {
  if (interruption{options.stop}.requested()) return interrupted;
  std::chrono::duration<double> const spent = std::chrono::steady_clock::now() - options.begun;
  return options.budget && spent.count() > *options.budget ? fmt::format("--budget {:g} is spent", *options.budget)
                                                           : "";
}

/// Judges the outputs. If they are wrong, judges them also by presets that are wider than `claimed`.
void judge_again_if_wrong(recorded_case const& entry, judging_rules const& rules, contract const& claimed,
                          std::map<std::string, wider_claims>& wider, case_result& into) {
  bool const usable = into.judged.failed == 0;
  judge_and_explain(entry.input, entry.outputs, rules, into);
  if (into.judged.failed == 0) return;
  wider_claims& claims = wider.try_emplace(claimed.name, claimed).first->second;
  into.inside = usable ? claims.holding(entry.input, entry.outputs, rules.reproducible, into.judged.violations.front())
                       : std::vector<holding_preset>();
  claims.keep(*into.inside);
}

/// "what earlier calls leave behind, in 3 cases (stale/a, …)", by the reason why it was not asked.
void add_unprepared(std::map<std::string, std::vector<std::string>> const& by_reason, report& into) {
  constexpr std::size_t named = 4;
  for (auto const& [why, cases] : by_reason) {
    std::vector<std::string> const shown(cases.begin(),
                                         cases.begin() + std::min<std::ptrdiff_t>(std::ssize(cases), named));
    into.not_asked.push_back({fmt::format("what earlier calls leave behind, in {} cases ({}{})", cases.size(),
                                          fmt::join(shown, ", "), cases.size() > named ? ", …" : ""),
                              why});
  }
}

/// "the file has no o (it has 'output'): --names o=output"
std::string remedy_of_missing(output_kind needed, std::string const& foreign_o) {
  std::string const name = name_of(needed);
  if (needed == output_kind::o && !foreign_o.empty())
    return fmt::format("the file has no {0} (it has '{1}'): --names {0}={1}", name, foreign_o);
  return fmt::format("the file has no {0}: store the kernel's answer as {0}, or name a second file that has it", name);
}

/// "x.o: there is no recorded output, nothing to judge".
std::string words_of_missing(recorded_case const& entry) {
  std::optional<owned_outputs> const& first = entry.outputs.front();
  output_kind const needed = entry.input.problem.draft().of->gives.front();
  if (first && first->of(needed))
    return fmt::format("{}: a further call has no recorded {}", entry.input.name, name_of(needed));
  return fmt::format("{}.{}: there is no recorded output{}", entry.input.name, name_of(needed),
                     first ? " beside the others" : ", nothing to judge");
}

/// The file's statements about its calls, as observations: how they ended, and why they are unsupported.
void add_endings(recorded_endings const& endings, report& into) {
  if (endings.answered == endings.calls && endings.unusable == 0) return;
  into.observations.push_back(words_of(endings));
  constexpr std::size_t listed = 8;
  std::vector<std::pair<std::int64_t, std::string>> reasons;
  for (auto const& [why, calls] : endings.refusals) reasons.emplace_back(-calls, why);
  std::ranges::sort(reasons);
  for (std::size_t n = 0; n < reasons.size() && n < listed; ++n)
    into.observations.push_back(fmt::format("unsupported, {} calls: {}", -reasons[n].first,
                                            reasons[n].second.empty() ? "no reason" : reasons[n].second));
  if (reasons.size() > listed)
    into.observations.push_back(fmt::format("unsupported: {} further reasons", reasons.size() - listed));
}

/// Draws the findings that a report shows first, from the outputs that the file holds.
void draw_findings(std::vector<recorded_case> const& cases, verify_options const& options, report& into) {
  constexpr std::size_t drawn = 12;
  for (std::size_t n = 0; n < into.findings.size(); ++n) {
    finding& found = into.findings[n];
    if (n >= drawn) {
      found.no_pictures = fmt::format("only the first {} findings have them", drawn);
      continue;
    }
    auto const at = std::ranges::find_if(
        cases, [&](recorded_case const& c) { return c.input.check == found.check && c.input.name == found.case_name; });
    if (at == cases.end()) continue;
    contract const claim = contract_of(options.claim, at->input.call(found.what.call));
    found.no_pictures = not_drawn(at->input, found.what);
    found.pictures =
        draw_pictures(at->input, found.what, claim, {.of_call = [&] { return at->outputs[found.what.call]; }});
  }
}

}  // namespace

problem::result<report> run_verify(verify_options const& options) {
  auto recorded = read_recorded(options);
  if (!recorded) return recorded.why();
  report kernel_report;
  kernel_report.kernel = name_of_input(options.outputs ? *options.outputs : options.inputs);
  kernel_report.contract = options.claim ? options.claim->name : "";
  if (options.claim) kernel_report.contract_revision = revision_of(*options.claim);
  if (options.claim) kernel_report.contracts = {*options.claim};
  if (options.claim) kernel_report.relaxed = relaxed(options.claim->conventions);
  std::ranges::copy(recorded.value().notes, std::back_inserter(kernel_report.observations));
  for (std::string& sentence : sentences_of_ignored(recorded.value()))
    kernel_report.observations.emplace_back(std::move(sentence), kind_ignored);
  kernel_report.not_asked = left_out_of(recorded.value().metadata);
  std::ranges::move(unjudged_weights(recorded.value()), std::back_inserter(kernel_report.not_asked));
  std::string const foreign_o = recorded.value().foreign_o;
  auto cases = cases_of(std::move(recorded).value());
  if (!cases) return cases.why();
  if (auto why = names_fault("--waive", options.waived, cases.value())) return *std::move(why);
  if (auto why = keep_only(options.only, cases.value())) return *std::move(why);
  if (options.claim)
    for (recorded_case& entry : cases.value()) put_under(*options.claim, entry.input);
  if (!options.only.empty()) kernel_report.not_asked.push_back({"other problems of the file", "--only"});
  findings_folder saved(options.findings, run_of(options));
  saved.remove_earlier();
  report_builder collect(kernel_report, options.waived);
  kernel_report.outside_limit = options.outside;
  bool complete = true, any = false;
  reply_count plain;    // of the problems that attest made
  std::string stopped;  // the reason
  recorded_endings& endings = kernel_report.recorded.emplace();
  std::map<std::string, std::vector<std::string>> unprepared;
  std::map<std::string, wider_claims> wider;  // by the name of the claim
  std::set<std::string> merges_under;         // presets that the claim implies for merges
  std::optional<other_reading> reading;       // of all failing cases so far
  std::int64_t read_otherwise = 0;
  std::string missing;  // what to do about the first case without an answer
  std::int64_t number = 0;
  auto const all = static_cast<std::int64_t>(cases.value().size());
  for (recorded_case& entry : cases.value()) {
    audit_case const& kernel_case = entry.input;
    if (stopped.empty()) stopped = why_to_stop(options);
    if (stopped.empty() && options.fail_fast && collect.refuted()) stopped = "--fail-fast";
    if (!stopped.empty()) break;
    options.on_progress(number, all, kernel_case.name);
    ++number;
    // In a file that attest wrote, one plain problem must have outputs, as in an audit; in any other, every problem.
    bool const generated = entry.generated;
    problem::element_type const type = kernel_case.problem.type();
    if (options.claim && options.claim->type != type)
      return error{error_code::bad_type,
                   fmt::format("{}.{}", kernel_case.name, kernel_case.problem.draft().of->takes.front()),
                   fmt::format("element type is {}, the contract {} is about {}", problem::name_of(type),
                               options.claim->name, problem::name_of(options.claim->type))};
    if (options.claim)
      if (auto const why = why_not_under(*options.claim, kernel_case.problem))
        return error{error_code::bad_value, "--contract", fmt::format("{}: {}", kernel_case.name, *why)};
    contract const claim = contract_of(options.claim, kernel_case.problem);
    if (options.claim && claim.name != options.claim->name) merges_under.insert(claim.name);
    if (!options.claim &&
        std::ranges::find(kernel_report.contracts, claim.name, &contract::name) == kernel_report.contracts.end()) {
      // Several presets have one revision if it is the same for all.
      auto const revision = revision_of(claim);
      if (kernel_report.contract.empty()) kernel_report.contract_revision = revision;
      else if (kernel_report.contract_revision != revision) kernel_report.contract_revision.reset();
      kernel_report.contract += (kernel_report.contract.empty() ? "" : ",") + claim.name;
      kernel_report.contracts.push_back(claim);
    }
    case_result found;
    bool const cut =
        interruptible([&] { return !why_to_stop(options).empty(); },
                      [&] {
                        take_recorded(entry, claim, found, endings);
                        judge_again_if_wrong(entry, {.claim = &claim, .reproducible = options.reproducible},
                                             options.claim ? *options.claim : claim, wider, found);
                        if (found.judged.failed == 0) return;
                        tell_other_order(entry, claim, found);
                        auto const again = right_reading(entry, claim);
                        if (!again) return;
                        for (violation& wrong : found.judged.violations) wrong.sentence += clause_of(*again);
                        if (!reading) reading = again;
                        if (reading->words == again->words) ++read_otherwise;
                      });
    if (cut) stopped = why_to_stop(options), found.inside.reset();
    if (std::string const why = not_prepared(entry); !why.empty()) unprepared[why].push_back(kernel_case.full_name());
    if (found.unsupported) {
      collect.set_case(number);
      if (!generated) {
        complete = false;
        collect.add_unanswered(kernel_case.name);
        if (missing.empty()) missing = remedy_of_missing(entry.input.problem.draft().of->gives.front(), foreign_o);
        kernel_report.observations.push_back(words_of_missing(entry));
      }
    }
    if (auto const form = generated ? form_of(kernel_case.problem.draft()) : std::nullopt; form && is_bare(*form))
      plain.add(found.unsupported ? reply::refused : reply::answered);
    any = any || !found.unsupported || found.judged.judged() > 0;
    take_result(kernel_case, generated, number, std::move(found), reproducer(options, claim), kernel_report, collect);
  }
  options.on_progress(all, all, "");
  if (!stopped.empty())
    kernel_report.observations.push_back(fmt::format("stopped at problem {} of {}: {}", number, all, stopped)),
        kernel_report.not_asked.push_back({fmt::format("{} of {} problems", all - number, all), stopped});
  complete = complete && stopped.empty();
  if (!merges_under.empty())
    kernel_report.observations.push_back(fmt::format("merges are judged under {}", fmt::join(merges_under, ", ")));
  kernel_report.all_cases = all;
  add_endings(endings, kernel_report);
  add_unprepared(unprepared, kernel_report);
  bool const none_plain = plain.asked > 0 && plain.answered == 0;
  collect.finish(complete && any && !none_plain,
                 !stopped.empty() ? "it stopped early: " + stopped
                 : !any           ? "there is no recorded output"
                 : none_plain     ? fmt::format("none of its {} plain problems has outputs", plain.asked)
                                  : "");
  if (kernel_report.verdict == verdict::undecided && !any && !missing.empty())
    kernel_report.undecided_because = missing;
  else if (kernel_report.verdict == verdict::undecided && !missing.empty())
    kernel_report.undecided_because += "; " + missing;
  if (collect.refuted() && reading && read_otherwise == std::ssize(kernel_report.failing))
    kernel_report.cause = cause_of(*reading, read_otherwise);
  else if (collect.refuted() && stopped != interrupted)
    name_recorded_cause(
        cases.value(), [&](audit_case const& of) { return contract_of(options.claim, of.problem); },
        std::chrono::steady_clock::now() + std::chrono::seconds(10), [&] { return !why_to_stop(options).empty(); },
        kernel_report);
  draw_findings(cases.value(), options, kernel_report);
  if (!options.findings.empty() && collect.refuted() && stopped != interrupted)
    save_recorded(options, cases.value(), saved, kernel_report);
  if (auto const why = saved.list())
    kernel_report.observations.push_back({"the saved findings are not listed: " + why->message(), kind_not_saved});
  in_rows_of_parts(kernel_report);
  return kernel_report;
}

}  // namespace attest::audit
