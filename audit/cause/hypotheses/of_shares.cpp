// Hypotheses about l, the sum of the weights: it adds the weights of some keys of a row alone.
#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "audit/cause/hypotheses/changes.hpp"
#include "audit/tensors/elements.hpp"

namespace attest::audit {
namespace {

using calls = std::vector<answered_call>;

/// A share of l below this one has large roundings, or is 0.
constexpr double least_share = 1e-7;

/// The open rows are not judged: they see no key, and have the outputs of an empty row.
using row_question = std::function<bool(std::int64_t b, std::int64_t h, std::int64_t i)>;
calls without_rows(answered_call call, row_question const& open) {
  owned_problem const& p = call.problem;
  problem::sizes const& s = p.size();
  for (std::int64_t row = 0; row < s.b * s.hq * s.n; ++row) {
    if (!open(row / s.n / s.hq, row / s.n % s.hq, row % s.n)) continue;
    call.open_rows.insert({row / s.n / s.hq, row / s.n % s.hq, row % s.n});
    for (std::int64_t c = 0; call.outputs.o && c < s.dv; ++c)
      store(*call.outputs.o, static_cast<std::size_t>(row * s.dv + c), 0);
    if (call.outputs.lse) store(*call.outputs.lse, static_cast<std::size_t>(row), -HUGE_VAL);
  }
  conventions const& empty = call.claim.conventions;
  if (call.open_rows.empty()) return {std::move(call)};
  if (empty.empty_row != conventions::row::zero || empty.empty_lse != conventions::log::minus_infinity ||
      p.draft().sink)
    return {};
  problem_draft draft = p.draft();
  show(draft, s, [&](auto b, auto h, auto i, auto j) { return !open(b, h, i) && sees(p, b, h, i, j); });
  draft.align = 0;
  auto supposed = with_problem(call, std::move(draft));
  for (answered_call& each : supposed) each.open_rows = call.open_rows;
  return supposed;
}

/// l is this share of the sum of a row, and O is the whole sum. `sum` adds the weights of the visible keys
/// [first, last) of a row, e^(s − m).
using sum_of_keys = std::function<double(std::int64_t first, std::int64_t last)>;
using share_of_row = std::function<double(score_table const&, problem::sizes const&, std::int64_t b, std::int64_t h,
                                          std::int64_t i, sum_of_keys const& sum)>;
supposition divides_by_share(std::int64_t least, share_of_row part) {
  return [=, part = std::move(part)](answered_call const& call, answered_call const*) -> calls {
    owned_problem const& p = call.problem;
    if (!is_small(p) || p.size().m <= least || !call.outputs.o) return {};
    score_table const score(p);
    problem::sizes const& s = p.size();
    auto const share = [&](auto b, auto h, auto i) {
      double const most = score.largest(b, h, i);
      if (!std::isfinite(most)) return 1.0;
      auto const sum = [&](std::int64_t first, std::int64_t last) {
        return score.sum_beside(most, b, h, i, first, last);
      };
      return part(score, s, b, h, i, sum) / score.sum_of_weights(b, h, i);
    };
    std::vector<double> shares;
    for (std::int64_t row = 0; row < s.b * s.hq * s.n; ++row)
      shares.push_back(share(row / s.n / s.hq, row / s.n % s.hq, row % s.n));
    auto const share_of = [&](auto b, auto h, auto i) {
      return shares[static_cast<std::size_t>((b * s.hq + h) * s.n + i)];
    };
    auto const is_open = [&](auto... at) { return share_of(at...) < least_share; };
    auto const factor = [&](auto... at) { return is_open(at...) ? 1 : share_of(at...); };
    auto const beside =
        with_lse(call, [&](auto b, auto h, auto i, double got) { return got - std::log(factor(b, h, i)); });
    answered_call supposed = beside ? *beside : with_model(call);
    supposed.outputs.weights.reset();
    scale_rows_of_o(supposed, factor);
    return without_rows(supposed, is_open);
  };
}

/// l is the sum of the last tile with a visible key.
supposition divides_by_last(std::int64_t tile) {
  return divides_by_share(tile, [=](score_table const& score, auto const& s, auto b, auto h, auto i, auto const& sum) {
    std::int64_t first = (s.m - 1) / tile * tile;
    while (first > 0 && !std::isfinite(score.largest(b, h, i, first, first + tile))) first -= tile;
    return sum(first, first + tile);
  });
}

/// l is the sum of the keys in the first half of each tile.
supposition divides_by_halves(std::int64_t tile) {
  return divides_by_share(tile / 2, [=](auto const&, auto const& s, auto, auto, auto, auto const& sum) {
    double halves = 0;
    for (std::int64_t first = 0; first < s.m; first += tile) halves += sum(first, first + (tile + 1) / 2);
    return halves;
  });
}

}  // namespace

void add_hypotheses_of_shares(hypothesis_list& to) {
  auto const add = adds_problems_to(to, any_class);
  for (std::int64_t const tile : {8, 16, 32, 64, 128}) {
    auto const of_tile = [=](char const* form) { return fmt::format(fmt::runtime(form), tile); };
    add(of_tile("sum-of-first-halves-of-{}"), of_tile("l is the sum of the first half of each tile of {} keys"),
        divides_by_halves(tile));
    add(of_tile("sum-of-last-tile-of-{}"), of_tile("l is the sum of the last tile of {} keys alone"),
        divides_by_last(tile));
  }
}

}  // namespace attest::audit
