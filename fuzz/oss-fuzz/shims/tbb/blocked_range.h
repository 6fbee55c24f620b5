// See parallel_for.h.
#pragma once

namespace tbb {

template <class Index>
class blocked_range {
 public:
  blocked_range(Index first, Index last, Index = 1) : first_(first), last_(last) {}
  Index begin() const { return first_; }
  Index end() const { return last_; }

 private:
  Index first_, last_;
};

}  // namespace tbb

namespace oneapi {
namespace tbb = ::tbb;
}
