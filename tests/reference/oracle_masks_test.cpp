// The same, continued: invisible and visible poison, probes through V, large scores, softcap, company.
#include <algorithm>
#include <cmath>
#include <string>

#include "audit/judge/judge_outputs.hpp"
#include "reference/real/exp.hpp"
#include "reference/real/log.hpp"
#include "tests/support/oracle_twins.hpp"

namespace attest::tests::oracle_masks_test {
namespace {

TEST_CASE("oracle: what stands at invisible keys changes no bit", "[property]") {
  holds("poison", [](tier const& of, recipe r) {
    r.mask = r.seed % 2 ? mask_regime::random : mask_regime::padding;
    problem_draft const draft = make_problem(r);
    problem::sizes const s = sizes_of(draft);
    oracle_answer const answers = of.ask(draft);
    for (double const poison : {std::nan(""), HUGE_VAL, -HUGE_VAL, audit::limits_of(r.type).largest}) {
      problem_draft poisoned = draft;
      for (auto* t : {&poisoned.k, &poisoned.v})
        transform(*t, [&](double x, auto b, auto hk, auto j, auto) {
          for (std::int64_t h = hk * r.groups; h < (hk + 1) * r.groups; ++h)
            for (std::int64_t i = 0; i < s.n; ++i)
              if (may_see(draft, b, h, i, j)) return x;
          return poison;
        });
      if (poisoned.bias)
        transform(*poisoned.bias, [&](double x, auto, auto h, auto i, auto j) {
          for (std::int64_t b = 0; b < s.b; ++b)
            if (may_see(draft, b, h, i, j)) return x;
          return poison;
        });
      require_identical(answers, of.ask(poisoned));
    }
  });
}

TEST_CASE("oracle: a visible NaN reaches every output of its row, and no other row", "[property]") {
  holds("visible NaN", [](tier const& of, recipe r) {
    r.m = std::max<std::int64_t>(r.m, 2);
    problem_draft const draft = make_problem(r);
    problem::sizes const s = sizes_of(draft);
    auto const j = static_cast<std::int64_t>(r.seed % static_cast<std::uint64_t>(s.m));
    problem_draft spoiled = draft;
    audit::store(spoiled.k, audit::offset_of(spoiled.k, 0, 0, j, 0), std::nan(""));
    oracle_answer const clean = of.ask(draft), answers = of.ask(spoiled);
    std::size_t at = 0;
    for_each_row_of(s, [&](auto b, auto h, auto i) {
      bool const reached = b == 0 && h < r.groups && may_see(draft, b, h, i, j);
      auto const& row = answers[at];
      if (reached) {
        RC_ASSERT(!row || row->kind == row_kind::nan);
        if (row)
          for (auto const& o : row->o) RC_ASSERT(!o);
      } else {
        require_identical({clean[at]}, {row});
      }
      ++at;
    });
  });
}

TEST_CASE("oracle: with V = columns of the identity, O is the weights", "[property]") {
  holds("weights through V", [](tier const& of, recipe r) {
    r.values = value_regime::one_hot, r.dv = r.m;
    problem_draft const draft = make_problem(r);
    for_finite_rows(of.ask(draft), sizes_of(draft), [&](oracle_row const& row, auto...) {
      std::size_t n = 0;
      for (std::size_t c = 0; c < row.o.size(); ++c) {
        bool const weighs = n < row.keys.size() && row.keys[n] == static_cast<std::int64_t>(c);
        RC_ASSERT(row.o[c].has_value());
        RC_ASSERT(reference::overlap(*row.o[c], weighs ? row.weights[n] : oracle_ball()));
        n += weighs;
      }
    });
  });
}

TEST_CASE("oracle: with Q = 0 every visible key weighs 1/N, and coded values tell which they are", "[property]") {
  holds("visibility probe", [](tier const& of, recipe r) {
    r.bias = false;
    problem_draft draft = make_problem(r);
    transform(draft.q, [](auto...) { return 0.0; });
    draft.v = owned_tensor::compact(r.type, {r.b, r.hk, r.m, 4});
    audit::fill(draft.v,
                [](auto, auto, auto j, auto c) { return j / 4 == c ? std::ldexp(1, static_cast<int>(j % 4)) : 0.0; });
    problem::sizes const s = sizes_of(draft);
    for_finite_rows(of.ask(draft), s, [&](oracle_row const& row, auto b, auto h, auto i) {
      oracle_ball const count(static_cast<std::int64_t>(row.keys.size()));
      for (auto const& w : row.weights) RC_ASSERT(reference::overlap(w * count, oracle_ball(1)));
      for (std::int64_t c = 0; c < 4; ++c) {
        std::int64_t digits = 0;
        for (std::int64_t j = 4 * c; j < std::min(s.m, 4 * c + 4); ++j)
          if (may_see(draft, b, h, i, j)) digits += std::int64_t{1} << (j % 4);
        RC_ASSERT(reference::overlap(*row.o[static_cast<std::size_t>(c)] * count, oracle_ball(digits)));
      }
    });
  });
}

TEST_CASE("oracle: a key whose score rises weighs more, the others less, and the LSE rises", "[property]") {
  holds("monotone in a score", [](tier const& of, recipe r) {
    r.bias = true;
    problem_draft draft = make_problem(r);
    transform(*draft.bias, [](double b, auto...) { return std::round(4 * b); });
    auto const j = static_cast<std::int64_t>(r.seed % static_cast<std::uint64_t>(r.m));
    problem_draft raised = draft;
    transform(*raised.bias, [&](double b, auto, auto, auto, auto at) { return at == j ? b + 1 : b; });
    oracle_answer const before = of.ask(draft), after = of.ask(raised);
    for (std::size_t at = 0; at < before.size(); ++at) {
      if (!before[at] || !after[at] || before[at]->kind != row_kind::finite) continue;
      oracle_row const &x = *before[at], &y = *after[at];
      RC_ASSERT(x.keys == y.keys);
      bool const seen = std::ranges::binary_search(x.keys, j);
      RC_ASSERT(reference::at_most(x.lse, y.lse) != decision::no);
      for (std::size_t n = 0; n < x.keys.size(); ++n) {
        if (!seen) RC_ASSERT(reference::overlap(x.weights[n], y.weights[n]));
        else if (x.keys[n] == j) RC_ASSERT(reference::at_most(x.weights[n], y.weights[n]) != decision::no);
        else RC_ASSERT(reference::at_most(y.weights[n], x.weights[n]) != decision::no);
        // A weight in the middle of [0, 1] moves by more than any enclosure is wide.
        bool const middling = reference::at_most(ball_of_double(0x1p-10), x.weights[n]) == decision::yes &&
                              reference::at_most(x.weights[n], ball_of_double(1 - 0x1p-10)) == decision::yes;
        if (seen && x.keys[n] == j && middling && is_tame(r))
          RC_ASSERT(reference::at_most(x.weights[n], y.weights[n]) == decision::yes);
      }
    }
  });
}

TEST_CASE("oracle: scores to 1e30 have finite answers; a far key has no weight, equal ones share", "[property]") {
  holds("large scores", [](tier const& of, recipe r) {
    r.scores = score_regime::one_dominant, r.bias = false, r.softcap = 0, r.scale = 1, r.mask = mask_regime::none;
    r.diagonal = 0, r.left = r.right = -1, r.m = std::max<std::int64_t>(r.m, 2);
    double const far = r.type == element_type::f16 ? 6e4 : 1e30;
    problem_draft draft = make_problem(r);
    transform(draft.k, [&](double k, auto...) { return k > 0 ? far : k; });  // the dominant key, at m/2
    for_finite_rows(of.ask(draft), sizes_of(draft), [&](oracle_row const& row, auto...) {
      for (std::size_t n = 0; n < row.keys.size(); ++n) {
        bool const dominant = row.keys[n] == r.m / 2;
        RC_ASSERT(is_near(row.weights[n], dominant ? 1 : 0, of.width));
      }
    });
    transform(draft.k, [&](double, auto, auto, auto, auto t) { return t == 0 ? far : 0.0; });
    for_finite_rows(of.ask(draft), sizes_of(draft), [&](oracle_row const& row, auto...) {
      for (auto const& w : row.weights) {
        RC_ASSERT(reference::overlap(w * oracle_ball(r.m), oracle_ball(1)));
        RC_ASSERT(narrow(w, 1, of.width));
      }
    });
  });
}

TEST_CASE("oracle: a softcap bounds every score, flattens large ones to its ends and leaves small ones", "[property]") {
  holds("softcap limits", [](tier const& of, recipe r) {
    r.m = 2, r.n = 1, r.mask = mask_regime::none, r.left = r.right = -1, r.bias = false;
    problem_draft draft = make_problem(r);
    draft.softcap = r.seed % 2 ? 2 : 0.5;
    oracle_ball const cap = ball_of_double(draft.softcap);
    problem::sizes const s = sizes_of(draft);
    oracle_ball const most = cap + reference::log(oracle_ball(2)), least = reference::log(oracle_ball(2)) - cap;
    for_finite_rows(of.ask(draft), s, [&](oracle_row const& row, auto...) {
      RC_ASSERT(reference::at_most(least, row.lse) != decision::no);
      RC_ASSERT(reference::at_most(row.lse, most) != decision::no);
    });
    // Scores of ±large: the weights are the same as for ±c. The default scale is irrational at d = 5: nothing about it
    // is exact.
    double const large = r.type == element_type::f16 ? 200 : r.type == element_type::f64 ? 1e150 : 1e15;
    draft = make_problem([&] {
      recipe flat = r;
      flat.d = 5, flat.scale = 0;
      return flat;
    }());
    draft.softcap = 2;
    transform(draft.q, [&](auto...) { return large; });
    transform(draft.k, [&](double, auto, auto, auto j, auto) { return j == 0 ? large : -large; });
    oracle_ball const tail = reference::exp(oracle_ball(-4));
    for_finite_rows(of.ask(draft), s, [&](oracle_row const& row, auto...) {
      RC_ASSERT(reference::overlap(row.weights[1], tail / (oracle_ball(1) + tail)));
      RC_ASSERT(narrow(row.weights[1], 1, of.width));
    });
    // Far below the cap it changes a score by less than |x|³/(3c²).
    draft = make_problem([&] {
      recipe near = r;
      near.scores = score_regime::rising;
      return near;
    }());
    problem_draft plain = draft;
    draft.softcap = 0x1p100, plain.softcap = 0;
    require_agreeing(of.ask(draft), of.ask(plain));
  });
}

/// The judge's verdict on an answer that gives all weight to one key.
audit::judgement judged_at_one_key(problem_draft const& draft, std::int64_t key) {
  problem::sizes const s = sizes_of(draft);
  audit::owned_outputs outputs;
  outputs.weights = owned_tensor::compact(draft.q.type, {s.b, s.hq, s.n, s.m});
  audit::fill(*outputs.weights, [&](auto, auto, auto, auto j) { return j == key ? 1.0 : 0.0; });
  audit::contract stable = *audit::find_contract("f64");
  stable.fixed.large_scores = problem::large_scores::stable;  // f64 itself says nothing of such scores
  return audit::judge(problem::make_instance(draft.arguments()).value(), outputs, stable);
}

TEST_CASE("oracle: the judge decides rows under a softcap, however large scores, biases and the cap are",
          "[property]") {
  // σ = 1/√5 is irrational and q·k = 2^1000: of a score of 128 bits nothing is known, and its tanh is 1.
  problem_draft flat = audit::blank({1, 1, 1, 1, 11, 5, 1}, element_type::f64);
  audit::fill(flat.q, [](auto...) { return 0x1p500; });
  audit::fill(flat.k, [](auto, auto, auto j, auto) { return std::ldexp(1.0 + static_cast<double>(j), 500); });
  audit::add_bias(flat, 1, 1, 1, 11, [](auto, auto, auto, auto j) { return -static_cast<double>(j) / 8; });
  flat.softcap = 0.125;
  // 2^1020·tanh(2^664/2^1020) − 2^664 is about −2^−50/3: 512 bits see it as 0 ± 2^150.
  problem_draft cancelling = audit::blank({1, 1, 1, 1, 2, 1, 1}, element_type::f64);
  audit::fill(cancelling.q, [](auto...) { return 0x1p332; });
  audit::fill(cancelling.k, [](auto, auto, auto j, auto) { return j == 0 ? 0x1p332 : 0.0; });
  audit::add_bias(cancelling, 1, 1, 1, 2, [](auto, auto, auto, auto j) { return j == 0 ? -0x1p664 : 0.0; });
  cancelling.scale = 1, cancelling.softcap = 0x1p1020;
  for (auto const* draft : {&flat, &cancelling})
    for (std::int64_t key = 0; key < sizes_of(*draft).m; ++key) {
      INFO((draft == &flat ? "flat" : "cancelling") << ", key " << key);
      auto const found = judged_at_one_key(*draft, key);
      CHECK(found.undecided == 0);
      CHECK(found.failed == 0);  // such scores overflow every bound: only [0, 1] is claimed
      CHECK(found.by_dominance + found.by_theorem > 0);
    }
}

TEST_CASE("oracle: V moved and scaled moves and scales O", "[property]") {
  holds("linear in V", [](tier const& of, recipe r) {
    r.values = r.seed % 2 ? value_regime::alternating : value_regime::one_hot;
    problem_draft const draft = make_problem(r);
    problem_draft moved = draft;
    transform(moved.v, [](double v, auto...) { return 2 * v + 96; });  // 94 … 98: exact in every type
    oracle_answer const original = of.ask(draft), scaled = of.ask(moved);
    for (std::size_t at = 0; at < original.size(); ++at) {
      if (!original[at] || !scaled[at] || original[at]->kind != row_kind::finite) continue;
      for (std::size_t c = 0; c < original[at]->o.size(); ++c)
        RC_ASSERT(
            reference::overlap(original[at]->o[c]->scaled_by_power_of_two(1) + oracle_ball(96), *scaled[at]->o[c]));
    }
    problem_draft flat = draft;
    transform(flat.v, [](auto...) { return 96.0; });
    for_finite_rows(of.ask(flat), sizes_of(flat), [&](oracle_row const& row, auto...) {
      for (auto const& o : row.o)
        RC_ASSERT(reference::overlap(*o, oracle_ball(96)) && narrow(*o, 96, is_tame(r) ? of.width : 0));
    });
  });
}

TEST_CASE("oracle: one key answers its value and its score", "[property]") {
  holds("one key", [](tier const& of, recipe r) {
    r.m = 1, r.mask = mask_regime::none, r.left = r.right = -1, r.bias_minus_infinity = false;
    problem_draft const draft = make_problem(r);
    for_finite_rows(of.ask(draft), sizes_of(draft), [&](oracle_row const& row, auto b, auto h, auto) {
      RC_ASSERT(reference::overlap(row.weights[0], oracle_ball(1)));
      if (is_tame(r)) RC_ASSERT(is_near(row.weights[0], 1, of.width));
      for (std::size_t c = 0; c < row.o.size(); ++c) {
        double const v =
            audit::load(draft.v, audit::offset_of(draft.v, b, h / r.groups, 0, static_cast<std::int64_t>(c)));
        if (row.o[c]) RC_ASSERT(reference::overlap(*row.o[c], ball_of_double(v)));
      }
    });
  });
}

TEST_CASE("oracle: a row does not depend on its company, nor on what was asked before", "[property]") {
  holds("company", [](tier const& of, recipe const& r) {
    problem_draft const draft = make_problem(r);
    problem::sizes const s = sizes_of(draft);
    oracle_answer const all = of.ask(draft);
    auto alone = audit::selection::all(s);
    std::int64_t const b = s.b - 1, hk = s.hk - 1, i = s.n - 1;
    alone.b = {b}, alone.hk = {hk}, alone.n = {i}, alone.query_head = 0;
    auto const at = static_cast<std::size_t>((b * s.hq + hk * r.groups) * s.n + i);
    require_identical({all[at]}, of.ask(part_of(draft, alone)));
    require_identical(all, of.ask(draft));
  });
}

TEST_CASE("oracle: the same numbers in a wider type have the same answer", "[property]") {
  holds("element types", [](tier const& of, recipe r) {
    if (r.type == element_type::f64) r.type = element_type::f32;
    problem_draft const draft = make_problem(r);
    problem_draft wide = draft;
    auto const widen = [](owned_tensor& t) {
      owned_tensor tensor{element_type::f64, t.layout, {}};
      tensor.bytes.resize(tensor.spanned_elements() * 8);
      audit::fill(tensor, [&](auto... at) { return audit::load(t, audit::offset_of(t, at...)); });
      t = tensor;
    };
    widen(wide.q), widen(wide.k), widen(wide.v);
    if (wide.bias) widen(*wide.bias);
    require_agreeing(of.ask(draft), of.ask(wide));
  });
}

}  // namespace
}  // namespace attest::tests::oracle_masks_test
