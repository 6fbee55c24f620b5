// See parallel_for.h.
#pragma once

#include <cstddef>

namespace tbb {

/// One thread obeys every limit.
class global_control {
 public:
  enum parameter { max_allowed_parallelism };
  global_control(parameter, std::size_t) {}
};

}  // namespace tbb
