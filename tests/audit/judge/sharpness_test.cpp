// How much bounds say: dull elements, quartiles of bound/|exact|, and outputs compared with sharper presets.
#include <cmath>
#include <limits>
#include <random>

#include "audit/contract/preset_family.hpp"
#include "audit/judge/exact_row_judge.hpp"
#include "audit/judge/judge_outputs.hpp"
#include "audit/report/text.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/problem_draft.hpp"
#include "reference/machine/rows.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/one_check.hpp"

namespace attest::audit {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

bool has(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

/// One head of Gaussian q, k and v.
problem_draft gaussian(std::int64_t n, std::int64_t m, std::int64_t d, std::int64_t dv,
                       problem::element_type type = problem::element_type::f32) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  auto const draw = [&](auto...) { return normal(random); };
  problem_draft draft;
  draft.q = owned_tensor::compact(type, {1, 1, n, d}), draft.k = owned_tensor::compact(type, {1, 1, m, d});
  draft.v = owned_tensor::compact(type, {1, 1, m, dv});
  fill(draft.q, draw), fill(draft.k, draw), fill(draft.v, draw);
  return draft;
}

/// moved(o, its bound under the claim) for every output of the problem, rounded to its type.
template <class T, class Moved>
owned_outputs answer(problem_draft const& draft, contract const& claim, Moved&& moved) {
  auto const any = problem::make_instance(draft.arguments()).value();
  auto const& p = std::get<problem::instance<T>>(any);
  owned_outputs outputs;
  problem::sizes const& s = p.size();
  outputs.o = owned_tensor::compact(draft.q.type, {1, 1, s.n, s.dv});
  auto rows = reference::machine::row_source<T>::make(p, claim.fixed).value();
  rows.each(0, 0, 0, s.n, [&](reference::machine::certified_row const& row) {
    REQUIRE_FALSE(row.handed_over);
    for (std::size_t c = 0; c < row.o.size(); ++c)
      store(*outputs.o, static_cast<std::size_t>(row.i * s.dv) + c, moved(row.o[c], row.o_bound[c]));
  });
  return outputs;
}

judgement judged(problem_draft const& draft, owned_outputs const& outputs, char const* preset) {
  return judge(problem::make_instance(draft.arguments()).value(), outputs, *find_contract(preset));
}

TEST_CASE("a quartile is the least power of two that a quarter of the ratios does not exceed", "[unit]") {
  sharpness of;
  CHECK_FALSE(of.quartile(2).has_value());
  for (double const bound : {0.3, 0.3, 3.0, 5.0}) of.add(bound, -1, false);  // 2⁻², 2⁻², 2¹, 2² by ilogb
  CHECK(of.quartile(1) == 0.5);
  CHECK(of.quartile(2) == 0.5);
  CHECK(of.quartile(3) == 4.0);
  sharpness exact_power;
  exact_power.add(2, 1, false);
  CHECK(exact_power.quartile(2) >= 2.0);
  sharpness ends;  // a bound of 0 is in the first place; a ratio to 0 and a huge ratio in the last
  ends.add(0, 1, false), ends.add(1, 0, false), ends.add(1e300, 1e-300, false);
  CHECK(ends.ratios.front() == 1);
  CHECK(ends.ratios.back() == 2);
}

TEST_CASE("an output is dull where each of its elements is, and there is one", "[unit]") {
  sharpness_table table{};
  CHECK_FALSE(only_dull(table, output_kind::o));
  table[0][0].add(1, 1, true), table[0][2].add(1, 1, true);
  CHECK(only_dull(table, output_kind::o));
  CHECK_FALSE(only_dull(table, output_kind::lse));
  table[0][3].add(1, 1, false);
  CHECK_FALSE(only_dull(table, output_kind::o));
  CHECK(size_class_of(1) == 0);
  CHECK(size_class_of(64) == 0);
  CHECK(size_class_of(65) == 1);
  CHECK(size_class_of(4096) == 2);
  CHECK(size_class_of(4097) == 3);
}

TEST_CASE("parts merge to the whole, in any order: judged, dull, quartiles, comparisons", "[unit]") {
  std::mt19937_64 random(11);
  judgement whole;
  std::vector<judgement> parts(5);
  for (int n = 0; n < 4000; ++n) {
    double const bound = std::ldexp(1.0 + static_cast<double>(random() % 100), -static_cast<int>(random() % 80));
    std::size_t const output = random() % 3, size = random() % 4;
    bool const dull = random() % 3 == 0;
    judgement& part = parts[random() % parts.size()];
    auto const why = static_cast<not_judged_because>(random() % not_judged_names.size());
    preset_comparison one{random() % 2 ? "f32" : "f32-ordered"};
    random() % 5 == 0 ? one.add(2 * bound, 4 * bound) : one.add(bound / 4, bound / 2);
    for (judgement* const into : {&whole, &part}) {
      into->sharpness[output][size].add(bound, 1, dull);
      ++into->by_theorem;
      into->leave_out(static_cast<output_kind>(output), n % 3, why);
      ++into->returned[output];
      merge(into->beside, one);
    }
  }
  judgement forwards, backwards;
  for (std::size_t n = 0; n < parts.size(); ++n) {
    forwards.merge(judgement(parts[n]));
    backwards.merge(judgement(parts[parts.size() - 1 - n]));
  }
  for (judgement const* const merged : {&forwards, &backwards}) {
    CHECK(merged->dull() == whole.dull());
    CHECK(merged->left_out == whole.left_out);
    CHECK(merged->returned == whole.returned);
    for (std::size_t output = 0; output < 3; ++output)
      for (std::size_t size = 0; size < 4; ++size) {
        CHECK(merged->sharpness[output][size].ratios == whole.sharpness[output][size].ratios);
        for (int part = 1; part < 4; ++part)
          CHECK(merged->sharpness[output][size].quartile(part) == whole.sharpness[output][size].quartile(part));
      }
    REQUIRE(merged->beside.size() == 2);
    for (std::size_t n = 0; n < 2; ++n) {
      CHECK(merged->beside[n].preset == whole.beside[n].preset);
      CHECK(merged->beside[n].compared == whole.beside[n].compared);
      CHECK(merged->beside[n].outside == whole.beside[n].outside);
      CHECK(merged->beside[n].worst == whole.beside[n].worst);
    }
  }
  CHECK(whole.dull() > 0);
  CHECK(whole.beside[0].outside > 0);
}

/// The mean of V in every row, rounded.
owned_outputs mean_of_v(problem_draft const& draft) {
  owned_outputs outputs;
  auto const& shape = draft.v.layout.shape;
  outputs.o = owned_tensor::compact(draft.v.type, {1, 1, draft.q.layout.shape[2], shape[3]});
  fill(*outputs.o, [&](auto, auto, auto, auto c) {
    double sum = 0;
    for (std::int64_t j = 0; j < shape[2]; ++j) sum += load(draft.v, offset_of(draft.v, 0, 0, j, c));
    return sum / static_cast<double>(shape[2]);
  });
  return outputs;
}

TEST_CASE("the mean of V is inside its bounds at a large softcap, and certifies nothing", "[unit]") {
  problem_draft draft = gaussian(4, 9, 8, 5);
  contract stable = *find_contract("f32");  // as 0.1 had it: rows with any scores are judged
  stable.fixed.large_scores = problem::large_scores::stable;
  for (double const softcap : {1e7, 1e12, 1e18}) {
    INFO(softcap);
    draft.softcap = softcap;
    for (contract const* const claim : {find_contract("f32"), &std::as_const(stable)}) {
      judgement found = judge(problem::make_instance(draft.arguments()).value(), mean_of_v(draft), *claim);
      CHECK(found.failed == 0);
      CHECK(found.dull() == found.judged_by_bound());
      bool const judged_at_all = softcap < 1e15 || claim == &stable;
      CHECK(found.judged_by_bound() == (judged_at_all ? 4 * 5 : 0));
      report const undecided = tests::report_of(std::move(found), "softcap");
      CHECK(undecided.verdict == verdict::undecided);
      CHECK(undecided.undecided_because ==
            (judged_at_all
                 ? "there is no sharp element of o: every bound admits an answer that is wrong in a plain way (dull)"
                 : "no element was judged"));
      CHECK(has(as_text(undecided), "UNDECIDED: " + undecided.undecided_because));
      CHECK(has(as_text(undecided), ", no sharp element of o\n") == judged_at_all);
    }
  }
}

TEST_CASE("without the softcap the mean of V is refuted, and an honest answer has sharp elements", "[unit]") {
  problem_draft const draft = gaussian(4, 9, 8, 5);
  owned_outputs const honest = answer<float>(draft, *find_contract("f32"), [](double exact, double) { return exact; });
  CHECK(judged(draft, mean_of_v(draft), "f32").failed > 0);
  judgement found = judged(draft, honest, "f32");
  CHECK(found.failed == 0);
  CHECK(found.dull() == 0);
  report const certified = tests::report_of(std::move(found), "softcap");
  CHECK(certified.verdict == verdict::certified);
  CHECK_FALSE(has(as_text(certified), "no sharp element"));
}

TEST_CASE("one output without a sharp element is enough to leave the audit undecided, whatever the others say",
          "[unit]") {
  judgement found;
  found.by_theorem = 12;
  for (int n = 0; n < 10; ++n) found.sharpness[0][0].add(1e-6, 1, false);
  for (int n = 0; n < 2; ++n) found.sharpness[1][0].add(9, 1, true);
  report const undecided = tests::report_of(found, "softcap");
  CHECK(undecided.verdict == verdict::undecided);
  CHECK(has(undecided.undecided_because, "no sharp element of lse"));
  CHECK(has(as_text(undecided), "no sharp element of lse\n"));
  CHECK_FALSE(has(as_text(undecided), "no sharp element of o"));
  found.sharpness[1][2].add(1e-6, 1, false);
  ++found.by_theorem;
  CHECK(tests::report_of(found, "softcap").verdict == verdict::certified);
}

TEST_CASE("an element is inside a bound, beyond it, or not compared", "[unit]") {
  preset_comparison of{"f32-ordered"};
  of.add(0.1, 0.25);
  CHECK(of.compared == 1);
  CHECK(of.worst == 0.25);
  of.add(0.9, 1.1);  // its two ends do not decide it
  of.add(std::nan(""), std::nan(""));
  of.add(0, 0);
  CHECK(of.compared == 2);
  CHECK(of.outside == 0);
  CHECK(of.worst == 0.25);
  of.add(2.5, 2.75);
  CHECK(of.compared == 3);
  CHECK(of.outside == 1);
  CHECK(of.worst == 2.5);  // so far at least
  of.add(infinity, infinity);
  CHECK(of.worst == infinity);
}

TEST_CASE("an answer is compared with the bound, and with that of known weights where there is one", "[unit]") {
  using reference::judged_by;
  auto const compared = [](double got, double error, reference::error_bound const& bound) {
    preset_comparison of{"bf16-ordered"};
    compare(of, got, error, error, bound);
    return of;
  };
  reference::error_bound bound{2, judged_by::theorem};
  CHECK(compared(1, 1, bound).worst >= 0.5);
  CHECK(compared(1, 1, bound).worst < 0.5001);
  CHECK(compared(1, 3, bound).outside == 1);
  CHECK(compared(1, 2, bound).compared == 0);  // at the bound, within the rounding of a quotient
  CHECK(compared(infinity, 0, bound).outside == 1);
  CHECK(compared(1, 0, {0, judged_by::theorem}).worst == 0);
  CHECK(compared(1, 0, {}).compared == 0);
  CHECK(compared(1, 0, {infinity, judged_by::theorem}).compared == 0);  // an empty bound says nothing
  bound.known_center = 1.5, bound.known_size = 0.25;
  CHECK(compared(1, 1, bound).outside == 1);
  CHECK(compared(1, 1, bound).worst < 2);
  CHECK(compared(1, 1, bound).worst > 1.999);
  CHECK(compared(1.5, 1, bound).outside == 0);
  CHECK(compared(1.5, 3, bound).outside == 1);
}

TEST_CASE("a kernel inside f32 may be outside f32-ordered, and the comparison says how far", "[unit]") {
  problem_draft const draft = gaussian(34, 512, 8, 5);
  contract const& claim = *find_contract("f32");
  auto const exact = [](double o, double) { return o; };
  auto const at_the_bound = [](double o, double bound) { return o + 0.9 * bound; };
  judgement const honest = judged(draft, answer<float>(draft, claim, exact), "f32");
  judgement const beyond = judged(draft, answer<float>(draft, claim, at_the_bound), "f32");
  constexpr std::int64_t compared = 2 * 5;  // rows 0 and 32
  static_assert(reference::machine::further_one_in == 32);
  for (judgement const* const found : {&honest, &beyond}) {
    CHECK(found->failed == 0);
    REQUIRE(found->beside.size() == 1);
    CHECK(found->beside[0].preset == "f32-ordered");
    CHECK(found->beside[0].compared == compared);
  }
  CHECK(honest.beside[0].outside == 0);
  CHECK(honest.beside[0].worst < 0.01);
  CHECK(beyond.beside[0].outside == compared);
  CHECK(beyond.beside[0].worst > 1.5);
  CHECK(beyond.beside[0].worst < 100);
  // Beside a preset that is as sharp as the contract nothing is said.
  CHECK(judged(draft, answer<float>(draft, claim, exact), "f32-ordered").beside.empty());
  judgement const any = judged(draft, answer<float>(draft, claim, at_the_bound), "f32-any");
  REQUIRE(any.beside.size() == 2);
  CHECK(any.beside[0].preset == "f32");
  CHECK(any.beside[0].outside == 0);
  CHECK(any.beside[0].worst > 0.89);
  CHECK(any.beside[0].worst < 0.91);
  CHECK(any.beside[1].outside == compared);
}

TEST_CASE("a sharper preset is of the same type, and its bounds are no larger", "[unit]") {
  std::int64_t pairs = 0;
  for (contract const& claim : contracts())
    for (contract const* const sharper : sharper_presets(claim)) {
      INFO(claim.name << " and " << sharper->name);
      ++pairs;
      CHECK(sharper->type == claim.type);
      CHECK_FALSE(sharper->fixed == claim.fixed);
      problem_draft const draft = gaussian(7, 300, 8, 3, claim.type);
      std::visit(
          [&]<class T>(problem::instance<T> const& p) {
            auto loose = reference::machine::row_source<T>::make(p, claim.fixed).value();
            auto tight = reference::machine::row_source<T>::make(p, sharper->fixed).value();
            std::vector<double> bounds, sharper_bounds;
            auto const into = [](std::vector<double>& all) {
              return [&all](reference::machine::certified_row const& row) {
                REQUIRE_FALSE(row.handed_over);
                all.insert(all.end(), row.o_bound.begin(), row.o_bound.end());
              };
            };
            loose.each(0, 0, 0, 7, into(bounds));
            tight.each(0, 0, 0, 7, into(sharper_bounds));
            for (std::size_t n = 0; n < bounds.size(); ++n) CHECK(sharper_bounds[n] < bounds[n]);
          },
          problem::make_instance(draft.arguments()).value());
    }
  CHECK(pairs == 18);
}

}  // namespace
}  // namespace attest::audit
