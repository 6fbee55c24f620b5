// Hypotheses about gradients: a mistake in one of them alone, rows that are lost, means in the place of sums, and
// numbers that are rounded before delta.
#include <cmath>
#include <numbers>
#include <string>
#include <tuple>

#include <fmt/format.h>

#include "audit/cause/hypotheses/passes.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/entry_forms.hpp"

namespace attest::audit {
namespace {

/// Gradients that one loop writes, and their rows.
struct written_rows {
  char const *name, *words, *row, *rows;
  gradient_kinds kinds;
  bool of_keys;
};
written_rows const all_written_rows[]{{"dkv", "dK and dV are", "key", "keys", {dk, dv}, true},
                                      {"dk", "dK is", "key", "keys", {dk}, true},
                                      {"dv", "dV is", "key", "keys", {dv}, true},
                                      {"dq", "dQ is", "query", "queries", {dq}, false}};

void add_rows_of_0(hypothesis_list& to) {
  auto const add = adds_gradients_to(to);
  for (written_rows const& of : all_written_rows) {
    auto const most = [&of](owned_problem const& p) { return of.of_keys ? p.size().m : p.size().n; };
    auto const rows = [&of](owned_problem const& p, std::int64_t b) {
      return of.of_keys ? keys_of(p, b) : queries_of(p, b);
    };
    add(fmt::format("{}-0-at-last-{}", of.name, of.row), fmt::format("{} 0 at the last {}", of.words, of.row),
        gradients_over(
            of.kinds, [=](owned_problem const& p) { return most(p) > 0; },
            [=, &of](owned_problem const& p, auto b, auto, auto i, auto j) {
              return (of.of_keys ? j : i) + 1 < rows(p, b);
            }));
    for (std::int64_t const block : {128, 64, 32, 16, 8}) {
      auto const add_end = [&](char const* name, char const* where, auto end) {
        add(fmt::format("{}-0-at-{}-{}", of.name, name, block),
            fmt::format("{} 0 at the {} {} of {}", of.words, of.rows, where, block),
            gradients_over(
                of.kinds, [=](owned_problem const& p) { return most(p) > block; },
                [=, &of](owned_problem const& p, auto b, auto, auto i, auto j) {
                  std::int64_t const count = rows(p, b);
                  return count <= block || (of.of_keys ? j : i) < end(count, block);
                }));
      };
      add_end("last-block-of", "of the last block", [](auto count, auto size) { return (count - 1) / size * size; });
      add_end("end-of-blocks-of", "behind the last whole block",
              [](auto count, auto size) { return count / size * size; });
    }
  }
}

/// The dropout that `change` makes of it.
supposition with_dropout(gradient_kinds which, void (*change)(problem_draft&)) {
  return gradients_of(std::move(which), [=](problem_draft& p) {
    if (!p.keep || p.dropout == 0) return false;
    change(p);
    return true;
  });
}

/// O is formed from all weights.
bool undrop_output(answered_call& call) {
  owned_problem const& p = call.problem;
  problem::sizes const& s = p.size();
  if (!p.draft().keep) return false;
  problem_draft draft = p.draft();
  score_table const score(p);
  std::int64_t const group = s.hk > 0 ? s.hq / s.hk : 1;
  each_query(p, [&](auto b, auto h, auto i) {
    std::size_t const row = output_row(p, b, h, i);
    double const lse = load(*draft.handed_lse, row);
    for (std::int64_t c = 0; c < s.dv; ++c) {
      double sum = 0;
      for (std::int64_t j = 0; j < keys_of(p, b); ++j)
        if (score.visible(b, h, i, j))
          sum += std::exp(score(b, h, i, j) - lse) * load(draft.v, offset_of(draft.v, b, h / group, j, c));
      store(*draft.handed_o, row * static_cast<std::size_t>(s.dv) + static_cast<std::size_t>(c), sum);
    }
  });
  return take(call, std::move(draft));
}

void add_dropout_of_one(hypothesis_list& to) {
  auto const add = adds_gradients_to(to);
  auto const unscaled = [](problem_draft& p) { p.dropout = 0; };  // the kept weights are not scaled
  add("dropout-unscaled-in-dp", "dP is not divided by 1 - p beside dropout", with_dropout(of_dS, unscaled));
  add("dropout-unscaled-in-dv", "the weights in dV are not divided by 1 - p beside dropout",
      with_dropout({dv}, unscaled));
  // What the sum rounds away is as much as one rounding of O.
  add("delta-without-dropout", "delta is the sum of P*dP without dropout",
      gradients_from({dq, dk, dbias, dsink}, [](answered_call& call) {
        if (!undrop_output(call)) return false;
        widen_gradients(call, [](problem::gradient_model& m) { m.k_delta += 4; });
        return true;
      }));
}

void add_factors_of_one(hypothesis_list& to) {
  auto const add = adds_gradients_to(to);
  auto const default_scale = [](owned_problem const& p) {
    return p.draft().scale && p.size().d > 0 ? 1 / std::sqrt(static_cast<double>(p.size().d)) : sigma_of(p);
  };
  for (auto const& [name, words, kinds] :
       {std::tuple{"dq", "dQ is", gradient_kinds{dq}}, {"dk", "dK is", {dk}}, {"dq-dk", "dQ and dK are", {dq, dk}}}) {
    add(fmt::format("{}-of-default-scale", name), fmt::format("{} multiplied by 1/√d, not by the stated scale", words),
        gradients_at_scale(kinds, default_scale));
    if (kinds.size() == 1)
      add(fmt::format("softcap-slope-forgotten-in-{}", name),
          fmt::format("the derivative of the softcap is left out of {}", kinds.front() == dq ? "dQ" : "dK"),
          with_slope(kinds, [](double) { return 1.0; }));
  }
  auto const always = [](owned_problem const&) { return true; };
  for (auto const& [name, words, kinds] :
       {std::tuple{"dv", "in dV", gradient_kinds{dv}}, {"ds", "in dS", {dq, dk, dbias}}}) {
    add(fmt::format("lse-read-in-base-2-in-{}", name),
        fmt::format("{}, the natural LSE is read as a logarithm to the base 2", words),
        with_handed_lse(kinds, always, [](auto const&, auto const&, double x) { return x * std::numbers::ln2; }));
    add(fmt::format("lse-expected-in-base-2-in-{}", name), fmt::format("{}, an LSE to the base 2 is expected", words),
        with_handed_lse(kinds, always, [](auto const&, auto const&, double x) { return x * std::numbers::log2e; }));
  }
}

void add_means(hypothesis_list& to) {
  auto const add = adds_gradients_to(to);
  constexpr std::tuple<std::size_t, char const*, char const*> axes[]{
      {0, "entries", "the entries"}, {1, "heads", "the heads"}, {2, "queries", "the queries"}};
  for (auto const& [axis, name, words] : axes) {
    auto const size = [at = axis](owned_problem const& p) {
      return static_cast<double>(at == 0 ? p.size().b : at == 1 ? p.size().hq : p.size().n);
    };
    add(fmt::format("dbias-mean-of-{}", name), fmt::format("dBias is the mean over {}, not the sum", words),
        gradients_times({dbias}, [=, at = axis](owned_problem const& p) {
          auto const& bias = p.draft().bias;
          return bias && bias->layout.rank == 4 && bias->layout.shape[at] == 1 ? 1 / size(p) : 1;
        }));
    if (axis == 1) continue;
    add(fmt::format("dsink-mean-of-{}", name), fmt::format("dSink is the mean over {}, not the sum", words),
        gradients_times({dsink}, [=, at = axis](owned_problem const& p) {
          auto const& sink = p.draft().sink;
          bool const is_shared = at == 2 || (sink && (sink->layout.rank == 1 || sink->layout.shape[0] == 1));
          return sink && is_shared ? 1 / size(p) : 1;
        }));
  }
  // Δ = 1: O is 1/dO in one column, and 0 in the others.
  add("dsink-without-delta", "dSink is minus the weight of the sink: delta is left out",
      with_output(
          {dsink}, [](owned_problem const& p) { return p.draft().sink && p.size().dv > 0; },
          [](problem_draft const& p, auto b, auto h, auto i, std::int64_t c, double) {
            auto const at = [&](std::int64_t e) { return load(*p.d_out, offset_of(*p.d_out, b, h, i, e)); };
            std::int64_t most = 0;
            for (std::int64_t e = 1; e < p.v.layout.shape[3]; ++e)
              if (std::abs(at(e)) > std::abs(at(most))) most = e;
            return c == most && at(c) != 0 ? 1 / at(c) : 0;
          }));
}

void add_rounded(hypothesis_list& to) {
  auto const add = adds_gradients_to(to);
  auto const is_wide = [](owned_problem const& p) { return problem::size_of(p.type()) > 2 && p.size().dv > 0; };
  for (auto const& [name, format] :
       {std::pair{"bf16", problem::format_of<problem::bf16>}, {"f16", problem::format_of<problem::f16>}}) {
    add(fmt::format("delta-of-o-in-{}", name), fmt::format("O is rounded to {} before delta is formed", name),
        with_output(
            {dq, dk, dbias, dsink}, is_wide,
            [to_format = format](auto const&, auto, auto, auto, auto, double o) { return rounded_to(o, to_format); }));
    add(fmt::format("d-out-in-{}", name), fmt::format("dO is rounded to {}", name),
        gradients_of(all_gradients, [to_format = format](problem_draft& p) {
          if (problem::size_of(p.d_out->type) <= 2) return false;
          for (std::size_t at = 0; at < p.d_out->spanned_elements(); ++at)
            store(*p.d_out, at, rounded_to(load(*p.d_out, at), to_format));
          return true;
        }));
  }
}

}  // namespace

void add_hypotheses_of_single_gradients(hypothesis_list& to) {
  add_rows_of_0(to);
  add_dropout_of_one(to);
  add_factors_of_one(to);
  add_means(to);
  add_rounded(to);
}

}  // namespace attest::audit
