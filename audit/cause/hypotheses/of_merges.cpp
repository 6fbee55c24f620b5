// Hypotheses about merges of partial results: parts that are lost, weights of parts, and how parts are read.
// (A merge is attention whose keys are the parts: audit/tensors/merge_form.hpp.)
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "audit/cause/hypotheses/changes.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/merge_strides.hpp"

namespace attest::audit {
namespace {

using calls = std::vector<answered_call>;

bool is_merge(owned_problem const& p) { return p.draft().merge.has_value(); }

/// Of parts s those count for which `counts(s, all)` holds.
supposition counts_only(std::function<bool(std::int64_t all)> concerned,
                        std::function<bool(std::int64_t s, std::int64_t all)> counts) {
  return solves(
      [concerned = std::move(concerned)](owned_problem const& p) { return is_merge(p) && concerned(p.size().m); },
      [counts = std::move(counts)](problem_draft& p) {
        auto const whole = owned_problem::of_valid(p);
        std::int64_t const all = whole.size().m;
        show(p, whole.size(),
             [&](auto b, auto h, auto i, auto s) { return counts(s, all) && sees(whole, b, h, i, s); });
      });
}

/// What turns an LSE of the parts into a natural one.
double natural_unit(owned_problem const& merge) {
  return merge.draft().merge->base == problem::log_base::two ? std::log(2.0) : 1;
}

/// The natural LSE of the parts of a row that saw a key.
std::vector<double> seen_lses(owned_problem const& merge, std::int64_t b, std::int64_t row) {
  double const unit = natural_unit(merge);
  std::vector<double> seen;
  for (std::int64_t s = 0; s < merge.size().m; ++s)
    if (double const lse = bias_of(merge, b, row, 0, s); lse != -HUGE_VAL) seen.push_back(lse * unit);
  return seen;
}

/// Rows with finite LSE for which `broken` gives an LSE are NaN, and have that LSE: here both are NaN. In other rows
/// `overflows` makes values infinite, and says whether there are any.
using broken_lse = std::optional<double> (*)(std::vector<double> const& lses, double largest);
using overflown_values = bool (*)(owned_problem const& p, std::int64_t b, std::int64_t row, owned_tensor& v);
supposition breaks_rows(broken_lse broken, overflown_values overflows = nullptr) {
  return [=](answered_call const& call, answered_call const*) -> calls {
    owned_problem const& p = call.problem;
    problem::sizes const& size = p.size();
    if (!is_merge(p)) return {};
    double const largest = limits_of(p.draft().bias->type).largest;
    answered_call supposed = call;
    problem_draft draft = p.draft();
    bool any = false;
    for (std::int64_t b = 0; b < size.b; ++b)
      for (std::int64_t row = 0; row < size.hq; ++row) {
        auto const lses = seen_lses(p, b, row);
        if (!std::ranges::all_of(lses, [](double x) { return std::isfinite(x); })) continue;
        auto const lse = broken(lses, largest);
        if (!lse) any |= overflows && overflows(p, b, row, draft.v);
        if (!lse) continue;
        any = true;
        store(*draft.bias, offset_of(*draft.bias, b, row, 0, 0), std::nan(""));
        if (draft.mask) store(*draft.mask, offset_of(*draft.mask, b, row, 0, 0), 1);
        auto const at = static_cast<std::size_t>(b * size.hq + row);
        auto const is_that = [&](double got) { return got == *lse || (std::isnan(got) && std::isnan(*lse)); };
        if (auto& got = supposed.outputs.lse; got) store(*got, at, is_that(load(*got, at)) ? std::nan("") : 0);
      }
    return any ? with_problem(supposed, std::move(draft)) : calls();
  };
}

/// A row that no part saw is NaN. A right O, and a NaN in its place, are exchanged here.
calls is_nan_without_parts(answered_call const& call, answered_call const*) {
  owned_problem const& p = call.problem;
  problem::sizes const& size = p.size();
  if (!is_merge(p) || !call.outputs.o) return {};
  answered_call supposed = call;
  bool any = false;
  for (std::int64_t row = 0; row < size.b * size.hq; ++row) {
    if (!seen_lses(p, row / size.hq, row % size.hq).empty()) continue;
    any = true;
    for (std::int64_t at = row * size.dv; at < (row + 1) * size.dv; ++at) {
      double const got = load(*supposed.outputs.o, static_cast<std::size_t>(at));
      store(*supposed.outputs.o, static_cast<std::size_t>(at), std::isnan(got) ? 0 : std::nan(""));
    }
  }
  return any ? calls{std::move(supposed)} : calls();
}

/// Weights are e^LSE: all overflow, or all are 0, where no LSE is near 0.
std::optional<double> unshifted(std::vector<double> const& lses, double largest) {
  if (lses.empty()) return std::nullopt;
  double const most = *std::ranges::max_element(lses), reach = std::log(largest);
  if (most > reach) return HUGE_VAL;
  constexpr double below_subnormal = 1.25;  // largest^-1.25 is less than half of the smallest subnormal number
  return most < -below_subnormal * reach ? std::optional(-HUGE_VAL) : std::nullopt;
}

/// One part after the other, LSE = a + log(1 + e^(b - a)): e^(b - a) overflows where the next LSE is far above, and a
/// part behind that makes inf - inf.
std::optional<double> one_plus(std::vector<double> const& lses, double largest) {
  if (lses.empty()) return std::nullopt;
  double a = lses.front();
  for (std::size_t s = 1; s < lses.size(); ++s) {
    if (lses[s] - a > std::log(largest)) return s + 1 < lses.size() ? std::nan("") : HUGE_VAL;
    double const top = std::max(a, lses[s]);
    a = top + std::log(std::exp(a - top) + std::exp(lses[s] - top));
  }
  return std::nullopt;
}

/// The same, where e^(b - a) is finite and its product with a value overflows.
bool one_plus_overflows(owned_problem const& p, std::int64_t b, std::int64_t row, owned_tensor& v) {
  double const unit = natural_unit(p), largest = limits_of(p.type()).largest;
  bool any = false;
  double a = -HUGE_VAL;
  for (std::int64_t s = 0; s < p.size().m; ++s) {
    double const lse = bias_of(p, b, row, 0, s) * unit;
    if (lse == -HUGE_VAL) continue;
    for (std::int64_t c = 0; c < p.size().dv && a != -HUGE_VAL; ++c)
      if (auto const at = offset_of(v, b, row, s, c); std::exp(lse - a) * std::abs(load(v, at)) > largest)
        store(v, at, std::copysign(HUGE_VAL, load(v, at))), any = true;
    double const top = std::max(a, lse);
    a = top + std::log(std::exp(a - top) + std::exp(lse - top));
  }
  return any;
}

/// The kernel takes the LSEs of the parts for logarithms to another base, and returns its own LSE in that base.
supposition merges_in(problem::log_base base) {
  return [base](answered_call const& call, answered_call const*) -> calls {
    if (!is_merge(call.problem) || call.problem.draft().merge->base == base) return {};
    answered_call supposed = call;
    supposed.problem = with_base(call.problem, base);
    supposed.claim.conventions.lse_base = base;
    return {std::move(supposed)};
  };
}

/// Weights are exp of the distance to the largest LSE, and nothing is divided by their sum l: here O is, which rounds
/// it twice (of l, and of what is stored).
calls is_undivided(answered_call const& call, answered_call const*) {
  owned_problem const& p = call.problem;
  problem::sizes const& size = p.size();
  if (!is_merge(p) || !call.outputs.o) return {};
  answered_call supposed = call;
  supposed.claim.fixed.k_f += 2;
  bool any = false;
  for (std::int64_t row = 0; row < size.b * size.hq; ++row) {
    auto const lses = seen_lses(p, row / size.hq, row % size.hq);
    if (lses.empty()) continue;
    double const most = *std::ranges::max_element(lses);
    double l = 0;
    for (double const lse : lses) l += std::exp(lse - most);
    if (!(l > 1)) continue;
    any = true;
    for (std::int64_t at = row * size.dv; at < (row + 1) * size.dv; ++at)
      store(*supposed.outputs.o, static_cast<std::size_t>(at),
            load(*supposed.outputs.o, static_cast<std::size_t>(at)) / l);
  }
  return any ? calls{std::move(supposed)} : calls();
}

double lse_of_both(double a, double b) { return std::max(a, b) + std::log1p(std::exp(-std::abs(a - b))); }

/// One part after the other, with another sigmoid or another LSE of two parts: o − σ(ahead(L, L_s))·(o − o_s), then
/// L := merged_lse(L, L_s). Each part has the LSE here with which its exact weight is the same.
supposition merges_by_sigmoids(double (*ahead)(double, double), double (*merged_lse)(double, double)) {
  return [=](answered_call const& call, answered_call const*) -> calls {
    owned_problem const& p = call.problem;
    problem::sizes const& size = p.size();
    if (!is_merge(p) || size.m < 2) return {};
    double const unit = natural_unit(p);
    // Where the LSE of two parts is right, the sigmoids change O alone. The LSEs are then as large as they were, since
    // the kernel rounds them as such.
    bool const apart = merged_lse == lse_of_both;
    answered_call supposed = call;
    supposed.claim.fixed.g_b = supposed.claim.fixed.format.u;  // that LSE is rounded as it is stored
    problem_draft draft = p.draft();
    for (std::int64_t b = 0; b < size.b; ++b)
      for (std::int64_t row = 0; row < size.hq; ++row) {
        double whole = -HUGE_VAL, top = 0;
        std::vector<std::pair<std::int64_t, double>> logs;  // of the weight of each part that saw a key
        for (std::int64_t s = 0; s < size.m; ++s) {
          double const lse = bias_of(p, b, row, 0, s) * unit;
          if (lse == -HUGE_VAL) continue;
          if (!std::isfinite(lse)) return {};
          top = std::max(top, std::abs(lse));
          double const x = logs.empty() ? HUGE_VAL : ahead(whole, lse), less = std::log1p(std::exp(-std::abs(x)));
          for (auto& [part, log] : logs) log -= std::max(0.0, x) + less;
          logs.emplace_back(s, std::min(0.0, x) - less);
          whole = logs.size() == 1 ? lse : merged_lse(whole, lse);
        }
        // A weight below the smallest number is none; its logarithm would only cost digits.
        double const least = draft.bias->type == problem::element_type::f64 ? -800 : -120;
        for (auto const& [s, log] : logs)
          store(*draft.bias, offset_of(*draft.bias, b, row, 0, s),
                (std::max(log, least) + (apart ? top : whole)) / unit);
      }
    if (!apart) return with_problem(supposed, std::move(draft));
    answered_call lse = call;
    lse.outputs.o.reset(), lse.outputs.weights.reset(), supposed.outputs.lse.reset();
    calls both = with_problem(supposed, std::move(draft));
    if (!both.empty() && lse.outputs.lse) both.push_back(std::move(lse));
    return both;
  };
}
double difference(double a, double b) { return b - a; }
double reversed_difference(double a, double b) { return a - b; }
double lse_of_last(double, double b) { return b; }
double lse_of_larger(double a, double b) { return std::max(a, b); }

/// Every part is read with the strides of the first: where the odd parts are one row, further rows of them are NaN.
calls reads_with_first_strides(answered_call const& call, answered_call const*) {
  owned_problem const& p = call.problem;
  if (!is_merge(p) || !odd_rows_are_one(p.draft())) return {};
  problem_draft draft = with_one_row_in_odd_parts(p).draft();
  if (draft.mask)
    for (std::int64_t s = 1; s < p.size().m; s += 2)
      for (std::int64_t b = 0; b < p.size().b; ++b)
        for (std::int64_t row = 0; row < p.size().hq; ++row)
          if (b > 0 || row > 0) store(*draft.mask, offset_of(*draft.mask, b, row, 0, s), 1);
  return with_problem(call, std::move(draft));
}

/// O of parts that saw no key meets the weight 0: NaN and infinities there show, where another part saw one.
bool has_unread_parts(owned_problem const& p) { return is_merge(p) && p.draft().mask; }
void read_all_parts(problem_draft& p) {
  owned_tensor const mask = *p.mask;
  for (std::int64_t b = 0; b < p.v.layout.shape[0]; ++b)
    for (std::int64_t row = 0; row < p.v.layout.shape[1]; ++row)
      for (std::int64_t s = 0; s < p.v.layout.shape[2]; ++s)
        for (std::int64_t c = 0; c < p.v.layout.shape[3] && element(mask, b, row, 0, s) == 0; ++c)
          if (auto const at = offset_of(p.v, b, row, s, c); !std::isfinite(load(p.v, at))) store(p.v, at, std::nan(""));
  p.mask.reset();
}

}  // namespace

void add_hypotheses_of_merges(hypothesis_list& to) {
  auto const add = adds_problems_to(to, bug_class::lse);
  auto const several = [](std::int64_t all) { return all > 1; };
  for (std::int64_t const most : {16, 32, 64, 128, 256, 512, 1024})
    add(fmt::format("merge-of-{}-parts-at-most", most), fmt::format("parts behind the first {} are left out", most),
        counts_only([=](auto all) { return all > most; }, [=](auto s, auto) { return s < most; }));
  add("merge-last-part-unread", "the last of several parts is left out",
      counts_only(several, [](auto s, auto all) { return s + 1 < all; }));
  add("merge-first-part-unread", "the first of several parts is left out",
      counts_only(several, [](auto s, auto) { return s > 0; }));
  add("merge-of-empty-parts-nan", "a row that no part saw is NaN", is_nan_without_parts);
  add("merge-reads-empty-parts", "O of a part that saw no key is multiplied by 0: a NaN there shows",
      solves(has_unread_parts, read_all_parts));
  add("merge-unshifted", "parts are weighed by exp of their LSE, without the largest", breaks_rows(unshifted));
  add("merge-log-1-plus", "the LSE of a merge is a + log(1 + exp(b - a)), whichever is larger",
      breaks_rows(one_plus, one_plus_overflows));
  add("merge-undivided",
      "parts are weighed by exp of the distance to the largest LSE, and O is not divided by the sum of these",
      is_undivided);
  add("merge-base-2", "the LSE of parts is taken for one in base 2", merges_in(problem::log_base::two));
  add("merge-natural", "the LSE of parts, which is in base 2, is taken for a natural logarithm",
      merges_in(problem::log_base::e));
  add("merge-sigmoid-reversed", "each part is weighed by the sigmoid of LSE - LSE_s in place of LSE_s - LSE",
      merges_by_sigmoids(reversed_difference, lse_of_both));
  add("merge-lse-of-last", "one part after the other, with the LSE of the part before in place of the merged LSE",
      merges_by_sigmoids(difference, lse_of_last));
  add("merge-lse-of-larger", "one part after the other, with the larger LSE of two in place of the merged LSE",
      merges_by_sigmoids(difference, lse_of_larger));
  add("merge-strides-of-first", "every part is read with the strides of the first", reads_with_first_strides);
}

}  // namespace attest::audit
