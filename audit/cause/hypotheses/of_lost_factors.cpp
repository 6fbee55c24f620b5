// Hypotheses about O and l that are not rescaled together when the maximum moves: one of them alone, O in some columns,
// weights beside another maximum than the sums.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "audit/cause/hypotheses/changes.hpp"
#include "audit/tensors/elements.hpp"

namespace attest::audit {
namespace {

using calls = std::vector<answered_call>;
constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double lazy = 5.545177444479562;  ///< ln 256

/// A sum over blocks of so many keys that is not rescaled where the maximum rises by at most `most`.
struct kept_sum {
  std::int64_t block;
  double most;
};

/// Of each block, what its scores have too much in the sum: the rises behind it that are not made up for.
std::vector<double> rises_behind(score_table const& score, kept_sum const& kept, std::int64_t b, std::int64_t h,
                                 std::int64_t i, std::int64_t m) {
  std::vector<double> tops;
  for (std::int64_t first = 0; first < m; first += kept.block)
    tops.push_back(std::max(tops.empty() ? -infinite : tops.back(), score.largest(b, h, i, first, first + kept.block)));
  std::vector<double> behind(tops.size());
  for (std::size_t at = tops.size(); at-- > 1;) {
    double const rise = tops[at] - tops[at - 1];
    behind[at - 1] = behind[at] + (std::isfinite(tops[at - 1]) && rise <= kept.most ? rise : 0);
  }
  return behind;
}

/// Σ e^(s_j − M + r_j) of a row, with the largest score M and the rises r_j behind the block of key j.
double sum_not_rescaled(score_table const& score, kept_sum const& kept, std::int64_t b, std::int64_t h, std::int64_t i,
                        std::int64_t m) {
  double const most = score.largest(b, h, i);
  if (!std::isfinite(most)) return 0;
  double sum = 0;
  std::int64_t first = 0;
  for (double const behind : rises_behind(score, kept, b, h, i, m)) {
    sum += score.sum_beside(most - behind, b, h, i, first, first + kept.block);
    first += kept.block;
  }
  return sum;
}

/// l is not rescaled when the maximum moves, and O is: l has more, as of a key with the value 0.
supposition keeps_sum(kept_sum const& kept) {
  return [=](answered_call const& call, answered_call const*) -> calls {
    owned_problem const& p = call.problem;
    std::int64_t const m = p.size().m;
    if (!is_small(p) || m <= kept.block) return {};
    score_table const score(p);
    auto const more = [&](auto b, auto h, auto i) {
      double const most = score.largest(b, h, i);
      return std::isfinite(most) ? sum_not_rescaled(score, kept, b, h, i, m) - score.sum_of_weights(b, h, i) : 0;
    };
    constexpr double least = 1e-12;
    auto const none = [](std::int64_t) { return std::optional<std::int64_t>(); };
    return with_further_keys(
        call,
        {.count = 1,
         .key = none,
         .value = none,
         .shown = [&](auto b, auto h, auto i, auto) { return more(b, h, i) > least; },
         .bias = [&](auto b, auto h, auto i,
                     auto) { return more(b, h, i) > least ? score.largest(b, h, i) + std::log(more(b, h, i)) : 0; },
         .weight = {}});
  };
}

/// O is not rescaled when the maximum moves, and l is: a row is Σ e^(s − M + r)·v over Σ e^(s − M).
supposition keeps_output(kept_sum const& kept) {
  return [=](answered_call const& call, answered_call const*) -> calls {
    owned_problem const& p = call.problem;
    problem::sizes const& s = p.size();
    if (!is_small(p) || s.m <= kept.block || !call.outputs.o) return {};
    score_table const score(p);
    answered_call output = with_model(call), lse = call;
    lse.outputs.o.reset(), output.outputs.lse.reset(), output.outputs.weights.reset();
    scale_rows_of_o(output, [&](auto b, auto h, auto i) {
      if (!std::isfinite(score.largest(b, h, i))) return 1.0;
      return score.sum_of_weights(b, h, i) / sum_not_rescaled(score, kept, b, h, i, s.m);
    });
    std::vector<double> behind;
    auto supposed = with_gains(output, [&](auto b, auto h, auto i, auto j) {
      if (j == 0) behind = rises_behind(score, kept, b, h, i, s.m);
      return behind[static_cast<std::size_t>(j / kept.block)];
    });
    if (!supposed.empty() && (lse.outputs.lse || lse.outputs.weights)) supposed.push_back(std::move(lse));
    return supposed;
  };
}

/// Lazy rescaling with weights beside the new maximum: where it rises by at most ln 256 in a block, O and l keep the
/// old one, and the weights of the block are e^(s − new).
supposition weighs_beside_new(std::int64_t block) {
  return [=](answered_call const& call, answered_call const*) -> calls {
    owned_problem const& p = call.problem;
    std::int64_t const m = p.size().m;
    if (!is_small(p) || m <= block) return {};
    score_table const score(p);
    double used = -infinite, apart = 0;
    return with_gains(call, [&](auto b, auto h, auto i, auto j) {
      if (j == 0) used = -infinite;
      if (j % block == 0) {
        double const top = std::max(used, score.largest(b, h, i, j, j + block));
        if (!(top - used <= lazy)) used = top;
        apart = std::isfinite(top) ? top - used : 0;
      }
      return -apart;
    });
  };
}

/// The call with columns [first, last) of V and O alone.
answered_call in_columns(answered_call const& call, std::int64_t first, std::int64_t last) {
  problem_draft draft = call.problem.draft();
  auto const some = [&](owned_tensor const& from) {
    auto const& shape = from.layout.shape;
    owned_tensor to = owned_tensor::compact(from.type, {shape[0], shape[1], shape[2], last - first});
    fill(to, [&](auto b, auto h, auto j, auto c) { return load(from, offset_of(from, b, h, j, first + c)); });
    return to;
  };
  draft.v = some(draft.v);
  answered_call part = call;
  part.problem = owned_problem::of_valid(std::move(draft));
  part.outputs.o = some(*call.outputs.o);
  return part;
}

/// A mistake in the columns of O from `first` on alone.
supposition from_column(std::int64_t (*first)(problem::sizes const&, std::int64_t vector), std::int64_t vector,
                        supposition how) {
  return [=, how = std::move(how)](answered_call const& call, answered_call const* before) -> calls {
    problem::sizes const& s = call.problem.size();
    std::int64_t const right = first(s, vector);
    if (s.d == 0 || s.dv <= right || !call.outputs.o || call.problem.draft().d_out) return {};
    answered_call part = in_columns(call, right, s.dv);
    part.outputs.lse.reset(), part.outputs.weights.reset();
    calls supposed = how(part, before);
    if (!supposed.empty()) supposed.push_back(in_columns(call, 0, right));
    return supposed;
  };
}
std::int64_t columns_of_q(problem::sizes const& s, std::int64_t) { return s.d; }
std::int64_t whole_vectors(problem::sizes const& s, std::int64_t vector) { return s.dv / vector * vector; }

}  // namespace

void add_hypotheses_of_lost_factors(hypothesis_list& to) {
  auto const add_sum = adds_problems_to(to, bug_class::lse), add = adds_problems_to(to, any_class);
  for (std::int64_t const block : {1, 4, 8, 16, 32, 64, 128}) {
    add_sum(fmt::format("sum-not-rescaled-{}", block),
            fmt::format("l is not rescaled when the maximum moves, and O is, in blocks of {} keys", block),
            keeps_sum({block, infinite}));
    add(fmt::format("output-not-rescaled-{}", block),
        fmt::format("O is not rescaled when the maximum moves, and l is, in blocks of {} keys", block),
        keeps_output({block, infinite}));
    add_sum(fmt::format("sum-not-rescaled-lazily-{}", block),
            fmt::format("where the maximum rises by at most ln 256, l is not rescaled, and O is, in blocks of {} keys",
                        block),
            keeps_sum({block, lazy}));
    add(fmt::format("output-not-rescaled-lazily-{}", block),
        fmt::format("where the maximum rises by at most ln 256, O is not rescaled, and l is, in blocks of {} keys",
                    block),
        keeps_output({block, lazy}));
    add(fmt::format("columns-behind-d-not-rescaled-{}", block),
        fmt::format("of O the first d columns alone are rescaled when the maximum moves, in blocks of {} keys", block),
        from_column(columns_of_q, 0, keeps_output({block, infinite})));
    for (std::int64_t const vector : {4, 8})
      add(fmt::format("columns-behind-{}-not-rescaled-{}", vector, block),
          fmt::format("columns of O behind the last multiple of {} are not rescaled when the maximum moves, in blocks "
                      "of {} keys",
                      vector, block),
          from_column(whole_vectors, vector, keeps_output({block, infinite})));
    add(fmt::format("weights-beside-new-maximum-{}", block),
        fmt::format("where the maximum rises by at most ln 256, O and l keep the old one, and the weights are formed "
                    "beside the new one, in blocks of {} keys",
                    block),
        weighs_beside_new(block));
  }
}

}  // namespace attest::audit
