#include "audit/support/sha256.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/support/printable.hpp"

namespace attest::audit {
namespace {

/// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
constexpr std::array<std::uint32_t, 64> round_constants{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

}  // namespace

void sha256::take_block(std::byte const* block) noexcept {
  std::array<std::uint32_t, 64> schedule{};
  for (std::size_t t = 0; t < 16; ++t)
    for (std::size_t n = 0; n < 4; ++n)
      schedule[t] = schedule[t] << 8 | std::to_integer<std::uint32_t>(block[4 * t + n]);
  for (std::size_t t = 16; t < 64; ++t) {
    std::uint32_t const early = schedule[t - 15], late = schedule[t - 2];
    schedule[t] = schedule[t - 16] + schedule[t - 7] + (std::rotr(early, 7) ^ std::rotr(early, 18) ^ early >> 3) +
                  (std::rotr(late, 17) ^ std::rotr(late, 19) ^ late >> 10);
  }
  auto [a, b, c, d, e, f, g, h] = state_;
  for (std::size_t t = 0; t < 64; ++t) {
    std::uint32_t const first = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + ((e & f) ^ (~e & g)) +
                                round_constants[t] + schedule[t];
    std::uint32_t const second =
        (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + first, d = c, c = b, b = a, a = first + second;
  }
  std::array const worked{a, b, c, d, e, f, g, h};
  for (std::size_t n = 0; n < state_.size(); ++n) state_[n] += worked[n];
}

void sha256::add(std::span<std::byte const> bytes) noexcept {
  while (!bytes.empty()) {
    std::size_t const at = size_ % block_.size(), taken = std::min(bytes.size(), block_.size() - at);
    std::memcpy(block_.data() + at, bytes.data(), taken);
    size_ += taken, bytes = bytes.subspan(taken);
    if (at + taken == block_.size()) take_block(block_.data());
  }
}

std::string sha256::hex() noexcept {
  std::uint64_t const bits = 8 * size_;
  std::byte const one{0x80}, zero{0};
  add({&one, 1});
  while (size_ % block_.size() != 56) add({&zero, 1});
  std::array<std::byte, 8> length{};
  for (std::size_t n = 0; n < length.size(); ++n) length[n] = static_cast<std::byte>(bits >> (56 - 8 * n) & 0xff);
  add(length);
  std::string digits;
  for (std::uint32_t const word : state_) digits += fmt::format("{:08x}", word);
  return digits;
}

std::string sha256_of(std::string_view text) {
  sha256 hash;
  hash.add(std::as_bytes(std::span(text)));
  return hash.hex();
}

problem::result<std::string> sha256_of_file(std::filesystem::path const& path) {
  auto const fault = [&](std::string const& what) {
    return problem::error{problem::error_code::unreadable, printable(path.native(), 400), what};
  };
  // O_NONBLOCK: opening a named pipe must not wait for its other end.
  int const file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return fault("cannot be opened: " + std::generic_category().message(errno));
  struct stat about{};
  bool const regular = ::fstat(file, &about) == 0 && S_ISREG(about.st_mode);
  std::size_t constexpr piece = std::size_t{1} << 20;
  auto const bytes = std::make_unique<std::byte[]>(piece);
  sha256 hash;
  ssize_t count = regular ? 1 : 0;
  while (count > 0 || (count < 0 && errno == EINTR)) {
    count = ::read(file, bytes.get(), piece);
    if (count > 0) hash.add({bytes.get(), static_cast<std::size_t>(count)});
  }
  int const why = errno;
  ::close(file);
  if (!regular) return fault("is not a regular file");
  if (count < 0) return fault("cannot be read: " + std::generic_category().message(why));
  return hash.hex();
}

}  // namespace attest::audit
