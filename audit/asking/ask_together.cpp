#include "audit/asking/ask_together.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "audit/asking/call_violations.hpp"
#include "audit/cause/explain.hpp"
#include "audit/judge/by_law.hpp"
#include "audit/judge/hidden_keys.hpp"
#include "audit/tensors/some_gradients.hpp"

namespace attest::audit {
namespace {

constexpr int most_groups = 8;
constexpr double enough_seconds = 0.05;      ///< inside the kernel, in groups
constexpr double seconds_of_caller = 0.005;  ///< fast calls are repeated, so that they overlap on a busy machine, too
constexpr double seconds_of_group = 0.5;     ///< a limit that a group of slow calls does not exceed by much

/// A backward pass, asked for the gradients that the kernel gave alone; nothing if it gave all of them.
std::optional<owned_problem> asked_for_given(owned_problem const& pass, owned_outputs const& given) {
  gradient_set got = 0;
  for (output_kind const kind : pass.draft().of->gives)
    if (problem::is_gradient(kind) && given.of(kind)) got = static_cast<gradient_set>(got | set_of(kind));
  if (got == 0 || got == gradients_of(*pass.draft().of)) return std::nullopt;
  problem_draft draft = pass.draft();
  draft.of = &pass_for(got);
  return owned_problem::of_valid(std::move(draft));
}

/// The calls of a case that are made in groups.
class group_asker {
 public:
  group_asker(audit_case const& kernel_case, kernel_session& kernel, contract const& claim, case_outputs const& alone,
              double seconds)
      : case_(kernel_case), kernel_(kernel), claim_(claim), alone_(alone), seconds_(seconds) {
    for (std::size_t call = 0; call < alone.size(); ++call) {
      open_.push_back(leaves_outputs_open(kernel_case.call(call), claim));
      some_.push_back(alone[call] ? asked_for_given(kernel_case.call(call), *alone[call]) : std::nullopt);
      if (alone[call]) calls_.push_back(call);
    }
    double const calls = static_cast<double>(calls_.size());
    auto const least = static_cast<double>(2 * kernel_case.callers);
    constexpr auto most = static_cast<double>(isolated_kernel::most_together);
    if (seconds > 0) size_ = static_cast<std::size_t>(std::clamp(seconds_of_group * calls / seconds, least, most));
  }
  std::size_t size() const { return size_; }

  std::optional<problem::error> ask() {
    if (calls_.empty()) return std::nullopt;
    for (int group = 0; group < most_groups && found.judged.failed == 0 && !found.cut_short; ++group) {
      if (auto why = ask_group(static_cast<std::size_t>(group))) return why;
      if (case_.callers == 1 || found.kernel_seconds >= enough_seconds) break;
    }
    return std::nullopt;
  }

  case_result found;

 private:
  std::optional<problem::error> ask_group(std::size_t group) {
    std::vector<call_of_group> asked;
    std::vector<std::size_t> numbers;
    for (std::size_t n = 0; n < size_; ++n) {
      std::size_t const call = calls_[(group * size_ + n) % calls_.size()];
      owned_outputs const& outputs = *alone_[call];
      numbers.push_back(call);
      asked.push_back(
          {.problem = some_[call] ? &*some_[call] : &case_.call(call),
           .request = {.want_lse = outputs.lse.has_value(),
                       .want_weights = outputs.weights.has_value(),
                       .threads = case_.threads_of(call),
                       .memory = case_.memory_of(call)},
           .caller = static_cast<std::uint32_t>(n) % static_cast<std::uint32_t>(case_.callers),
           .repeat_seconds = case_.callers > 1 ? seconds_of_caller * case_.callers / static_cast<double>(size_) : 0});
    }
    // No single call took longer than all together; a group may take twice as long as its calls one after the other.
    auto answers = kernel_.run_together(std::move(asked), 2 * seconds_ * static_cast<double>(size_));
    if (!answers) return answers.why();
    for (std::size_t n = 0; n < size_; ++n)
      if (!take(answers.value()[n], numbers[n])) break;
    return std::nullopt;
  }

  /// Takes one answer. Returns whether the answers after it can say anything new.
  bool take(call_answer& answer, std::size_t call) {
    found.kernel_seconds += answer.report.seconds;
    take_outcome(answer.report, call, found);
    if (answer.report.outcome == call_outcome::unsupported) refused(call);
    if (answer.report.outcome == call_outcome::not_asked)
      found.observations.push_back(fmt::format("{}: {}", case_.full_name(), answer.report.sentence));
    if (answer.report.outcome != call_outcome::succeeded) return answer.report.outcome == call_outcome::failed;
    if (open_[call]) return true;
    bool const same = same_bits(answer.outputs, *alone_[call]);
    judgement judged = same ? judge_beside(case_.call(call), *alone_[call], answer.outputs, claim_)
                            : judge_by_law(case_.call(call), answer.outputs, claim_);
    if (!same) explain_call(case_.call(call), answer.outputs, claim_, {}, judged);
    for (violation& v : judged.violations) v.call = call;
    found.judged.merge(std::move(judged));
    return true;
  }

  void refused(std::size_t call) {
    ++found.judged.failed;
    violation wrong;
    wrong.output = "call", wrong.call = call, wrong.error_in_bounds = std::numeric_limits<double>::infinity();
    wrong.sentence = "the kernel answered UNSUPPORTED to what it had answered";
    found.judged.add(std::move(wrong));
  }

  audit_case const& case_;
  kernel_session& kernel_;
  contract const& claim_;
  case_outputs const& alone_;
  double seconds_;
  std::size_t size_ = isolated_kernel::most_together;
  std::vector<std::size_t> calls_;
  std::vector<std::optional<owned_problem>> some_;  ///< calls that are asked for some gradients
  std::vector<bool> open_;  ///< whether the contract leaves the outputs of a call of the case open
};

}  // namespace

std::optional<problem::error> ask_together(audit_case const& kernel_case, kernel_session& kernel,
                                           judging_rules const& rules, case_outputs const& alone, double seconds,
                                           case_result& into) {
  bool const several = kernel_case.callers > 1;
  if (several && kernel.hung_together()) {
    into.observations.push_back(fmt::format("{}: not asked from {} threads at the same time: such calls hung before",
                                            kernel_case.full_name(), kernel_case.callers));
    return std::nullopt;
  }
  group_asker asker(kernel_case, kernel, *rules.claim, alone, seconds);
  if (auto why = asker.ask()) return why;
  case_result& found = asker.found;
  into.kernel_seconds += found.kernel_seconds;
  into.cut_short = into.cut_short || found.cut_short;
  if (found.cut_short) return std::nullopt;
  for (std::string& observation : found.observations) into.observations.push_back(std::move(observation));
  for (violation& v : found.judged.violations) {
    v.callers = kernel_case.callers;
    v.sentence += several ? fmt::format("; {} threads called at the same time", v.callers)
                          : fmt::format("; the tensors of {} calls were alive", asker.size());
  }
  if (several && !rules.concurrent) {
    if (found.judged.failed > 0)
      into.observations.push_back(
          fmt::format("{}: right one by one, and wrong when called from {} threads at the same time: {}",
                      kernel_case.full_name(), kernel_case.callers, found.judged.violations.front().sentence));
    return std::nullopt;
  }
  into.hung = into.hung || found.hung;
  into.unanswered = into.unanswered || found.unanswered;
  into.judged.merge(std::move(found.judged));
  return std::nullopt;
}

}  // namespace attest::audit
