#include "audit/files/tensor_group.hpp"

#include <algorithm>
#include <cstddef>

namespace attest::audit {

using problem::operator_row;

bool is_taken(operator_row const& by, std::string_view role) {
  if (by.does_take(role)) return true;
  return by.form == problem::operator_form::parts && std::ranges::any_of(by.takes, [&](std::string_view name) {
           std::size_t const stem = name.size() - 1;  // without the s
           return role.size() > stem && role.substr(0, stem) == name.substr(0, stem) && role[stem] == '_';
         });
}

operator_row const* operator_of(tensor_group const& group, operator_table table) {
  operator_row const *alone = nullptr, *complete = nullptr, *first = nullptr;
  for (operator_row const& row : table) {
    std::size_t taken = 0;
    for (auto const& [role, tensor] : group) {
      if (!is_taken(row, role)) continue;
      ++taken;
      if (std::ranges::count_if(table, [&](operator_row const& any) { return is_taken(any, role); }) == 1) alone = &row;
    }
    if (taken > 0 && !first) first = &row;
    if (taken == row.takes.size() && (!complete || taken > complete->takes.size())) complete = &row;
  }
  return alone ? alone : complete ? complete : first;
}

}  // namespace attest::audit
