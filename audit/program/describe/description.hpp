// The command line as data, read from the parser itself: the source of the manual page and of the completions of
// shells.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace attest::audit {

struct described_option {
  std::vector<std::string> names;  ///< "--kernel", or "-h" and "--help"; the name of an argument without dashes
  std::string summary;
  std::string value;               ///< the name of the value, "FILE"; empty for a flag
  std::vector<std::string> words;  ///< values that it accepts; a file's name may be another
  bool positional = false, required = false, several = false;
};

struct described_command {
  std::string name, summary, footer;
  std::vector<described_option> options;  ///< in the order of their declaration
};

struct description {
  described_command program;
  std::vector<described_command> commands;  ///< without the hidden ones
};

/// The commands and options that the parser accepts.
/// Requires  the root of the parsers, with all commands declared
description describe(CLI::App& root);

/// The page for `man`, in roff.
std::string manual_page(description const& all);

// The text from which each shell completes the words of a command line of `attest`.
std::string bash_completion(description const& all);
std::string zsh_completion(description const& all);
std::string fish_completion(description const& all);

}  // namespace attest::audit
