#include "audit/asking/plan.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "audit/asking/planned_cases.hpp"
#include "audit/asking/whole_plan.hpp"
#include "audit/cases/families/backward.hpp"
#include "audit/cases/families/backward_forms.hpp"
#include "audit/support/printable.hpp"
#include "audit/support/words.hpp"

namespace attest::audit {
namespace {

using problem::error;
using problem::error_code;
using problem::result;

/// The checks that a slow kernel is asked first: after the plain call, each one has the first case that refutes most of
/// the zoo's mutants that the first cases before it leave (of 155 mutants, drawn; all first cases refute 54, these 54).
constexpr std::string_view telling_checks[]{"support",        "pairs",       "special-values", "poison",
                                            "sinks",          "softcap",     "dropout",        "windows",
                                            "additive-masks", "block-masks", "empty-blocks"};

using place_in_order = std::tuple<std::int64_t, std::int64_t, std::int64_t>;

/// Orders cases by place(case, turn), and else as they were: `turn` n is the n-th case of its check.
void order_cases(std::span<planned_case> cases, auto&& place) {
  std::map<std::string, std::int64_t> seen;
  std::vector<std::pair<place_in_order, std::size_t>> order;
  for (std::size_t at = 0; at < cases.size(); ++at) order.emplace_back(place(cases[at], ++seen[cases[at].check]), at);
  std::ranges::sort(order);
  std::vector<planned_case> ordered;
  for (auto const& [in_order, at] : order) ordered.push_back(std::move(cases[at]));
  std::ranges::move(ordered, cases.begin());
}

/// The first case of every check, then the second of every check, and so on.
void spread_over_checks(std::span<planned_case> cases) {
  order_cases(cases, [](planned_case const&, std::int64_t turn) { return place_in_order(turn, 0, 0); });
}

/// For a slow kernel: the first case of every check, of the telling checks first, and of the others in the order of
/// their calls; then the cases in the order of their work, since many small calls tell more than a few large ones.
/// Returns how many cases at the beginning have few calls, and are each the first of its check.
std::size_t order_by_cost(std::span<planned_case> cases) {
  order_cases(cases, [&](planned_case const& one, std::int64_t turn) {
    if (turn > 1) return place_in_order(2, std::ilogb(std::max(one.products, 1.0)), turn);
    auto const rank = std::ranges::find(telling_checks, one.check) - std::begin(telling_checks);
    return place_in_order(1, rank, rank < std::ssize(telling_checks) ? 0 : one.calls);
  });
  constexpr std::int64_t few = 8;
  std::set<std::string> checks;
  return static_cast<std::size_t>(
      std::ranges::find_if_not(
          cases, [&](planned_case const& one) { return one.calls <= few && checks.insert(one.check).second; }) -
      cases.begin());
}

/// The number of a draw with a name such as "drawn/17".
std::optional<std::int64_t> number_of_draw(std::string_view name, audit_plan const& plan) {
  constexpr std::string_view prefix = "drawn/";
  return plan.draws && name.starts_with(prefix) ? draw_named(name.substr(prefix.size())) : std::nullopt;
}

/// The error if a word is no check and no case.
std::optional<error> names_fault(char const* option, names const& named, audit_plan const& plan) {
  std::vector<std::string> known;
  for (check const& entry : checks()) known.emplace_back(entry.name);
  for (planned_case const& kernel_case : plan.fixed)
    known.push_back(kernel_case.check), known.push_back(kernel_case.full_name());
  for (unfitted_case const& outside : plan.unfitted) known.push_back(outside.full_name());
  for (std::string const& name : named)
    if (!number_of_draw(name, plan) && !gradient_draw_named(name) && !call_of(name) &&
        std::ranges::find(known, name) == known.end())
      return error{error_code::bad_value, option,
                   "no check or case is called '" + printable(name) + "'" + did_you_mean(name, known) +
                       "; see `attest list checks` and `attest list cases`"};
  return std::nullopt;
}

/// Keeps the cases that --only names.
std::optional<error> keep_only(names const& only, audit_plan& plan) {
  if (auto why = names_fault("--only", only, plan)) return why;
  std::vector<planned_case> single_draws;
  for (std::string const& name : only)
    if (auto const number = number_of_draw(name, plan))
      single_draws.push_back(draw_plan(plan.type, plan.seed, *number));
    else if (auto const of_gradients = plan.draws ? gradient_draw_named(name) : std::nullopt)
      single_draws.push_back(gradient_draw_plan(plan.type, plan.seed, *of_gradients));
  for (std::string const& name : only)
    if (auto const call = call_of(name);
        call && std::ranges::find(plan.fixed, name, &planned_case::full_name) == plan.fixed.end())
      plan.fixed.insert(plan.fixed.begin() + static_cast<std::ptrdiff_t>(plan.shapes_from++),
                        again_plan(*call, plan.type, plan.seed));
  auto const wanted = [&](auto const& c) { return only.contains(c.check) || only.contains(c.full_name()); };
  std::erase_if(plan.unfitted, std::not_fn(wanted));
  // The cases that show what the kernel supports are needed for shapes of the same function.
  plan.drawn = {.attention = plan.draws && only.contains("drawn"),
                .backward = plan.draws && only.contains(check_of_gradients)};
  plan.draws = plan.drawn.attention || plan.drawn.backward;
  drawn_functions shapes = plan.drawn;
  auto const in_shapes = [&](planned_case const& c) -> bool& {
    return c.check == check_of_gradients ? shapes.backward : shapes.attention;
  };
  for (planned_case const& draw : single_draws) in_shapes(draw) = true;
  for (std::size_t at = plan.shapes_from; at < plan.fixed.size(); ++at)
    if (wanted(plan.fixed[at])) in_shapes(plan.fixed[at]) = true;
  std::vector<planned_case> kept;
  std::size_t support_kept = 0, before_shapes = 0;
  for (std::size_t at = 0; at < plan.fixed.size(); ++at) {
    planned_case& kernel_case = plan.fixed[at];
    bool const needed = at < plan.support_cases && in_shapes(kernel_case);
    kernel_case.reported = wanted(kernel_case);
    if (!needed && !kernel_case.reported) continue;
    support_kept += at < plan.support_cases, before_shapes += at < plan.shapes_from;
    kept.push_back(std::move(kernel_case));
  }
  std::ranges::move(single_draws, std::back_inserter(kept));
  plan.fixed = std::move(kept), plan.support_cases = support_kept, plan.shapes_from = before_shapes;
  return std::nullopt;
}

/// Numbers the cases that are reported, and keeps the cases of this shard.
void keep_shard(std::optional<shard> const& part, audit_plan& plan) {
  for (planned_case& kernel_case : plan.fixed)
    if (kernel_case.reported) kernel_case.number = ++plan.all_fixed;
  if (!part) return;
  plan.part = *part;
  std::vector<planned_case> kept;
  std::size_t before_shapes = 0;
  for (std::size_t at = 0; at < plan.fixed.size(); ++at) {
    planned_case& kernel_case = plan.fixed[at];
    bool const mine = kernel_case.reported && (kernel_case.number - 1) % part->of == part->index - 1;
    if (!mine && at >= plan.support_cases) continue;
    kernel_case.reported = mine;
    before_shapes += at < plan.shapes_from;
    kept.push_back(std::move(kernel_case));
  }
  plan.fixed = std::move(kept), plan.shapes_from = before_shapes;
}

}  // namespace

planned_case audit_plan::draw(std::int64_t index, drawn_functions const& of) const {
  std::int64_t const number = draw_number(index);
  bool const gradients = of.backward && (!of.attention || number % 3 == 0);
  planned_case one = gradients ? gradient_draw_plan(type, seed, number) : draw_plan(type, seed, number);
  one.number = all_fixed + number;
  return one;
}

std::int64_t audit_plan::calls_of(std::size_t cases) const {
  std::int64_t calls = 0;
  for (planned_case const& one : std::span(fixed).first(cases)) calls += one.calls;
  return calls;
}

double audit_plan::products_of(std::size_t cases) const {
  double products = 0;
  for (planned_case const& one : std::span(fixed).first(cases)) products += one.products;
  return products;
}

std::optional<audit_case> audit_plan::make(std::string_view check, std::string_view name,
                                           shape_limits const& limits) const {
  auto const at = std::ranges::find_if(
      fixed, [&](planned_case const& planned) { return planned.check == check && planned.name == name; });
  if (at != fixed.end()) return at->make(limits);
  if (auto const call = check == "domain" ? domain_call::of_name(name) : std::nullopt)
    return case_of(*call, type, seed);
  if (auto const number = draws ? gradient_draw_named(fmt::format("{}/{}", check, name)) : std::nullopt)
    return drawn_gradients(type, seed, *number, limits);
  auto const number = check == "drawn" && draws ? draw_named(name) : std::nullopt;
  if (!number) return std::nullopt;
  return drawn_case(type, seed, *number, limits);
}

std::vector<audit_case> made_cases(audit_plan const& plan, shape_limits const& limits, std::int64_t draws) {
  std::vector<audit_case> cases;
  auto const add = [&](planned_case const& planned) {
    if (!planned.reported) return;
    cases.push_back(planned.make(limits));
    cases.back().number = planned.number;
  };
  for (planned_case const& planned : plan.fixed) add(planned);
  for (std::int64_t index = 0; plan.draws && plan.drawn.attention && index < draws; ++index) add(plan.draw(index));
  return cases;
}

audit_plan plan_of(std::vector<audit_case> cases) {
  audit_plan plan;
  for (audit_case& made : cases) {
    plan.fixed.push_back(existing(std::move(made)));
    plan.fixed.back().number = ++plan.all_fixed;
  }
  plan.shapes_from = plan.fixed.size();
  return plan;
}

result<audit_plan> planned(audit_options const& options, kernel_domain const& of) {
  auto plan = whole_plan(options, of);
  if (!plan) return plan;
  if (auto why = names_fault("--waive", options.waived, plan.value())) return *std::move(why);
  bool const gradients_alone = options.only.empty() && !of.has_attention;
  names const only = gradients_alone ? names{std::string(check_of_gradients)} : options.only;
  if (!only.empty())
    if (auto why = keep_only(only, plan.value())) return *std::move(why);
  keep_shard(options.part, plan.value());
  audit_plan& ordered = plan.value();
  ordered.is_part = of.slow;
  double const seconds = of.seconds_a_call * static_cast<double>(ordered.calls_of(ordered.fixed.size()));
  if (ordered.draws && options.is_by_clock() && seconds > options.seconds_of_fixed_part()) {
    ordered.slow_call = of.seconds_a_call;
    ordered.first_turn = order_by_cost(std::span(ordered.fixed).first(ordered.shapes_from));
  }
  if (options.budget) {
    std::span<planned_case> const all(ordered.fixed);
    spread_over_checks(all.subspan(ordered.support_cases, ordered.shapes_from - ordered.support_cases));
  }
  return plan;
}

}  // namespace attest::audit
