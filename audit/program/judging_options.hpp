// What all judging commands share: the contract, the waived classes, the files of the report.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "audit/session/audit.hpp"

namespace attest::audit {

/// Where a report goes besides standard output.
class report_files {
 public:
  /// Adds --json, --junit and --report.
  void declare(CLI::App& command);

  /// Writes the reports of one run, whose as_json is `text`; the result is the exit status, that of the worst verdict.
  int write(std::span<report const> all, std::string const& text) const;

 private:
  std::string json_, junit_, page_;
};

class judging {
 public:
  /// Adds --contract, --waive and what report_files adds.
  void declare(CLI::App& command);

  /// Reads the contract and checks the classes. An error names the option.
  std::optional<problem::error> read();

  /// After read(): the contract, or nullptr where none was named.
  contract const* claim() const noexcept { return claim_ ? &*claim_ : nullptr; }
  std::string const& contract_argument() const noexcept { return contract_; }
  names waived() const { return {waived_.begin(), waived_.end()}; }

  /// Writes the report wherever it was asked for; the result is the exit status.
  int answer(problem::result<report> const& made) const;
  /// The same for several kernels: their worst verdict is the exit status.
  int answer(std::span<report const> all) const;

 private:
  std::string contract_;
  std::vector<std::string> waived_;
  std::optional<contract> claim_;
  report_files files_;
};

}  // namespace attest::audit
