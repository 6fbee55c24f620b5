// See parallel_for.h: one thread, at most one value.
#pragma once

#include <functional>
#include <list>
#include <utility>

namespace tbb {

template <class T>
class enumerable_thread_specific {
 public:
  template <class Make>
  explicit enumerable_thread_specific(Make make) : make_(std::move(make)) {}
  T& local() {
    if (values_.empty()) values_.push_back(make_());
    return values_.front();
  }
  auto begin() { return values_.begin(); }
  auto end() { return values_.end(); }

 private:
  std::function<T()> make_;
  std::list<T> values_;
};

}  // namespace tbb
