#include <algorithm>

#include <fmt/format.h>

#include "audit/session/audit.hpp"
#include "audit/session/draw_pictures.hpp"
#include "audit/files/case_file.hpp"
#include "audit/judge/conventions.hpp"
#include "audit/support/interruptible.hpp"
#include "audit/judge/judge_case.hpp"
#include "audit/tensors/slice.hpp"
#include "audit/support/words.hpp"

namespace attest::audit {
namespace {

using problem::error;
using problem::error_code;

problem::result<recorded_file> read_all(verify_options const& options) {
  auto const file = read_safetensors(options.inputs);
  if (!file) return file.why();
  auto recorded = recorded_problems(file.value(), options.flags);
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
    if (flag != options.flags.end() && flag->second) text += fmt::format(" --{}={}", each.name, shell_word(*flag->second));
  });
  return text + (options.reproducible ? " --reproducible" : "");
}

/// Pictures of the findings that are shown first: the file can be asked for nothing but what it holds.
void draw_findings(std::vector<recorded_case> const& cases, verify_options const& options, report& into) {
  constexpr std::size_t drawn = 12;
  for (std::size_t n = 0; n < into.findings.size(); ++n) {
    finding& each = into.findings[n];
    if (n >= drawn) {
      each.no_pictures = fmt::format("only the first {} findings have them", drawn);
      continue;
    }
    auto const at = std::ranges::find_if(cases, [&](recorded_case const& c) { return c.asked.check == each.check && c.asked.name == each.case_name; });
    if (at == cases.end()) continue;
    stored_problem const& asked = each.what.call == 0 ? at->asked.asked : at->asked.further[each.what.call - 1].asked;
    contract const& claim = options.claim ? *options.claim : default_contract(asked.q.type);
    each.no_pictures = not_drawn(at->asked, each.what);
    each.pictures = draw_pictures(at->asked, each.what, claim, [&](stored_problem const& again) {
      return &again == &asked ? at->answers[each.what.call] : std::nullopt; });
  }
}

}  // namespace

problem::result<report> run_verify(verify_options const& options) {
  auto recorded = read_all(options);
  if (!recorded) return recorded.why();
  report made;
  made.kernel = options.outputs ? options.outputs->string() : options.inputs.string();
  made.contract = options.claim ? options.claim->name : "";
  if (options.claim) made.relaxed = relaxed(options.claim->how);
  made.observations = recorded.value().notes;
  for (std::string const& name : recorded.value().ignored) made.observations.push_back("ignored: " + name);
  auto cases = cases_of(std::move(recorded).value());
  if (!cases) return cases.why();
  collector collect(made, options.waived);
  bool complete = true, any = false, interrupted = false;
  std::int64_t number = 0;
  auto const all = static_cast<std::int64_t>(cases.value().size());
  for (recorded_case& each : cases.value()) {
    audit_case const& asked = each.asked;
    if (interrupted || (options.stop && options.stop->load())) {
      interrupted = true;
      break;
    }
    options.tell(number, all, asked.name);
    collect.at(++number);
    check const* const about = find_check(asked.check);
    // A file of attest's own has the audit's rules about what must be answered; in any other, everything must.
    bool const generated = about != nullptr;
    contract const& claim = options.claim ? *options.claim : default_contract(asked.asked.q.type);
    auto const instance = problem::make_instance(asked.asked.arguments());
    if (!instance) return instance.why();
    if (claim.type != asked.asked.q.type)
      return error{error_code::bad_type, asked.name + ".q",
                   fmt::format("element type is {}, the contract {} is about {}", problem::name_of(asked.asked.q.type),
                               claim.name, problem::name_of(claim.type))};
    if (!options.claim && made.contract.find(claim.name) == std::string::npos)
      made.contract += (made.contract.empty() ? "" : ",") + claim.name;
    check_result& row = collect.check_named(asked.check);
    case_result found;
    found.unsupported = !each.answers[0].has_value();
    interrupted |= interruptible([&] { return options.stop && options.stop->load(); },
                                 [&] { judge_case(asked, each.answers, {&claim, options.reproducible}, found); });
    if (found.unsupported) {
      ++row.unsupported;
      complete = complete && generated && !asked.mandatory;
      if (!generated) made.observations.push_back(asked.name + ".o: there is no recorded output, nothing to judge");
    } else {
      any = true;
    }
    made.oracle_seconds += found.oracle_seconds;
    row.seconds += found.oracle_seconds;
    for (std::string& sentence : found.observations) collect.observe(asked.check, std::move(sentence));
    row.conventions.insert(found.conventions.begin(), found.conventions.end());
    if (!asked.axis.empty()) made.curves.push_back({asked.axis, asked.place, found.judged.max_error_in_bounds, found.judged.failed > 0, number});
    collect.add(row, asked.name, about ? about->bug_class : bug_class::accuracy, sizes_of(asked.asked),
                std::move(found.judged), reproducer(options, claim));
  }
  options.tell(all, all, "");
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
