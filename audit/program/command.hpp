// A command of the program: its word, its options and its action. The table of all commands is in command.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "audit/program/run.hpp"

namespace attest::audit {

/// The action of a command after the command line was read; returns the exit status.
using action = std::function<int()>;

struct command {
  char const* name;
  char const* summary;                   ///< its line in `attest --help`
  char const* example;                   ///< the last lines of its own --help
  action (*declare)(CLI::App& command);  ///< adds its options; the action reads their values
};

// Each command is in the file of its name.
action audit_command(CLI::App& command);
action verify_command(CLI::App& command);
action gen_command(CLI::App& command);
action solve_command(CLI::App& command);
action reference_command(CLI::App& command);
action selftest_command(CLI::App& command);
action vectors_command(CLI::App& command);
action list_command(CLI::App& command);
action explain_command(CLI::App& command);
action merge_command(CLI::App& command);
action why_command(CLI::App& command);
action describe_command(CLI::App& command);

/// Prints the message to standard error and returns the exit status `usage`.
int usage_error(std::string const& message);

/// Prints the sentences to standard error, a line each.
void tell(std::vector<std::string> const& sentences);

/// Prints text to standard output.
/// Ensures   the exit status: `status`, or `usage`, with a sentence, if it cannot be written
int print(std::string_view text, int status = 0);

/// Accepts these words; for any other, the message names the nearest one. Its own name is the words, with commas.
CLI::Validator one_of(std::vector<std::string> words);

/// A number of this range; CLI::Range accepts NaN, too.
CLI::Validator real_between(double least, double most);

/// A seed for an audit without --seed; the report prints it.
std::uint64_t random_seed();

}  // namespace attest::audit
