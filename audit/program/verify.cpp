// attest verify: judges recorded outputs in safetensors files.
#include <tbb/global_control.h>

#include "audit/files/dtype.hpp"
#include "audit/program/command.hpp"
#include "audit/program/file_options.hpp"
#include "audit/program/judging_options.hpp"
#include "audit/program/parameter_options.hpp"
#include "audit/program/terminal.hpp"
#include "audit/session/run_verify.hpp"
#include "audit/support/files.hpp"
#include "problem/element_names.hpp"

namespace attest::audit {
namespace {

struct verify_arguments {
  verify_options options;
  judging_options judging;
  file_options file;
  std::string inputs, outputs;
  std::vector<std::string> only;
  std::optional<std::size_t> jobs;
};

/// The contract of the first problem of a file, if it can be read twice. Empty if it cannot be known.
std::string usual_contract(std::string const& path, file_words const& words) {
  if (!can_be_read_again(path)) return "";
  std::vector<std::string> notes;
  auto const file = read_in_words(path, words, notes);
  if (!file) return "";
  for (auto const& [name, tensor] : file.value().tensors)
    if (name == "q" || name.ends_with(".q"))
      if (auto const type = floating_type(tensor.dtype)) return std::string(problem::name_of(*type));
  return "";
}

int run(verify_arguments& arguments) {
  verify_options& verify = arguments.options;
  if (auto why = arguments.file.read(verify.flags)) return usage_error(why->message());
  verify.words = arguments.file.words();
  std::string const usual =
      arguments.judging.needs_usual() ? usual_contract(arguments.inputs, verify.words) : std::string();
  if (auto why = arguments.judging.read(usual)) return usage_error(why->message());
  verify.inputs = arguments.inputs;
  if (!arguments.outputs.empty()) verify.outputs = arguments.outputs;
  verify.claim = arguments.judging.claim();
  verify.contract_argument = arguments.judging.contract_argument();
  verify.waived = arguments.judging.waived();
  verify.outside = arguments.judging.outside();
  verify.only = {arguments.only.begin(), arguments.only.end()};
  std::vector<std::filesystem::path> inputs{verify.inputs};
  if (verify.outputs) inputs.push_back(*verify.outputs);
  if (auto why = arguments.judging.open_files(std::move(inputs), verify.findings)) return usage_error(why->message());
  verify.stop = &listen_for_interrupts();
  verify.on_progress = progress_line{};
  std::optional<tbb::global_control> threads;
  if (arguments.jobs) threads.emplace(tbb::global_control::max_allowed_parallelism, *arguments.jobs);
  return arguments.judging.write_report(run_verify(verify));
}

}  // namespace

action verify_command(CLI::App& command) {
  auto const arguments = std::make_shared<verify_arguments>();
  command.add_option("inputs", arguments->inputs, "file with q k v, and perhaps o")->required()->type_name("INPUTS");
  command.add_option("outputs", arguments->outputs, "file with o lse weights")->type_name("OUTPUTS");
  command.add_option("--jobs", arguments->jobs, "threads; without it one a processor")->check(CLI::Range(1, 256));
  command.add_option("--only", arguments->only, "these checks, CHECK/CASE names or prefixes")
      ->delimiter(',')
      ->type_name("NAME,…");
  command.add_flag("--reproducible", arguments->options.reproducible,
                   "answers may not depend on threads, batch position or company");
  command.add_flag("--fail-fast", arguments->options.fail_fast, "stop at the first problem with a refuting finding");
  command.add_option("--budget", arguments->options.budget, "end after so many seconds")
      ->check(real_between(0.1, 1e6))
      ->type_name("SECONDS");
  command.add_option("--findings", arguments->options.findings, "folder for the cases of findings, a file each")
      ->capture_default_str();
  arguments->file.declare(command, "the file");
  arguments->file.declare_causal(command);
  declare_parameter_options(command, arguments->options.flags);
  arguments->judging.declare(command);
  return [arguments] { return run(*arguments); };
}

}  // namespace attest::audit
