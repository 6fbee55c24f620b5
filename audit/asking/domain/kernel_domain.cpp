#include "audit/asking/domain/kernel_domain.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "audit/asking/domain/domain_questions.hpp"
#include "audit/asking/domain/domain_search.hpp"
#include "audit/asking/domain/find_domain.hpp"
#include "audit/builtin/kernel_spec.hpp"
#include "audit/cases/families/backward.hpp"
#include "audit/cases/families/merges.hpp"
#include "audit/isolation/own_time.hpp"
#include "audit/support/multiplications.hpp"
#include "audit/support/sort_by.hpp"
#include "audit/support/words.hpp"

namespace attest::audit {
namespace {

bool asks_merges_alone(audit_options const& options) {
  return is_of_merges(*options.claim) ||
         (!options.only.empty() && std::ranges::all_of(options.only, [](std::string const& name) {
           return std::string_view(name).substr(0, name.find('/')) == check_of_merges;
         }));
}

/// Are backward passes all that is asked?
bool asks_gradients_alone(audit_options const& options) {
  return !options.only.empty() && std::ranges::all_of(options.only, [](std::string const& name) {
    return std::string_view(name).substr(0, name.find('/')) == check_of_gradients;
  });
}

/// A search that has no end in this time is cut short. Only its calls are counted where the clock decides nothing else.
search_time time_of(audit_options const& options, double part = 1) {
  double const most = options.budget ? *options.budget / 5 : options.quick ? 30 : 60;
  if (!options.is_by_clock() || !options.only.empty()) return {part * most};
  return {part * most, part * options.seconds_of_draws()};
}

/// A budget is by the clock.
interruption search_end(audit_options const& options) {
  if (!options.budget) return {options.stop};
  auto const seconds = std::chrono::duration<double>(time_of(options).most);
  return {options.stop,
          std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(seconds)};
}

std::vector<std::string> sentences(found_domain const& found, bool strict) {
  domain_answers const& of = found.answers;
  std::vector<std::string> says{fmt::format("the domain was found by {} calls, of which {} were answered{}", of.asked,
                                            of.answered, of.cut_short ? "; the search was cut short" : "")};
  if (!of.failed.empty() && !strict)
    says.push_back(fmt::format(
        "outside its domain the kernel answered an error in {}, such as {}: it {}. This is taken as its domain; "
        "--refusals strict asks these calls again",
        counted(std::ssize(of.failed), "call", "calls"), of.failed.front().call.name(), of.failed.front().sentence));
  return says;
}

/// A few usual calls, plain ones and such with an optional input that a kernel may need.
bool takes_usual_call(domain_questions& ask) {
  for (std::int64_t const d : {64, 128})
    for (std::int64_t const n : {64, 128, 256})
      for (band_form const band : {band_form::none, band_form::bottom_right})
        if (ask.takes({{1, 2, 2, n, n, d, d}, band})) return true;
  return std::ranges::any_of(likely_needs(), [&](needed_inputs const& needs) {
    return ask.takes({.size = {1, 4, 4, 128, 128, 64, 64}, .needs = needs});
  });
}

/// The element type of a usual call that a kernel answers which refuses this one; empty if it answers none.
std::string other_type_of(kernel_session& kernel, audit_options const& options, interruption const& when,
                          function_asked of) {
  for (problem::element_row const& row : problem::floating_rows) {
    if (row.type == options.claim->type) continue;
    domain_questions ask(kernel, default_contract(row.type), options.seed, when, time_of(options), of);
    ask.begin_step(1);
    if (takes_usual_call(ask)) return std::string(row.name);
  }
  return "";
}

std::string text_or_all(call_domain const& domain) { return domain.is_everything() ? "all" : domain.text(); }

constexpr std::size_t most_wrong = 8;

/// The smallest of these calls: more of them would say the same.
std::vector<domain_call> few_small(std::vector<domain_call> wrong) {
  sort_by(wrong, [](domain_call const& call) { return multiplications(call.size); });
  if (wrong.size() > most_wrong) wrong.resize(most_wrong);
  return wrong;
}

}  // namespace

problem::result<kernel_domain> domain_of_kernel(audit_options const& options) {
  if (options.replay || asks_merges_alone(options)) return kernel_domain{};
  if (options.domain) return kernel_domain{*options.domain, *options.domain, domain_origin::declared};
  interruption const when = search_end(options);
  auto kernel = open_kernel(options.kernel, options.channel, when, limits_of(options));
  if (!kernel) return kernel.why();
  function_asked of_whom = asks_gradients_alone(options) ? function_asked::backward : function_asked::attention;
  std::optional<std::string> other_type;
  auto const answers_another_type = [&] {
    if (!other_type) other_type = other_type_of(kernel.value(), options, when, of_whom);
    return !other_type->empty();
  };
  auto const find = [&] {
    return find_domain(kernel.value(), *options.claim, options.seed, when, time_of(options), answers_another_type,
                       of_whom);
  };
  found_domain found = find();
  bool has_attention = true;
  if (!found.answers.has_function && of_whom == function_asked::attention)
    of_whom = function_asked::backward, has_attention = false, found = find();
  found_domain const backward = of_whom == function_asked::backward
                                    ? found
                                    : find_backward_domain(kernel.value(), *options.claim, options.seed, when,
                                                           time_of(options, 0.5), found.domain);
  kernel_domain of{found.domain, backward.domain, domain_origin::found, has_attention};
  double seconds = found.answers.seconds;
  std::int64_t answered = found.answers.answered;
  if (of_whom == function_asked::attention) seconds += backward.answers.seconds, answered += backward.answers.answered;
  of.seconds_a_call = answered == 0 ? 0 : seconds / static_cast<double>(answered);
  of.cut_short = found.answers.cut_short, of.slow = found.answers.slow;
  // Under --only the calls that ended the kernel are not asked again, so that none may lie outside a domain.
  bool const died = !found.answers.died.empty() || !found.answers.erred.empty();
  if (died && !options.only.empty() && !options.only.contains("domain")) {
    of.domain = {};
    if (of_whom == function_asked::backward) of.of_gradients = {};
  }
  domain_answers const& met = found.answers;
  of.refused_all = met.asked > 0 && met.answered == 0 && met.failed.empty() && !died && !met.cut_short;
  if (of.refused_all && answers_another_type()) of.other_type = *other_type;
  if (options.channel >= 0) of.served = std::move(kernel).value();
  // If no call is answered, the audit finds the same by its own calls.
  if (found.answers.answered == 0 || (of.domain.is_everything() && died)) return of;
  of.again = few_small(found.answers.wrong);
  auto const add = [&](std::vector<untaken_call> const& calls) {
    for (untaken_call const& untaken : calls) of.again.push_back(untaken.call);
  };
  add(found.answers.died);
  std::vector<untaken_call> erred = found.answers.erred;
  constexpr std::size_t most_errors = 6;  // more of them would say the same
  if (!options.strict_refusals && erred.size() > most_errors) erred.resize(most_errors);
  add(erred);
  if (options.strict_refusals) add(found.answers.failed);
  if (!of.domain.is_everything()) of.says = sentences(found, options.strict_refusals);
  if (backward.domain != found.domain)
    of.says.push_back(fmt::format("of backward passes it takes {}", text_or_all(backward.domain)));
  if (auto const& wrong = found.answers.wrong; !wrong.empty())
    of.says.push_back(fmt::format("{} of the search had a wrong answer, such as domain/{}, and {} asked again",
                                  counted(std::ssize(wrong), "call", "calls"), of.again.front().name(),
                                  wrong.size() <= most_wrong ? "each is" : "the smallest are"));
  return of;
}

}  // namespace attest::audit
