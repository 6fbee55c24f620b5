#include "audit/findings/calls_like.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "audit/cases/domain/keep_form.hpp"
#include "audit/cases/families/backward.hpp"
#include "audit/cases/random.hpp"

namespace attest::audit {
namespace {

void draw(owned_tensor& t, random_stream& random) {
  constexpr double unseen = -std::numeric_limits<double>::infinity();
  for (std::size_t at = 0; at < t.spanned_elements(); ++at)
    if (load(t, at) != unseen) store(t, at, random.normal());
}

owned_problem with_other_numbers(owned_problem const& problem, random_stream& random) {
  problem_draft draft = problem.draft();
  for (owned_tensor* t : {&draft.q, &draft.k, &draft.v}) draw(*t, random);
  for (auto* t : {&draft.d_out, &draft.bias, &draft.sink})
    if (*t) draw(**t, random);
  draft.handed_o.reset(), draft.handed_lse.reset();
  return owned_problem::of_valid(std::move(draft));
}

/// The scores spread so far that the maximum of a row rises by little between some blocks of keys, by much between
/// others.
owned_problem with_spread_scores(owned_problem const& with_normal_inputs) {
  constexpr double spread = 4;
  problem_draft draft = with_normal_inputs.draft();
  for (std::size_t at = 0; at < draft.q.spanned_elements(); ++at) store(draft.q, at, spread * load(draft.q, at));
  return owned_problem::of_valid(std::move(draft));
}

bool has_subnormal(owned_tensor const& t) {
  double const normal = limits_of(t.type).smallest_normal;
  for (std::size_t at = 0; at < t.spanned_elements(); ++at)
    if (double const x = std::abs(load(t, at)); x > 0 && x < normal) return true;
  return false;
}

/// No input is subnormal, and many outputs are: V is the smallest normal number with either sign.
owned_problem with_subnormal_outputs(owned_problem const& with_normal_inputs) {
  random_stream random(0, "subnormal outputs");
  problem_draft draft = with_normal_inputs.draft();
  double const normal = limits_of(draft.v.type).smallest_normal;
  for (std::size_t at = 0; at < draft.v.spanned_elements(); ++at)
    store(draft.v, at, random.below(2) == 0 ? normal : -normal);
  return owned_problem::of_valid(std::move(draft));
}

}  // namespace

std::vector<owned_problem> calls_like(owned_problem const& problem, call_domain const& domain) {
  problem_draft const& draft = problem.draft();
  std::vector<owned_problem> all;
  if (problem.rank() != 4 || !draft.has_slots() || draft.merge) return all;
  random_stream random(0, "calls like another");
  all.push_back(with_other_numbers(problem, random));
  if (!draft.d_out) all.push_back(with_spread_scores(all.front()));
  if (has_subnormal(draft.q) || has_subnormal(draft.k) || has_subnormal(draft.v))
    all.push_back(with_subnormal_outputs(all.front()));
  problem_draft attention = draft;
  attention.of = &problem::attention, attention.d_out.reset();
  attention.handed_o.reset(), attention.handed_lse.reset();
  auto const form = form_of(attention);
  problem::sizes const& s = problem.size();
  // Further queries and keys; fewer of them; further heads and columns.
  std::int64_t const more_heads = s.hk > 1 ? s.hk + 3 : s.hk, more_columns = s.d + 72;
  for (auto const& [n, m, hk, d] :
       {std::array{s.n + 13, s.m + std::min<std::int64_t>(s.m, 64) + 5, s.hk, s.d},
        std::array{s.n / 2 + 1, s.m / 2 + 1, s.hk, s.d}, std::array{s.n, s.m, more_heads, more_columns}}) {
    if (!form) break;
    call_form other = *form;
    other.size.n = n, other.size.m = m, other.size.d = d;
    other.size.hk = hk, other.size.hq = s.hk > 0 ? s.hq / s.hk * hk : s.hq;
    if (s.dv == s.d) other.size.dv = d;
    keep_to(domain, other);
    audit_case made{
        .check = {}, .name = {}, .problem = owned_problem::of_valid(draft_of(other, problem.type(), random))};
    all.push_back(draft.d_out ? differentiated(std::move(made), 0).problem : std::move(made.problem));
  }
  return all;
}

}  // namespace attest::audit
