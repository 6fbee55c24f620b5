// Where the code of a kernel is: a shared library, a program that serves a kernel, or a process that does so already.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "problem/operators.hpp"

namespace attest::audit {

/// By default a shared library, and the name of its function with the interface of attest/kernel.h. The other two kinds
/// serve calls by attest/serve.h.
struct kernel_library {
  std::filesystem::path path;  ///< of the library or of the program; for a process, the name in reports
  std::string symbol = problem::attention.symbol;
  std::optional<std::vector<std::string>> arguments = {};  ///< of the program, which runs in the cage of a kernel
  int channel = -1;  ///< descriptor of a socket to the process; that process is not isolated, and not ended

  bool is_program() const noexcept { return arguments.has_value(); }
  bool is_process() const noexcept { return channel >= 0; }
};

}  // namespace attest::audit
