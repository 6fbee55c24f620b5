// Memory that ends at an inaccessible page.
#pragma once

#include <cstddef>
#include <cstring>

#include <sys/mman.h>

#include "tests/support/catch.hpp"

namespace attest::tests {

/// Bytes whose last one is the last before an inaccessible page; a canary fills the rest of the first page.
class guarded_bytes {
 public:
  explicit guarded_bytes(std::size_t size) : size_(size), pages_((size / page + 2) * page) {
    start_ = static_cast<std::byte*>(
        mmap(nullptr, pages_ + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(start_ != MAP_FAILED);
    REQUIRE(mprotect(start_ + pages_, page, PROT_NONE) == 0);
    std::memset(start_, canary, pages_);
  }
  ~guarded_bytes() { munmap(start_, pages_ + page); }
  guarded_bytes(guarded_bytes const&) = delete;
  guarded_bytes& operator=(guarded_bytes const&) = delete;

  std::byte* data() noexcept { return start_ + pages_ - size_; }
  bool canary_lives() const noexcept {
    for (std::byte const* at = start_; at != start_ + pages_ - size_; ++at)
      if (*at != std::byte{canary}) return false;
    return true;
  }

 private:
  static constexpr std::size_t page = 4096;
  static constexpr unsigned char canary = 0xa5;
  std::size_t size_, pages_;
  std::byte* start_ = nullptr;
};

}  // namespace attest::tests
