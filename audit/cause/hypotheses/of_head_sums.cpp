// Hypotheses about gradients: dK and dV of query heads that are added to the wrong head of K and V. No problem has such
// gradients. So the kernel's sums are put right by what each query head adds, and judged as right ones: they are within
// their bounds if they were as near to the wrong sums.
#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "audit/cause/hypotheses/passes.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/entry_forms.hpp"

namespace attest::audit {
namespace {

/// What each query head adds to dK and dV: [b, hq, m, d] and [b, hq, m, dv], in double arithmetic.
struct sums_of_heads {
  std::vector<double> k, v;

  explicit sums_of_heads(owned_problem const& p) {
    problem::sizes const& s = p.size();
    k.resize(static_cast<std::size_t>(s.b * s.hq * s.m * s.d)),
        v.resize(static_cast<std::size_t>(s.b * s.hq * s.m * s.dv));
    score_table const score(p);
    pair_number const slope = log_slope(p);
    each_query(p, [&](auto b, auto h, auto i) { add_row(p, score, slope, b, h, i); });
  }

 private:
  void add_row(owned_problem const& p, score_table const& score, pair_number const& slope, std::int64_t b,
               std::int64_t h, std::int64_t i) {
    problem::sizes const& s = p.size();
    problem_draft const& of = p.draft();
    std::int64_t const g = h / (s.hq / s.hk);
    std::size_t const row = output_row(p, b, h, i);
    double const lse = load(*of.handed_lse, row), kept = of.keep && of.dropout > 0 ? 1 / (1 - of.dropout) : 1;
    auto const d_out = [&](std::int64_t c) { return load(*of.d_out, offset_of(*of.d_out, b, h, i, c)); };
    double delta = 0;
    for (std::int64_t c = 0; c < s.dv; ++c)
      delta += d_out(c) * load(*of.handed_o, row * static_cast<std::size_t>(s.dv) + static_cast<std::size_t>(c));
    for (std::int64_t j = 0; j < keys_of(p, b); ++j) {
      if (!score.visible(b, h, i, j) || lse == -HUGE_VAL) continue;
      double const factor = of.keep && element(*of.keep, b, h, i, j) == 0 ? 0 : kept;
      double const weight = std::exp(score(b, h, i, j) - lse);
      double product = 0;
      for (std::int64_t c = 0; factor != 0 && c < s.dv; ++c)
        product += factor * d_out(c) * load(of.v, offset_of(of.v, b, g, j, c));
      double const dX = sigma_of(p) * weight * (product - delta) * std::exp(slope(b, h, i, j));
      auto const place = [&](std::int64_t width) {
        return static_cast<std::size_t>(((b * s.hq + h) * s.m + j) * width);
      };
      for (std::int64_t t = 0; t < s.d; ++t)
        k[place(s.d) + static_cast<std::size_t>(t)] += dX * load(of.q, offset_of(of.q, b, h, i, t));
      for (std::int64_t c = 0; factor != 0 && c < s.dv; ++c)
        v[place(s.dv) + static_cast<std::size_t>(c)] += weight * factor * d_out(c);
    }
  }
};

/// Query head h is added to head `to`(h) of K and V.
using head_of_sum = std::int64_t (*)(problem::sizes const&, std::int64_t h);
supposition adds_heads_to(gradient_kinds which, head_of_sum to) {
  return gradients_from(std::move(which), [to](answered_call& call) {
    problem::sizes const& s = call.problem.size();
    if (s.hk < 2 || s.hq == s.hk) return false;
    sums_of_heads const sums(call.problem);
    bool any = false;
    double most = 0;  // of what is moved
    for (auto const& [kind, of, width] : {std::tuple{dk, &sums.k, s.d}, {dv, &sums.v, s.dv}}) {
      auto& gradient = call.outputs.of(kind);
      if (!gradient) continue;
      for (std::int64_t b = 0; b < s.b; ++b)
        for (std::int64_t h = 0; h < s.hq; ++h)
          for (std::int64_t x = 0; x < s.m * width; ++x) {
            std::int64_t const right = h / (s.hq / s.hk), wrong = to(s, h);
            double const part = (*of)[static_cast<std::size_t>((b * s.hq + h) * s.m * width + x)];
            if (right == wrong || part == 0) continue;
            if (!std::isfinite(part)) return call.open = true;
            any = true, most = std::max(most, std::abs(part));
            for (auto const& [head, sign] : {std::pair{right, 1}, {wrong, -1}}) {
              auto const at = static_cast<std::size_t>((b * s.hk + head) * s.m * width + x);
              store(*gradient, at, load(*gradient, at) + sign * part);
            }
          }
    }
    double const unit = unit_of(call.problem.type()), roundings = 2 * static_cast<double>(s.hq / s.hk);
    // The kernel rounded sums of the moved terms: where the right ones are small, these roundings are larger.
    widen_gradients(call, [&](problem::gradient_model& m) {
      m.u_grad += roundings * unit, m.omega_grad += 64 * roundings * unit * most;
    });
    call.put_right = true;
    return any;
  });
}

}  // namespace

void add_hypotheses_of_head_sums(hypothesis_list& to) {
  auto const add = adds_gradients_to(to);
  for (auto const& [name, words, kinds] :
       {std::tuple{"dkv", "dK and dV add", gradient_kinds{dk, dv}}, {"dk", "dK adds", {dk}}, {"dv", "dV adds", {dv}}}) {
    add(fmt::format("{}-heads-interleaved", name), fmt::format("{} query head h to head h mod hk", words),
        adds_heads_to(kinds, [](problem::sizes const& s, std::int64_t h) { return h % s.hk; }));
    add(fmt::format("{}-heads-in-first", name), fmt::format("{} all query heads to head 0", words),
        adds_heads_to(kinds, [](problem::sizes const&, std::int64_t) { return std::int64_t{0}; }));
  }
}

}  // namespace attest::audit
