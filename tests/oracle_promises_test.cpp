// The lines of the audit's checks as properties of the oracle itself, for both tiers, every element type and, in the
// machine tier, every SIMD target. Twins are problems with the same exact answer: where nothing but layout or company
// differs, their enclosures have the same bits; where the arithmetic differs, they overlap, and tame ones are narrow,
// so that an overlap says something.
#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "audit/judge.hpp"
#include "audit/slice.hpp"
#include "reference/exp.hpp"
#include "reference/log.hpp"
#include "tests/oracle_tiers.hpp"
#include "tests/property.hpp"
#include "tests/random_recipe.hpp"

namespace attest::tests {
namespace {

using audit::stored_problem;
using audit::stored_tensor;
using problem::element_type;
using reference::answer;
using reference::row_kind;

oracle_ball ball_of_double(double x) { return oracle_ball::from(reference::value_of(x)); }

struct tier {
  char const* name;
  std::function<oracle_answer(stored_problem const&)> ask;
  std::int64_t width;  ///< tame enclosures are within 2^−width
};

std::vector<tier> const& tiers() {
  static std::vector<tier> const all{
      {"exact", exact_tier, 90},
      {"machine", [](stored_problem const& p) { return machine_tier(p); }, 30},
      {"machine in double words", [](stored_problem const& p) { return machine_tier(p, true); }, 60}};
  return all;
}

/// Few rows, for the exact tier is slow.
recipe small(recipe r) {
  r.b = 1 + r.b % 2, r.groups = 1 + r.groups % 2, r.hk = 1 + r.hk % 2;
  r.n = 1 + r.n % 2, r.m = 1 + r.m % 13, r.d = 1 + r.d % 6, r.dv = 1 + r.dv % 4;
  return r;
}

/// Scores that doubles keep many bits of.
bool is_tame(recipe const& r) { return r.scores != score_regime::huge && r.scores != score_regime::cancelling; }

/// check(tier, recipe) for every tier and element type.
template <class Check>
void holds(std::string const& says, Check&& check) {
  auto const targets = reference::machine::available_targets();
  for (auto const type : {element_type::f32, element_type::f64, element_type::bf16, element_type::f16})
    property(says + ", " + std::string(problem::name_of(type)), [&](recipe const& drawn) {
      recipe r = small(drawn);
      r.type = type;
      RC_LOG() << r << '\n';
      reference::machine::choose_target(targets[r.seed % targets.size()]);
      for (tier const& each : tiers()) {
        RC_LOG() << each.name << " tier\n";
        check(each, r);
      }
    });
  reference::machine::choose_target(0);
}

bool identical(oracle_ball const& a, oracle_ball const& b) {
  return a.mid == b.mid && a.exponent == b.exponent && a.radius.mantissa() == b.radius.mantissa() &&
         a.radius.exponent() == b.radius.exponent();
}
bool narrow(oracle_ball const& x, double size, std::int64_t bits) {
  return reference::upper_size(x - x) <= std::ldexp(size, static_cast<int>(-bits));
}
/// Is every element of x within 2^−bits of `at`?
bool is_near(oracle_ball const& x, double at, std::int64_t bits) {
  auto const off = reference::absolute(x - ball_of_double(at));
  return reference::at_most(off, oracle_ball(1).scaled_by_power_of_two(-bits)) == answer::yes;
}

/// The same kind, keys, weights, O and LSE, bit for bit.
void require_identical(oracle_answer const& a, oracle_answer const& b) {
  RC_ASSERT(a.size() == b.size());
  for (std::size_t row = 0; row < a.size(); ++row) {
    RC_ASSERT(a[row].has_value() == b[row].has_value());
    if (!a[row]) continue;
    oracle_row const &x = *a[row], &y = *b[row];
    RC_ASSERT(x.kind == y.kind);
    RC_ASSERT(x.keys == y.keys);
    for (std::size_t n = 0; n < x.weights.size(); ++n) RC_ASSERT(identical(x.weights[n], y.weights[n]));
    RC_ASSERT(x.o.size() == y.o.size());
    for (std::size_t c = 0; c < x.o.size(); ++c) {
      RC_ASSERT(x.o[c].has_value() == y.o[c].has_value());
      if (x.o[c]) RC_ASSERT(identical(*x.o[c], *y.o[c]));
    }
    RC_ASSERT(identical(x.lse, y.lse));
  }
}

/// May the answers be the same, b's LSE being a's plus `shift`? Rows that one tier leaves out are not compared.
void require_agreeing(oracle_answer const& a, oracle_answer const& b, double shift = 0) {
  RC_ASSERT(a.size() == b.size());
  for (std::size_t row = 0; row < a.size(); ++row) {
    if (!a[row] || !b[row]) continue;
    oracle_row const &x = *a[row], &y = *b[row];
    RC_ASSERT(x.kind == y.kind);
    RC_ASSERT(x.keys == y.keys);
    for (std::size_t n = 0; n < x.weights.size(); ++n) RC_ASSERT(reference::overlap(x.weights[n], y.weights[n]));
    for (std::size_t c = 0; c < x.o.size(); ++c)
      if (x.o[c] && y.o[c]) RC_ASSERT(reference::overlap(*x.o[c], *y.o[c]));
    if (x.kind == row_kind::finite) RC_ASSERT(reference::overlap(x.lse + ball_of_double(shift), y.lse));
  }
}

/// The finite rows that this tier answers: f(row, b, h, i).
template <class F>
void for_finite_rows(oracle_answer const& answers, problem::sizes const& s, F&& f) {
  std::size_t at = 0;
  for_each_row_of(s, [&](auto b, auto h, auto i) {
    auto const& row = answers[at++];
    if (row && row->kind == row_kind::finite) f(*row, b, h, i);
  });
}

/// By hand, not by the reference's own function: −left ≤ j − (i + diagonal) ≤ right, and the mask says 1.
bool may_see(stored_problem const& p, std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) {
  std::int64_t const at = j - (i + p.where.diagonal);
  if ((p.where.left >= 0 && at < -p.where.left) || (p.where.right >= 0 && at > p.where.right)) return false;
  if (!p.mask) return true;
  auto const& n = p.mask->where.shape;
  return p.mask->as<std::uint8_t>()[audit::offset_of(*p.mask, n[0] == 1 ? 0 : b, n[1] == 1 ? 0 : h, n[2] == 1 ? 0 : i, j)] != 0;
}

double bias_of(stored_problem const& p, std::int64_t h, std::int64_t i, std::int64_t j) {
  return p.bias ? audit::load(*p.bias, audit::offset_of(*p.bias, 0, h, i, j)) : 0;
}

/// Everything that p hides, as a mask.
stored_problem with_mask_alone(stored_problem p) {
  problem::sizes const s = audit::sizes_of(p);
  stored_problem made = p;
  audit::add_mask(made, s.b, s.hq, s.n, s.m, [&](auto... at) { return may_see(p, at...); });
  made.where = {};
  return made;
}

template <class F>
void transform(stored_tensor& t, F&& f) {
  stored_tensor const from = t;
  audit::fill(t, [&](auto b, auto h, auto i, auto j) { return f(audit::load(from, audit::offset_of(from, b, h, i, j)), b, h, i, j); });
}

TEST_CASE("oracle: weights are in [0, 1], of visible keys alone, and sum to 1; O is inside the hull of V", "[property]") {
  holds("weights and hull", [](tier const& of, recipe const& r) {
    stored_problem const asked = make_problem(r);
    problem::sizes const s = audit::sizes_of(asked);
    oracle_answer const answers = of.ask(asked);
    for_finite_rows(answers, s, [&](oracle_row const& row, auto b, auto h, auto i) {
      std::vector<std::int64_t> seen;
      for (std::int64_t j = 0; j < s.m; ++j)
        if (may_see(asked, b, h, i, j) && bias_of(asked, h, i, j) > -HUGE_VAL) seen.push_back(j);
      RC_ASSERT(row.keys == seen);
      oracle_ball sum;
      for (oracle_ball const& w : row.weights) {
        RC_ASSERT(reference::certain_sign(w) >= 0);
        RC_ASSERT(reference::at_most(w, oracle_ball(1)) != answer::no);
        if (is_tame(r)) RC_ASSERT(narrow(w, 1, of.width));
        sum = sum + w;
      }
      RC_ASSERT(reference::overlap(sum, oracle_ball(1)));
      for (std::size_t c = 0; c < row.o.size(); ++c) {
        if (!row.o[c]) continue;
        double low = HUGE_VAL, high = -HUGE_VAL;
        for (auto const j : row.keys) {
          double const v = audit::load(asked.v, audit::offset_of(asked.v, b, h / r.groups, j, static_cast<std::int64_t>(c)));
          low = std::min(low, v), high = std::max(high, v);
        }
        RC_ASSERT(reference::at_most(ball_of_double(low), *row.o[c]) != answer::no);
        RC_ASSERT(reference::at_most(*row.o[c], ball_of_double(high)) != answer::no);
        if (is_tame(r)) RC_ASSERT(narrow(*row.o[c], std::max({std::abs(low), std::abs(high), 0x1p-900}), of.width));
      }
    });
  });
}

TEST_CASE("oracle: a row without a visible key answers 0 and no weights, and no other row is empty", "[property]") {
  holds("empty rows", [](tier const& of, recipe r) {
    r.mask = mask_regime::random, r.left = 0, r.right = r.seed % 2 ? 0 : 2;
    stored_problem const asked = make_problem(r);
    problem::sizes const s = audit::sizes_of(asked);
    oracle_answer const answers = of.ask(asked);
    std::size_t at = 0;
    for_each_row_of(s, [&](auto b, auto h, auto i) {
      bool sees = false;
      for (std::int64_t j = 0; j < s.m; ++j) sees = sees || (may_see(asked, b, h, i, j) && bias_of(asked, h, i, j) > -HUGE_VAL);
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
    stored_problem const asked = make_problem(r);
    oracle_answer const answers = of.ask(asked);
    auto const instance = problem::make_instance(asked.arguments()).value();
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
    stored_problem asked = make_problem(r);
    transform(*asked.bias, [](double b, auto...) { return std::round(4 * b); });  // exact in every type, shifted too
    stored_problem shifted = asked;
    transform(*shifted.bias, [&](double b, auto...) { return b + shift; });
    require_agreeing(of.ask(asked), of.ask(shifted), shift);
  });
}

TEST_CASE("oracle: the order of keys does not matter", "[property]") {
  holds("permuted keys", [](tier const& of, recipe const& r) {
    stored_problem const asked = with_mask_alone(make_problem(r));
    auto order = audit::selection::all(audit::sizes_of(asked));
    audit::draw random(r.seed, "order");
    for (std::size_t n = order.m.size(); n > 1; --n)
      std::swap(order.m[n - 1], order.m[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(n)))]);
    oracle_answer const one = of.ask(asked);
    oracle_answer other = of.ask(*audit::sliced(asked, order));
    for (auto& row : other) {  // back into the first one's order
      if (!row) continue;
      std::vector<std::pair<std::int64_t, oracle_ball>> back;
      for (std::size_t n = 0; n < row->keys.size(); ++n)
        back.emplace_back(order.m[static_cast<std::size_t>(row->keys[n])], row->weights[n]);
      std::ranges::sort(back, {}, [](auto const& each) { return each.first; });
      for (std::size_t n = 0; n < back.size(); ++n) row->keys[n] = back[n].first, row->weights[n] = back[n].second;
    }
    require_agreeing(one, other);
  });
}

TEST_CASE("oracle: parts of the keys, merged by their LSE, are the whole", "[property]") {
  holds("split and merge", [](tier const& of, recipe const& r) {
    stored_problem const asked = make_problem(r);
    problem::sizes const s = audit::sizes_of(asked);
    auto first = audit::selection::all(s), second = first;
    auto const cut = static_cast<std::ptrdiff_t>(r.seed % static_cast<std::uint64_t>(s.m + 1));
    first.m.resize(static_cast<std::size_t>(cut));
    second.m.erase(second.m.begin(), second.m.begin() + cut);
    oracle_answer const whole = of.ask(asked), a = of.ask(*audit::sliced(asked, first)), b = of.ask(*audit::sliced(asked, second));
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
    stored_problem asked = make_problem(r);
    asked.scale = r.seed % 3 == 0 ? -0.5 : r.seed % 3 == 1 ? 0.25 : 2;
    transform(asked.q, [](double q, auto...) { return std::abs(q) < 0x1p-10 ? 0 : q; });
    stored_problem folded = asked;
    transform(folded.q, [&](double q, auto...) { return q * *asked.scale; });
    for (std::size_t n = 0; n < folded.q.spanned_elements(); ++n) RC_PRE(std::isfinite(audit::load(folded.q, n)) || r.gap > 0);
    folded.scale = 1;
    require_agreeing(of.ask(asked), of.ask(folded));
  });
}

TEST_CASE("oracle: the default scale is 1/√d, and a scale of 0 makes all scores the bias", "[property]") {
  holds("scale", [](tier const& of, recipe r) {
    r.d = r.seed % 2 ? 4 : 1;
    stored_problem asked = make_problem(r);
    asked.scale.reset();
    stored_problem twin = asked;
    twin.scale = r.d == 4 ? 0.5 : 1;
    require_agreeing(of.ask(asked), of.ask(twin));
    asked.scale = 0;
    twin = asked;
    transform(twin.q, [](auto...) { return 0.0; });
    twin.scale = 1;
    require_agreeing(of.ask(asked), of.ask(twin));
  });
}

TEST_CASE("oracle: grouped heads are expanded heads", "[property]") {
  holds("grouped heads", [](tier const& of, recipe r) {
    r.groups = r.hk = 2;
    if (r.seed % 2) r.scores = score_regime::gaussian;  // others give every head the same keys
    stored_problem const asked = make_problem(r);
    problem::sizes const s = audit::sizes_of(asked);
    stored_problem expanded = asked;
    for (auto& [from, to] : {std::pair<stored_tensor const&, stored_tensor&>{asked.k, expanded.k}, {asked.v, expanded.v}}) {
      to = stored_tensor::compact(r.type, {s.b, s.hq, s.m, from.where.shape[3]});
      audit::fill(to, [&](auto b, auto h, auto j, auto t) { return audit::load(from, audit::offset_of(from, b, h / r.groups, j, t)); });
    }
    require_identical(of.ask(asked), of.ask(expanded));
  });
}

TEST_CASE("oracle: strides change nothing, and neither does a band written as a mask", "[property]") {
  holds("layout and band", [](tier const& of, recipe const& r) {
    stored_problem const asked = make_problem(r);
    oracle_answer const answers = of.ask(asked);
    stored_problem padded = asked;
    for (auto* t : {&padded.q, &padded.k, &padded.v}) detail::spread_rows(*t, 3);
    require_identical(answers, of.ask(padded));
    stored_problem inside = asked;  // [b, n, h, d] in memory
    for (auto* t : {&inside.q, &inside.k, &inside.v}) {
      stored_tensor made{t->type, t->where, {}};
      auto const& n = made.where.shape;
      made.where.stride = {n[1] * n[2] * n[3], n[3], n[1] * n[3], 1};
      made.bytes.resize(made.spanned_elements() * problem::size_of(made.type));
      audit::fill(made, [&](auto... at) { return audit::load(*t, audit::offset_of(*t, at...)); });
      *t = made;
    }
    require_identical(answers, of.ask(inside));
    require_identical(answers, of.ask(with_mask_alone(asked)));
  });
}

TEST_CASE("oracle: what stands at invisible keys changes no bit", "[property]") {
  holds("poison", [](tier const& of, recipe r) {
    r.mask = r.seed % 2 ? mask_regime::random : mask_regime::padding;
    stored_problem const asked = make_problem(r);
    problem::sizes const s = audit::sizes_of(asked);
    oracle_answer const answers = of.ask(asked);
    for (double const what : {std::nan(""), HUGE_VAL, -HUGE_VAL, audit::limits_of(r.type).largest}) {
      stored_problem poisoned = asked;
      for (auto* t : {&poisoned.k, &poisoned.v})
        transform(*t, [&](double x, auto b, auto hk, auto j, auto) {
          for (std::int64_t h = hk * r.groups; h < (hk + 1) * r.groups; ++h)
            for (std::int64_t i = 0; i < s.n; ++i)
              if (may_see(asked, b, h, i, j)) return x;
          return what;
        });
      if (poisoned.bias)
        transform(*poisoned.bias, [&](double x, auto, auto h, auto i, auto j) {
          for (std::int64_t b = 0; b < s.b; ++b)
            if (may_see(asked, b, h, i, j)) return x;
          return what;
        });
      require_identical(answers, of.ask(poisoned));
    }
  });
}

TEST_CASE("oracle: a visible NaN reaches every output of its row, and no other row", "[property]") {
  holds("visible NaN", [](tier const& of, recipe r) {
    r.m = std::max<std::int64_t>(r.m, 2);
    stored_problem const asked = make_problem(r);
    problem::sizes const s = audit::sizes_of(asked);
    auto const j = static_cast<std::int64_t>(r.seed % static_cast<std::uint64_t>(s.m));
    stored_problem spoiled = asked;
    audit::store(spoiled.k, audit::offset_of(spoiled.k, 0, 0, j, 0), std::nan(""));
    oracle_answer const clean = of.ask(asked), answers = of.ask(spoiled);
    std::size_t at = 0;
    for_each_row_of(s, [&](auto b, auto h, auto i) {
      bool const reached = b == 0 && h < r.groups && may_see(asked, b, h, i, j);
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
    stored_problem const asked = make_problem(r);
    for_finite_rows(of.ask(asked), audit::sizes_of(asked), [&](oracle_row const& row, auto...) {
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
    stored_problem asked = make_problem(r);
    transform(asked.q, [](auto...) { return 0.0; });
    asked.v = stored_tensor::compact(r.type, {r.b, r.hk, r.m, 4});
    audit::fill(asked.v, [](auto, auto, auto j, auto c) { return j / 4 == c ? std::ldexp(1, static_cast<int>(j % 4)) : 0.0; });
    problem::sizes const s = audit::sizes_of(asked);
    for_finite_rows(of.ask(asked), s, [&](oracle_row const& row, auto b, auto h, auto i) {
      oracle_ball const count(static_cast<std::int64_t>(row.keys.size()));
      for (auto const& w : row.weights) RC_ASSERT(reference::overlap(w * count, oracle_ball(1)));
      for (std::int64_t c = 0; c < 4; ++c) {
        std::int64_t digits = 0;
        for (std::int64_t j = 4 * c; j < std::min(s.m, 4 * c + 4); ++j)
          if (may_see(asked, b, h, i, j)) digits += std::int64_t{1} << (j % 4);
        RC_ASSERT(reference::overlap(*row.o[static_cast<std::size_t>(c)] * count, oracle_ball(digits)));
      }
    });
  });
}

TEST_CASE("oracle: a key whose score rises weighs more, the others less, and the LSE rises", "[property]") {
  holds("monotone in a score", [](tier const& of, recipe r) {
    r.bias = true;
    stored_problem asked = make_problem(r);
    transform(*asked.bias, [](double b, auto...) { return std::round(4 * b); });
    auto const j = static_cast<std::int64_t>(r.seed % static_cast<std::uint64_t>(r.m));
    stored_problem raised = asked;
    transform(*raised.bias, [&](double b, auto, auto, auto, auto at) { return at == j ? b + 1 : b; });
    oracle_answer const before = of.ask(asked), after = of.ask(raised);
    for (std::size_t at = 0; at < before.size(); ++at) {
      if (!before[at] || !after[at] || before[at]->kind != row_kind::finite) continue;
      oracle_row const &x = *before[at], &y = *after[at];
      RC_ASSERT(x.keys == y.keys);
      bool const seen = std::ranges::binary_search(x.keys, j);
      RC_ASSERT(reference::at_most(x.lse, y.lse) != answer::no);
      for (std::size_t n = 0; n < x.keys.size(); ++n) {
        if (!seen) RC_ASSERT(reference::overlap(x.weights[n], y.weights[n]));
        else if (x.keys[n] == j) RC_ASSERT(reference::at_most(x.weights[n], y.weights[n]) != answer::no);
        else RC_ASSERT(reference::at_most(y.weights[n], x.weights[n]) != answer::no);
        // A weight in the middle of [0, 1] moves by more than any enclosure is wide.
        bool const middling = reference::at_most(ball_of_double(0x1p-10), x.weights[n]) == answer::yes &&
                              reference::at_most(x.weights[n], ball_of_double(1 - 0x1p-10)) == answer::yes;
        if (seen && x.keys[n] == j && middling && is_tame(r))
          RC_ASSERT(reference::at_most(x.weights[n], y.weights[n]) == answer::yes);
      }
    }
  });
}

TEST_CASE("oracle: scores to 1e30 have finite answers; a far key has no weight, equal ones share", "[property]") {
  holds("large scores", [](tier const& of, recipe r) {
    r.scores = score_regime::one_dominant, r.bias = false, r.softcap = 0, r.scale = 1, r.mask = mask_regime::none;
    r.diagonal = 0, r.left = r.right = -1, r.m = std::max<std::int64_t>(r.m, 2);
    double const far = r.type == element_type::f16 ? 6e4 : 1e30;
    stored_problem asked = make_problem(r);
    transform(asked.k, [&](double k, auto...) { return k > 0 ? far : k; });  // the dominant key, at m/2
    for_finite_rows(of.ask(asked), audit::sizes_of(asked), [&](oracle_row const& row, auto...) {
      for (std::size_t n = 0; n < row.keys.size(); ++n) {
        bool const dominant = row.keys[n] == r.m / 2;
        RC_ASSERT(is_near(row.weights[n], dominant ? 1 : 0, of.width));
      }
    });
    transform(asked.k, [&](double, auto, auto, auto, auto t) { return t == 0 ? far : 0.0; });
    for_finite_rows(of.ask(asked), audit::sizes_of(asked), [&](oracle_row const& row, auto...) {
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
    stored_problem asked = make_problem(r);
    asked.softcap = r.seed % 2 ? 2 : 0.5;
    oracle_ball const cap = ball_of_double(asked.softcap);
    problem::sizes const s = audit::sizes_of(asked);
    oracle_ball const most = cap + reference::log(oracle_ball(2)), least = reference::log(oracle_ball(2)) - cap;
    for_finite_rows(of.ask(asked), s, [&](oracle_row const& row, auto...) {
      RC_ASSERT(reference::at_most(least, row.lse) != answer::no);
      RC_ASSERT(reference::at_most(row.lse, most) != answer::no);
    });
    // Scores of ±large: the weights are those of ±c. The default scale is irrational at d = 5: nothing about it is exact.
    double const large = r.type == element_type::f16 ? 200 : r.type == element_type::f64 ? 1e150 : 1e15;
    asked = make_problem([&] { recipe flat = r; flat.d = 5, flat.scale = 0; return flat; }());
    asked.softcap = 2;
    transform(asked.q, [&](auto...) { return large; });
    transform(asked.k, [&](double, auto, auto, auto j, auto) { return j == 0 ? large : -large; });
    oracle_ball const tail = reference::exp(oracle_ball(-4));
    for_finite_rows(of.ask(asked), s, [&](oracle_row const& row, auto...) {
      RC_ASSERT(reference::overlap(row.weights[1], tail / (oracle_ball(1) + tail)));
      RC_ASSERT(narrow(row.weights[1], 1, of.width));
    });
    // Far below the cap it changes a score by less than |x|³/(3c²).
    asked = make_problem([&] { recipe near = r; near.scores = score_regime::rising; return near; }());
    stored_problem plain = asked;
    asked.softcap = 0x1p100, plain.softcap = 0;
    require_agreeing(of.ask(asked), of.ask(plain));
  });
}

/// The judge's verdict on an answer that gives all weight to one key.
audit::judgement judged_at_one_key(stored_problem const& asked, std::int64_t key) {
  problem::sizes const s = audit::sizes_of(asked);
  audit::recorded_answer given;
  given.weights = stored_tensor::compact(asked.q.type, {s.b, s.hq, s.n, s.m});
  audit::fill(*given.weights, [&](auto, auto, auto, auto j) { return j == key ? 1.0 : 0.0; });
  return audit::judge(problem::make_instance(asked.arguments()).value(), given, *audit::find_contract("f64"));
}

TEST_CASE("oracle: the judge decides rows under a softcap, however large scores, biases and the cap are", "[property]") {
  // σ = 1/√5 is irrational and q·k = 2^1000: of a score of 128 bits nothing is known, and its tanh is 1.
  stored_problem flat = audit::blank({1, 1, 1, 1, 11, 5, 1}, element_type::f64);
  audit::fill(flat.q, [](auto...) { return 0x1p500; });
  audit::fill(flat.k, [](auto, auto, auto j, auto) { return std::ldexp(1.0 + static_cast<double>(j), 500); });
  audit::add_bias(flat, 1, 1, 1, 11, [](auto, auto, auto, auto j) { return -static_cast<double>(j) / 8; });
  flat.softcap = 0.125;
  // 2^1020·tanh(2^664/2^1020) − 2^664 is about −2^−50/3: 512 bits see it as 0 ± 2^150.
  stored_problem cancelling = audit::blank({1, 1, 1, 1, 2, 1, 1}, element_type::f64);
  audit::fill(cancelling.q, [](auto...) { return 0x1p332; });
  audit::fill(cancelling.k, [](auto, auto, auto j, auto) { return j == 0 ? 0x1p332 : 0.0; });
  audit::add_bias(cancelling, 1, 1, 1, 2, [](auto, auto, auto, auto j) { return j == 0 ? -0x1p664 : 0.0; });
  cancelling.scale = 1, cancelling.softcap = 0x1p1020;
  for (auto const* asked : {&flat, &cancelling})
    for (std::int64_t key = 0; key < audit::sizes_of(*asked).m; ++key) {
      INFO((asked == &flat ? "flat" : "cancelling") << ", key " << key);
      auto const found = judged_at_one_key(*asked, key);
      CHECK(found.undecided == 0);
      CHECK(found.failed == 0);  // such scores overflow every bound: only [0, 1] is claimed
      CHECK(found.by_dominance + found.by_theorem > 0);
    }
}

TEST_CASE("oracle: V moved and scaled moves and scales O", "[property]") {
  holds("linear in V", [](tier const& of, recipe r) {
    r.values = r.seed % 2 ? value_regime::alternating : value_regime::one_hot;
    stored_problem const asked = make_problem(r);
    stored_problem moved = asked;
    transform(moved.v, [](double v, auto...) { return 2 * v + 96; });  // 94 … 98: exact in every type
    oracle_answer const one = of.ask(asked), other = of.ask(moved);
    for (std::size_t at = 0; at < one.size(); ++at) {
      if (!one[at] || !other[at] || one[at]->kind != row_kind::finite) continue;
      for (std::size_t c = 0; c < one[at]->o.size(); ++c)
        RC_ASSERT(reference::overlap(one[at]->o[c]->scaled_by_power_of_two(1) + oracle_ball(96), *other[at]->o[c]));
    }
    stored_problem flat = asked;
    transform(flat.v, [](auto...) { return 96.0; });
    for_finite_rows(of.ask(flat), audit::sizes_of(flat), [&](oracle_row const& row, auto...) {
      for (auto const& o : row.o) RC_ASSERT(reference::overlap(*o, oracle_ball(96)) && narrow(*o, 96, is_tame(r) ? of.width : 0));
    });
  });
}

TEST_CASE("oracle: one key answers its value and its score", "[property]") {
  holds("one key", [](tier const& of, recipe r) {
    r.m = 1, r.mask = mask_regime::none, r.left = r.right = -1, r.bias_minus_infinity = false;
    stored_problem const asked = make_problem(r);
    for_finite_rows(of.ask(asked), audit::sizes_of(asked), [&](oracle_row const& row, auto b, auto h, auto) {
      RC_ASSERT(reference::overlap(row.weights[0], oracle_ball(1)));
      if (is_tame(r)) RC_ASSERT(is_near(row.weights[0], 1, of.width));
      for (std::size_t c = 0; c < row.o.size(); ++c) {
        double const v = audit::load(asked.v, audit::offset_of(asked.v, b, h / r.groups, 0, static_cast<std::int64_t>(c)));
        if (row.o[c]) RC_ASSERT(reference::overlap(*row.o[c], ball_of_double(v)));
      }
    });
  });
}

TEST_CASE("oracle: a row does not depend on its company, nor on what was asked before", "[property]") {
  holds("company", [](tier const& of, recipe const& r) {
    stored_problem const asked = make_problem(r);
    problem::sizes const s = audit::sizes_of(asked);
    oracle_answer const all = of.ask(asked);
    auto alone = audit::selection::all(s);
    std::int64_t const b = s.b - 1, hk = s.hk - 1, i = s.n - 1;
    alone.b = {b}, alone.hk = {hk}, alone.n = {i}, alone.query_head = 0;
    auto const at = static_cast<std::size_t>((b * s.hq + hk * r.groups) * s.n + i);
    require_identical({all[at]}, of.ask(*audit::sliced(asked, alone)));
    require_identical(all, of.ask(asked));
  });
}

TEST_CASE("oracle: the same numbers in a wider type have the same answer", "[property]") {
  holds("element types", [](tier const& of, recipe r) {
    if (r.type == element_type::f64) r.type = element_type::f32;
    stored_problem const asked = make_problem(r);
    stored_problem wide = asked;
    auto const widen = [](stored_tensor& t) {
      stored_tensor made{element_type::f64, t.where, {}};
      made.bytes.resize(made.spanned_elements() * 8);
      audit::fill(made, [&](auto... at) { return audit::load(t, audit::offset_of(t, at...)); });
      t = made;
    };
    widen(wide.q), widen(wide.k), widen(wide.v);
    if (wide.bias) widen(*wide.bias);
    require_agreeing(of.ask(asked), of.ask(wide));
  });
}

}  // namespace
}  // namespace attest::tests
