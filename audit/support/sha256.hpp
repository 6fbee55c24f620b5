// SHA-256, which identifies builds of a kernel and names that do not fit into a file's name.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "problem/result.hpp"

namespace attest::audit {

/// The hash of bytes that come in pieces.
/// Source    FIPS 180-4, sections 4.1.2, 4.2.2, 5.1.1, 5.3.3, 6.2. Written here, since the libraries that have it
///           (OpenSSL, libgcrypt, nettle) are larger than the need, and since it never changes
/// Cost      about 200 MB a second
class sha256 {
 public:
  void add(std::span<std::byte const> bytes) noexcept;
  /// The 64 lower-case hexadecimal digits of the hash. Ends this object's use.
  std::string hex() noexcept;

 private:
  void take_block(std::byte const* block) noexcept;

  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::byte, 64> block_{};
  std::uint64_t size_ = 0;
};

std::string sha256_of(std::string_view text);

/// The hash of a regular file, read in pieces. An error names the path and the reason of the system.
problem::result<std::string> sha256_of_file(std::filesystem::path const& path);

}  // namespace attest::audit
