// Hypotheses about gradients, rows without a visible key and queries that are lost; queries that are not answered.
#include <cmath>

#include "audit/cause/hypotheses/passes.hpp"
#include "audit/cause/near_gradient.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/entry_forms.hpp"
#include "audit/tensors/gradient_form.hpp"

namespace attest::audit {
namespace {

bool sees_nothing(owned_problem const& p, std::int64_t b, std::int64_t h, std::int64_t i) {
  for (std::int64_t j = 0; j < keys_of(p, b); ++j)
    if (sees(p, b, h, i, j)) return false;
  return true;
}

/// Rows without a visible key have equal weights: every key is seen, and all scores are alike. `slopes`: of a softcap
/// the derivative is taken.
supposition empty_rows_leak(gradient_kinds which, bool slopes) {
  return gradients_from(std::move(which), [slopes](answered_call& call) {
    owned_problem const whole = call.problem;
    problem::sizes const& s = whole.size();
    if (s.m == 0) return false;
    problem_draft draft = whole.draft();
    bool any = false;
    std::vector<char> empty;
    for (std::int64_t b = 0; b < s.b; ++b)
      for (std::int64_t h = 0; h < s.hq; ++h)
        for (std::int64_t i = 0; i < s.n; ++i) {
          bool const is_empty = i < queries_of(whole, b) && keys_of(whole, b) > 0 && sees_nothing(whole, b, h, i);
          empty.push_back(is_empty), any |= is_empty;
          if (is_empty)
            store(*draft.handed_lse, output_row(whole, b, h, i), std::log(static_cast<double>(keys_of(whole, b))));
        }
    if (!any) return false;
    auto const is_empty = [&](auto b, auto h, auto i) {
      return empty[static_cast<std::size_t>((b * s.hq + h) * s.n + i)] != 0;
    };
    draft.block_mask.reset(), draft.block_q = draft.block_k = 0, draft.align = 0;
    show(draft, s, [&](auto b, auto h, auto i, auto j) { return is_empty(b, h, i) || sees(whole, b, h, i, j); });
    pair_number const slope = slopes ? log_slope(whole) : [](auto...) { return 0.0; };
    score_table const score(whole);
    set_scores(draft, [&](auto b, auto h, auto i, auto j) {
      return (is_empty(b, h, i) ? 0.0 : score(b, h, i, j)) + slope(b, h, i, j);
    });
    return take(call, std::move(draft));
  });
}

/// Rows without a visible key are NaN: every key is seen, and the query is NaN.
supposition empty_rows_nan(gradient_kinds which) {
  return gradients_from(std::move(which), [](answered_call& call) {
    owned_problem const whole = call.problem;
    problem::sizes const& s = whole.size();
    if (s.d == 0 || s.m == 0) return false;
    problem_draft draft = whole.draft();
    owned_tensor const& q = whole.draft().q;
    bool any = false;
    draft.q = owned_tensor::compact(q.type, {s.b, s.hq, s.n, s.d});
    fill(draft.q, [&](auto b, auto h, auto i, auto t) {
      bool const is_empty = i < queries_of(whole, b) && keys_of(whole, b) > 0 && sees_nothing(whole, b, h, i);
      any |= is_empty;
      return is_empty ? std::nan("") : load(q, offset_of(q, b, h, i, t));
    });
    if (!any) return false;
    draft.block_mask.reset(), draft.block_q = draft.block_k = 0, draft.align = 0;
    show(draft, s,
         [&](auto b, auto h, auto i, auto j) { return sees_nothing(whole, b, h, i) || sees(whole, b, h, i, j); });
    return take(call, std::move(draft));
  });
}

/// The queries whose dQ is 0 everywhere, and should not be, add nothing to any gradient.
supposition queries_lost() {
  return gradients_from(all_gradients, [](answered_call& call) {
    owned_problem const whole = call.problem;
    if (!call.outputs.dq || whole.size().d == 0) return false;
    gradient_places const places(whole, dq);
    auto const is_lost = [&](auto b, auto h, auto i) {
      if (i >= queries_of(whole, b)) return false;
      if (!(std::abs(near_gradient(call, dq, {b, h, i, 0})) > 1e-6)) return false;
      for (std::int64_t t = 0; t < whole.size().d; ++t)
        if (load(*call.outputs.dq, places.row(b, h, i) + static_cast<std::size_t>(t)) != 0) return false;
      return true;
    };
    problem_draft draft = whole.draft();
    bool any = false, may_tell = false;
    std::vector<char> lost;
    problem::sizes const& s = whole.size();
    for (std::int64_t b = 0; b < s.b; ++b)
      for (std::int64_t h = 0; h < s.hq; ++h)
        for (std::int64_t i = 0; i < s.n; ++i) {
          lost.push_back(is_lost(b, h, i)), any |= lost.back() != 0;
          may_tell = may_tell || std::abs(near_gradient(call, dq, {b, h, i, 0})) > 1e-6;
        }
    if (!may_tell) return call.open = true;  // every dQ is 0, or nearly so
    show(draft, s, [&](auto b, auto h, auto i, auto j) {
      return sees(whole, b, h, i, j) && lost[static_cast<std::size_t>((b * s.hq + h) * s.n + i)] == 0;
    });
    if (any) call.problem = owned_problem::of_valid(std::move(draft));
    return any;
  });
}

/// Rows of O that are 0 belong to queries that are not answered: they see nothing, and their LSE is 0 or −∞.
std::vector<answered_call> leaves_rows(answered_call const& call, answered_call const*) {
  owned_problem const& p = call.problem;
  problem::sizes const& s = p.size();
  if (!is_small(p) || !call.outputs.o || s.dv == 0) return {};
  answered_call supposed = call;
  auto const is_left = [&](std::int64_t b, std::int64_t h, std::int64_t i) {
    std::int64_t const row = (b * s.hq + h) * s.n + i;
    for (std::int64_t c = 0; c < s.dv; ++c)
      if (load(*call.outputs.o, static_cast<std::size_t>(row * s.dv + c)) != 0) return false;
    auto& lse = supposed.outputs.lse;
    if (auto const at = static_cast<std::size_t>(row); lse && load(*lse, at) == 0) store(*lse, at, -HUGE_VAL);
    return true;
  };
  bool left = false;
  problem_draft draft = p.draft();
  draft.align = 0;
  bool any = false;
  show(draft, s, [&](auto b, auto h, auto i, auto j) {
    if (j == 0) left = is_left(b, h, i);
    any |= left && sees(p, b, h, i, j);
    return !left && sees(p, b, h, i, j);
  });
  return any ? with_problem(supposed, std::move(draft)) : std::vector<answered_call>();
}

}  // namespace

void add_hypotheses_of_lost_rows(hypothesis_list& to) {
  auto const add = adds_gradients_to(to);
  add("empty-rows-leak", "queries that see no key have equal weights in the gradients, not none",
      in_turn(empty_rows_leak({dq, dk}, true), empty_rows_leak({dv, dbias, dsink}, false)));
  add("empty-rows-nan-in-gradients", "queries that see no key have NaN weights in the gradients",
      empty_rows_nan(all_gradients));
  add("empty-rows-nan-in-dq", "dQ is NaN at queries that see no key", empty_rows_nan({dq}));
  add("queries-lost", "some queries are lost: their dQ is 0, and dK and dV are the sums over the others",
      queries_lost());
  to.back().fits_answers = true;
  adds_problems_to(to, any_class)("rows-unanswered", "some queries are not answered: their O is 0", leaves_rows);
  to.back().fits_answers = true;
}

}  // namespace attest::audit
