#include "audit/findings/ask_kernel.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "audit/cases/domain/keep_form.hpp"
#include "audit/cases/families/backward.hpp"
#include "audit/cases/random.hpp"
#include "audit/cases/row_sample.hpp"
#include "audit/findings/kernel_again.hpp"
#include "audit/judge/by_law.hpp"
#include "audit/judge/forward_answers.hpp"

namespace attest::audit {
namespace {

constexpr std::int64_t largest_bytes = std::int64_t{1} << 28, most_rows = 64;

/// The judge of gradients asks all of them.
constexpr std::int64_t largest_products(asked_pass pass) {
  return pass == asked_pass::forward ? std::int64_t{1} << 26 : std::int64_t{1} << 23;
}

/// Calls go straight to isolated_kernel, so that the process makes only the calls of the question.
class kernel_asker {
 public:
  kernel_asker(audit_options const& options, std::chrono::steady_clock::time_point until, row_index const& seen,
               call_domain const& domain, asked_pass pass)
      : options_(options), kernel_(options, until), seen_(seen), domain_(domain), pass_(pass) {}

  std::optional<given_answer> operator()(question const& asked) {
    if (kernel_.late()) return std::nullopt;
    if (!can_be_asked(asked.judged)) return given_answer{answer::refused};
    if (!outputs_ && !learn_outputs()) return std::nullopt;
    bool const masked = has_any(asked.judged, feature_group::mask);
    // A drawn mask may hide no key that matters; a small mask often does so.
    problem::sizes const& s = asked.judged.size;
    bool const small = s.b * s.hq * s.n * s.m <= 64;
    int const draws = !masked || asked.repeats > 1 ? 1 : small ? 8 : 3;
    std::optional<given_answer> said;
    for (int draw = 0; draw < draws; ++draw) {
      said = ask_once(asked, draw);
      if (!said || said->is != answer::right) break;
    }
    return said;
  }

 private:
  std::optional<given_answer> ask_once(question const& asked, int draw) const {
    auto kernel = kernel_.fresh_process();
    if (!kernel) return std::nullopt;
    std::int64_t calls = 0;
    std::optional<std::pair<call_form, owned_problem>> last;
    for (call_form const& form : asked.before) {
      if (!can_be_asked(form)) continue;
      if (!last || last->first != form) last.emplace(form, problem_of(form, draw));
      owned_outputs ignored;
      if (memory_fault(last->second, form.memory)) continue;
      auto const did = kernel->run(last->second, request_of(form), ignored);
      if (!did || kernel_.late()) return std::nullopt;
      ++calls;
    }
    return judged(*kernel, asked, draw, calls);
  }

  bool can_be_asked(call_form const& form) const {
    call_cost const cost = cost_of(form, options_.claim->type);
    return takes(domain_, form) && is_possible(form.options) && cost.bytes <= largest_bytes &&
           cost.products <= largest_products(pass_) &&
           !(pass_ == asked_pass::backward && form.options.has(feature::paged));
  }
  owned_problem problem_of(call_form const& form, int draw) const {
    random_stream random(options_.seed, fmt::format("condition {} {}", draw, form.text()));
    auto const forward = owned_problem::of_valid(draft_of(form, options_.claim->type, random));
    if (pass_ == asked_pass::forward) return forward;
    audit_case const pass = differentiated({.check = "", .name = form.text(), .problem = forward}, options_.seed);
    return hands_forward_ ? with_forward(pass.problem) : pass.problem;
  }
  call_request request_of(call_form const& form) const {
    // Writing and comparing many weights would take longer than everything else.
    constexpr std::int64_t most_weights = 1 << 20;
    problem::sizes const& s = form.size;
    return {.want_lse = outputs_->first,
            .want_weights = outputs_->second && s.b * s.hq * s.n * s.m <= most_weights,
            .threads = form.threads,
            .memory = form.memory,
            .stop = kernel_.when().stop,
            .until = kernel_.when().until};
  }

  /// Whether the kernel gives LSE and weights, or whether its backward pass reads O and LSE.
  bool learn_outputs() {
    auto kernel = kernel_.fresh_process();
    if (!kernel) return false;
    call_form plain{{1, 1, 1, 8, 8, 8, 8}};
    keep_to(domain_, plain);
    outputs_ = {false, false};
    if (pass_ == asked_pass::backward) {
      owned_outputs outputs;
      auto const did = kernel->run(problem_of(plain, 0), request_of(plain), outputs);
      hands_forward_ = !(did && did.value().alone);
      return true;
    }
    auto const gives = [&](bool lse, bool weights) {
      outputs_ = {lse, weights};
      owned_outputs outputs;
      auto const did = kernel->run(problem_of(plain, 0), request_of(plain), outputs);
      return did && did.value().outcome == call_outcome::succeeded;
    };
    bool const lse = gives(true, false), weights = gives(false, true);
    outputs_ = {lse, weights};
    return true;
  }

  std::optional<given_answer> judged(isolated_kernel& kernel, question const& asked, int draw,
                                     std::int64_t calls) const {
    owned_problem const problem = problem_of(asked.judged, draw);
    if (memory_fault(problem, asked.judged.memory)) return given_answer{answer::refused};
    random_stream random(options_.seed, "condition rows");
    // A wrong row is judged by balls, which cost about 10 µs a key.
    constexpr std::int64_t judged_keys = 1 << 13;
    std::int64_t const m = std::max<std::int64_t>(asked.judged.size.m, 1);
    auto const rows = with_seen(
        sampled_queries(problem, std::clamp<std::int64_t>(judged_keys / m, 2, most_rows), random), asked.judged.size);
    std::optional<owned_outputs> seen;
    for (std::int64_t n = 0; n < asked.repeats; ++n) {
      owned_outputs outputs;
      auto const did = kernel.run(problem, request_of(asked.judged), outputs);
      if (!did || did.value().outcome == call_outcome::cut_short || did.value().outcome == call_outcome::unanswered ||
          kernel_.late())
        return std::nullopt;
      ++calls;
      if (did.value().outcome == call_outcome::not_asked) return given_answer{answer::refused};
      if (did.value().outcome == call_outcome::unsupported && did.value().broken.empty())
        return given_answer{answer::refused};
      if (did.value().outcome != call_outcome::succeeded || !did.value().broken.empty())
        return given_answer{answer::wrong, calls};
      if (seen && same_bits(*seen, outputs)) continue;
      // Most wrong answers show in one row, the last one.
      problem::sizes const& s = asked.judged.size;
      judgement found;
      if (pass_ == asked_pass::backward)
        found = judge_by_law(problem, outputs, *options_.claim, {}, thoroughness::verdict);
      else if (s.b * s.hq * s.n > 1)
        found = judge_by_law(problem, outputs, *options_.claim, std::array{row_index{s.b - 1, s.hq - 1, s.n - 1}});
      if (found.failed == 0 && pass_ == asked_pass::forward)
        found = judge_by_law(problem, outputs, *options_.claim, rows);
      // An answer that breaks an exact rule has no error.
      if (found.failed > 0)
        return found.max_error_in_bounds > 1 ? given_answer{answer::wrong, calls, found.max_error_in_bounds}
                                             : given_answer{answer::wrong, calls};
      seen = std::move(outputs);
    }
    return given_answer{};
  }

  /// Further rows at the end, and the query that was seen to be wrong, in its head, in the first and in the last.
  std::vector<row_index> with_seen(std::vector<row_index> rows, problem::sizes const& s) const {
    if (rows.empty()) return rows;
    for (std::int64_t const back : {2, 3, 4})
      if (s.n >= back) rows.push_back({s.b - 1, s.hq - 1, s.n - back});
    if (seen_.i < s.n) rows.push_back({0, 0, seen_.i}), rows.push_back({s.b - 1, s.hq - 1, seen_.i});
    rows.push_back({std::min(seen_.b, s.b - 1), std::min(seen_.h, s.hq - 1), std::min(seen_.i, s.n - 1)});
    put_in_order(rows);
    return rows;
  }

  audit_options const& options_;
  kernel_again kernel_;
  row_index seen_;
  call_domain domain_;
  asked_pass pass_;
  bool hands_forward_ = true;
  std::optional<std::pair<bool, bool>> outputs_;  ///< LSE, weights
};

}  // namespace

asker ask_kernel(audit_options const& options, std::chrono::steady_clock::time_point until, row_index const& seen,
                 call_domain const& domain, asked_pass pass) {
  return [shared = std::make_shared<kernel_asker>(options, until, seen, domain, pass)](question const& asked) {
    return (*shared)(asked);
  };
}

}  // namespace attest::audit
