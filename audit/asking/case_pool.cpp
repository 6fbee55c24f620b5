#include "audit/asking/case_pool.hpp"

#include <algorithm>
#include <limits>

#include "audit/asking/kernel_speed.hpp"
#include "audit/asking/run_case.hpp"
#include "audit/builtin/kernel_spec.hpp"
#include "audit/cases/families/backward.hpp"
#include "audit/cases/families/backward_forms.hpp"
#include "audit/cases/forms/support_cases.hpp"
#include "audit/support/interruptible.hpp"

namespace attest::audit {

case_pool::case_pool(audit_plan const& plan, audit_options const& options, interruption const& when,
                     std::optional<kernel_session> served)
    : plan_(plan),
      options_(options),
      when_(when),
      wider_(*options.claim),
      limits_(fixed_limits(options)),
      refusals_(plan.type, options.seed, plan.domain, plan.of_gradients, !options.domain),
      served_(std::move(served)) {
  limits_.domain = plan.domain;
  limits_.gradients.domain = plan.of_gradients;
}

std::optional<problem::error> case_pool::start() {
  std::size_t const most = plan_.draws ? std::numeric_limits<std::size_t>::max() : plan_.fixed.size();
  int const jobs = static_cast<int>(std::clamp<std::size_t>(most, 1, static_cast<std::size_t>(options_.jobs)));
  for (int n = 0; n < jobs; ++n) workers_.emplace_back([this] { work(); });
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return opened_ == jobs; });
  return fault_;
}

std::optional<asked_case> case_pool::wait(std::size_t at) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] {
    return (at < asked_.size() && asked_[at].has_value()) || (closed_ && at >= asked_.size()) ||
           finished_ == workers_.size();
  });
  if (at >= asked_.size()) return std::nullopt;
  return std::exchange(asked_[at], std::nullopt);
}

void case_pool::close() {
  {
    std::scoped_lock const lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
  for (std::thread& worker : workers_)
    if (worker.joinable()) worker.join();
}

bool case_pool::may_begin(std::size_t at) const {
  if (closed_ || fault_ || enough()) return false;
  if (at < plan_.fixed.size()) return plan_.slow_call == 0 || may_go_on(pace(at));
  auto const index = static_cast<std::int64_t>(at - plan_.fixed.size());
  if (!plan_.draws || draws_ended_) return false;
  if (options_.part && !options_.draws) return false;  // shards need not be equally fast
  if (options_.draws) return plan_.draw_number(index) <= *options_.draws;
  return options_.time_of_draws() < options_.draws_until();
}

slow_pace case_pool::pace(std::size_t at) const {
  auto const seconds = [&](clock::time_point until) {
    return std::chrono::duration<double>(until - options_.begun).count();
  };
  std::size_t const half = (plan_.fixed.size() + 1) / 2;
  auto const calls_until = [&](std::size_t cases) {
    return static_cast<double>(plan_.calls_of(cases) - plan_.calls_of(std::min(cases, plan_.first_turn)));
  };
  return {.done = at,
          .half = half,
          .calls = calls_until(at),
          .calls_of_half = calls_until(half),
          .call = plan_.slow_call,
          .spent = seconds(options_.time_of_draws()),
          .next = plan_.slow_call * static_cast<double>(plan_.fixed[at].calls),
          .first = at > plan_.first_turn ? seconds(first_turn_done_) : 0,
          .usual = seconds(options_.draws_until()) - plan_.late,
          .most = plan_.is_part ? 0 : options_.seconds_of_fixed_part()};  // undecided with its half, too
}

/// Sets the limits by the cases so far, and by the kernel's speed if the clock ends the draws.
void case_pool::measure(kernel_session& kernel, std::unique_lock<std::mutex>& lock) {
  limits_state_ = limits_state::being_measured;
  if (!options_.draws && !options_.draw_products && !options_.part) {
    drawn_functions const drawn = drawn_;
    double const seconds = options_.seconds_of_draws();
    lock.unlock();
    auto const products = most_products(kernel, plan_.type, seconds, drawn, limits_.domain, plan_.of_gradients);
    lock.lock();
    if (products) limits_.call.products = *products, limits_.gradients.products = gradient_products(*products);
  }
  limits_state_ = limits_state::known;
  changed_.notify_all();
}

/// Notes what a case shows of the functions that the kernel has. Requires the lock.
void case_pool::note_support(asked_case const& asked) {
  bool const of_gradients = asked.plan.check == check_of_gradients;
  if (!asked.result || (asked.plan.check != "support" && !of_gradients)) return;
  if (!is_gradient_support(asked.plan.name) && of_gradients) return;
  if (!asked.result.value().unsupported)
    (of_gradients ? drawn_.backward : drawn_.attention) = of_gradients ? plan_.drawn.backward : plan_.drawn.attention;
  else if (of_gradients) note_gradient_refusal(limits_.gradients.answers, asked.plan.name);
}

/// Runs cases on a kernel of its own: a kernel ends with the thread that opened it.
void case_pool::work() {
  std::optional<kernel_session> served;
  {
    std::scoped_lock const lock(mutex_);
    served_.swap(served);  // one worker asks it; the others open kernels of their own
  }
  auto kernel = served ? problem::result<kernel_session>(*std::move(served))
                       : open_kernel(options_.kernel, options_.channel, when_, limits_of(options_));
  if (kernel) kernel.value().interrupt_by(when_);
  {
    std::scoped_lock const lock(mutex_);
    ++opened_;
    if (kernel) {
      name_ = kernel.value().kernel().name();
      loading_changes_environment_ = kernel.value().kernel().loading_changes_environment();
      missing_protections_ = kernel.value().kernel().missing_protections();
    } else if (!fault_) {
      fault_ = kernel.why();
    }
  }
  changed_.notify_all();
  while (kernel) {
    std::size_t at = 0;
    planned_case plan;
    {
      std::unique_lock lock(mutex_);
      at = asked_.size();
      if (at == plan_.first_turn) first_turn_done_ = options_.time_of_draws();
      if (!may_begin(at)) break;
      if (at >= plan_.shapes_from && limits_state_ != limits_state::known) {
        if (limits_state_ == limits_state::unknown && done_before_shapes_ == plan_.shapes_from) {
          measure(kernel.value(), lock);
        } else {
          changed_.wait_for(lock, std::chrono::milliseconds(20));
        }
        continue;
      }
      plan = at < plan_.fixed.size() ? plan_.fixed[at]
                                     : plan_.draw(static_cast<std::int64_t>(at - plan_.fixed.size()), drawn_);
      asked_.emplace_back();
    }
    asked_case asked{std::move(plan), std::nullopt, case_result{}};
    bool const cut = interruptible([this] { return enough(); },
                                   [&] {
                                     asked.made = asked.plan.make(limits_);
                                     asked.made->number = asked.plan.number;
                                     judging_rules rules = options_.rules();
                                     if (!options_.fail_fast) rules.wider = &wider_;
                                     asked.result = run_case(*asked.made, kernel.value(), rules);
                                     if (asked.result && !options_.strict_refusals)
                                       refusals_.take(*asked.made, kernel.value(), asked.result.value());
                                   });
    if (asked.result) asked.result.value().cut_short |= cut;
    if (asked.result && cut) asked.result.value().inside.reset();
    std::scoped_lock const lock(mutex_);
    if (asked.plan.check == "support" && asked.result && asked.result.value().unsupported && asked.made &&
        asked.made->form)
      note_refusal(limits_.answers, *asked.made->form, limits_.domain);
    note_support(asked);
    done_before_shapes_ += at < plan_.shapes_from;
    asked_[at] = std::move(asked);
    changed_.notify_all();
  }
  std::scoped_lock const lock(mutex_);
  ++finished_;
  changed_.notify_all();
}

}  // namespace attest::audit
