#include "audit/asking/own_refusals.hpp"

#include <utility>
#include <vector>

#include <fmt/format.h>

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
  std::string features;
  for (violation const& each : wrong) {
    std::string found = refused_features(of.call(each.call).draft(), kernel);
    if (found.empty()) return;
    features = std::move(found);
  }
  result.observations.push_back(
      fmt::format("{}: {}; it ends the smallest call with {} so, too, which is taken as a refusal. --refusals strict "
                  "judges such calls",
                  of.full_name(), wrong.front().sentence, features));
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
  for (std::size_t first = 0; first < all.size(); ++first)
    for (std::size_t second = first + 1; second < all.size(); ++second)
      if (!exclude(all[first], all[second]) &&
          end_of({all[first], all[second]}, backward, kernel) == end::perhaps_refused)
        return fmt::format("{}+{}", row_of(all[first]).name, row_of(all[second]).name);
  return "";
}

own_refusals::end own_refusals::end_of(feature_set const& wanted, bool backward, kernel_session& kernel) {
  auto small = backward ? gradient_support_case(wanted, type_, seed_, of_gradients_)
                        : support_case(wanted, type_, seed_, domain_);
  if (!small) return end::other;
  {
    std::scoped_lock const lock(mutex_);
    if (auto const at = known_.find(small->full_name()); at != known_.end()) return at->second;
  }
  std::string const name = small->full_name();
  if (backward && kernel.reads_forward()) small = with_forward(*std::move(small));
  auto const ran = kernel.run(small->problem, 0, placement::end, small->asks);
  if (!ran) return end::other;
  call_report const& did = ran.value().report;
  if (did.outcome == call_outcome::cut_short || did.outcome == call_outcome::unanswered) return end::other;
  end const found = did.outcome == call_outcome::succeeded ? end::answered
                    : may_be_refusal(did)                  ? end::perhaps_refused
                                                           : end::other;
  std::scoped_lock const lock(mutex_);
  return known_.emplace(name, found).first->second;
}

}  // namespace attest::audit
