// What all judging commands share: the contract, the waived classes, the files of the report.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "audit/audit.hpp"

namespace attest::audit {

class judging {
 public:
  /// Adds --contract, --waive, --json and --report.
  void declare(CLI::App& command);

  /// Reads the contract and checks the classes. An error names the option.
  std::optional<problem::error> read();

  /// After read(): the contract, or nullptr where none was named.
  contract const* claim() const noexcept { return claim_; }
  std::string const& contract_argument() const noexcept { return contract_; }
  names waived() const { return {waived_.begin(), waived_.end()}; }

  /// Writes the report wherever it was asked for; the result is the exit status.
  int answer(problem::result<report> const& made) const;
  /// The same for several kernels: their worst verdict is the exit status.
  int answer(std::span<report const> all) const;

 private:
  std::string contract_;
  std::vector<std::string> waived_;
  contract const* claim_ = nullptr;
  std::string json_, page_;
};

}  // namespace attest::audit
