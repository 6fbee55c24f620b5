// attest verify: judges recorded outputs in safetensors files.
#include <tbb/global_control.h>

#include "audit/program/command.hpp"
#include "audit/program/judging_options.hpp"
#include "audit/program/parameter_options.hpp"
#include "audit/program/terminal.hpp"
#include "audit/session/run_verify.hpp"

namespace attest::audit {
namespace {

struct verify_arguments {
  verify_options options;
  judging_options judging;
  std::string inputs, outputs;
  std::optional<std::size_t> jobs;
};

int run(verify_arguments& given) {
  verify_options& verify = given.options;
  if (auto why = given.judging.read()) return usage_error(why->message());
  verify.inputs = given.inputs;
  if (!given.outputs.empty()) verify.outputs = given.outputs;
  verify.claim = given.judging.claim();
  verify.contract_argument = given.judging.contract_argument();
  verify.waived = given.judging.waived();
  verify.stop = &listen_for_interrupts();
  verify.on_progress = progress_line{};
  std::optional<tbb::global_control> threads;
  if (given.jobs) threads.emplace(tbb::global_control::max_allowed_parallelism, *given.jobs);
  return given.judging.write_report(run_verify(verify));
}

}  // namespace

action verify_command(CLI::App& command) {
  auto const given = std::make_shared<verify_arguments>();
  command.add_option("inputs", given->inputs, "file with q k v, and perhaps o")->required()->type_name("INPUTS");
  command.add_option("outputs", given->outputs, "file with o lse weights")->type_name("OUTPUTS");
  command.add_option("--jobs", given->jobs, "threads; without it one a processor")->check(CLI::Range(1, 256));
  declare_parameter_options(command, given->options.flags);
  given->judging.declare(command);
  return [given] { return run(*given); };
}

}  // namespace attest::audit
