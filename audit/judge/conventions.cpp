#include "audit/judge/conventions.hpp"

#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "audit/tensors/elements.hpp"
#include "audit/tensors/slice.hpp"
#include "reference/compiled/row.hpp"
#include "reference/real/outward.hpp"

namespace attest::audit {
namespace {

using reference::infinity;

/// The offsets of the elements of one row in compact outputs of any rank.
class row_offsets {
 public:
  row_offsets(problem::sizes const& s, std::int64_t b, std::int64_t h, std::int64_t i)
      : row_(static_cast<std::size_t>((b * s.hq + h) * s.n + i)) {}
  std::size_t of(std::int64_t width, std::int64_t at) const {
    return row_ * static_cast<std::size_t>(width) + static_cast<std::size_t>(at);
  }

 private:
  std::size_t row_;
};

/// Judges the rows that a convention decides, then overwrites them with the outputs of docs/semantics.md, so that
/// judge() accepts them.
class convention_judge {
 public:
  convention_judge(owned_problem const& problem, contract const& claim, owned_outputs kernel_outputs)
      : outputs(std::move(kernel_outputs)), problem_(problem), how_(claim.conventions), claim_(claim) {}

  void all() {
    std::visit(
        [&](auto const& p) {
          problem::sizes const& s = p.size();
          for (std::int64_t at = 0; at < s.b * s.hq * s.n; ++at) row(p, at / s.n / s.hq, at / s.n % s.hq, at % s.n);
        },
        problem_.instance());
  }

  judgement found;
  owned_outputs outputs;

 private:
  template <class T>
  void row(problem::instance<T> const& p, std::int64_t b, std::int64_t h, std::int64_t i) {
    reference::compiled::enclose_row(p, b, h, i, truth_of<T>());
    auto const& truth = truth_of<T>();
    row_offsets const at(p.size(), b, h, i);
    if (truth.kind == reference::row_kind::empty) empty(p.size(), at, b, h, i);
    else if (how_.nan == conventions::invalid::unspecified) accept_any(p, truth, at);
  }

  void rule(char const* output, std::array<std::int64_t, 4> where, double got, double expected) {
    ++found.by_rule;
    if (std::isnan(expected) ? std::isnan(got) : got == expected) return;
    ++found.failed;
    violation v;
    v.output = output, v.index = where, v.got = got, v.truth_lower = v.truth_upper = expected;
    v.error_in_bounds = infinity, v.bug_class = bug_class::empty_row;
    v.sentence = fmt::format("{}[{}] is {}, expected {}: no key is visible to this query, and the contract {} says so",
                             output, fmt::join(where, ", "), got, expected, claim_.name);
    found.add(std::move(v));
  }

  void empty(problem::sizes const& s, row_offsets const& at, std::int64_t b, std::int64_t h, std::int64_t i) {
    if (outputs.o && how_.empty_row == conventions::row::nan)
      for (std::int64_t c = 0; c < s.dv; ++c) {
        rule("o", {b, h, i, c}, load(*outputs.o, at.of(s.dv, c)), std::nan(""));
        store(*outputs.o, at.of(s.dv, c), 0);
      }
    if (outputs.o && how_.empty_row == conventions::row::mean) mean(s, at, b, h, i);
    if (outputs.lse && how_.empty_lse == conventions::log::zero) {
      rule("lse", {b, h, i, 0}, load(*outputs.lse, at.of(1, 0)), 0);
      store(*outputs.lse, at.of(1, 0), -infinity);
    }
  }

  /// The mean of all rows of V is attention with scale 0 and every key visible; its bound judges the row.
  void mean(problem::sizes const& s, row_offsets const& at, std::int64_t b, std::int64_t h, std::int64_t i) {
    if (s.m == 0 || problem_.rank() != 4) {  // no mean, or a rank that cannot be sliced: judge() judges the row
      found.leave_out(s.dv, not_judged_because::value_left_open);
      return;
    }
    problem_draft const& draft = problem_.draft();
    problem_draft everything;
    everything.q = draft.q, everything.k = draft.k, everything.v = draft.v, everything.scale = 0;
    selection chosen = selection::all(s);
    chosen.b = {b}, chosen.n = {i}, chosen.hk = {reference::key_head(s, h)}, chosen.query_head = h % (s.hq / s.hk);
    auto const row = *sliced(owned_problem::of_valid(std::move(everything)), chosen);
    owned_outputs alone;
    alone.o = owned_tensor::compact(outputs.o->type, {1, 1, 1, s.dv});
    for (std::int64_t c = 0; c < s.dv; ++c)
      store(*alone.o, static_cast<std::size_t>(c), load(*outputs.o, at.of(s.dv, c)));
    judgement judged = judge(row.instance(), alone, claim_);
    for (violation& v : judged.violations) {
      v.index = {b, h, i, v.index[3]};
      v.bug_class = bug_class::empty_row;
      v.sentence += fmt::format("; query [{}, {}, {}] sees no key, for which the contract {} says the mean of V", b, h,
                                i, claim_.name);
    }
    found.merge(std::move(judged));
    for (std::int64_t c = 0; c < s.dv; ++c) store(*outputs.o, at.of(s.dv, c), 0);
  }

  /// nan: unspecified. Where the truth is NaN or infinite, any output is accepted.
  template <class T>
  void accept_any(problem::instance<T> const& p, reference::enclosed_row<128, T> const& truth, row_offsets const& at) {
    problem::sizes const& s = p.size();
    bool const nan_row = truth.kind == reference::row_kind::nan;
    for (std::int64_t c = 0; outputs.o && c < s.dv; ++c) {
      auto const kind = reference::compiled::output(p, truth, c).kind;
      if (kind == reference::value_kind::nan || kind == reference::value_kind::not_finite)
        store(*outputs.o, at.of(s.dv, c), std::nan(""));
    }
    if (nan_row && outputs.lse) store(*outputs.lse, at.of(1, 0), std::nan(""));
    for (std::int64_t j = 0; nan_row && outputs.weights && j < s.m; ++j)
      store(*outputs.weights, at.of(s.m, j), std::nan(""));
  }

  template <class T>
  static reference::enclosed_row<128, T>& truth_of() {
    static thread_local reference::enclosed_row<128, T> reused;
    return reused;
  }

  owned_problem const& problem_;
  conventions const& how_;
  contract const& claim_;
};

bool nonfinite(owned_tensor const& t) {
  std::size_t const bytes = t.bytes.size() / problem::size_of(t.type);
  for (std::size_t at = 0; at < bytes; ++at)
    if (!std::isfinite(load(t, at))) return true;
  return false;
}

}  // namespace

std::vector<std::string> relaxed(conventions const& how) {
  std::vector<std::string> relaxations;
  if (how.masked_values != conventions::masked::never_read) relaxations.push_back("masked_values: must_be_finite");
  if (how.empty_row == conventions::row::nan) relaxations.push_back("empty_row: nan");
  if (how.empty_row == conventions::row::mean) relaxations.push_back("empty_row: mean");
  if (how.empty_lse != conventions::log::minus_infinity) relaxations.push_back("empty_lse: 0");
  if (how.nan != conventions::invalid::propagate) relaxations.push_back("nan: unspecified");
  return relaxations;
}

owned_outputs translated(owned_problem const& problem, owned_outputs const& outputs, contract const& claim) {
  if (claim.conventions == conventions{}) return outputs;
  convention_judge rows(problem, claim, outputs);
  rows.all();
  return std::move(rows.outputs);
}

judgement judge_by_conventions(owned_problem const& problem, owned_outputs const& outputs, contract const& claim) {
  if (claim.conventions == conventions{}) return judge(problem.instance(), outputs, claim);
  convention_judge rows(problem, claim, outputs);
  rows.all();
  judgement total = judge(problem.instance(), rows.outputs, claim);
  total.merge(std::move(rows.found));
  return total;
}

bool has_nonfinite(owned_problem const& problem) {
  problem_draft const& p = problem.draft();
  return nonfinite(p.q) || nonfinite(p.k) || nonfinite(p.v) || (p.bias && nonfinite(*p.bias));
}

}  // namespace attest::audit
