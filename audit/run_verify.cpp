#include <chrono>

#include <fmt/format.h>

#include "audit/audit.hpp"
#include "audit/diagnosis.hpp"

namespace attest::audit {

problem::result<report> run_verify(verify_options const& options) {
  auto const file = read_safetensors(options.inputs);
  if (!file) return file.why();
  auto recorded = recorded_problems(file.value(), options.flags);
  if (!recorded) return recorded.why();
  if (options.outputs) {
    auto const outputs = read_safetensors(*options.outputs);
    if (!outputs) return outputs.why();
    recorded = with_outputs(std::move(recorded).value(), outputs.value());
    if (!recorded) return recorded.why();
  }

  report made;
  made.kernel = options.outputs ? options.outputs->string() : options.inputs.string();
  made.contract = options.claim ? options.claim->name : "";
  made.observations = recorded.value().notes;
  for (std::string const& name : recorded.value().ignored) made.observations.push_back("ignored: " + name);
  collector collect(made, options.waived);
  bool complete = true;
  for (recorded_problem const& each : recorded.value().problems) {
    std::string const name = each.prefix.empty() ? "(no prefix)" : each.prefix;
    check_result& row = collect.check_named(name);
    auto const asked = problem::make_instance(each.asked.arguments());
    if (!asked) return asked.why();
    contract const& claim = options.claim ? *options.claim : default_contract(each.asked.q.type);
    if (claim.type != each.asked.q.type)
      return problem::error{problem::error_code::bad_type, each.name_of("q"),
                            fmt::format("element type is {}, the contract {} is about {}",
                                        problem::name_of(each.asked.q.type), claim.name, problem::name_of(claim.type))};
    if (!options.claim && made.contract.find(claim.name) == std::string::npos)
      made.contract += (made.contract.empty() ? "" : ",") + claim.name;
    if (!each.answered.o && !each.answered.lse && !each.answered.weights) {
      ++row.cases;
      ++made.cases;
      ++row.unsupported;
      complete = false;
      made.observations.push_back(each.name_of("o") + ": there is no recorded output, nothing to judge");
      continue;
    }
    auto const start = std::chrono::steady_clock::now();
    judgement judged = judge(asked.value(), each.answered, claim);
    for (violation& v : judged.violations) {
      diagnosis const d = diagnose(each.asked, v);
      if (!d.sentence.empty()) v.sentence += "; " + d.sentence;
      if (v.bug_class.empty()) v.bug_class = d.bug_class;
    }
    made.oracle_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    collect.add(row, name, "accuracy", std::visit([](auto const& p) { return p.size(); }, asked.value()),
                std::move(judged), fmt::format("attest verify {}{} --contract {}", options.inputs.string(),
                                               options.outputs ? " " + options.outputs->string() : "", claim.name));
  }
  collect.finish(complete, "a problem has no recorded output");
  return made;
}

}  // namespace attest::audit
