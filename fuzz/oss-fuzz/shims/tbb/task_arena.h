// See parallel_for.h.
#pragma once

namespace tbb {

class task_arena {
 public:
  explicit task_arena(int) {}
  template <class F>
  void execute(F const& f) {
    f();
  }
};

namespace info {
inline int default_concurrency() { return 1; }
}  // namespace info

}  // namespace tbb

namespace oneapi {
namespace tbb = ::tbb;
}
