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

/// Σ e^(s_j − M_j) of a row, with M_j the largest score up to the end of the block of key j: l where it is not
/// rescaled.
double sum_not_rescaled(score_table const& score, std::int64_t block, std::int64_t b, std::int64_t h, std::int64_t i,
                        std::int64_t m) {
  double sum = 0;
  for (std::int64_t first = 0; first < m; first += block) {
    double const most = score.largest(b, h, i, 0, first + block);
    if (std::isfinite(most)) sum += score.sum_beside(most, b, h, i, first, first + block);
  }
  return sum;
}

/// l is not rescaled when the maximum moves, and O is: l has more, as of a key with the value 0.
supposition keeps_sum(std::int64_t block) {
  return [=](answered_call const& call, answered_call const*) -> calls {
    owned_problem const& p = call.problem;
    std::int64_t const m = p.size().m;
    if (!is_small(p) || m <= block) return {};
    score_table const score(p);
    auto const more = [&](auto b, auto h, auto i) {
      double const most = score.largest(b, h, i);
      return std::isfinite(most) ? sum_not_rescaled(score, block, b, h, i, m) - score.sum_of_weights(b, h, i) : 0;
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

/// O is not rescaled when the maximum moves, and l is: a row is Σ e^(s − M_j)·v over Σ e^(s − M).
supposition keeps_output(std::int64_t block) {
  return [=](answered_call const& call, answered_call const*) -> calls {
    owned_problem const& p = call.problem;
    problem::sizes const& s = p.size();
    if (!is_small(p) || s.m <= block || !call.outputs.o) return {};
    score_table const score(p);
    answered_call output = with_model(call), lse = call;
    lse.outputs.o.reset(), output.outputs.lse.reset(), output.outputs.weights.reset();
    scale_rows_of_o(output, [&](auto b, auto h, auto i) {
      if (!std::isfinite(score.largest(b, h, i))) return 1.0;
      return score.sum_of_weights(b, h, i) / sum_not_rescaled(score, block, b, h, i, s.m);
    });
    problem_draft draft = p.draft();
    set_bias(draft, s, [&](auto b, auto h, auto i, auto j) {
      double const beside = score.largest(b, h, i, 0, (j / block + 1) * block);
      return bias_of(p, b, h, i, j) - (std::isfinite(beside) ? beside : 0.0);
    });
    auto supposed = with_problem(output, std::move(draft));
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
    constexpr double lazy = 5.545177444479562;
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

/// A mistake in the columns of O behind the first d alone.
supposition behind_first_columns(supposition how) {
  return [how = std::move(how)](answered_call const& call, answered_call const* before) -> calls {
    problem::sizes const& s = call.problem.size();
    if (s.d == 0 || s.dv <= s.d || !call.outputs.o || call.problem.draft().d_out) return {};
    answered_call part = in_columns(call, s.d, s.dv);
    part.outputs.lse.reset(), part.outputs.weights.reset();
    calls supposed = how(part, before);
    if (!supposed.empty()) supposed.push_back(in_columns(call, 0, s.d));
    return supposed;
  };
}

}  // namespace

void add_hypotheses_of_lost_factors(hypothesis_list& to) {
  auto const add = adds_problems_to(to);
  for (std::int64_t const block : {1, 4, 8, 16, 32, 64, 128}) {
    add(fmt::format("sum-not-rescaled-{}", block),
        fmt::format("l is not rescaled when the maximum moves, and O is, in blocks of {} keys", block),
        keeps_sum(block));
    add(fmt::format("output-not-rescaled-{}", block),
        fmt::format("O is not rescaled when the maximum moves, and l is, in blocks of {} keys", block),
        keeps_output(block));
    add(fmt::format("columns-behind-d-not-rescaled-{}", block),
        fmt::format("of O the first d columns alone are rescaled when the maximum moves, in blocks of {} keys", block),
        behind_first_columns(keeps_output(block)));
    add(fmt::format("weights-beside-new-maximum-{}", block),
        fmt::format("where the maximum rises by at most ln 256, O and l keep the old one, and the weights are formed "
                    "beside the new one, in blocks of {} keys",
                    block),
        weighs_beside_new(block));
  }
}

}  // namespace attest::audit
