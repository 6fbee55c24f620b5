// Asks a kernel the calls of the search for its domain: each once, each answer judged.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "audit/asking/domain/domain_call.hpp"
#include "audit/contract/contract.hpp"
#include "audit/isolation/kernel_session.hpp"
#include "audit/isolation/own_time.hpp"
#include "audit/support/interruption.hpp"

namespace attest::audit {

/// A call that was neither answered nor refused.
struct untaken_call {
  domain_call call;
  call_outcome outcome = call_outcome::failed;
  std::string sentence;  ///< "answered FAILED and said 'RuntimeError: head size 96'"
};

/// What the calls showed beside the domain.
struct domain_answers {
  std::int64_t asked = 0, answered = 0;
  double seconds = 0;                  ///< of own_time: the answered calls and the judgement of their answers
  std::vector<domain_call> wrong{};    ///< answered wrongly, or with a broken promise
  std::vector<untaken_call> failed{};  ///< with status FAILED or the kernel's own end, which may be refusals
  std::vector<untaken_call> erred{};   ///< with status FAILED, which is none
  std::vector<untaken_call> died{};    ///< the process of the kernel ended, or the call did not return
  bool cut_short = false;
  bool slow = false;         ///< cut short since answers take so long (search_time)
  bool has_function = true;  ///< false: the library has no function for such calls
};

/// The function whose domain is searched for.
enum class function_asked : std::uint8_t { attention, backward };

/// Seconds of own_time that a search may take. Where usual_calls of the quickest answer would take longer than the
/// audit, the calls from the first answer on may take a fifth of the audit.
struct search_time {
  double most, audit = std::numeric_limits<double>::infinity();
};

class domain_questions {
 public:
  /// Ends after the time, or by `when`.
  domain_questions(kernel_session& kernel, contract const& claim, std::uint64_t seed, interruption const& when,
                   search_time const& time, function_asked of = function_asked::attention);

  /// Is the call answered, rightly or not? A call that is not asked any more counts as refused: nothing new is asked
  /// after a hang and after most_calls, nor in this step after the deaths that it allows. The end of a process by the
  /// kernel's own assertion is no death (may_be_refusal).
  bool takes(domain_call const& call);
  /// Is a call of attention asked, and then neither answered nor the death of the process?
  bool refuses(domain_call const& call);
  /// From now on calls ask for outputs by this rule.
  void ask_by(outputs_rule const& rule) { kernel_.ask_by(rule); }
  /// Begins a step of the search, in which so many calls may end the process of the kernel.
  void begin_step(std::int64_t deaths) {
    deaths_allowed_ = std::min(std::ssize(answers_.died) + deaths, std::ptrdiff_t{most_deaths});
  }
  /// The last new call took so long, on a quiet machine, that larger ones are not asked.
  bool is_slow() const { return last_seconds_ > 0.1; }
  /// Seconds of the last new call that was answered, on a quiet machine.
  double seconds_of_answer() const { return answer_seconds_; }
  domain_answers const& answers() const { return answers_; }
  function_asked function() const { return of_; }

  static constexpr std::int64_t usual_calls = 100, most_calls = 320, most_deaths = 10;
  /// Before the first answer. Each own end costs a process.
  static constexpr std::int64_t most_calls_before_an_answer = 2550, most_own_ends_before_an_answer = 400;
  /// A kernel that is wrong in each call, an error in a process that must begin again, has no domain to be found.
  static constexpr std::int64_t most_errors_before_an_answer = 16;

 private:
  bool asked(domain_call const& call);
  bool are_slow() const;
  problem::result<kernel_session::run_result> answer_to(audit_case& made);
  bool is_right(audit_case const& of, kernel_session::run_result const& ran) const;

  kernel_session& kernel_;
  contract const& claim_;
  std::uint64_t seed_;
  interruption when_;
  function_asked of_;
  double audit_seconds_;
  own_time::clock::time_point end_;
  std::int64_t before_an_answer_ = 0, own_ends_ = 0;
  std::map<std::string, bool> known_;  ///< by the name of the call
  domain_answers answers_;
  double last_seconds_ = 0, answer_seconds_ = 0,
         returned_seconds_ = 0;  ///< returned: answered or refused, from the first answer on
  double quickest_ = std::numeric_limits<double>::infinity();  ///< answer, in seconds
  std::int64_t deaths_allowed_ = 1;
  bool ended_ = false;
};

}  // namespace attest::audit
