// The options of a repository: the tables of attest.toml, or [tool.attest] of pyproject.toml.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "problem/result.hpp"

namespace attest::audit {

struct settings {
  std::filesystem::path file;      ///< empty: no file was read
  std::vector<std::string> words;  ///< --NAME, --NAME=VALUE
};

/// Adds --config and --no-config, which read_settings looks for.
void declare_settings(CLI::App& command);

/// The options that the file has for the command of `words`, without the options that `words` give and the options that
/// these exclude. The file is the one of --config, else attest.toml of the current folder, else its pyproject.toml.
/// Ensures   no words if the command reads no settings, with --no-config, and if there is no file. An error names the
///           file, the table and the key
problem::result<settings> read_settings(CLI::App const& program, std::vector<std::string> const& words);

}  // namespace attest::audit
