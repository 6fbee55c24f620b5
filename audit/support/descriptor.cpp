#include "audit/support/descriptor.hpp"

#include <cerrno>

#include <poll.h>

namespace attest::audit {

int write_all(int to, std::span<std::byte const> bytes) {
  while (!bytes.empty()) {
    ssize_t const count = ::write(to, bytes.data(), bytes.size());
    if (count >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN) {  // the other owner of the descriptor does not want to wait, we do
      pollfd ready{.fd = to, .events = POLLOUT, .revents = 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace attest::audit
