#include "audit/isolation/hidden_memory.hpp"

#include <mutex>

#include <sys/prctl.h>

namespace attest::audit {
namespace {

std::mutex changing;
int holders = 0, before = 0;

}  // namespace

hidden_memory hidden_memory::begin() noexcept {
  hidden_memory hidden;
  std::scoped_lock const lock(changing);
  if (holders++ == 0) {
    before = ::prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
    ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  }
  hidden.holds_ = true;
  return hidden;
}

hidden_memory::~hidden_memory() {
  if (!holds_) return;
  std::scoped_lock const lock(changing);
  if (--holders == 0 && before == 1) ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}

}  // namespace attest::audit
