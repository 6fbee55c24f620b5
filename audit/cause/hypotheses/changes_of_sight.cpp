// The steps that change which keys a query sees.
#include <variant>

#include "audit/cause/hypotheses/changes.hpp"
#include "audit/tensors/elements.hpp"
#include "reference/attention/visibility.hpp"

namespace attest::audit {

bool sees(owned_problem const& problem, std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) {
  return std::visit([&](auto const& p) { return reference::visible(p, b, h, i, j); }, problem.instance());
}

problem::band band_of_entry(owned_problem const& problem, std::int64_t b) {
  return std::visit([&](auto const& p) { return p.band(b); }, problem.instance());
}

std::int64_t last_key(problem::band const& band, std::int64_t i) {
  return reference::saturating_add(reference::saturating_add(i, band.diagonal), band.right);
}

bool sees_in_band(owned_problem const& problem, problem::band const& band, std::int64_t b, std::int64_t h,
                  std::int64_t i, std::int64_t j) {
  auto const& mask = problem.draft().mask;
  return reference::inside(band, i, j) && (!mask || element(*mask, b, h, i, j) != 0);
}

void show(problem_draft& draft, problem::sizes const& s, pair_question const& shown) {
  owned_tensor mask = owned_tensor::compact(problem::element_type::u8, {s.b, s.hq, s.n, s.m});
  fill(mask, [&](auto... at) { return shown(at...) ? 1.0 : 0.0; });
  draft.mask = std::move(mask);
  draft.band = {};
}

std::vector<answered_call> with_sight(answered_call const& call, pair_question const& seen) {
  owned_problem const& p = call.problem;
  problem_draft draft = p.draft();
  bool any = false;
  show(draft, p.size(), [&](auto b, auto h, auto i, auto j) {
    bool const is_seen = seen(b, h, i, j);
    any |= is_seen != sees(p, b, h, i, j);
    return is_seen;
  });
  draft.align = 0;
  return any ? with_problem(call, std::move(draft)) : std::vector<answered_call>();
}

}  // namespace attest::audit
