#include "audit/session/run_verify.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "audit/contract/preset_family.hpp"
#include "audit/files/case_file.hpp"
#include "audit/judge/conventions.hpp"
#include "audit/judge/judge_case.hpp"
#include "audit/report/builder.hpp"
#include "audit/session/draw_pictures.hpp"
#include "audit/session/take_result.hpp"
#include "audit/support/interruptible.hpp"
#include "audit/support/words.hpp"

namespace attest::audit {
namespace {

using problem::error;
using problem::error_code;

problem::result<problem_file> read_all(verify_options const& options) {
  auto const file = read_safetensors(options.inputs);
  if (!file) return file.why();
  auto recorded = problem_file_of(file.value(), options.flags);
  if (!recorded || !options.outputs) return recorded;
  auto const outputs = read_safetensors(*options.outputs);
  if (!outputs) return outputs.why();
  return with_outputs(std::move(recorded).value(), outputs.value());
}

std::string reproducer(verify_options const& options, contract const& claim) {
  std::string text = "attest verify " + shell_word(options.inputs.native());
  if (options.outputs) text += " " + shell_word(options.outputs->native());
  text += " --contract " + shell_word(options.contract_argument.empty() ? claim.name : options.contract_argument);
  problem::visit_parameters(problem::parameters{}, [&](auto const& parameter, auto const&) {
    auto const flag = options.flags.find(parameter.name);
    if (flag != options.flags.end() && flag->second)
      text += fmt::format(" --{}={}", parameter.name, shell_word(*flag->second));
  });
  return text + (options.reproducible ? " --reproducible" : "");
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
    contract const& claim = options.claim ? *options.claim : default_contract(at->input.call(found.what.call).type());
    found.no_pictures = not_drawn(at->input, found.what);
    found.pictures =
        draw_pictures(at->input, found.what, claim, {.of_call = [&] { return at->outputs[found.what.call]; }});
  }
}

}  // namespace

problem::result<report> run_verify(verify_options const& options) {
  auto recorded = read_all(options);
  if (!recorded) return recorded.why();
  report kernel_report;
  kernel_report.kernel = options.outputs ? options.outputs->string() : options.inputs.string();
  kernel_report.contract = options.claim ? options.claim->name : "";
  if (options.claim) kernel_report.contract_revision = revision_of(*options.claim);
  if (options.claim) kernel_report.relaxed = relaxed(options.claim->conventions);
  kernel_report.observations = recorded.value().notes;
  for (std::string const& name : recorded.value().ignored) kernel_report.observations.push_back("ignored: " + name);
  auto cases = cases_of(std::move(recorded).value());
  if (!cases) return cases.why();
  report_builder collect(kernel_report, options.waived);
  bool complete = true, any = false, interrupted = false;
  std::int64_t number = 0;
  auto const all = static_cast<std::int64_t>(cases.value().size());
  for (recorded_case& entry : cases.value()) {
    audit_case const& kernel_case = entry.input;
    if (interrupted || (options.stop && options.stop->load())) {
      interrupted = true;
      break;
    }
    options.on_progress(number, all, kernel_case.name);
    ++number;
    // In a file that attest wrote, only mandatory cases must have outputs, as in an audit; in any other, every problem.
    bool const generated = find_check(kernel_case.check) != nullptr;
    problem::element_type const type = kernel_case.problem.type();
    contract const& claim = options.claim ? *options.claim : default_contract(type);
    if (claim.type != type)
      return error{error_code::bad_type, kernel_case.name + ".q",
                   fmt::format("element type is {}, the contract {} is about {}", problem::name_of(type), claim.name,
                               problem::name_of(claim.type))};
    if (!options.claim && kernel_report.contract.find(claim.name) == std::string::npos) {
      // Several presets have one revision where it is the same for all.
      auto const revision = revision_of(claim);
      if (kernel_report.contract.empty()) kernel_report.contract_revision = revision;
      else if (kernel_report.contract_revision != revision) kernel_report.contract_revision.reset();
      kernel_report.contract += (kernel_report.contract.empty() ? "" : ",") + claim.name;
    }
    case_result found;
    found.unsupported = !entry.outputs[0].has_value();
    interrupted |=
        interruptible([&] { return options.stop && options.stop->load(); },
                      [&] { judge_case(kernel_case, entry.outputs, {&claim, options.reproducible}, found); });
    if (found.unsupported) {
      complete = complete && generated && !kernel_case.mandatory;
      if (!generated)
        kernel_report.observations.push_back(kernel_case.name + ".o: there is no recorded output, nothing to judge");
    } else {
      any = true;
    }
    take_result(kernel_case, number, std::move(found), reproducer(options, claim), kernel_report, collect);
  }
  options.on_progress(all, all, "");
  if (interrupted)
    kernel_report.observations.push_back(fmt::format("stopped at problem {} of {}: interrupted", number, all)),
        kernel_report.not_asked.push_back({fmt::format("{} of {} problems", all - number, all), "interrupted"});
  complete = complete && !interrupted;
  kernel_report.all_cases = all;
  collect.finish(complete && any, interrupted ? "it was interrupted"
                                  : any       ? "a mandatory problem has no recorded output"
                                              : "there is no recorded output");
  draw_findings(cases.value(), options, kernel_report);
  return kernel_report;
}

}  // namespace attest::audit
