// Sorting in which equal items keep their order. (std::stable_sort uses a function that libstdc++ 12 itself
// deprecates.)
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

namespace attest::audit {

/// Sorts by rising key(item); items with equal keys keep their order.
template <class T, class Key>
void sort_by(std::vector<T>& items, Key key) {
  std::vector<std::pair<std::remove_cvref_t<decltype(std::invoke(key, items.front()))>, std::size_t>> order;
  for (std::size_t at = 0; at < items.size(); ++at) order.emplace_back(std::invoke(key, items[at]), at);
  std::ranges::sort(order);
  std::vector<T> sorted;
  for (auto const& [value, at] : order) sorted.push_back(std::move(items[at]));
  items = std::move(sorted);
}

}  // namespace attest::audit
