// The lines of the audit's checks as properties of the oracle itself: promises about one answer, and about its twins.
// For both tiers, every element type and, in the machine tier, every SIMD target.
#include <algorithm>
#include <cmath>
#include <string>

#include "audit/judge/judge_outputs.hpp"
#include "reference/real/exp.hpp"
#include "reference/real/log.hpp"
#include "tests/support/oracle_twins.hpp"

namespace attest::tests::oracle_promises_test {
namespace {

TEST_CASE("oracle: weights are in [0, 1], of visible keys alone, and sum to 1; O is inside the hull of V",
          "[property]") {
  holds("weights and hull", [](tier const& of, recipe const& r) {
    problem_draft const draft = make_problem(r);
    problem::sizes const s = sizes_of(draft);
    oracle_answer const answers = of.ask(draft);
    for_finite_rows(answers, s, [&](oracle_row const& row, auto b, auto h, auto i) {
      std::vector<std::int64_t> seen;
      for (std::int64_t j = 0; j < s.m; ++j)
        if (may_see(draft, b, h, i, j) && bias_of(draft, h, i, j) > -HUGE_VAL) seen.push_back(j);
      RC_ASSERT(row.keys == seen);
      oracle_ball sum;
      for (oracle_ball const& w : row.weights) {
        RC_ASSERT(reference::certain_sign(w) >= 0);
        RC_ASSERT(reference::at_most(w, oracle_ball(1)) != decision::no);
        if (is_tame(r)) RC_ASSERT(narrow(w, 1, of.width));
        sum = sum + w;
      }
      RC_ASSERT(reference::overlap(sum, oracle_ball(1)));
      for (std::size_t c = 0; c < row.o.size(); ++c) {
        if (!row.o[c]) continue;
        double low = HUGE_VAL, high = -HUGE_VAL;
        for (auto const j : row.keys) {
          double const v =
              audit::load(draft.v, audit::offset_of(draft.v, b, h / r.groups, j, static_cast<std::int64_t>(c)));
          low = std::min(low, v), high = std::max(high, v);
        }
        RC_ASSERT(reference::at_most(ball_of_double(low), *row.o[c]) != decision::no);
        RC_ASSERT(reference::at_most(*row.o[c], ball_of_double(high)) != decision::no);
        if (is_tame(r)) RC_ASSERT(narrow(*row.o[c], std::max({std::abs(low), std::abs(high), 0x1p-900}), of.width));
      }
    });
  });
}

TEST_CASE("oracle: a row without a visible key answers 0 and no weights, and no other row is empty", "[property]") {
  holds("empty rows", [](tier const& of, recipe r) {
    r.mask = mask_regime::random, r.left = 0, r.right = r.seed % 2 ? 0 : 2;
    problem_draft const draft = make_problem(r);
    problem::sizes const s = sizes_of(draft);
    oracle_answer const answers = of.ask(draft);
    std::size_t at = 0;
    for_each_row_of(s, [&](auto b, auto h, auto i) {
      bool sees = false;
      for (std::int64_t j = 0; j < s.m; ++j)
        sees = sees || (may_see(draft, b, h, i, j) && bias_of(draft, h, i, j) > -HUGE_VAL);
      auto const& row = answers[at++];
      if (!row) return;  // the machine tier answers no empty row
      RC_ASSERT((row->kind == row_kind::empty) == !sees);
      if (sees) return;
      RC_ASSERT(row->keys.empty());
      for (auto const& o : row->o) RC_ASSERT(o && o->mid.sign() == 0 && o->is_exact());
    });
  });
}

TEST_CASE("oracle: weights are e^(score − LSE), whatever the row's maximum", "[property]") {
  holds("LSE and weights", [](tier const& of, recipe const& r) {
    problem_draft const draft = make_problem(r);
    oracle_answer const answers = of.ask(draft);
    auto const instance = problem::make_instance(draft.arguments()).value();
    std::visit(
        [&]<class T>(problem::instance<T> const& p) {
          auto const rule = reference::score_rule::of(p);
          reference::scores_at<128> const scores(rule);
          for_finite_rows(answers, p.size(), [&](oracle_row const& row, auto b, auto h, auto i) {
            for (std::size_t n = 0; n < row.keys.size(); ++n) {
              auto x = reference::exact_dot(p.q().row(b, h, i), p.k().row(b, h / r.groups, row.keys[n]), p.size().d);
              x.bias = reference::bias_at(p, b, h, i, row.keys[n]);
              reference::classify(rule, x);
              oracle_ball const score = scores.product(x) + oracle_ball::from(x.bias);
              if (reference::certain_sign(score - row.lse) > 0) RC_FAIL("a score is above the LSE");
              RC_ASSERT(reference::overlap(reference::unnormalised_weight(score - row.lse), row.weights[n]));
            }
          });
        },
        instance);
  });
}

TEST_CASE("oracle: a constant added to every score moves the LSE by it and nothing else", "[property]") {
  holds("shift", [](tier const& of, recipe r) {
    r.bias = true;
    auto const shift = static_cast<double>(r.seed % 61) - 30;
    problem_draft draft = make_problem(r);
    transform(*draft.bias, [](double b, auto...) { return std::round(4 * b); });  // exact in every type, shifted too
    problem_draft shifted = draft;
    transform(*shifted.bias, [&](double b, auto...) { return b + shift; });
    require_agreeing(of.ask(draft), of.ask(shifted), shift);
  });
}

TEST_CASE("oracle: the order of keys does not matter", "[property]") {
  holds("permuted keys", [](tier const& of, recipe const& r) {
    problem_draft const draft = with_mask_alone(make_problem(r));
    auto order = audit::selection::all(sizes_of(draft));
    audit::random_stream random(r.seed, "order");
    for (std::size_t n = order.m.size(); n > 1; --n)
      std::swap(order.m[n - 1], order.m[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(n)))]);
    oracle_answer const in_order = of.ask(draft);
    oracle_answer permuted = of.ask(part_of(draft, order));
    for (auto& row : permuted) {  // back into the first one's order
      if (!row) continue;
      std::vector<std::pair<std::int64_t, oracle_ball>> back;
      for (std::size_t n = 0; n < row->keys.size(); ++n)
        back.emplace_back(order.m[static_cast<std::size_t>(row->keys[n])], row->weights[n]);
      std::ranges::sort(back, {}, [](auto const& weighted_key) { return weighted_key.first; });
      for (std::size_t n = 0; n < back.size(); ++n) row->keys[n] = back[n].first, row->weights[n] = back[n].second;
    }
    require_agreeing(in_order, permuted);
  });
}

TEST_CASE("oracle: parts of the keys, merged by their LSE, are the whole", "[property]") {
  holds("split and merge", [](tier const& of, recipe const& r) {
    problem_draft const draft = make_problem(r);
    problem::sizes const s = sizes_of(draft);
    auto first = audit::selection::all(s), second = first;
    auto const cut = static_cast<std::ptrdiff_t>(r.seed % static_cast<std::uint64_t>(s.m + 1));
    first.m.resize(static_cast<std::size_t>(cut));
    second.m.erase(second.m.begin(), second.m.begin() + cut);
    oracle_answer const whole = of.ask(draft), a = of.ask(part_of(draft, first)), b = of.ask(part_of(draft, second));
    for (std::size_t at = 0; at < whole.size(); ++at) {
      if (!whole[at] || !a[at] || !b[at]) continue;
      oracle_row const &all = *whole[at], &x = *a[at], &y = *b[at];
      RC_ASSERT((all.kind == row_kind::empty) == (x.kind == row_kind::empty && y.kind == row_kind::empty));
      if (x.kind != row_kind::finite || y.kind != row_kind::finite) {
        oracle_row const& rest = x.kind == row_kind::finite ? x : y;
        if (all.kind == row_kind::finite) RC_ASSERT(reference::overlap(all.lse, rest.lse));
        continue;
      }
      auto const share = [&](oracle_row const& part) { return reference::unnormalised_weight(part.lse - all.lse); };
      oracle_ball const p = share(x), q = share(y);
      RC_ASSERT(reference::overlap(p + q, oracle_ball(1)));
      for (std::size_t c = 0; c < all.o.size(); ++c)
        if (all.o[c] && x.o[c] && y.o[c]) RC_ASSERT(reference::overlap(*all.o[c], p * *x.o[c] + q * *y.o[c]));
    }
  });
}

TEST_CASE("oracle: a scale that is a power of two is the same in the scale and in Q", "[property]") {
  holds("scale folding", [](tier const& of, recipe r) {
    if (r.scores == score_regime::subnormal) r.scores = score_regime::gaussian;  // Q·σ must be exact
    problem_draft draft = make_problem(r);
    draft.scale = r.seed % 3 == 0 ? -0.5 : r.seed % 3 == 1 ? 0.25 : 2;
    transform(draft.q, [](double q, auto...) { return std::abs(q) < 0x1p-10 ? 0 : q; });
    problem_draft folded = draft;
    transform(folded.q, [&](double q, auto...) { return q * *draft.scale; });
    for (std::size_t n = 0; n < folded.q.spanned_elements(); ++n)
      RC_PRE(std::isfinite(audit::load(folded.q, n)) || r.gap > 0);
    folded.scale = 1;
    require_agreeing(of.ask(draft), of.ask(folded));
  });
}

TEST_CASE("oracle: the default scale is 1/√d, and a scale of 0 makes all scores the bias", "[property]") {
  holds("scale", [](tier const& of, recipe r) {
    r.d = r.seed % 2 ? 4 : 1;
    problem_draft draft = make_problem(r);
    draft.scale.reset();
    problem_draft twin = draft;
    twin.scale = r.d == 4 ? 0.5 : 1;
    require_agreeing(of.ask(draft), of.ask(twin));
    draft.scale = 0;
    twin = draft;
    transform(twin.q, [](auto...) { return 0.0; });
    twin.scale = 1;
    require_agreeing(of.ask(draft), of.ask(twin));
  });
}

TEST_CASE("oracle: grouped heads are expanded heads", "[property]") {
  holds("grouped heads", [](tier const& of, recipe r) {
    r.groups = r.hk = 2;
    if (r.seed % 2) r.scores = score_regime::gaussian;  // others give every head the same keys
    problem_draft const draft = make_problem(r);
    problem::sizes const s = sizes_of(draft);
    problem_draft expanded = draft;
    for (auto& [from, to] :
         {std::pair<owned_tensor const&, owned_tensor&>{draft.k, expanded.k}, {draft.v, expanded.v}}) {
      to = owned_tensor::compact(r.type, {s.b, s.hq, s.m, from.layout.shape[3]});
      audit::fill(to, [&](auto b, auto h, auto j, auto t) {
        return audit::load(from, audit::offset_of(from, b, h / r.groups, j, t));
      });
    }
    require_identical(of.ask(draft), of.ask(expanded));
  });
}

TEST_CASE("oracle: strides change nothing, and neither does a band written as a mask", "[property]") {
  holds("layout and band", [](tier const& of, recipe const& r) {
    problem_draft const draft = make_problem(r);
    oracle_answer const answers = of.ask(draft);
    problem_draft padded = draft;
    for (auto* t : {&padded.q, &padded.k, &padded.v}) detail::spread_rows(*t, 3);
    require_identical(answers, of.ask(padded));
    problem_draft inside = draft;  // [b, n, h, d] in memory
    for (auto* t : {&inside.q, &inside.k, &inside.v}) {
      owned_tensor tensor{t->type, t->layout, {}};
      auto const& n = tensor.layout.shape;
      tensor.layout.stride = {n[1] * n[2] * n[3], n[3], n[1] * n[3], 1};
      tensor.bytes.resize(tensor.spanned_elements() * problem::size_of(tensor.type));
      audit::fill(tensor, [&](auto... at) { return audit::load(*t, audit::offset_of(*t, at...)); });
      *t = tensor;
    }
    require_identical(answers, of.ask(inside));
    require_identical(answers, of.ask(with_mask_alone(draft)));
  });
}

}  // namespace
}  // namespace attest::tests::oracle_promises_test
