// The folder of saved findings: file names that distinguish findings, and attest's own list of the files that it wrote
// there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "audit/report/report.hpp"
#include "problem/result.hpp"

namespace attest::audit {

/// "CHECK-CLASS-CASE.safetensors" with '_' for characters that do not belong in a file's name. If that loses
/// information (a character, the end of a long name, the end of the check), a dot and 16 digits of the SHA-256 of all
/// three follow.
/// Ensures   findings that differ in one of the three have different names
std::string findings_file_name(finding const& of);

/// The command line of a run, as far as it shows which earlier runs looked at the same.
struct findings_run {
  std::string run;         ///< "audit --kernel ./k.so --contract f32"
  std::string single;      ///< the part that it looks at alone: " --replay FILE", " --only masks"; empty: everything
  std::string audit;       ///< for a shard, the words that all shards of its audit share; else empty
  std::int64_t shard = 0;  ///< the index of the shard; 0: it is no shard

  friend bool operator==(findings_run const&, findings_run const&) = default;
};

/// Writes findings into a folder, and attest-findings.json, an index of the files that attest wrote there:
/// {"attest": "findings", "schema": 1, "runs": [{"run", "single", "audit", "shard", "files": [names]}]}.
/// Ensures   only files that the index names are removed, and only if they have plain names of regular files. No
///           existing file is overwritten, so that an index from anywhere can do no more harm. A run that still works
///           is not in the index, so that runs at the same time do not remove each other's files
class findings_folder {
 public:
  /// An empty folder: no file is written or removed.
  findings_folder(std::filesystem::path folder, findings_run of) : folder_(std::move(folder)), of_(std::move(of)) {}

  /// Removes the files of earlier runs of this kernel and contract, so that files of a run before a certified one are
  /// gone, too. A run that looks at single cases removes only files of earlier runs of the same kind; a shard leaves
  /// the files of its siblings.
  void remove_earlier() const;
  /// Writes a file under that name, or with -2, -3, … behind it if the name is taken. A killed run leaves whole files,
  /// and at most attest-finding.attest-tmp, which the next run removes. An error names the file.
  problem::result<std::filesystem::path> save(std::string const& name, std::span<std::byte const> bytes);
  /// Adds the files that were saved to the index. An error names the index; the files are there all the same.
  std::optional<problem::error> list() const;

 private:
  std::filesystem::path folder_;
  findings_run of_;
  std::vector<std::string> saved_;
};

}  // namespace attest::audit
