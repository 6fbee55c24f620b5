// attest verify: judges recorded outputs in safetensors files.
#include <tbb/global_control.h>

#include "audit/program/command.hpp"
#include "audit/program/judging_options.hpp"
#include "audit/program/parameter_options.hpp"
#include "audit/program/terminal.hpp"
#include "audit/session/audit.hpp"

namespace attest::audit {
namespace {

struct verify_words {
  verify_options options;
  judging judged;
  std::string inputs, outputs;
  std::optional<std::size_t> jobs;
};

int run(verify_words& asked) {
  verify_options& verify = asked.options;
  if (auto why = asked.judged.read()) return complain(why->message());
  verify.inputs = asked.inputs;
  if (!asked.outputs.empty()) verify.outputs = asked.outputs;
  verify.claim = asked.judged.claim();
  verify.contract_argument = asked.judged.contract_argument();
  verify.waived = asked.judged.waived();
  verify.stop = &listen_for_interrupts();
  verify.on_progress = progress_line{};
  std::optional<tbb::global_control> threads;
  if (asked.jobs) threads.emplace(tbb::global_control::max_allowed_parallelism, *asked.jobs);
  return asked.judged.answer(run_verify(verify));
}

}  // namespace

action verify_command(CLI::App& command) {
  auto const asked = std::make_shared<verify_words>();
  command.add_option("inputs", asked->inputs, "file with q k v, and perhaps o")->required()->type_name("INPUTS");
  command.add_option("outputs", asked->outputs, "file with o lse weights")->type_name("OUTPUTS");
  command.add_option("--jobs", asked->jobs, "threads; without it one a processor")->check(CLI::Range(1, 256));
  declare_overrides(command, asked->options.flags);
  asked->judged.declare(command);
  return [asked] { return run(*asked); };
}

}  // namespace attest::audit
