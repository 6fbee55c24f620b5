// attest audit: runs a kernel on adversarial inputs and judges every element.
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "audit/program/command.hpp"
#include "audit/program/judging_options.hpp"
#include "audit/program/terminal.hpp"
#include "audit/session/compare.hpp"

namespace attest::audit {
namespace {

/// For options with CLI::Range, which accepts NaN.
CLI::Validator const is_a_number(
    [](std::string const& text) { return std::isnan(std::strtod(text.c_str(), nullptr)) ? "is not a number" : ""; },
    "");

struct audit_arguments {
  audit_options options;
  judging_options judging;
  std::vector<std::string> kernels{"builtin"}, only;
  std::optional<std::uint64_t> seed;
  std::string part;
};

/// "2/5" as shard 2 of 5; nothing where the text is no shard.
std::optional<shard> parse_shard(std::string const& text) {
  shard made;
  char rest = 0;
  if (std::sscanf(text.c_str(), "%ld/%ld%c", &made.index, &made.of, &rest) != 2) return std::nullopt;
  if (made.index < 1 || made.of > 1'000'000 || made.index > made.of) return std::nullopt;
  return made;
}

int run(audit_arguments& given) {
  audit_options& audit = given.options;
  if (auto why = given.judging.read()) return usage_error(why->message());
  audit.claim = given.judging.claim() ? given.judging.claim() : find_contract("f32");
  audit.contract_argument = given.judging.claim() ? given.judging.contract_argument() : audit.claim->name;
  audit.seed = given.seed ? *given.seed : random_seed();
  audit.only = {given.only.begin(), given.only.end()};
  audit.waived = given.judging.waived();
  audit.on_progress = progress_line{};
  if (!given.part.empty()) {
    audit.part = parse_shard(given.part);
    if (!audit.part) return usage_error("--shard: '" + given.part + "' is not i/n with 1 <= i <= n");
    if (!given.seed) return usage_error("--shard: needs --seed, so that all parts ask the same inputs");
  }
  audit.stop = &listen_for_interrupts();
  auto const reports = run_audits(audit, given.kernels);
  return reports ? given.judging.write_reports(std::span(reports.value())) : usage_error(reports.why().message());
}

}  // namespace

action audit_command(CLI::App& command) {
  auto const given = std::make_shared<audit_arguments>();
  audit_options& audit = given->options;
  command
      .add_option("--kernel", given->kernels,
                  "builtin, builtin:SET, or PATH[:SYMBOL] of a shared library; several are compared")
      ->allow_extra_args(false)
      ->capture_default_str();
  command.add_option("--seed", given->seed, "for the generated cases; drawn where it is not given");
  command.add_option("--only", given->only, "these checks or CHECK/CASE names")->delimiter(',')->type_name("NAME,…");
  command.add_flag("--quick", audit.quick, "fewer and smaller cases");
  command.add_flag("--fail-fast", audit.fail_fast, "stop at the first refuting finding");
  command.add_flag("--reproducible", audit.reproducible,
                   "answers may not depend on threads, batch position or company");
  command.add_option("--jobs", audit.jobs, "kernels asked at the same time")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  command.add_option("--budget", audit.budget, "end after so many seconds")
      ->check(CLI::Range(0.1, 1e6))
      ->check(is_a_number)
      ->type_name("SECONDS");
  command.add_option("--replay", audit.replay, "ask the problems of this file instead of generated ones")
      ->type_name("FILE");
  command.add_option("--findings", audit.findings, "folder for the shrunk inputs of findings")->capture_default_str();
  command.add_option("--shard", given->part, "ask the i-th of n parts of the cases; needs --seed")->type_name("i/n");
  given->judging.declare(command);
  return [given] { return run(*given); };
}

}  // namespace attest::audit
