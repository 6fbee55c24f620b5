// attest audit: runs a kernel on adversarial inputs and judges every element.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ranges>

#include <fmt/format.h>

#include "audit/builtin/kernel_spec.hpp"
#include "audit/cases/domain/size_word.hpp"
#include "audit/program/command.hpp"
#include "audit/program/file_options.hpp"
#include "audit/program/judging_options.hpp"
#include "audit/program/terminal.hpp"
#include "audit/program/usage_words.hpp"
#include "audit/report/coverage/coverage_words.hpp"
#include "audit/session/compare.hpp"
#include "audit/support/words.hpp"

namespace attest::audit {
namespace {

struct audit_arguments {
  audit_options options;
  judging_options judging;
  file_options file;
  std::vector<std::string> kernels{"builtin"}, only, allowed;
  std::optional<std::uint64_t> seed;
  std::optional<int> channel;
  std::string part;
  std::optional<std::string> domain;
  std::string refusals = "rule";
};

/// "2/5" as shard 2 of 5. Returns nothing if the text is no shard.
std::optional<shard> parse_shard(std::string const& text) {
  shard part;
  char rest = 0;
  if (std::sscanf(text.c_str(), "%ld/%ld%c", &part.index, &part.of, &rest) != 2) return std::nullopt;
  if (part.index < 1 || part.of > 1'000'000 || part.index > part.of) return std::nullopt;
  return part;
}

int run(audit_arguments& arguments) {
  audit_options& audit = arguments.options;
  if (auto why = arguments.judging.read("f32")) return usage_error(why->message());
  flag_overrides none;
  if (auto why = arguments.file.read(none)) return usage_error(why->message());
  audit.replay_words = arguments.file.words();
  if (!audit.replay_words.empty() && !audit.replay)
    return usage_error(
        "--layout, --kv-layout and --names: say how the file of --replay is read; a kernel gets strides, and "
        "--domain says which calls it takes");
  audit.claim = arguments.judging.claim() ? arguments.judging.claim() : find_contract("f32");
  audit.contract_argument = arguments.judging.claim() ? arguments.judging.contract_argument() : audit.claim->name;
  audit.seed = arguments.seed ? *arguments.seed : random_seed();
  audit.only = {arguments.only.begin(), arguments.only.end()};
  audit.waived = arguments.judging.waived();
  audit.outside = arguments.judging.outside();
  for (std::string const& word : arguments.allowed)
    if (auto why = audit.needs.allow(word)) return usage_error(why->message());
  auto const known = support_names();
  for (std::string const& name : audit.required_support)
    if (std::ranges::find(known, name) == known.end() && !size_word::of(name))
      return usage_error(fmt::format("--require-support: nothing is called '{}'{}; the names are {}, and sizes of {}",
                                     name, did_you_mean(name, known), fmt::join(known, ", "),
                                     fmt::join(size_axes | std::views::transform(&size_axis::name), ", ")));
  if (auto why = read_domain(arguments.domain, audit)) return usage_error(why->message());
  audit.strict_refusals = arguments.refusals == "strict";
  audit.on_progress = progress_line{};
  if (!arguments.part.empty()) {
    audit.part = parse_shard(arguments.part);
    if (!audit.part) return usage_error("--shard: '" + arguments.part + "' is not i/n with 1 <= i <= n");
    if (!arguments.seed) return usage_error("--shard: needs --seed, so that all parts ask the same inputs");
  }
  if (arguments.judging.has_baseline() && (audit.part || audit.fail_fast))
    return usage_error(audit.part ? "--baseline: belongs to `attest merge`, not to a shard"
                                  : "--baseline: needs every finding, and --fail-fast stops at the first one");
  if (arguments.channel) {
    if (arguments.kernels.size() != 1) return usage_error("--channel: serves one kernel, several are named");
    if (audit.require_isolation)
      return usage_error("--channel: a kernel in another process is not isolated, which --require-isolation asks for");
    if (auto why = channel_fault(*arguments.channel)) return usage_error(why->message());
    audit.channel = *arguments.channel;
  }
  std::vector<std::filesystem::path> inputs;
  if (audit.replay) inputs.push_back(*audit.replay);
  for (std::string const& kernel : arguments.kernels) {
    auto const library = library_of(kernel, audit.channel);
    if (!library) return usage_error(library.why().message());
    if (!library.value().is_process()) inputs.push_back(library.value().path);
  }
  if (auto why = arguments.judging.open_files(std::move(inputs), audit.findings)) return usage_error(why->message());
  audit.stop = &listen_for_interrupts();
  auto const reports = run_audits(audit, arguments.kernels);
  return reports ? arguments.judging.write_reports(std::span(reports.value())) : usage_error(reports.why().message());
}

}  // namespace

action audit_command(CLI::App& command) {
  auto const arguments = std::make_shared<audit_arguments>();
  audit_options& audit = arguments->options;
  command
      .add_option(
          "--kernel", arguments->kernels,
          "builtin, builtin:SET, PATH[:SYMBOL] of a shared library, or 'command:WORDS' of a program that serves "
          "one; several are compared")
      ->allow_extra_args(false)
      ->capture_default_str();
  command.add_option("--seed", arguments->seed, "for the generated cases; drawn where it is not given")
      ->transform(whole_number());
  command.add_option("--only", arguments->only, "these checks or CHECK/CASE names")
      ->delimiter(',')
      ->type_name("NAME,…");
  command
      .add_option("--require-support", audit.required_support,
                  "undecided unless the kernel supports these features and sizes (d=64, n=1); also lse, weights")
      ->delimiter(',')
      ->type_name("FEATURE,…");
  command
      .add_option("--domain", arguments->domain,
                  "the calls that the kernel takes, such as 'd=64,128 dv=d n%128 m=n'; without it, they are found")
      ->type_name("DOMAIN");
  command
      .add_option("--refusals", arguments->refusals,
                  "rule: an error outside the domain is a refusal; strict: it is a finding")
      ->check(one_of({"rule", "strict"}))
      ->capture_default_str();
  command.add_flag("--quick", audit.quick, "fewer and smaller cases");
  command.add_flag("--fail-fast", audit.fail_fast, "stop at the first refuting finding");
  command.add_flag("--reproducible", audit.reproducible,
                   "answers may not depend on threads, batch position or company");
  command.add_flag("--require-concurrent-calls", audit.require_concurrent_calls,
                   "calls that several threads make at the same time must be right");
  command.add_flag("--require-isolation", audit.require_isolation,
                   "do not load a kernel where the system forbids a protection");
  command.add_flag("--device", audit.needs.device,
                   "the kernel uses an accelerator: it may open the files of its driver");
  command.add_option("--allow", arguments->allowed, "what else the kernel may reach: read:PATH, net; repeatable")
      ->allow_extra_args(false)
      ->type_name("NEED");
  command
      .add_option("--channel", arguments->channel,
                  "the kernel is served through this descriptor, by the process that started attest")
      ->check(CLI::Range(3, 1 << 20))
      ->type_name("FD");
  command.add_option("--jobs", audit.jobs, "kernels asked at the same time")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  command.add_option("--budget", audit.budget, "end after so many seconds")
      ->check(real_between(0.1, 1e6))
      ->type_name("SECONDS");
  command
      .add_option("--draws", audit.draws, "cases drawn after the fixed part; without it, as many as the time allows")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1'000'000'000}))
      ->type_name("N");
  command
      .add_option("--draw-products", audit.draw_products,
                  "the most multiplications of a large call; without it, what the kernel's speed allows")
      ->check(CLI::Range(std::int64_t{1} << 16, std::int64_t{1} << 40))
      ->type_name("N");
  command.add_option("--soak", audit.soak, "draw for so many minutes")
      ->check(real_between(0.1, 1e5))
      ->excludes("--budget", "--draws")
      ->type_name("MINUTES");
  command.add_option("--replay", audit.replay, "ask the problems of this file instead of generated ones")
      ->type_name("FILE");
  arguments->file.declare(command, "the file of --replay");
  command.add_option("--findings", audit.findings, "folder for the shrunk inputs of findings")->capture_default_str();
  command.add_option("--shard", arguments->part, "ask the i-th of n parts of the cases; needs --seed")
      ->type_name("i/n");
  arguments->judging.declare(command);
  return [arguments] { return run(*arguments); };
}

}  // namespace attest::audit
