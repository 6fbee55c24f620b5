#include "audit/isolation/kernel_session.hpp"

#include <algorithm>
#include <csignal>
#include <utility>

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
  return kernel_session(std::move(kernel).value(), interrupted, limits.outputs);
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
  asks = rule_.within(asks);
  asked_outputs const least = rule_.least();
  if (problem.draft().d_out)
    return run_pass(problem, {.threads = threads,
                              .placement = placement,
                              .memory = memory,
                              .stop = interruption_.stop,
                              .until = interruption_.until});
  run_result result;
  /// Is `result` the last word, be it of these outputs?
  auto const ends_with = [&](bool lse, bool weights) -> problem::result<bool> {
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
    call_answer& got = answers.value().front();
    result.seconds += got.report.seconds;
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
  if (!ended || ended.value() || asks == least) return learned(std::move(ended));
  ended = ends_with(least.lse, least.weights);
  bool const has_o = ended && ended.value() && result.report.outcome == call_outcome::succeeded;
  if (!has_o || asks.lse == least.lse || asks.weights == least.weights) return learned(std::move(ended));
  ended = ends_with(true, false);
  if (!ended || ended.value()) return learned(std::move(ended));
  return learned(ends_with(false, true));
}

problem::result<kernel_session::run_result> kernel_session::run_pass(owned_problem const& problem,
                                                                     call_request const& request) {
  using enum output_kind;
  constexpr gradient_set shared = set_of(dbias) | set_of(dsink);
  gradient_set const wanted = gradients_of(*problem.draft().of);
  run_result result;
  result.report.outcome = call_outcome::unsupported;
  std::optional<problem::error> fault;
  /// Asked for these gradients, does the kernel do anything but refuse?
  auto const ends = [&](gradient_set asked) {
    if (asked == 0) return false;
    std::optional<owned_problem> some;
    if (asked != wanted) {
      problem_draft draft = problem.draft();
      draft.of = &pass_for(asked);
      some = owned_problem::of_valid(std::move(draft));
    }
    call_of_group const alone{.problem = some ? &*some : &problem, .request = request};
    auto answers = ask(std::span(&alone, 1), 0);
    if (!answers) return fault = answers.why(), true;
    call_answer& got = answers.value().front();
    result.seconds += got.report.seconds;
    reads_forward_ = reads_forward_ && !got.report.alone;
    result.report = std::move(got.report), result.outputs = std::move(got.outputs);
    return result.report.outcome != call_outcome::unsupported || !result.report.broken.empty();
  };
  auto const ends_with_or_without_shared = [&](gradient_set asked) {  // few kernels give dBias or dSink
    gradient_set const own = asked & ~shared;
    bool const has_shared = problem.draft().bias || problem.draft().sink;
    return ends(asked) || (has_shared && own != asked && ends(own));
  };
  bool const ended = ends_with_or_without_shared(wanted & gradients_.some.value_or(wanted));
  if (ended && !gradients_.some) {
    gradient_set const all = set_of(dq) | set_of(dk) | set_of(dv);
    bool const succeeded = !fault && result.report.outcome == call_outcome::succeeded;
    gradients_.gives_all = gradients_.gives_all || (succeeded && (wanted & all) == all);
  }
  if (!ended && gradients_.is_open()) {
    ++gradients_.searched;
    for (gradient_set const part : {set_of(dq), gradient_set(set_of(dk) | set_of(dv)), set_of(dk), set_of(dv)}) {
      gradient_set const asked = wanted & part;
      if (asked != part || asked == (wanted & ~shared) || !ends(asked)) continue;
      if (!fault && result.report.outcome == call_outcome::succeeded) gradients_.some = part;
      break;
    }
  }
  if (fault) return *std::move(fault);
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
