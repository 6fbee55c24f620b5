#include "audit/isolation/kernel_session.hpp"

#include <algorithm>
#include <csignal>

#include "audit/tensors/elements.hpp"

namespace attest::audit {
namespace {

/// Two queries and three keys of small numbers. A kernel is taken to support the outputs that it supports here.
owned_problem small_problem(problem::element_type type) {
  problem_draft draft;
  draft.q = owned_tensor::compact(type, {1, 1, 2, 4});
  draft.k = owned_tensor::compact(type, {1, 1, 3, 4});
  draft.v = owned_tensor::compact(type, {1, 1, 3, 2});
  for (owned_tensor* t : {&draft.q, &draft.k, &draft.v})
    for (std::size_t at = 0; at < t->spanned_elements(); ++at) store(*t, at, 0.25 * static_cast<double>(at % 5) - 0.5);
  return owned_problem::of_valid(std::move(draft));
}

/// A hang, or an end by the signal with which a system ends processes where memory is scarce.
bool may_be_the_machine(call_report const& did) {
  return did.outcome == call_outcome::hung || (did.outcome == call_outcome::crashed && did.code == SIGKILL);
}

}  // namespace

problem::result<kernel_session> kernel_session::open(kernel_library const& library, problem::element_type type,
                                                     interruption const& interrupted, isolation_limits const& limits) {
  auto kernel = isolated_kernel::open(library, limits);
  if (!kernel) return kernel.why();
  kernel_session session(std::move(kernel).value(), interrupted);
  auto const first = session.run(small_problem(type), 0, placement::end);
  if (first && first.value().report.outcome == call_outcome::succeeded) {
    session.supports_lse_ = first.value().outputs.lse.has_value();
    session.supports_weights_ = first.value().outputs.weights.has_value();
  }
  return session;
}

/// isolated_kernel::run_together; the first hang or end by SIGKILL counts only if it comes again at once.
problem::result<std::vector<call_answer>> kernel_session::ask(std::span<call_of_group const> calls,
                                                              double more_seconds) {
  auto answers = kernel_.run_together(calls, more_seconds);
  if (!answers || !may_be_the_machine(answers.value().front().report) || ended_) return answers;
  auto const first = answers.value().front().report;
  ended_ = true;
  answers = kernel_.run_together(calls, more_seconds);
  if (!answers) return answers;
  using enum call_outcome;
  call_outcome const again = answers.value().front().report.outcome;
  if (again != succeeded && again != unsupported && again != failed && again != cut_short) return answers;
  call_answer inconclusive;
  inconclusive.report.outcome = unanswered;
  inconclusive.report.sentence = first.sentence + (again == cut_short ? ", and was not asked again in time"
                                                                      : ", and returned when it was asked again");
  std::ranges::fill(answers.value(), inconclusive);
  return answers;
}

asked_outputs kernel_session::requestable(owned_problem const& problem, asked_outputs asks) noexcept {
  constexpr std::int64_t most_weights = std::int64_t{1} << 24;
  problem::sizes const& s = problem.size();
  asks.weights =
      asks.weights && problem.draft().of->does_give(output_kind::weights) && s.b * s.hq * s.n * s.m <= most_weights;
  return asks;
}

problem::result<kernel_session::run_result> kernel_session::run(owned_problem const& problem, std::int32_t threads,
                                                                audit::placement placement, asked_outputs asks,
                                                                memory_form const& memory) {
  asks = requestable(problem, asks);
  asks.lse = asks.lse && supports_lse_;
  asks.weights = asks.weights && supports_weights_;
  struct optional_outputs {
    bool lse, weights;
  };
  run_result result;
  for (auto const& [lse, weights] : {optional_outputs{true, true}, optional_outputs{true, false},
                                     optional_outputs{false, true}, optional_outputs{false, false}}) {
    if ((lse && !asks.lse) || (weights && !asks.weights)) continue;
    call_request const request{.want_lse = lse,
                               .want_weights = weights,
                               .threads = threads,
                               .placement = placement,
                               .memory = memory,
                               .stop = interruption_.stop,
                               .until = interruption_.until};
    call_of_group const alone{.problem = &problem, .request = request};
    auto answers = ask(std::span(&alone, 1), 0);
    if (!answers) return answers.why();
    result.report = std::move(answers.value().front().report);
    result.seconds += result.report.seconds;
    if (result.report.outcome == call_outcome::succeeded) result.outputs = std::move(answers.value().front().outputs);
    if (result.report.outcome != call_outcome::unsupported || !result.report.broken.empty()) break;
  }
  return result;
}

problem::result<std::vector<call_answer>> kernel_session::run_together(std::vector<call_of_group> calls,
                                                                       double more_seconds) {
  for (call_of_group& call : calls) call.request.stop = interruption_.stop, call.request.until = interruption_.until;
  auto answers = ask(calls, more_seconds);
  bool const several = std::ranges::any_of(calls, [](call_of_group const& call) { return call.caller > 0; });
  if (several && answers && answers.value().front().report.outcome == call_outcome::hung) hung_together_ = true;
  return answers;
}

}  // namespace attest::audit
