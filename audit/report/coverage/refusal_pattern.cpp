#include "audit/report/coverage/refusal_pattern.hpp"

#include <algorithm>
#include <array>
#include <bitset>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "audit/report/number_words.hpp"
#include "audit/support/sizes_words.hpp"

namespace attest::audit {
namespace {

struct quantity {
  char const* name;
  std::int64_t (*of)(call_form const&);
};
constexpr std::array quantities{
    quantity{"n", [](call_form const& form) { return form.size.n; }},
    quantity{"m", [](call_form const& form) { return form.size.m; }},
    quantity{"d", [](call_form const& form) { return form.size.d; }},
    quantity{"dv", [](call_form const& form) { return form.size.dv; }},
    quantity{"b", [](call_form const& form) { return form.size.b; }},
    quantity{"heads", [](call_form const& form) { return form.size.hq; }},
    quantity{"heads in a group", [](call_form const& form) { return size_on(shape_axis::groups, form); }},
    quantity{"threads", [](call_form const& form) { return static_cast<std::int64_t>(form.threads); }},
    quantity{"b·heads", [](call_form const& form) { return form.size.b * form.size.hq; }},
    quantity{"n·m", [](call_form const& form) { return form.size.n * form.size.m; }},
};
constexpr std::size_t products_from = 8;  ///< a product is named only if it separates more plainly than any size

using values = std::set<std::int64_t>;

/// How refused values differ from answered ones, and how plain that is: 0 a bound, 1 an interval, 2 a residue.
struct separation {
  int rank;
  std::string sentence;
};

/// "m is 300 to 500 (answered at 299 and 501)".
std::optional<separation> bound_or_interval(char const* name, values const& refused, values const& answered) {
  std::int64_t const first = *refused.begin(), last = *refused.rbegin();
  auto const above = answered.upper_bound(last), from = answered.lower_bound(first);
  if (from != above) return std::nullopt;  // there is an answered value between them
  bool const any_below = from != answered.begin(), any_above = above != answered.end();
  if (!any_above)
    return separation{
        0, fmt::format("{} is {} or more (answered at {})", name, grouped(first), grouped(*std::prev(from)))};
  if (!any_below)
    return separation{0, fmt::format("{} is {}{} (answered at {})", name, grouped(last), last == 0 ? "" : " or less",
                                     grouped(*above))};
  return separation{
      1, fmt::format("{} is {}{} (answered at {} and {})", name, grouped(first),
                     first == last ? "" : " to " + grouped(last), grouped(*std::prev(from)), grouped(*above))};
}

std::optional<separation> residue(char const* name, values const& refused, values const& answered) {
  if (refused.size() < 2 || answered.size() < 2) return std::nullopt;
  for (std::int64_t modulus = 2; modulus <= 64; ++modulus) {
    std::bitset<64> refuses, answers;
    for (std::int64_t const value : refused) refuses.set(static_cast<std::size_t>(value % modulus));
    for (std::int64_t const value : answered) answers.set(static_cast<std::size_t>(value % modulus));
    if ((refuses & answers).any()) continue;
    if (answers.count() == 1 && answers[0]) return separation{2, fmt::format("{} is no multiple of {}", name, modulus)};
    if (refuses.count() == 1)
      for (std::size_t rest = 0; rest < 64; ++rest)
        if (refuses[rest])
          return separation{2, rest == 0 ? fmt::format("{} is a multiple of {}", name, modulus)
                                         : fmt::format("{} mod {} is {}", name, modulus, rest)};
  }
  return std::nullopt;
}

/// The calls whose refusal no feature, or pair of features, explains, and all answered calls.
std::vector<std::pair<call_form const*, bool>> unexplained(std::span<asked_call const> calls,
                                                           reply call_replies::* subject) {
  std::bitset<coverage::support_count> answered;
  auto const each_pair = [](call_form const& form, auto&& f) {
    feature_set const features = form.features();
    features.each([&](feature a) {
      features.each([&](feature b) {
        if (!(b < a)) f(coverage::support_index(a, b));
      });
    });
  };
  for (asked_call const& call : calls)
    if (call.outcome.*subject == reply::answered) each_pair(call.form, [&](std::size_t at) { answered.set(at); });
  std::vector<std::pair<call_form const*, bool>> left;
  for (asked_call const& call : calls) {
    if (call.outcome.*subject == reply::not_asked) continue;
    bool explained = false;
    each_pair(call.form, [&](std::size_t at) { explained |= !answered[at]; });
    if (!explained) left.emplace_back(&call.form, call.outcome.*subject == reply::answered);
  }
  return left;
}

std::optional<std::string> pattern(std::span<asked_call const> calls, reply call_replies::* subject, char const* says) {
  auto const asked = unexplained(calls, subject);
  auto const answers = std::ranges::count(asked, true, &std::pair<call_form const*, bool>::second);
  auto const refusals = std::ssize(asked) - answers;
  if (refusals < 2 || answers < 2) return std::nullopt;
  std::vector<std::string> best;
  int rank = 3;
  for (std::size_t at = 0; at < quantities.size(); ++at) {
    quantity const& size = quantities[at];
    values refused, answered;
    for (auto const& [form, was_answered] : asked) (was_answered ? answered : refused).insert(size.of(*form));
    auto found = bound_or_interval(size.name, refused, answered);
    if (!found) found = residue(size.name, refused, answered);
    if (!found || found->rank > rank || (found->rank == rank && at >= products_from)) continue;
    if (found->rank < rank) best.clear(), rank = found->rank;
    best.push_back(std::move(found->sentence));
  }
  if (best.empty()) return std::nullopt;
  return fmt::format("{} {} of {} calls whose features it supports: exactly those where {}{}", says, grouped(refusals),
                     grouped(std::ssize(asked)), fmt::join(best, ", or "),
                     best.size() > 1 ? ", which the calls do not tell apart" : "");
}

}  // namespace

std::vector<std::string> refusal_patterns(std::span<asked_call const> calls) {
  std::vector<std::string> found;
  auto const look = [&](reply call_replies::* subject, char const* says) {
    if (auto sentence = pattern(calls, subject, says)) found.push_back(*std::move(sentence));
  };
  look(&call_replies::call, "the kernel refused");
  look(&call_replies::lse, "the kernel withheld LSE in");
  look(&call_replies::weights, "the kernel withheld weights in");
  return found;
}

std::string words_of_refused_plain(std::span<asked_call const> calls) {
  std::int64_t asked = 0, refused = 0;
  problem::sizes first{};
  for (auto const& [form, was_answered] : unexplained(calls, &call_replies::call)) {
    // A kernel without windows answers a window that hides nothing.
    bool const has_window = form->options.has(feature::window) || form->options.has(feature::symmetric_window);
    if (!is_bare(*form) || has_window) continue;
    ++asked;
    if (!was_answered && refused++ == 0) first = form->size;
  }
  if (refused == 0) return "";
  return fmt::format("of {} plain calls of the declared domain it refused {}, the first with {}", grouped(asked),
                     grouped(refused), sizes_words(first));
}

}  // namespace attest::audit
