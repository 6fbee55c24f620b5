#include "audit/cases/forms/typical_forms.hpp"

#include <utility>

namespace attest::audit {
namespace {

using two_sizes = std::pair<std::int64_t, std::int64_t>;

constexpr value_form values_in_turn[]{value_form::pointed, value_form::digits, value_form::gaussian};

}  // namespace

std::vector<call_form> typical_forms() {
  std::vector<call_form> forms;
  auto const add = [&](problem::sizes const& s, feature_set options = {}, std::int64_t length = 1) {
    call_form form{.size = s, .options = std::move(options), .length = length};
    form.values = values_in_turn[forms.size() % std::size(values_in_turn)];
    forms.push_back(std::move(form));
  };
  constexpr two_sizes tiles[]{{128, 128}, {256, 256}, {384, 384}, {512, 512},
                              {128, 256}, {256, 128}, {64, 192},  {33, 205}};
  for (std::int64_t const d : {64, 128})
    for (auto const& [n, m] : tiles) {
      std::int64_t const heads = n * m > 1 << 16 ? 1 : 2;
      add({1, heads, heads, n, m, d, d});
      add({1, heads, heads, n, m, d, d}, {feature::causal});
      if (n != m) add({1, heads, heads, n, m, d, d}, {feature::causal_top_left});
    }
  // One query, or a few.
  for (auto const& [group, m] :
       {two_sizes{1, 1025}, two_sizes{3, 200}, two_sizes{4, 333}, two_sizes{8, 1100}, two_sizes{8, 128}})
    add({2, 2 * group, 2, 1, m, 128, 128});
  for (std::int64_t const n : {1, 2}) add({1, 16, 1, n, 193, 576, 512});
  add({1, 16, 1, 2, 193, 576, 512}, {feature::causal});
  add({1, 2, 2, 130, 130, 192, 128}), add({1, 2, 2, 130, 130, 192, 128}, {feature::causal});
  // Options beyond one tile.
  for (feature_row const& row : feature_table()) {
    if (row.id >= first_of_version_2) break;
    if (row.group == feature_group::sizes || row.id == feature::causal || row.id == feature::causal_top_left) continue;
    add({1, 2, 2, 200, 200, 128, 128}, {row.id}, 129);
    add({1, 2, 1, 130, 320, 256, 256}, {row.id}, 150);
    add({2, 2, 2, 40, 130, 72, 72}, {row.id}, 33);
  }
  return forms;
}

}  // namespace attest::audit
