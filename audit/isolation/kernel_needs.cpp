#include "audit/isolation/kernel_needs.hpp"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "audit/support/printable.hpp"

namespace attest::audit {

using problem::error;
using problem::error_code;

std::optional<error> kernel_needs::allow(std::string_view word) {
  constexpr std::string_view reads = "read:";
  if (word == "net") {
    network = true;
    return std::nullopt;
  }
  if (!word.starts_with(reads) || word == reads)
    return error{error_code::unreadable, "--allow",
                 fmt::format("'{}' is neither read:PATH nor net", printable(word, 200))};
  std::filesystem::path const named = word.substr(reads.size());
  std::error_code code;
  auto const path = std::filesystem::absolute(named, code).lexically_normal();
  if (!code && !std::filesystem::exists(path, code) && !code)
    code = std::make_error_code(std::errc::no_such_file_or_directory);
  if (code)
    return error{error_code::missing, "--allow",
                 fmt::format("'{}': {}", printable(named.native(), 400), code.message())};
  readable.push_back(path.native());
  return std::nullopt;
}

std::vector<std::string> kernel_needs::words() const {
  std::vector<std::string> all;
  if (device) all.emplace_back("device");
  if (network) all.emplace_back("net");
  for (std::string const& path : readable) all.push_back("read:" + path);
  return all;
}

}  // namespace attest::audit
