#include "audit/isolation/kernel_session.hpp"

#include <algorithm>
#include <csignal>

namespace attest::audit {
namespace {

/// A hang, or an end by the signal with which a system ends processes where memory is scarce.
bool may_be_the_machine(call_report const& did) {
  return did.outcome == call_outcome::hung || (did.outcome == call_outcome::crashed && did.code == SIGKILL);
}

}  // namespace

problem::result<kernel_session> kernel_session::open(kernel_library const& library, interruption const& interrupted,
                                                     isolation_limits const& limits) {
  auto kernel = isolated_kernel::open(library, limits);
  if (!kernel) return kernel.why();
  return kernel_session(std::move(kernel).value(), interrupted);
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
  asks.lse = asks.lse && lse_.is_supported();
  asks.weights = asks.weights && weights_.is_supported();
  run_result result;
  bool shared = true;
  /// Is `result` the last word, be it of these outputs?
  auto const ends_with = [&](bool lse, bool weights) -> problem::result<bool> {
    call_request const request{.want_lse = lse,
                               .want_weights = weights,
                               .threads = threads,
                               .placement = placement,
                               .memory = memory,
                               .stop = interruption_.stop,
                               .until = interruption_.until,
                               .want_shared = shared};
    call_of_group const alone{.problem = &problem, .request = request};
    auto answers = ask(std::span(&alone, 1), 0);
    if (!answers) return answers.why();
    call_answer& got = answers.value().front();
    result.seconds += got.report.seconds;
    reads_forward_ = reads_forward_ && !got.report.alone;
    bool const refused = got.report.outcome == call_outcome::unsupported && got.report.broken.empty();
    bool const keeps_o = refused && result.report.outcome == call_outcome::succeeded;
    if (!keeps_o) result.report = std::move(got.report), result.outputs = std::move(got.outputs);
    return !refused;
  };
  auto const learned = [&](problem::result<bool> ended) -> problem::result<run_result> {
    if (!ended) return ended.why();
    if (result.report.outcome == call_outcome::succeeded) {
      if (asks.lse) lse_.learn(result.outputs.lse.has_value());
      if (asks.weights) weights_.learn(result.outputs.weights.has_value());
    }
    return std::move(result);
  };
  auto ended = ends_with(asks.lse, asks.weights);
  problem_draft const& draft = problem.draft();
  if (ended && !ended.value() && draft.d_out && (draft.bias || draft.sink)) {  // few kernels give dBias or dSink
    shared = false;
    return learned(ends_with(false, false));
  }
  if (!ended || ended.value() || (!asks.lse && !asks.weights)) return learned(std::move(ended));
  ended = ends_with(false, false);
  bool const has_o = ended && ended.value() && result.report.outcome == call_outcome::succeeded;
  if (!has_o || !asks.lse || !asks.weights) return learned(std::move(ended));
  ended = ends_with(true, false);
  if (!ended || ended.value()) return learned(std::move(ended));
  return learned(ends_with(false, true));
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
