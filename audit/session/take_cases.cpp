// The cases of an audit, taken one after another into its report, and why it ends before the last.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "audit/cases/default_contract.hpp"
#include "audit/cases/families/backward.hpp"
#include "audit/cases/families/backward_forms.hpp"
#include "audit/condition/form.hpp"
#include "audit/report/number_words.hpp"
#include "audit/session/audit_session.hpp"
#include "audit/support/words.hpp"

namespace attest::audit {

std::string audit_session::reproducer(audit_case const& kernel_case) const {
  std::string text = fmt::format("attest audit --kernel {} --contract {}", shell_word(options_.kernel),
                                 shell_word(options_.contract_argument));
  if (options_.replay)
    text += fmt::format(" --replay {}{} --only {}", shell_word(options_.replay->native()),
                        options_.replay_words.options(), shell_word(kernel_case.full_name()));
  else
    text += fmt::format(" --seed {} --only {}{}", options_.seed, shell_word(kernel_case.full_name()),
                        options_.quick ? " --quick" : "");
  bool const of_gradients = kernel_case.check == check_of_gradients;
  call_domain const& domain = of_gradients ? plan_.of_gradients : plan_.domain;
  if (!domain.is_everything()) text += " --domain " + shell_word(domain.text());
  if (of_gradients ? depends_on_limits(kernel_case.name) : kernel_case.form && kernel_case.check != "support")
    text += fmt::format(" --draws 0 --draw-products {}", pool_.limits().call.products);
  return text + options_.words_of_rules();
}

void audit_session::judge_recording(audit_case const& kernel_case) {
  if (kernel_case.recorded_by.empty()) return;
  contract const& claim = default_contract(kernel_case.problem.type());
  judgement const found = judge(kernel_case.problem.instance(), kernel_case.recorded, claim);
  collect_.add_observation(
      kernel_case.full_name(),
      found.failed > 0
          ? fmt::format("{}: {} of {} elements of the answer by {} are outside the bound of {}",
                        kernel_case.full_name(), found.failed, found.judged(), kernel_case.recorded_by, claim.name)
          : fmt::format("{}: all {} elements of the answer by {} are within {:.4f} of the bound of {}",
                        kernel_case.full_name(), found.judged(), kernel_case.recorded_by, found.max_error_in_bounds,
                        claim.name));
}

void audit_session::note(audit_case const& kernel_case, bool is_draw, case_result& result) {
  hung_ += result.hung, unanswered_ += result.unanswered;
  if (!result.refused_sizes.empty() && ++refused_by_size_ == 1) refused_sizes_ = result.refused_sizes;
  if (result.inside) pool_.wider().keep(*result.inside);
  note_replies(result.replies);
  report_.covered.add_elements(result.judged.judged(), result.judged.exist);
  if (kernel_case.problem.draft().d_out)
    report_.covered.add_gradients(result.judged.judged(), result.judged.exist, !kernel_case.rows.empty());
  if (!result.unsupported) {
    points_.add(kernel_case);
    bool const is_pass = kernel_case.problem.draft().d_out.has_value();
    auto form = is_pass            ? form_asked(kernel_case, 0)
                : kernel_case.form ? kernel_case.form
                                   : audit::form_of(kernel_case.problem.draft());
    if (form) (is_pass ? judged_passes_ : judged_).push_back({*std::move(form), result.judged.failed > 0});
  } else if (!result.unanswered) {
    note_refused(kernel_case);
  }
  collect_.set_case(kernel_case.number);
  if (result.unanswered && !is_draw) {
    incomplete_ = true;
    collect_.add_unanswered(kernel_case.full_name());
  }
  judge_recording(kernel_case);
}

void audit_session::note_replies(std::vector<call_reply> const& replies) {
  auto const optional = [](bool asked, bool given) {
    return !asked ? reply::not_asked : given ? reply::answered : reply::refused;
  };
  for (call_reply const& of : replies) {
    call_replies said{.call = reply::refused};
    if (of.answered)
      said = {reply::answered, optional(of.asked.lse, of.given.lse), optional(of.asked.weights, of.given.weights)};
    report_.covered.add(of.form, said);
    asked_.push_back({of.form, said});
  }
}

/// Notes which features of a refused case the kernel refuses by themselves, or two at a time.
void audit_session::note_refused(audit_case const& kernel_case) {
  auto const form = kernel_case.form ? kernel_case.form : audit::form_of(kernel_case.problem.draft());
  if (form) refused_[kernel_case.check] = refused_[kernel_case.check] | form->features();
}

std::string audit_session::why_stopped() const {
  if (options_.interrupted()) return "interrupted";
  if (hung_ >= 2) return "the kernel hung twice";
  if (hung_ + unanswered_ >= 2) return "calls of two inputs did not return";
  if (options_.fail_fast && collect_.refuted()) return "--fail-fast";
  if (has_enough()) return fmt::format("{} failing inputs are enough", options_.enough_failing);
  if (when_.requested()) return fmt::format("the budget of {:g} s", *options_.budget);
  if (hurried_) return "enough was found";
  return words_of_slowness();
}

/// Why the fixed part of a slow kernel ends with the time; empty if the kernel is not slow.
std::string audit_session::words_of_slowness() const {
  if (plan_.slow_call == 0) return "";
  return fmt::format("a call takes {:.2g} s on average, and the audit {:g} s{}", plan_.slow_call,
                     options_.seconds_of_draws(), options_.quick ? " (--quick)" : "");
}

/// The number of all cases, for the progress; more than `done`. If the clock ends the draws, by the speed so far.
std::int64_t audit_session::expected_cases(std::int64_t done) const {
  std::int64_t all = std::max(std::ssize(plan_.fixed), done + 1);
  if (!plan_.draws || nothing_to_draw_ || hurried_) return all;
  if (options_.draws)
    return std::max(all, std::ssize(plan_.fixed) + *options_.draws / (options_.part ? options_.part->of : 1));
  if (options_.part) return all;
  using real_seconds = std::chrono::duration<double>;
  double const left = real_seconds(options_.draws_until() - options_.time_of_draws()).count(),
               spent = real_seconds(options_.time_of_draws() - options_.begun).count();
  if (left > 0 && spent > 0)
    all = std::max(all, done + 1 + static_cast<std::int64_t>(static_cast<double>(done) * left / spent));
  return all;
}

/// The cases of the fixed part, then the draws.
problem::result<std::optional<session::judged_case>> audit_session::next() {
  if (current_) look_at_findings();
  while (stopped_.empty()) {
    bool const is_draw = done_ >= plan_.fixed.size();
    options_.on_progress(static_cast<std::int64_t>(done_), expected_cases(static_cast<std::int64_t>(done_)),
                         is_draw ? "draws" : plan_.fixed[done_].full_name());
    current_ = pool_.wait(done_);
    if (!current_) break;
    if (!current_->result) return current_->result.why();
    case_result& result = current_->result.value();
    if (result.cut_short && result.judged.failed == 0) break;
    ++done_;
    if (!current_->plan.reported) continue;
    // A draw that --only or a file names is not independent of what it shows.
    report_.draws += is_draw;
    if (is_draw) report_.covered.add_draw(!result.unsupported);
    audit_case const& made = *current_->made;
    note(made, is_draw, result);
    return std::optional(judged_case{&made, true, made.number, std::move(result), reproducer(made)});
  }
  return std::optional<judged_case>();
}

/// Ends the draws or the audit if its findings so far say so.
void audit_session::look_at_findings() {
  if (!hurried_ && may_hurry() && collect_.refuted()) {
    // The verdict is known: the rest of the time is for other checks and for the findings.
    hurried_ = true;
    pool_.end_draws();
    pool_.end_by(options_.quick ? since_begun_in_own(7) : in_own(3));
  }
  if (done_ == plan_.fixed.size() && may_hurry() && judged_.empty() && !pool_.drawn().backward) {
    nothing_to_draw_ = true;  // it answers no call
    pool_.end_draws();
  }
  if (hung_ + unanswered_ >= 2 || (options_.fail_fast && collect_.refuted()) || has_enough()) stopped_ = why_stopped();
}

/// Says which cases were not asked. Returns nothing if all of the fixed part was, or enough of a slow kernel's; else
/// why not.
std::string audit_session::end_of_cases() {
  std::size_t const fixed = plan_.fixed.size();
  pool_.close();
  options_.on_progress(0, 0, "");
  if (plan_.draws || plan_.shapes_from < fixed) report_.draw_products = pool_.limits().call.products;
  report_.all_draws = plan_.draws ? options_.draws.value_or(report_.draws) : 0;
  report_.all_cases = plan_.all_fixed + report_.all_draws;
  if (done_ >= fixed) {
    not_drawn(static_cast<std::int64_t>(done_ - fixed));
    return std::string();
  }
  if (stopped_.empty()) stopped_ = why_stopped();
  report_.not_asked.insert(
      report_.not_asked.begin(),
      {fmt::format("{} of {}", fixed - done_, counted(static_cast<std::int64_t>(fixed), "input", "inputs")), stopped_});
  if (plan_.slow_call == 0 || stopped_ != words_of_slowness()) {
    report_.observations.push_back(fmt::format("stopped after {} of {} cases: {}", done_, fixed, stopped_));
    return "the audit stopped early, before the end of its fixed part: " + stopped_;
  }
  // Of a slow kernel half of the fixed part is enough, if every check has cases.
  std::vector<std::string> const without = checks_not_asked(done_);
  if (!without.empty())
    report_.not_asked.insert(report_.not_asked.begin() + 1,
                             {fmt::format("every input of {}", fmt::join(without, ", ")), stopped_});
  std::string few = fmt::format(
      "only {} of {} inputs were asked{}: {}, small inputs first; --budget {} asks all",
      grouped(static_cast<std::int64_t>(done_)), grouped(static_cast<std::int64_t>(fixed)),
      without.empty() ? "" : fmt::format(", and no input of {}", counted(std::ssize(without), "check", "checks")),
      stopped_, seconds_of_all(done_));
  bool const enough = 2 * done_ >= fixed && without.empty();
  report_.observations.emplace_back(few, kind_slow);
  return enough ? std::string() : few;
}

/// The checks that have cases before the shapes, and none among the first `done`.
std::vector<std::string> audit_session::checks_not_asked(std::size_t done) const {
  std::vector<std::string> checks;
  for (std::size_t at = done; at < plan_.shapes_from; ++at) {
    std::string const& name = plan_.fixed[at].check;
    auto const is_of_check = [&](planned_case const& one) { return one.check == name; };
    if (std::ranges::any_of(std::span(plan_.fixed).first(done), is_of_check)) continue;
    if (std::ranges::find(checks, name) == checks.end()) checks.push_back(name);
  }
  return checks;
}

/// Seconds in which a slow kernel would be asked the fixed part whole, by the speed so far.
std::int64_t audit_session::seconds_of_all(std::size_t done) const {
  std::chrono::duration<double> const spent = options_.time_of_draws() - options_.begun;
  constexpr double spare = 1.5, ten = 10;  // a budget pays for the search and the report, too
  std::size_t const fixed = plan_.fixed.size();
  double const calls = static_cast<double>(plan_.calls_of(fixed)) / static_cast<double>(plan_.calls_of(done));
  double const work = plan_.products_of(fixed) / std::max(plan_.products_of(done), 1.0);
  double const all = spare * spent.count() * std::max(calls, work);
  return static_cast<std::int64_t>(ten * std::ceil(all / ten));
}

/// Says which draws were asked for and not made.
void audit_session::not_drawn(std::int64_t made) {
  if (plan_.draws && options_.part && !options_.draws)
    report_.not_asked.push_back({"draws", "--shard without --draws"});
  if (nothing_to_draw_) report_.not_asked.push_back({"draws", "the kernel answered no call of attention"});
  if (!plan_.draws || !options_.draws) return;
  std::int64_t const first = plan_.draw_number(made);
  if (first > *options_.draws) return;
  report_.not_asked.push_back({fmt::format("draws {} to {}", first, *options_.draws), why_stopped()});
}

}  // namespace attest::audit
