// The memory that threads keep from call to call, so that small problems allocate nothing, and how it is given back.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "fast/query_strips.hpp"
#include "fast/workspace.hpp"

namespace attest::fast {

/// A place in the list of memory that release_memory() frees, from construction to destruction.
class releasable {
 public:
  /// `release` frees the memory at `kept` and returns its bytes.
  /// Throws  std::bad_alloc
  using release = std::int64_t (*)(void* kept) noexcept;
  releasable(void* kept, release how);
  ~releasable();
  releasable(releasable const&) = delete;
  releasable& operator=(releasable const&) = delete;

  /// Held while the memory is used. Only its own thread waits for it.
  std::mutex used;

 private:
  friend std::int64_t release_memory() noexcept;
  void* kept_;
  release release_;
};

/// The memory that one thread keeps for the calls of an element type.
template <class E>
struct thread_memory {
  scratch arrays;
  std::vector<query_rules<E>> rules;
  std::vector<query_strip<working<E>>> strips;
  releasable in_list{this,
                     [](void* kept) noexcept { return static_cast<thread_memory*>(kept)->release(); }};  // first to go

  static thread_memory& of_this_thread() {
    thread_local thread_memory memory;
    return memory;
  }

 private:
  std::int64_t release() noexcept {
    std::size_t const bytes = arrays.bytes() + rules.capacity() * sizeof(query_rules<E>) +
                              strips.capacity() * sizeof(query_strip<working<E>>);
    arrays.release();
    decltype(rules)().swap(rules), decltype(strips)().swap(strips);  // = {} would keep the memory
    return static_cast<std::int64_t>(bytes);
  }
};

}  // namespace attest::fast
