#include "audit/zoo/zoo.hpp"

#include <algorithm>

namespace attest::zoo {
namespace {

std::vector<specimen>& registered() {
  static std::vector<specimen> all;
  return all;
}

}  // namespace

bool register_specimen(specimen const& added) {
  registered().push_back(added);
  return true;
}

std::vector<specimen> const& specimens() {
  static std::vector<specimen> const sorted = [] {
    std::vector<specimen> all = registered();
    for (specimen& each : all) each.cause = expected_cause(each.name);
    std::ranges::sort(all, [](specimen const& a, specimen const& b) {
      if (a.is_honest() != b.is_honest()) return a.is_honest();
      return std::pair(a.class_token(), a.name) < std::pair(b.class_token(), b.name);
    });
    return all;
  }();
  return sorted;
}

specimen const* find_specimen(std::string_view name) {
  auto const at = std::ranges::find(specimens(), name, &specimen::name);
  return at == specimens().end() ? nullptr : &*at;
}

}  // namespace attest::zoo

attest::zoo::specimen const* attest_zoo_specimens(std::size_t* count) {
  auto const& all = attest::zoo::specimens();
  *count = all.size();
  return all.data();
}
