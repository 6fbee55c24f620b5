#include "audit/isolation/library_fault.hpp"

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <linux/capability.h>
#include <sys/prctl.h>
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

std::string remedy_of_closed_folder(fs::path const& library, std::string_view said) {
  bool const was_denied = said.find("Permission denied") != said.npos || said.find("cannot open") != said.npos;
  if (!was_denied || ::geteuid() != 0 || ::prctl(PR_CAPBSET_READ, CAP_DAC_READ_SEARCH) == 1) return {};
  std::string closed = "the folder";
  std::error_code ignored;
  fs::path folder;
  for (auto const& part : fs::canonical(library, ignored).parent_path()) {
    folder /= part;
    if ((fs::status(folder, ignored).permissions() & fs::perms::others_exec) != fs::perms::none) continue;
    closed = printable(folder.native(), 400);
    break;
  }
  return fmt::format(
      "; the kernel's process is another user than root, and this system denies it the right to enter closed folders "
      "(CAP_DAC_READ_SEARCH): open {} by `chmod o+x`, or put the kernel and its libraries elsewhere",
      closed);
}

}  // namespace attest::audit
