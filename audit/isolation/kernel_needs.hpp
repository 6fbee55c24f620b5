// What a kernel may reach in addition to the files that it consists of, because the user allows it.
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

  /// Adds the permission of a word of --allow: "net" or "read:PATH". Returns an error if it is neither, or if nothing
  /// has that path.
  std::optional<problem::error> allow(std::string_view word);

  /// "device", "net", "read:PATH": the words for the runner and for the report.
  std::vector<std::string> words() const;
};

}  // namespace attest::audit
