#include "audit/isolation/library_fault.hpp"

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include <unistd.h>

#include "audit/support/printable.hpp"

namespace attest::audit {

namespace fs = std::filesystem;
using problem::error;
using problem::error_code;

std::optional<error> library_fault(fs::path const& library) {
  auto const fault = [&](error_code code, std::string reason) {
    return error{code, printable(library.native(), 400), std::move(reason)};
  };
  std::error_code code;
  auto const status = fs::status(library, code);
  if (status.type() == fs::file_type::not_found) return fault(error_code::missing, "there is no such file");
  if (status.type() == fs::file_type::directory)
    return fault(error_code::unreadable, "is a directory, expected a shared library");
  if (status.type() != fs::file_type::regular)
    return fault(error_code::unreadable, code ? "cannot be examined: " + code.message() : "is not a regular file");
  if (::access(library.c_str(), R_OK) != 0)
    return fault(error_code::unreadable, "cannot be opened: " + std::generic_category().message(errno));
  return std::nullopt;
}

}  // namespace attest::audit
