// Hypotheses about the reference that a row's weights stand beside: it is another number than the largest score.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <ranges>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "audit/cause/hypotheses/changes.hpp"
#include "audit/tensors/elements.hpp"

namespace attest::audit {
namespace {

using calls = std::vector<answered_call>;
constexpr double boundless = std::numeric_limits<double>::infinity();

/// A row of a problem: entry, head, query.
struct query {
  std::int64_t b, h, i;
};
/// The reference of a row.
using reference_of = std::function<double(score_table const&, owned_problem const&, query const&)>;

enum class row_kind : std::uint8_t {
  right,
  lost,  ///< its weights overflow, or all become 0: O is ∞/∞ or 0/0
  open,  ///< in between, where some weights may overflow or lose digits
};

/// What becomes of a row whose largest score lies `apart` above its reference. Far above it, arguments of exp are large
/// and have large roundings.
row_kind kind_of(double apart, bool wide) {
  double const overflows = wide ? 709.8 : 88.8, underflows = wide ? 745 : 104, whole = wide ? 690 : 80;
  if (apart > overflows || apart < -underflows) return row_kind::lost;
  return apart > 16 || apart < -whole ? row_kind::open : row_kind::right;
}

/// The weights of a row are e^(s − reference). Rows in between, whose weights may overflow or lose digits, are not
/// judged: their outputs are replaced by the outputs of an empty row.
supposition stands_beside(reference_of reference) {
  return [reference = std::move(reference)](answered_call const& call, answered_call const*) -> calls {
    owned_problem const& p = call.problem;
    problem::sizes const& s = p.size();
    if (!is_small(p) || s.d == 0 || s.m == 0 || p.draft().sink) return {};
    score_table const score(p);
    bool const wide = p.type() == problem::element_type::f64;
    answered_call supposed = call;
    supposed.claim.conventions.empty_row = conventions::row::nan;
    supposed.outputs.weights.reset();
    std::vector<row_kind> kinds(static_cast<std::size_t>(s.b * s.hq * s.n), row_kind::right);
    bool any = false;
    for (std::size_t row = 0; row < kinds.size(); ++row) {
      auto const at = static_cast<std::int64_t>(row);
      query const of{at / s.n / s.hq, at / s.n % s.hq, at % s.n};
      double const most = score.largest(of.b, of.h, of.i), beside = reference(score, p, of);
      if (!std::isfinite(most) && !score.is_empty(of.b, of.h, of.i)) continue;
      if (most == beside) continue;
      kinds[row] = std::isfinite(beside) ? kind_of(most - beside, wide) : row_kind::open;
      if (kinds[row] == row_kind::right) continue;
      any |= kinds[row] == row_kind::lost;
      auto const each_of_o = [&](auto const& f) {
        std::size_t const columns = supposed.outputs.o ? static_cast<std::size_t>(s.dv) : 0;
        return std::ranges::all_of(std::views::iota(row * columns, (row + 1) * columns), f);
      };
      // Kernels that look at l first answer 0 there, for 0/0.
      if (kinds[row] == row_kind::open || each_of_o([&](std::size_t c) { return load(*supposed.outputs.o, c) == 0; }))
        each_of_o([&](std::size_t c) { return store(*supposed.outputs.o, c, std::nan("")), true; });
      if (!supposed.outputs.lse) continue;
      if (kinds[row] == row_kind::open || !std::isfinite(load(*supposed.outputs.lse, row)))
        store(*supposed.outputs.lse, row, -boundless);
    }
    if (!any) return {};
    problem_draft draft = p.draft();
    show(draft, s, [&](auto b, auto h, auto i, auto j) {
      return kinds[static_cast<std::size_t>((b * s.hq + h) * s.n + i)] == row_kind::right && sees(p, b, h, i, j);
    });
    return with_problem(supposed, std::move(draft));
  };
}

/// The largest score of the queries first, first + step, … before `last` of the row's head.
double largest_of(score_table const& score, query const& of, std::int64_t first, std::int64_t last,
                  std::int64_t step = 1) {
  double most = -boundless;
  for (std::int64_t i = first; i < last; i += step) most = std::max(most, score.largest(of.b, of.h, i));
  return most;
}

/// The largest score if σ ≥ 0, else the least: a softcap keeps the order, and a bias is taken to be small.
double scaled_maximum(score_table const& score, owned_problem const& p, query const& of) {
  if (sigma_of(p) >= 0) return score.largest(of.b, of.h, of.i);
  double least = boundless;
  for (std::int64_t j = 0; j < p.size().m; ++j)
    if (score.visible(of.b, of.h, of.i, j)) least = std::min(least, score(of.b, of.h, of.i, j));
  return least;
}

/// The largest score of all keys, hidden ones too.
double largest_of_all(score_table const& score, owned_problem const& p, query const& of) {
  double most = -boundless;
  for (std::int64_t j = 0; j < p.size().m; ++j) most = std::max(most, score(of.b, of.h, of.i, j));
  return most;
}

}  // namespace

void add_hypotheses_of_maxima(hypothesis_list& to) {
  auto const add = adds_problems_to(to, bug_class::large_scores),
             add_stand_in = adds_problems_to(to, bug_class::sentinel);
  for (double const first : {-1e4, -100.0, 0.0})
    add_stand_in(fmt::format("maximum-from{:+g}", first),
                 fmt::format("the running maximum starts at a number, {:g} or above, not at -inf", first),
                 stands_beside([=](score_table const& score, auto const&, query const& of) {
                   return std::max(first, score.largest(of.b, of.h, of.i));
                 }));
  add("maximum-before-scale", "the maximum is taken before the scale, which makes a minimum of it where it is negative",
      stands_beside(scaled_maximum));
  add("no-maximum", "exp is taken of the scores, from which no maximum was subtracted",
      stands_beside([](auto const&, auto const&, auto const&) { return 0.0; }));
  for (std::int64_t const tile : {16, 32, 64, 128})
    add(fmt::format("maximum-of-{}-queries-before", tile),
        fmt::format("the maximum of a row begins with the maximum of the query {} before it, and is not reset", tile),
        stands_beside([=](score_table const& score, auto const&, query const& of) {
          return largest_of(score, of, of.i % tile, of.i + 1, tile);
        }));
  add("maximum-with-hidden-keys", "the maximum of a row is taken over hidden keys, too", stands_beside(largest_of_all));
  for (std::int64_t const parts : {2, 4, 8})
    for (bool const up : {false, true})
      add(fmt::format("maximum-of-first-of-{}-parts{}", parts, up ? "-rounded-up" : ""),
          fmt::format("{} parts of the keys, their sizes rounded {}, are merged beside the maximum of the first", parts,
                      up ? "up" : "down"),
          stands_beside([=](score_table const& score, owned_problem const& p, query const& of) {
            std::int64_t const m = p.size().m, of_m = std::min(parts, m);
            return score.largest(of.b, of.h, of.i, 0, up ? (m + parts - 1) / parts : m / of_m);
          }));
  for (std::int64_t const tile : {1, 2, 4, 8, 16, 32, 64, 128}) {
    add(fmt::format("maximum-of-first-tile-of-{}", tile),
        fmt::format("the maximum of a row is the maximum of its first {} keys", tile),
        stands_beside([=](score_table const& score, auto const&, query const& of) {
          return score.largest(of.b, of.h, of.i, 0, tile);
        }));
    add(fmt::format("maximum-of-last-tile-of-{}", tile),
        fmt::format("the maximum of a row is the maximum of its last tile of {} keys", tile),
        stands_beside([=](score_table const& score, owned_problem const& p, query const& of) {
          return score.largest(of.b, of.h, of.i, (p.size().m - 1) / tile * tile, p.size().m);
        }));
  }
  for (std::int64_t const tile : {2, 4, 8, 16, 32, 64, 128})
    add(fmt::format("maximum-of-{}-queries", tile),
        fmt::format("a row uses the maximum of its tile of {} queries", tile),
        stands_beside([=](score_table const& score, owned_problem const& p, query const& of) {
          return largest_of(score, of, of.i / tile * tile, std::min(of.i / tile * tile + tile, p.size().n));
        }));
  add("maximum-of-all-queries", "a row uses the maximum of all queries of its head",
      stands_beside([](score_table const& score, owned_problem const& p, query const& of) {
        return largest_of(score, of, 0, p.size().n);
      }));
  add("maximum-of-first-query", "every row uses the maximum of query 0",
      stands_beside(
          [](score_table const& score, auto const&, query const& of) { return score.largest(of.b, of.h, 0); }));
}

}  // namespace attest::audit
