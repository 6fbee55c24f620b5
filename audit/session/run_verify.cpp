#include "audit/session/run_verify.hpp"

#include <algorithm>

#include <fmt/format.h>

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
  problem::visit_parameters(problem::parameters{}, [&](auto const& each, auto const&) {
    auto const flag = options.flags.find(each.name);
    if (flag != options.flags.end() && flag->second)
      text += fmt::format(" --{}={}", each.name, shell_word(*flag->second));
  });
  return text + (options.reproducible ? " --reproducible" : "");
}

/// Draws the findings that a report shows first, from the outputs that the file holds.
void draw_findings(std::vector<recorded_case> const& cases, verify_options const& options, report& into) {
  constexpr std::size_t drawn = 12;
  for (std::size_t n = 0; n < into.findings.size(); ++n) {
    finding& each = into.findings[n];
    if (n >= drawn) {
      each.no_pictures = fmt::format("only the first {} findings have them", drawn);
      continue;
    }
    auto const at = std::ranges::find_if(
        cases, [&](recorded_case const& c) { return c.input.check == each.check && c.input.name == each.case_name; });
    if (at == cases.end()) continue;
    contract const& claim = options.claim ? *options.claim : default_contract(at->input.call(each.what.call).type());
    each.no_pictures = not_drawn(at->input, each.what);
    each.pictures =
        draw_pictures(at->input, each.what, claim, {.of_call = [&] { return at->outputs[each.what.call]; }});
  }
}

}  // namespace

problem::result<report> run_verify(verify_options const& options) {
  auto recorded = read_all(options);
  if (!recorded) return recorded.why();
  report made;
  made.kernel = options.outputs ? options.outputs->string() : options.inputs.string();
  made.contract = options.claim ? options.claim->name : "";
  if (options.claim) made.relaxed = relaxed(options.claim->conventions);
  made.observations = recorded.value().notes;
  for (std::string const& name : recorded.value().ignored) made.observations.push_back("ignored: " + name);
  auto cases = cases_of(std::move(recorded).value());
  if (!cases) return cases.why();
  report_builder collect(made, options.waived);
  bool complete = true, any = false, interrupted = false;
  std::int64_t number = 0;
  auto const all = static_cast<std::int64_t>(cases.value().size());
  for (recorded_case& each : cases.value()) {
    audit_case const& asked = each.input;
    if (interrupted || (options.stop && options.stop->load())) {
      interrupted = true;
      break;
    }
    options.on_progress(number, all, asked.name);
    ++number;
    // In a file that attest wrote, only mandatory cases must have outputs, as in an audit; in any other, every problem.
    bool const generated = find_check(asked.check) != nullptr;
    problem::element_type const type = asked.problem.type();
    contract const& claim = options.claim ? *options.claim : default_contract(type);
    if (claim.type != type)
      return error{error_code::bad_type, asked.name + ".q",
                   fmt::format("element type is {}, the contract {} is about {}", problem::name_of(type), claim.name,
                               problem::name_of(claim.type))};
    if (!options.claim && made.contract.find(claim.name) == std::string::npos)
      made.contract += (made.contract.empty() ? "" : ",") + claim.name;
    case_result found;
    found.unsupported = !each.outputs[0].has_value();
    interrupted |= interruptible([&] { return options.stop && options.stop->load(); },
                                 [&] { judge_case(asked, each.outputs, {&claim, options.reproducible}, found); });
    if (found.unsupported) {
      complete = complete && generated && !asked.mandatory;
      if (!generated) made.observations.push_back(asked.name + ".o: there is no recorded output, nothing to judge");
    } else {
      any = true;
    }
    take_result(asked, number, std::move(found), reproducer(options, claim), made, collect);
  }
  options.on_progress(all, all, "");
  if (interrupted) made.observations.push_back(fmt::format("stopped at problem {} of {}: interrupted", number, all));
  complete = complete && !interrupted;
  made.all_cases = all;
  collect.finish(complete && any, interrupted ? "it was interrupted"
                                  : any       ? "a mandatory problem has no recorded output"
                                              : "there is no recorded output");
  draw_findings(cases.value(), options, made);
  return made;
}

}  // namespace attest::audit
