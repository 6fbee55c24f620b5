// A file descriptor that closes itself, writing to one, and the operating system's message for a failure.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <system_error>

#include <unistd.h>

namespace attest::audit {

/// Owns a descriptor; a negative number is none.
class descriptor {
 public:
  explicit descriptor(int number) noexcept : number_(number) {}
  descriptor(descriptor const&) = delete;
  descriptor& operator=(descriptor const&) = delete;
  ~descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int get() const noexcept { return number_; }
  explicit operator bool() const noexcept { return number_ >= 0; }

 private:
  int number_;
};

/// Writes all bytes to an open descriptor, however small the parts that it takes.
/// Ensures   the errno value of the failure; 0 for success
int write_all(int to, std::span<std::byte const> bytes);

/// The message of the operating system for an errno value: "No such file or directory".
inline std::string system_reason(int code) { return std::generic_category().message(code); }

}  // namespace attest::audit
