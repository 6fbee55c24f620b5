#include "audit/judge_case.hpp"

#include <chrono>

#include <fmt/format.h>

#include "audit/conventions.hpp"
#include "audit/diagnosis.hpp"
#include "audit/relations.hpp"
#include "audit/slice.hpp"

namespace attest::audit {

judgement judge_call(stored_problem const& asked, recorded_answer const& answer, contract const& claim) {
  auto const made = problem::make_instance(asked.arguments());
  judgement found = judge_by_conventions(asked, made.value(), answer, claim);
  if (found.failed > 0 && claim.name == "f32" && judge(made.value(), answer, *find_contract("f32-any")).failed == 0)
    for (violation& v : found.violations)
      v.sentence += "; it would pass f32-any: either the kernel rescales lazily or merges by LSE (declare it with "
                    "--contract f32-any), or it is wrong";
  diagnose_all(asked, found);
  return found;
}

void judge_case(audit_case const& each, answers const& given, judging_rules const& rules, case_result& into) {
  auto const start = std::chrono::steady_clock::now();
  auto const judged = [&](std::size_t call) {
    stored_problem const& asked = call == 0 ? each.asked : each.further[call - 1].asked;
    judgement found = judge_call(asked, *given[call], *rules.claim);
    for (violation& v : found.violations) v.call = call;
    into.judged.merge(std::move(found));
  };
  if (!given[0]) return;
  bool const must_be_finite = rules.claim->how.masked_values == conventions::masked::must_be_finite;
  if (must_be_finite && has_nonfinite(each.asked) && (each.asked.mask || each.asked.bias || each.asked.where != problem::band{})) {
    into.conventions.push_back("masked_values: must_be_finite");
    return;
  }
  judged(0);
  for (std::size_t n = 0; n < each.further.size(); ++n) {
    further_call const& further = each.further[n];
    if (!given[n + 1] || further.is == relation::before) continue;
    if (further.is == relation::part || further.is == relation::weight_columns) {
      judged(n + 1);
      continue;
    }
    if (further.is == relation::same_bits && must_be_finite && has_nonfinite(further.asked)) {
      into.conventions.push_back("masked_values: must_be_finite");
      continue;
    }
    auto found = answers_differ(each, *given[0], further, *given[n + 1]);
    if (!found) continue;
    found->call = n + 1;
    if (further.promised || rules.must_reproduce()) into.judged.failed++, into.judged.add(std::move(*found));
    else into.observations.push_back(fmt::format("{}: {}", each.full_name(), found->sentence));
    if (further.is == relation::same_rows) judged(n + 1);
  }
  judge_merge(each, given, *rules.claim, into);
  if (each.reads == reading::weights) judge_read_weights(each, given, *rules.claim, into);
  if (each.reads == reading::visibility) judge_visibility(each, *given[0], into);
  into.oracle_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::optional<std::string> calls_fault(audit_case const& each) {
  if (each.further.empty() && each.reads == reading::nothing) return std::nullopt;
  auto const rank_fault = [](stored_problem const& p) {
    return p.q.where.rank != 4 || p.k.where.rank != 4 || p.v.where.rank != 4;
  };
  if (rank_fault(each.asked)) return "its tensors have not rank 4";
  problem::sizes const first = sizes_of(each.asked);
  if (each.reads == reading::weights && first.dv > first.m) return "its V has more columns than keys";
  for (further_call const& further : each.further) {
    if (rank_fault(further.asked)) return "its tensors have not rank 4";
    if (further.asked.q.type != each.asked.q.type) return "its element type is not that of the group's first call";
    problem::sizes const s = sizes_of(further.asked);
    bool const same_rows = s.b == first.b && s.hq == first.hq && s.n == first.n;
    auto const inside = [](std::int64_t at, std::int64_t count, std::int64_t all) {
      return at >= 0 && count <= all && at <= all - count;
    };
    switch (further.is) {
      case relation::before: break;
      case relation::same_bits:
        if (!same_rows || s.dv != first.dv || s.m != first.m) return "its sizes are not those of the group's first call";
        break;
      case relation::part:
        if (!same_rows || s.dv != first.dv) return "its rows are not those of the group's first call";
        break;
      case relation::same_rows:
        if (s.dv != first.dv || s.m != first.m || !inside(further.at[0], s.b, first.b) ||
            !inside(further.at[1], s.hq, first.hq) || !inside(further.at[2], s.n, first.n))
          return "its rows do not lie in the group's first call";
        break;
      case relation::weight_columns:
        if (!same_rows || s.m != first.m || !inside(further.at[0], s.dv, s.m)) return "its columns pass the group's keys";
        break;
    }
  }
  return std::nullopt;
}

}  // namespace attest::audit
