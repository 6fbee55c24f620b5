// What `attest verify` is asked.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include "audit/asking/options.hpp"
#include "audit/contract/contract.hpp"
#include "audit/files/file_words.hpp"
#include "audit/files/problem_file.hpp"
#include "audit/files/tensor_group.hpp"
#include "audit/report/report.hpp"

namespace attest::audit {

struct verify_options {
  std::filesystem::path inputs;                  ///< the problems, and perhaps their outputs
  std::optional<std::filesystem::path> outputs;  ///< a second file with the outputs; the first's are not judged
  contract const* claim = nullptr;               ///< none: the preset of each problem's element type
  std::string contract_argument;
  flag_overrides flags;  ///< parameters that replace the file's
  file_words words;      ///< the names and the order of axes of both files
  names only;            ///< names of checks, CHECK/CASE or prefixes; empty: all
  names waived;
  bool reproducible = false, fail_fast = false;
  double outside = allowed_outside;  ///< the share of an output that may lie outside the hypotheses of the bound
  std::optional<double> budget;      ///< seconds from `begun` on, after which no case is judged
  std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();
  operator_table operators = problem::operators;       ///< whose problems the files may hold
  std::filesystem::path findings = "attest-findings";  ///< folder for the cases of findings; empty: none is saved
  std::atomic<bool> const* stop = nullptr;             ///< set by Ctrl-C: the report covers the cases so far
  progress on_progress = [](auto...) {};
};

}  // namespace attest::audit
