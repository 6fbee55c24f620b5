#include "fast/kept_memory.hpp"

#include <algorithm>

#include "fast/attention.hpp"

namespace attest::fast {
namespace {

/// The memory of all threads. It outlives them, and so is never destroyed.
struct all_memory {
  std::mutex changed;
  std::vector<releasable*> listed;

  static all_memory& get() {
    static all_memory& all = *new all_memory;
    return all;
  }
};

}  // namespace

releasable::releasable(void* kept, release how) : kept_(kept), release_(how) {
  all_memory& all = all_memory::get();
  std::scoped_lock const lock(all.changed);
  all.listed.push_back(this);
}

releasable::~releasable() {
  all_memory& all = all_memory::get();
  std::scoped_lock const lock(all.changed);
  std::erase(all.listed, this);
}

std::int64_t release_memory() noexcept {
  all_memory& all = all_memory::get();
  std::scoped_lock const lock(all.changed);
  std::int64_t bytes = 0;
  for (releasable* const one : all.listed) {
    std::unique_lock const unused(one->used, std::try_to_lock);
    if (unused) bytes += one->release_(one->kept_);
  }
  return bytes;
}

}  // namespace attest::fast
