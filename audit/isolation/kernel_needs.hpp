// What a kernel may reach beyond the files that it is made of, because the user says so.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "problem/result.hpp"

namespace attest::audit {

struct kernel_needs {
  bool device = false;                     ///< the files of accelerators, and all of /sys
  bool network = false;                    ///< sockets of every kind
  std::vector<std::string> readable = {};  ///< files, and folders with all below them; absolute paths

  /// Adds what a word of --allow says: "net" or "read:PATH". An error where it is neither, or where nothing is there.
  std::optional<problem::error> allow(std::string_view word);

  /// "device", "net", "read:PATH": what the runner is told, and the report.
  std::vector<std::string> words() const;
};

}  // namespace attest::audit
