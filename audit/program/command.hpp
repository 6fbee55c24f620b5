// A command of the program: one word, its options, and what it does. command.cpp has the table of them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "audit/program/run.hpp"

namespace attest::audit {

/// Runs after the command line was read; the result is the exit status.
using action = std::function<int()>;

struct command {
  char const* name;
  char const* does;                      ///< one line of `attest --help`
  char const* example;                   ///< the end of its own --help
  action (*declare)(CLI::App& command);  ///< adds its options; the action reads what they were given
};

// One file each, of the same name.
action audit_command(CLI::App& command);
action verify_command(CLI::App& command);
action gen_command(CLI::App& command);
action solve_command(CLI::App& command);
action selftest_command(CLI::App& command);
action vectors_command(CLI::App& command);
action list_command(CLI::App& command);
action explain_command(CLI::App& command);
action merge_command(CLI::App& command);

/// Says on standard error what is wrong, and returns `usage`.
int complain(std::string const& message);

/// Accepts these words; another one is told the nearest.
CLI::Validator one_of(std::vector<std::string> words);

/// A seed that nobody chose; the report prints it.
std::uint64_t hidden_seed();

}  // namespace attest::audit
