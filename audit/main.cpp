// The program `attest`. Exit status: 0 certified, 1 refuted, 2 bad usage or unreadable input, 3 undecided.
#include <cstdio>
#include <random>
#include <vector>

#include <fmt/format.h>

#include "audit/commands/command.hpp"
#include "audit/report.hpp"

namespace attest::audit {
namespace {

constexpr command commands[]{
    {"audit", "run a kernel on adversarial inputs and judge every element",
     "Example: attest audit --kernel ./libmine.so --contract f32 --json report.json", audit_command},
    {"verify", "judge recorded outputs in safetensors files",
     "Example: attest verify dump.safetensors --contract f32\n"
     "Tensors q k v o (mask bias lse weights), with prefixes such as layer0. for several problems.", verify_command},
    {"gen", "write the audit's inputs, for a kernel that runs elsewhere",
     "Example: attest gen --out cases.safetensors, run your kernel, then\n"
     "         attest verify cases.safetensors outputs.safetensors", gen_command},
    {"solve", "certified or correctly rounded answers",
     "Example: attest solve in.safetensors --out out.safetensors --round f32\n"
     "Without --round: o.lower, o.upper, … as outward-rounded f64.", solve_command},
    {"selftest", "the audit against kernels with known defects, and honest ones", "Example: attest selftest --jobs 2",
     selftest_command},
    {"vectors", "write certified test vectors as JSON", "Example: attest vectors --out vectors", vectors_command},
    {"list", "what there is", "Example: attest list contracts", list_command},
};

}  // namespace

/// The program without its last catch: fuzz/cli.cpp calls it.
int run(int argc, char** argv) {
  CLI::App app{"attest: attention kernels, judged against certified truth"};
  app.set_version_flag("--version", fmt::format("attest {}", version));
  app.require_subcommand(1);
  app.footer("Exit status: 0 certified, 1 refuted, 2 bad usage or unreadable input, 3 undecided.");
  struct declared {
    CLI::App* parser;
    action act;
  };
  std::vector<declared> all;
  for (command const& each : commands) {
    CLI::App* const parser = app.add_subcommand(each.name, each.does);
    parser->footer(each.example);
    all.push_back({parser, each.declare(*parser)});
  }
  try {
    app.parse(argc, argv);
  } catch (CLI::ParseError const& e) {
    return app.exit(e, std::cout, std::cerr) == 0 ? 0 : usage;
  }
  for (auto const& [parser, act] : all)
    if (parser->parsed()) return act();
  return usage;
}

int complain(std::string const& message) {
  fmt::print(stderr, "attest: {}\n", message);
  return usage;
}

std::uint64_t hidden_seed() {
  std::random_device device;
  return device() % 1'000'000'000u;
}

}  // namespace attest::audit

int main(int argc, char** argv) {
  try {
    return attest::audit::run(argc, argv);
  } catch (std::exception const& e) {
    std::fprintf(stderr, "attest: internal error: %s\n", e.what());
    return attest::audit::usage;
  }
}
