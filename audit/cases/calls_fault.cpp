#include "audit/cases/case.hpp"

namespace attest::audit {

std::optional<std::string> calls_fault(audit_case const& checked) {
  if (checked.further.empty() && checked.reads == reading::nothing) return std::nullopt;
  if (checked.problem.rank() != 4) return "its tensors have not rank 4";
  problem::sizes const& first = checked.problem.size();
  if (checked.reads == reading::weights && first.dv > first.m) return "its V has more columns than keys";
  for (further_call const& further : checked.further) {
    if (further.problem.rank() != 4) return "its tensors have not rank 4";
    if (further.problem.type() != checked.problem.type()) return "its element type differs from the group's first call";
    problem::sizes const& s = further.problem.size();
    bool const same_rows = s.b == first.b && s.hq == first.hq && s.n == first.n;
    auto const inside = [](std::int64_t at, std::int64_t count, std::int64_t all) {
      return at >= 0 && count <= all && at <= all - count;
    };
    switch (further.is) {
      case relation::warm_up: break;
      case relation::same_bits:
        if (!same_rows || s.dv != first.dv || s.m != first.m) return "its sizes differ from the group's first call";
        break;
      case relation::part:
        if (!same_rows || s.dv != first.dv) return "its rows differ from the group's first call";
        break;
      case relation::same_rows:
        if (s.dv != first.dv || s.m != first.m || !inside(further.at[0], s.b, first.b) ||
            !inside(further.at[1], s.hq, first.hq) || !inside(further.at[2], s.n, first.n))
          return "its rows do not lie in the group's first call";
        break;
      case relation::weight_columns:
        if (!same_rows || s.m != first.m || !inside(further.at[0], s.dv, s.m))
          return "its columns pass the group's keys";
        break;
    }
  }
  return std::nullopt;
}

}  // namespace attest::audit
