// attest audit: runs a kernel on adversarial inputs and judges every element.
#include "audit/session/audit.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "audit/program/command.hpp"
#include "audit/program/judging_options.hpp"
#include "audit/program/terminal.hpp"
#include "audit/session/compare.hpp"

namespace attest::audit {
namespace {

/// CLI::Range lets NaN through.
CLI::Validator const is_a_number(
    [](std::string const& text) { return std::isnan(std::strtod(text.c_str(), nullptr)) ? "is not a number" : ""; },
    "");

struct audit_words {
  audit_options options;
  judging judged;
  std::vector<std::string> kernels{"builtin"}, only;
  std::optional<std::uint64_t> seed;
  std::string part;
};

/// "2/5" as part 2 of 5; nothing where it is none.
std::optional<shard> parse_shard(std::string const& text) {
  shard made;
  char rest = 0;
  if (std::sscanf(text.c_str(), "%ld/%ld%c", &made.index, &made.of, &rest) != 2) return std::nullopt;
  if (made.index < 1 || made.of > 1'000'000 || made.index > made.of) return std::nullopt;
  return made;
}

int run(audit_words& asked) {
  audit_options& audit = asked.options;
  if (auto why = asked.judged.read()) return complain(why->message());
  audit.claim = asked.judged.claim() ? asked.judged.claim() : find_contract("f32");
  audit.contract_argument = asked.judged.claim() ? asked.judged.contract_argument() : audit.claim->name;
  audit.seed = asked.seed ? *asked.seed : hidden_seed();
  audit.only = {asked.only.begin(), asked.only.end()};
  audit.waived = asked.judged.waived();
  audit.on_progress = progress_line{};
  if (!asked.part.empty()) {
    audit.part = parse_shard(asked.part);
    if (!audit.part) return complain("--shard: '" + asked.part + "' is not i/n with 1 <= i <= n");
    if (!asked.seed) return complain("--shard: needs --seed, so that all parts ask the same inputs");
  }
  audit.stop = &listen_for_interrupts();
  auto const reports = run_audits(audit, asked.kernels);
  return reports ? asked.judged.answer(std::span(reports.value())) : complain(reports.why().message());
}

}  // namespace

action audit_command(CLI::App& command) {
  auto const asked = std::make_shared<audit_words>();
  audit_options& audit = asked->options;
  command
      .add_option("--kernel", asked->kernels,
                  "builtin, builtin:SET, or PATH[:SYMBOL] of a shared library; several are compared")
      ->allow_extra_args(false)
      ->capture_default_str();
  command.add_option("--seed", asked->seed, "for the generated cases; drawn where it is not given");
  command.add_option("--only", asked->only, "these checks or CHECK/CASE names")->delimiter(',')->type_name("NAME,…");
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
  command.add_option("--shard", asked->part, "ask the i-th of n parts of the cases; needs --seed")->type_name("i/n");
  asked->judged.declare(command);
  return [asked] { return run(*asked); };
}

}  // namespace attest::audit
