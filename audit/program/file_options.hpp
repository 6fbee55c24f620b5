// The options that say how a file is read: the order of its axes, names of its tensors, and what causal means.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "audit/files/file_words.hpp"
#include "audit/files/problem_file.hpp"
#include "problem/result.hpp"

namespace attest::audit {

/// Accepts these orders of axes, and the words of the libraries for them.
CLI::Validator is_order(std::vector<std::string> orders);

class file_options {
 public:
  /// Adds --layout, --kv-layout and --names. `of` is the file: "the file".
  void declare(CLI::App& command, std::string const& of);
  /// Adds --causal, which stands for --right, --align and --diagonal.
  void declare_causal(CLI::App& command);

  /// Reads the names, and sets the flags that --causal stands for.
  std::optional<problem::error> read(flag_overrides& flags);
  /// Requires read()
  file_words const& words() const noexcept { return words_; }

 private:
  file_words words_;
  std::vector<std::string> names_;
  std::string causal_;
};

}  // namespace attest::audit
