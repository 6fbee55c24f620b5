// attest gen: writes the audit's inputs, for a kernel that runs elsewhere.
#include "audit/contract/contract_file.hpp"
#include "audit/program/command.hpp"
#include "audit/session/audit.hpp"
#include "audit/support/files.hpp"

namespace attest::audit {
namespace {

struct gen_words {
  audit_options options;
  std::optional<std::uint64_t> seed;
  std::string out, contract = "f32";
};

int run(gen_words& asked) {
  auto const claim = contract_named(asked.contract);
  if (!claim) return complain("--contract: " + claim.why().message());
  asked.options.claim = &claim.value();
  asked.options.seed = asked.seed ? *asked.seed : hidden_seed();
  auto const bytes = run_gen(asked.options);
  if (!bytes) return complain(bytes.why().message());
  if (auto why = write_file(asked.out, bytes.value())) return complain("--out: " + why->message());
  return 0;
}

}  // namespace

action gen_command(CLI::App& command) {
  auto const asked = std::make_shared<gen_words>();
  command.add_option("--out", asked->out, "the file to write")->required()->type_name("FILE");
  command.add_option("--seed", asked->seed, "for the generated cases; drawn where it is not given");
  command.add_option("--contract", asked->contract, "whose element type the inputs have")->capture_default_str();
  command.add_flag("--quick", asked->options.quick, "fewer and smaller cases");
  return [asked] { return run(*asked); };
}

}  // namespace attest::audit
