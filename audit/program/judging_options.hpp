// The options that `audit`, `verify` and `merge` share: the contract, the waived checks, the files of the report.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "audit/asking/options.hpp"
#include "audit/contract/contract.hpp"
#include "audit/program/outputs.hpp"
#include "audit/report/baseline.hpp"
#include "audit/report/report.hpp"
#include "problem/result.hpp"

namespace attest::audit {

/// The files to which a report is written, in addition to standard output.
class report_files {
 public:
  /// Adds --json, --junit, --sarif, --report and --baseline, and how much text goes to standard output.
  void declare(CLI::App& command);

  /// Finds and tries the files before the command's work, as outputs::open does.
  std::optional<problem::error> open(std::vector<std::filesystem::path> inputs);

  /// The fault if `folder`, which `option` names, is a file to which a report is written.
  std::optional<problem::error> folder_fault(std::string const& option, std::filesystem::path const& folder) const {
    return opened_.folder_fault(option, folder);
  }

  /// Puts the reports of one run beside the baseline, and writes them to standard output and the files. Requires
  /// open().
  /// Ensures   the exit status of the worst verdict. If a report cannot be written, `usage`, with a sentence that names
  ///           the verdict
  int write(std::vector<report> reports) const;

  bool has_baseline() const noexcept { return !baseline_.empty(); }

 private:
  std::string text_of(std::span<report const> all) const;
  std::optional<problem::error> read_baseline();

  std::string json_, junit_, sarif_, page_, colour_ = "auto";
  std::string baseline_;
  baseline known_;
  bool verbose_ = false, quiet_ = false, update_ = false;
  outputs opened_;
};

class judging_options {
 public:
  /// Adds --contract, --waive, --outside and the options of report_files.
  void declare(CLI::App& command);

  /// Reads the contract and refuses waived classes. An error names the option. `usual` is the contract whose
  /// conventions --accept changes if none is named; empty: one must be.
  std::optional<problem::error> read(std::string const& usual = "");

  /// Does --accept change the contract that is used if none is named?
  bool needs_usual() const noexcept { return contract_.empty() && !accepted_.empty(); }

  /// Finds and tries the files of the report, and the folder of findings if it is not empty. `inputs` are the files
  /// that the command reads in addition to the contract.
  /// Requires read(), and that no other argument is wrong.
  std::optional<problem::error> open_files(std::vector<std::filesystem::path> inputs,
                                           std::filesystem::path const& findings);

  /// The contract, or nullptr if none was named. Requires read().
  contract const* claim() const noexcept { return claim_ ? &*claim_ : nullptr; }
  std::string const& contract_argument() const noexcept { return contract_; }
  names waived() const { return {waived_.begin(), waived_.end()}; }
  double outside() const noexcept { return outside_; }
  bool has_baseline() const noexcept { return files_.has_baseline(); }

  /// Writes the report as report_files::write does, or the error.
  int write_report(problem::result<report> const& verified) const;
  /// Writes the reports of several kernels.
  int write_reports(std::span<report const> all) const;

 private:
  std::string contract_;
  std::vector<std::string> waived_, accepted_;
  double outside_ = allowed_outside;
  std::optional<contract> claim_;
  report_files files_;
};

}  // namespace attest::audit
