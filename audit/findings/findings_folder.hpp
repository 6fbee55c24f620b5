// The folder of saved findings: names that tell findings apart, and attest's own list of the files that it wrote there.
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

/// "CHECK-CLASS-CASE.safetensors" with '_' for what does not belong into a file's name. Where that loses something (a
/// character, the end of a long name, where the check ends), 16 digits of the SHA-256 of all three follow behind a dot.
/// Ensures   findings that differ in one of the three have different names
std::string findings_file_name(finding const& of);

/// The command line of a run, as far as it tells which runs before it looked at the same.
struct findings_run {
  std::string run;         ///< "audit --kernel ./k.so --contract f32"
  std::string single;      ///< what it looks at alone: " --replay FILE", " --only masks"; empty: everything
  std::string audit;       ///< of a shard: what all shards of its audit share; else empty
  std::int64_t shard = 0;  ///< its index; 0: it is no shard

  friend bool operator==(findings_run const&, findings_run const&) = default;
};

/// Writes findings into a folder, and attest-findings.json, an index of the files that attest wrote there:
/// {"attest": "findings", "schema": 1, "runs": [{"run", "single", "audit", "shard", "files": [names]}]}.
/// Ensures   only files that the index names are removed, and of these only plain names of regular files; nothing that
///           exists is overwritten. An index that anybody may have written can do no more than that. A run that still
///           works is not in the index, so that runs at the same time do not remove each other's files
class findings_folder {
 public:
  /// An empty folder: nothing is written or removed.
  findings_folder(std::filesystem::path folder, findings_run of) : folder_(std::move(folder)), of_(std::move(of)) {}

  /// Removes the files of earlier runs of this kernel and contract, so that those of a certified run are gone; a run
  /// that looks at single cases removes only what such a run before it wrote, and a shard leaves the files of its
  /// siblings.
  void remove_earlier() const;
  /// Writes a file under that name, or with -2, -3, … behind it where there is one already. A killed run leaves whole
  /// files, and at most attest-finding.attest-tmp, which the next run removes. An error names the file.
  problem::result<std::filesystem::path> save(std::string const& name, std::span<std::byte const> bytes);
  /// Adds the files that were saved to the index. An error names the index; the files are there all the same.
  std::optional<problem::error> list() const;

 private:
  std::filesystem::path folder_;
  findings_run of_;
  std::vector<std::string> saved_;
};

}  // namespace attest::audit
