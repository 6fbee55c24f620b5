#include "audit/findings/save_findings.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "audit/asking/run_case.hpp"
#include "audit/cases/default_contract.hpp"
#include "audit/files/case_file.hpp"
#include "audit/findings/draw_pictures.hpp"
#include "audit/findings/explain_command.hpp"
#include "audit/findings/kernel_again.hpp"
#include "audit/findings/name_cause.hpp"
#include "audit/findings/shrink.hpp"
#include "audit/judge/forward_answers.hpp"
#include "audit/report/rows_of_parts.hpp"
#include "audit/support/interruptible.hpp"
#include "audit/support/sizes_words.hpp"
#include "audit/support/words.hpp"

namespace attest::audit {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::size_t largest_file = std::size_t{1} << 26;

std::size_t bytes_of(owned_problem const& problem) {
  problem_draft const& p = problem.draft();
  std::size_t bytes = p.q.bytes.size() + p.k.bytes.size() + p.v.bytes.size();
  p.each_optional([&](auto const&, owned_tensor const& tensor) { bytes += tensor.bytes.size(); });
  return bytes;
}

/// Runs the kernel again on cases that failed, and saves the files that reproduce the findings.
class finding_saver {
 public:
  finding_saver(audit_options const& options, clock::time_point until, findings_folder& folder, report& into,
                call_domain const& domain, told_of_shrunk const& shrunk)
      : options_(options),
        until_(until),
        kernel_(options, until),
        late_kernel_(options, until + std::chrono::seconds(2)),
        folder_(folder),
        report_(into),
        domain_(domain),
        shrunk_(shrunk) {}

  void save(audit_case const& failing, finding& found) {
    bool asks_again = false;
    // A hang is not tried again: every attempt would last until the time limit.
    if (found.what.bug_class == bug_class::hang) found.no_pictures = "the kernel hung";
    else if (found.what.callers > 0) found.no_pictures = "the call by itself is right";
    else if (kernel_.late()) found.no_pictures = "there was no time left", asks_again = true;
    else if (!kernel_.session()) found.no_pictures = "the kernel does not load again";
    else if (draw_and_shrink(failing, found)) return;
    else asks_again = true;
    if (bytes_of(failing.problem) > largest_file) return;
    // A case that cannot be shrunk is saved as it is and keeps its reproducer: tensors in a file have no gaps between
    // rows.
    found.shrunk =
        shrunk_finding{found.what, found.sizes, "", list_inputs(failing.call(found.what.call)), found.merged, true};
    found.shrunk->parameters = found.parameters;
    write(failing, asks_again ? answers_with(failing, found.shrunk->what) : case_outputs(), found);
  }

 private:
  case_result run_again(audit_case const& kernel_case, case_outputs* outputs = nullptr) {
    kernel_again& kernel = kernel_.late() ? late_kernel_ : kernel_;
    if (kernel.late() || !kernel.session()) return {};
    problem::result<case_result> rerun = case_result{};
    bool const cut =
        interruptible([&] { return kernel.late(); },
                      [&] { rerun = run_case(kernel_case, *kernel.session(), options_.rules(), outputs); });
    if (cut && outputs) outputs->clear();
    return rerun && !cut ? std::move(rerun).value() : case_result{};
  }

  /// The answers to a whole case, if they are wrong in the same output and class again. `what` is then what is wrong in
  /// them.
  case_outputs answers_with(audit_case const& failing, violation& what) {
    case_outputs outputs;
    case_result again = run_again(failing, &outputs);
    for (violation& wrong : again.judged.violations)
      if (wrong.output == what.output && is_of_class(wrong, what) && wrong.call == what.call) {
        what = std::move(wrong);
        return outputs;
      }
    return {};
  }

  bool draw_and_shrink(audit_case const& failing, finding& found) {
    found.no_pictures = not_drawn(failing, found.what);
    auto const outputs_for = [&](owned_problem const& problem,
                                 memory_form const& memory) -> std::optional<owned_outputs> {
      auto ran = kernel_.session()->run(problem, failing.threads, placement::end, {}, memory);
      if (!ran || ran.value().report.outcome != call_outcome::succeeded) return std::nullopt;
      return std::move(ran.value().outputs);
    };
    found.pictures = draw_pictures(
        failing, found.what, contract_under(*options_.claim, failing.problem),
        {.of_call = [&] { return outputs_for(failing.call(found.what.call), failing.memory_of(found.what.call)); },
         .of_problem = [&](owned_problem const& problem) { return outputs_for(problem, {}); }});
    auto shrunk = shrink(
        failing, found.what, [&](audit_case const& smaller) { return run_again(smaller); },
        std::min(until_, clock::now() + std::chrono::seconds(2)), domain_);
    if (!shrunk) return false;
    audit_case& small = shrunk->small;
    small.name += "-shrunk";
    case_outputs outputs;
    run_again(small, &outputs);
    owned_problem const& problem = small.call(shrunk->what.call);
    found.shrunk = shrunk_finding{shrunk->what, problem.size(), "", list_inputs(problem), rows_of(problem)};
    found.shrunk->parameters = parameters_words(problem.draft());
    shrunk_(found, small);
    if (write(small, outputs, found))
      found.reproducer = fmt::format("attest audit --kernel {} --contract {} --replay {}{}",
                                     shell_word(options_.kernel), shell_word(options_.contract_argument),
                                     shell_word(found.shrunk->file), options_.words_of_rules());
    if (domain_.outputs != outputs_rule{})
      found.reproducer += " --domain " + shell_word(call_domain{.outputs = domain_.outputs}.text());
    return true;
  }

  /// Writes the case with its outputs, so that `attest verify` has the same finding. Returns whether that succeeded.
  bool write(audit_case const& kernel_case, case_outputs const& outputs, finding& found) {
    // A backward pass is judged with the O and LSE that it was handed.
    bool const hands = !kernel_case.problem.draft().of->handed.empty() && !outputs.empty() && kernel_.session() &&
                       kernel_.session()->reads_forward();
    audit_case const saved_case = hands ? with_forward(kernel_case) : kernel_case;
    auto const bytes =
        case_file_bytes({&saved_case, 1}, {.seed = options_.seed, .contract = options_.claim->name}, {&outputs, 1});
    auto const path = bytes ? folder_.save(findings_file_name(found), bytes.value()) : bytes.why();
    if (!path)
      report_.observations.push_back({"a finding could not be saved: " + path.why().message(), kind_not_saved});
    if (!path) return false;
    shrunk_finding& saved = *found.shrunk;
    std::string const prefix = kernel_case.further.empty() ? "" : prefix_in_own_file(kernel_case, saved.what.call);
    saved.file = path.value().native();
    saved.explain = explain_command(saved, kernel_case.call(saved.what.call), prefix, options_.contract_argument);
    return true;
  }

  audit_options const& options_;
  clock::time_point until_;
  kernel_again kernel_;
  kernel_again late_kernel_;  ///< for answers that are saved when the time is over
  findings_folder& folder_;
  report& report_;
  call_domain const& domain_;
  told_of_shrunk const& shrunk_;
};

}  // namespace

void save_findings(audit_options const& options, case_finder const& find, clock::time_point until,
                   findings_folder& folder, report& into, call_domain const& domain, told_of_shrunk const& shrunk) {
  finding_saver saver(options, until, folder, into, domain, shrunk);
  std::set<std::pair<std::string, std::string>> done;
  for (finding& found : into.findings) {
    if (found.waived) found.no_pictures = "it is waived";
    else if (!done.emplace(found.check, found.class_token()).second)
      found.no_pictures = "an earlier finding of this check and class has them";
    else if (auto const failing = find(found.check, found.case_name)) saver.save(*failing, found);
    if (found.shrunk) found.shrunk->what.bug_class = found.what.bug_class;  // not what a second run suspects
  }
  keep_answers_of_cause(into);
}

}  // namespace attest::audit
