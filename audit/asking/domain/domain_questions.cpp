#include "audit/asking/domain/domain_questions.hpp"

#include <algorithm>

#include "audit/isolation/reply_report.hpp"
#include "audit/judge/by_law.hpp"
#include "audit/judge/forward_answers.hpp"

namespace attest::audit {
namespace {

/// The backward pass with an O and an LSE of 0.
owned_problem with_zero_forward(owned_problem const& problem) {
  problem_draft draft = problem.draft();
  auto const rows = [&](std::int64_t width) {
    return std::visit([&](auto const& p) { return problem::rows_layout(p, width); }, problem.instance());
  };
  draft.handed_o = owned_tensor::zeros(problem.type(), rows(problem.size().dv));
  draft.handed_lse = owned_tensor::zeros(problem::row_of(problem.type()).lse, rows(1));
  return owned_problem::of_valid(std::move(draft));
}

}  // namespace

domain_questions::domain_questions(kernel_session& kernel, contract const& claim, std::uint64_t seed,
                                   interruption const& when, search_time const& time, function_asked of)
    : kernel_(kernel),
      claim_(claim),
      seed_(seed),
      when_(when),
      of_(of),
      audit_seconds_(time.audit),
      end_(own_time::now() +
           std::chrono::duration_cast<own_time::clock::duration>(std::chrono::duration<double>(time.most))) {}

/// Do slow calls take their part of the time?
bool domain_questions::are_slow() const {
  return returned_seconds_ > audit_seconds_ / 5 && quickest_ * static_cast<double>(usual_calls) > audit_seconds_;
}

bool domain_questions::takes(domain_call const& of) {
  domain_call call = of;
  call.backward = of_ == function_asked::backward;
  std::string name = call.name();
  if (auto const at = known_.find(name); at != known_.end()) return at->second;
  if (are_slow()) answers_.slow = true;
  if (answers_.slow || when_.requested() || own_time::now() >= end_) ended_ = answers_.cut_short = true;
  if (ended_ || std::ssize(answers_.died) >= deaths_allowed_) return false;
  bool const is_taken = asked(call);
  if (!answers_.cut_short) known_.emplace(std::move(name), is_taken);
  if (answers_.answered == 0) {
    before_an_answer_ = answers_.asked;
    if (before_an_answer_ >= most_calls_before_an_answer || own_ends_ >= most_own_ends_before_an_answer ||
        std::ssize(answers_.erred) >= most_errors_before_an_answer)
      ended_ = true;
  }
  if (answers_.asked - before_an_answer_ >= most_calls) ended_ = true;
  return is_taken;
}

bool domain_questions::refuses(domain_call const& call) {
  std::int64_t const deaths = std::ssize(answers_.died);
  bool const is_taken = takes(call);
  return !is_taken && known_.contains(call.name()) && !ended_ && std::ssize(answers_.died) == deaths;
}

bool domain_questions::asked(domain_call const& call) {
  audit_case made = case_of(call, claim_.type, seed_);
  ++answers_.asked;
  auto const begun = own_time::now();
  auto const ran = answer_to(made);
  if (!ran) {
    ended_ = true;
    return false;
  }
  call_report const& did = ran.value().report;
  last_seconds_ = own_time::share() * ran.value().seconds;
  if (may_be_refusal(did)) {
    if (did.outcome != call_outcome::failed) ++own_ends_;
    answers_.failed.push_back({call, did.outcome, did.sentence});
    return false;
  }
  auto const seconds_since = [&] { return std::chrono::duration<double>(own_time::now() - begun).count(); };
  if (did.outcome == call_outcome::succeeded || (did.outcome == call_outcome::unsupported && answers_.answered > 0))
    returned_seconds_ += seconds_since();
  switch (did.outcome) {
    case call_outcome::succeeded:
      ++answers_.answered;
      answer_seconds_ = last_seconds_, quickest_ = std::min(quickest_, last_seconds_);
      if (!is_right(made, ran.value())) answers_.wrong.push_back(call);
      answers_.seconds += seconds_since();
      return true;
    case call_outcome::unsupported:
      if (!did.broken.empty()) answers_.wrong.push_back(call);
      if (has_no_function(did)) answers_.has_function = false, ended_ = true;
      return false;
    case call_outcome::failed: answers_.erred.push_back({call, did.outcome, did.sentence}); return false;
    case call_outcome::cut_short: ended_ = answers_.cut_short = true; return false;
    case call_outcome::not_asked: return false;
    case call_outcome::unanswered: ended_ = true; return false;
    case call_outcome::hung: ended_ = true; [[fallthrough]];
    default: answers_.died.push_back({call, did.outcome, did.sentence}); return false;
  }
}

/// A backward pass is refused by its form alone: O and LSE are exact only where it is not.
problem::result<kernel_session::run_result> domain_questions::answer_to(audit_case& made) {
  asked_outputs const asks = made.asks;
  if (of_ == function_asked::attention) return kernel_.run(made.problem, 0, placement::end, asks);
  if (kernel_.reads_forward()) {
    auto first = kernel_.run(with_zero_forward(made.problem), 0, placement::end, asks);
    if (!first || first.value().report.outcome != call_outcome::succeeded) return first;
  }
  if (kernel_.reads_forward()) made.problem = with_forward(made.problem);
  return kernel_.run(made.problem, 0, placement::end, asks);
}

bool domain_questions::is_right(audit_case const& of, kernel_session::run_result const& ran) const {
  return ran.report.broken.empty() &&
         judge_by_law(of.problem, ran.outputs, claim_, of.rows, thoroughness::verdict).failed == 0;
}

}  // namespace attest::audit
