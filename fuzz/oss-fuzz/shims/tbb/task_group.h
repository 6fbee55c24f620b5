// See parallel_for.h. Nothing is cancelled: loops run to their end.
#pragma once

namespace tbb {

struct task_group_context {
  void cancel_group_execution() {}
};

class task_group {
 public:
  explicit task_group(task_group_context&) {}
  template <class F>
  void run_and_wait(F& f) {
    f();
  }
};

inline bool is_current_task_group_canceling() { return false; }

}  // namespace tbb
