// attest gen: writes the audit's inputs, for a kernel that runs elsewhere.
#include "audit/contract/contract_file.hpp"
#include "audit/program/command.hpp"
#include "audit/session/run_gen.hpp"
#include "audit/support/files.hpp"

namespace attest::audit {
namespace {

struct gen_arguments {
  audit_options options;
  std::optional<std::uint64_t> seed;
  std::string out, contract = "f32";
};

int run(gen_arguments& arguments) {
  auto const claim = contract_named(arguments.contract);
  if (!claim) return usage_error("--contract: " + claim.why().message());
  arguments.options.claim = &claim.value();
  arguments.options.seed = arguments.seed ? *arguments.seed : random_seed();
  auto const bytes = run_gen(arguments.options);
  if (!bytes) return usage_error(bytes.why().message());
  if (auto why = write_file(arguments.out, bytes.value())) return usage_error("--out: " + why->message());
  return 0;
}

}  // namespace

action gen_command(CLI::App& command) {
  auto const arguments = std::make_shared<gen_arguments>();
  command.add_option("--out", arguments->out, "the file to write")->required()->type_name("FILE");
  command.add_option("--seed", arguments->seed, "for the generated cases; drawn where it is not given");
  command.add_option("--contract", arguments->contract, "whose element type the inputs have")->capture_default_str();
  command.add_flag("--quick", arguments->options.quick, "fewer and smaller cases");
  return [arguments] { return run(*arguments); };
}

}  // namespace attest::audit
