#include "audit/asking/own_refusals.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "audit/cases/domain/size_axis.hpp"
#include "audit/cases/families/backward_forms.hpp"
#include "audit/cases/forms/support_cases.hpp"
#include "audit/judge/forward_answers.hpp"

namespace attest::audit {
namespace {

/// The features of a call, of a backward pass of its call of attention.
feature_set features_of(problem_draft call) {
  call.d_out.reset();
  auto const form = form_of(call);
  return form ? form->features() : feature_set{};
}

}  // namespace

void own_refusals::take(audit_case const& of, kernel_session& kernel, case_result& result) {
  auto const& wrong = result.judged.violations;
  if (result.own_ends == 0 || result.judged.failed != result.own_ends || std::ssize(wrong) != result.own_ends) return;
  std::string features, sizes;
  for (violation const& each : wrong) {
    owned_problem const& call = of.call(each.call);
    std::string found = refused_features(call.draft(), kernel);
    if (found.empty()) sizes = refused_sizes(call, kernel);
    if (found.empty() && sizes.empty()) return;
    features = std::move(found);
  }
  std::string const what = sizes.empty() ? "the smallest call with " + features : "plain calls with " + sizes;
  result.observations.push_back(
      fmt::format("{}: {}; it ends {} so, too, which is taken as a refusal. --refusals strict judges such calls",
                  of.full_name(), wrong.front().sentence, what));
  result.refused_sizes = std::move(sizes);
  result.judged = {}, result.own_ends = 0, result.unsupported = true;
  if (auto form = of.form ? of.form : form_of(of.problem.draft()))
    result.replies.push_back({*std::move(form), false, kernel_session::requestable(of.problem, of.asks), {}});
}

std::string own_refusals::refused_features(problem_draft const& call, kernel_session& kernel) {
  bool const backward = call.d_out.has_value();
  if (end_of({}, backward, kernel) != end::answered) return "";
  std::vector<feature> all;
  features_of(call).each([&](feature one) { all.push_back(one); });
  for (feature const one : all)
    if (end_of({one}, backward, kernel) == end::perhaps_refused) return std::string(row_of(one).name);
  if (std::string lengths = refused_lengths(call, kernel); !lengths.empty()) return lengths;
  for (std::size_t first = 0; first < all.size(); ++first)
    for (std::size_t second = first + 1; second < all.size(); ++second)
      if (!exclude(all[first], all[second]) &&
          end_of({all[first], all[second]}, backward, kernel) == end::perhaps_refused)
        return fmt::format("{}+{}", row_of(all[first]).name, row_of(all[second]).name);
  return "";
}

std::string own_refusals::refused_lengths(problem_draft const& call, kernel_session& kernel) {
  bool const backward = call.d_out.has_value();
  for (auto const one : {needed_inputs::input::q_lengths, needed_inputs::input::k_lengths}) {
    needed_inputs const side = needed_inputs{}.add(one);
    auto small = small_case({}, backward);
    if (!small || !side.all_in(call) || side.all_in(small->problem.draft())) continue;
    problem_draft draft = small->problem.draft();
    supply(draft, side);
    small->problem = owned_problem::of_valid(std::move(draft));
    small->name += "+" + side.names().front();
    if (end_of(*std::move(small), backward, kernel) == end::perhaps_refused) return side.names().front();
  }
  return "";
}

std::string own_refusals::refused_sizes(owned_problem const& call, kernel_session& kernel) {
  problem::sizes const& s = call.size();
  auto const small = small_call_of(domain_);
  if (!of_sizes_ || !small || call.draft().d_out || end_of(*small, seed_, kernel) != end::answered) return "";
  for (size_axis const& axis : size_axes)
    if (axis.name != "group" && axis.of(s) == 0) return fmt::format("{}=0", axis.name);
  domain_call plain = *small;
  plain.size = s;
  if (plain.band != band_form::none && domain_.takes(band_form::square) && s.n == s.m) plain.band = band_form::top_left;
  if (!domain_call::of_name(plain.name())) return "";
  auto const refused = [&](std::optional<problem::band> const& band) {
    return std::ranges::all_of(std::array{seed_, seed_ + 1}, [&](std::uint64_t seed) {
      audit_case asked = case_of(plain, type_, seed);
      std::string name = fmt::format("{} {}", plain.name(), seed);
      if (band) {
        problem_draft draft = asked.problem.draft();
        draft.band = *band, draft.align = 0;
        asked.problem = owned_problem::of_valid(std::move(draft));
        name += fmt::format(" {} {} {}", band->diagonal, band->left, band->right);
      }
      return end_of(asked, name, kernel) == end::perhaps_refused;
    });
  };
  std::string const words = fmt::format("b={} hq={} hk={} n={} m={} d={} dv={}", s.b, s.hq, s.hk, s.n, s.m, s.d, s.dv);
  if (refused(std::nullopt)) return words;
  problem::band const& band = call.draft().band;
  bool const has_band = (band.left >= 0 || band.right >= 0) && call.draft().align == 0;
  if (!has_band || !refused(band)) return "";
  return fmt::format("{} diagonal={} left={} right={}", words, band.diagonal, band.left, band.right);
}

own_refusals::end own_refusals::end_of(domain_call const& plain, std::uint64_t seed, kernel_session& kernel) {
  return end_of(case_of(plain, type_, seed), fmt::format("{} {}", plain.name(), seed), kernel);
}

std::optional<audit_case> own_refusals::small_case(feature_set const& wanted, bool backward) const {
  return backward ? gradient_support_case(wanted, type_, seed_, of_gradients_)
                  : support_case(wanted, type_, seed_, domain_);
}

own_refusals::end own_refusals::end_of(feature_set const& wanted, bool backward, kernel_session& kernel) {
  auto small = small_case(wanted, backward);
  return small ? end_of(*std::move(small), backward, kernel) : end::other;
}

own_refusals::end own_refusals::end_of(audit_case&& small, bool backward, kernel_session& kernel) {
  std::string const name = small.full_name();
  bool const reads = backward && kernel.reads_forward() && !known(name);
  return end_of(reads ? with_forward(std::move(small)) : small, name, kernel);
}

std::optional<own_refusals::end> own_refusals::known(std::string const& name) {
  std::scoped_lock const lock(mutex_);
  auto const at = known_.find(name);
  return at == known_.end() ? std::nullopt : std::optional(at->second);
}

own_refusals::end own_refusals::end_of(audit_case const& small, std::string const& name, kernel_session& kernel) {
  if (auto const before = known(name)) return *before;
  auto const ran = kernel.run(small.problem, 0, placement::end, small.asks);
  if (!ran) return end::other;
  call_report const& did = ran.value().report;
  if (did.outcome == call_outcome::cut_short || did.outcome == call_outcome::unanswered) return end::other;
  bool const refused = may_be_refusal(did) || did.outcome == call_outcome::unsupported;
  end const found = did.outcome == call_outcome::succeeded ? end::answered
                    : refused                              ? end::perhaps_refused
                                                           : end::other;
  std::scoped_lock const lock(mutex_);
  return known_.emplace(name, found).first->second;
}

}  // namespace attest::audit
