// The cause of wrong gradients: hypotheses tried on right gradients that one mistake has changed.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "audit/cases/random.hpp"
#include "audit/cause/cause_search.hpp"
#include "audit/cause/gradient_fit.hpp"
#include "audit/cause/gradient_mistakes.hpp"
#include "audit/judge/judge_gradients.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/gradient_form.hpp"
#include "tests/audit/cause/gradient_answers.hpp"
#include "tests/support/catch.hpp"

namespace attest::audit::gradient_causes_test {
namespace {

/// The second half of dO's rows behind a gap, as in a slice of a wider tensor.
void lay_d_out_apart(problem_draft& p) {
  owned_tensor const from = *p.d_out;
  owned_tensor to{from.type, from.layout, {}};
  auto const& [b, h, n, dv] =
      std::array{from.layout.shape[0], from.layout.shape[1], from.layout.shape[2], from.layout.shape[3]};
  to.layout.stride[1] = dv, to.layout.stride[2] = h * dv, to.layout.stride[0] = n * h * dv;  // heads inside rows
  to.bytes.resize(static_cast<std::size_t>(b * h * n * dv) * problem::size_of(to.type));
  fill(to, [&](auto... at) { return load(from, offset_of(from, at...)); });
  p.d_out = std::move(to);
}

std::vector<owned_problem> changed(std::vector<owned_problem> problems, void (*change)(problem_draft&)) {
  for (owned_problem& problem : problems) {
    problem_draft draft = problem.draft();
    change(draft);
    problem = owned_problem::of_valid(std::move(draft));
  }
  return problems;
}

}  // namespace

TEST_CASE("right gradients have no cause", "[unit]") {
  CHECK_FALSE(cause_of(passes(), gradients_of));
  CHECK_FALSE(cause_of(passes([](problem_draft& p) { p.softcap = 2; }), gradients_of));
}

TEST_CASE("a factor, a sign, and a gradient of 0 are named", "[unit]") {
  auto const with = [](auto change) {
    return name_of_cause(passes(), [=](owned_problem const& problem) {
      owned_outputs outputs = gradients_of(problem);
      change(problem, outputs);
      return outputs;
    });
  };
  CHECK(with([](auto& p, auto& out) { scale(out.dq, std::sqrt(static_cast<double>(p.size().d))); }) == "dq-unscaled");
  CHECK(with([](auto& p, auto& out) {
          for (auto* gradient : {&out.dq, &out.dk}) scale(*gradient, 1 / std::sqrt(static_cast<double>(p.size().d)));
        }) == "dq-dk-scaled-twice");
  CHECK(with([](auto&, auto& out) { scale(out.dv, -1); }) == "dv-negated");
  CHECK(with([](auto&, auto& out) { scale(out.dk, 0); }) == "dk-zero");
}

TEST_CASE("the gradients of another problem name its mistake, of attention or of one loop", "[unit]") {
  auto const masked = passes([](problem_draft& p) {
    problem::sizes const s = owned_problem::of_valid(p).size();
    p.mask = owned_tensor::compact(problem::element_type::u8, {1, 1, s.n, s.m});
    fill(*p.mask, [](auto, auto, auto i, auto j) { return (i + j) % 3 != 0 ? 1.0 : 0.0; });
  });
  auto const unmasked = [](owned_problem const& problem) {
    problem_draft draft = problem.draft();
    draft.mask.reset();
    return owned_problem::of_valid(std::move(draft));
  };
  CHECK(name_of_cause(masked, [&](owned_problem const& p) { return gradients_of(unmasked(p)); }) == "mask-ignored");
  CHECK(name_of_cause(masked, [&](owned_problem const& p) {
          owned_outputs outputs = gradients_of(p);
          outputs.dq = gradients_of(unmasked(p)).dq;
          return outputs;
        }) == "dq-mask-ignored");
}

TEST_CASE("a wrong number of no known kind has no cause, and is not named falsely", "[unit]") {
  auto const found = cause_of(passes(), [](owned_problem const& problem) {
    owned_outputs outputs = gradients_of(problem);
    for (std::size_t at = 0; at < outputs.dk->spanned_elements(); ++at)
      store(*outputs.dk, at, load(*outputs.dk, at) * (1 + 0.01 * static_cast<double>(at % 7)));
    return outputs;
  });
  REQUIRE(found);
  CHECK(found->mistakes.empty());
  CHECK(found->partly.empty());
}

TEST_CASE("mistakes that one failing input does not tell apart are all named", "[unit]") {
  // The scale is log2(e): a dQ without it has the factor ln 2.
  auto const pass = passes([](problem_draft& p) { p.scale = std::numbers::log2e; }).front();
  auto const found = cause_of({pass}, [](owned_problem const& problem) {
    owned_outputs outputs = gradients_of(problem);
    scale(outputs.dq, std::numbers::ln2);
    return outputs;
  });
  REQUIRE(found);
  CHECK(found->is_ambiguous());
  CHECK(
      sentence_of(*found).starts_with("the failing input fits 2 known mistakes: dQ is not multiplied by the scale; "));
}

TEST_CASE("a mistake of attention that the backward pass alone makes is said of that pass", "[unit]") {
  auto const found = cause_of(passes(add_bias_of_one_row),
                              kernel_of([](problem_draft& p) { fill(*p.bias, [](auto...) { return 0.0; }); }));
  REQUIRE(found);
  REQUIRE(found->mistakes.size() == 1);
  CHECK(found->mistakes.front().name == "bias-ignored");
  CHECK(found->mistakes.front().sentence == "in the backward pass, the bias is ignored");
}

TEST_CASE("the row whose LSE is taken is told from others, and from the LSE in another base", "[unit]") {
  auto const with_lse = [](auto of) {
    return name_of_cause(passes(), [=](owned_problem const& problem) {
      problem_draft draft = problem.draft();
      owned_tensor const lse = *draft.handed_lse;
      problem::sizes const& s = problem.size();
      for (std::int64_t row = 0; row < s.b * s.hq * s.n; ++row)
        store(*draft.handed_lse, static_cast<std::size_t>(row), of(s, lse, row));
      return gradients_of(owned_problem::of_valid(std::move(draft)));
    });
  };
  CHECK(with_lse([](auto const& s, auto const& lse, auto row) {
          bool const last = row % s.n == s.n - 1;
          return load(lse, static_cast<std::size_t>(last ? row : row + 1));
        }) == "lse-of-next-row");
  CHECK(with_lse([](auto const& s, auto const& lse, auto row) {
          std::int64_t const h = row / s.n % s.hq;
          return load(lse, static_cast<std::size_t>(row - (h - h / (s.hq / s.hk)) * s.n));
        }) == "lse-of-kv-head");
  CHECK(with_lse([](auto const&, auto const& lse, auto row) {
          return load(lse, static_cast<std::size_t>(row)) * std::numbers::ln2;
        }) == "lse-read-in-base-2");
}

TEST_CASE("dO that is read as if it were compact is named, by its numbers and where the call ended", "[unit]") {
  auto const problems = changed(passes(), lay_d_out_apart);
  auto const as_compact = kernel_of([](problem_draft& p) {
    auto const& n = p.d_out->layout.shape;
    p.d_out->layout = problem::layout::compact({n[0], n[1], n[2], n[3]});
  });
  CHECK(name_of_cause(problems, as_compact) == "d-out-read-as-compact");

  hypothesis const& compact = *find_hypothesis("d-out-read-as-compact");
  owned_problem const of_a_sum = changed({passes().front()}, [](problem_draft& p) {
                                   for (std::size_t axis = 0; axis < 3; ++axis) p.d_out->layout.stride[axis] = 0;
                                   p.d_out->bytes.resize(p.d_out->spanned_elements() * sizeof(float));
                                 }).front();
  answered_case ended;
  ended.unanswered.push_back({of_a_sum, {}, claim()});
  CHECK_FALSE(ends_calls(compact, ended));  // it was not seen to leave its memory
  ended.events.insert(call_event::outside);
  CHECK(ends_calls(compact, ended));
  ended.unanswered = {{problems.front(), {}, claim()}};
  CHECK_FALSE(ends_calls(compact, ended));
  CHECK_FALSE(ends_calls(*find_hypothesis("dq-unscaled"), ended));
}

TEST_CASE("the sign of a scale, heads that are lost, and a NaN of dO that counts as 0 are named", "[unit]") {
  auto const negative = passes([](problem_draft& p) { p.scale = -0.5; });
  CHECK(name_of_cause(negative, [](owned_problem const& problem) {
          owned_outputs outputs = gradients_of(problem);
          scale(outputs.dq, -1), scale(outputs.dk, -1);
          return outputs;
        }) == "dq-dk-scale-without-sign");
  auto const with_nan = changed(passes(), [](problem_draft& p) { store(*p.d_out, 3, std::nan("")); });
  CHECK(name_of_cause(with_nan, kernel_of([](problem_draft& p) { store(*p.d_out, 3, 0); })) == "nan-in-d-out-0");
}

TEST_CASE("with a softcap, the next key in dQ and rows without keys keep their names", "[unit]") {
  auto const capped = passes([](problem_draft& p) {
    p.softcap = 1;
    p.mask = owned_tensor::compact(problem::element_type::u8, {1, 1, p.q.layout.shape[2], p.k.layout.shape[2]});
    fill(*p.mask, [](auto, auto, auto i, auto) { return i % 3 != 1 ? 1.0 : 0.0; });
  });
  hypothesis const& leak = *find_hypothesis("empty-rows-leak");
  hypothesis const& next = *find_hypothesis("dq-of-next-key");
  for (owned_problem const& problem : capped) {
    answered_call const call{problem, gradients_of(problem), claim()};
    CHECK_FALSE(supposed_passes(leak, call).empty());
    CHECK_FALSE(supposed_passes(next, call).empty());
  }
}

TEST_CASE("where a mistake would give NaN, a number is not explained by it", "[unit]") {
  // V is NaN at a visible key, and so are O and delta: gradients that are finite show no other sign of delta.
  auto const with_nan = passes([](problem_draft& p) { store(p.v, 1, std::nan("")); });
  auto const found = cause_of(with_nan, kernel_of([](problem_draft& p) {
                                store(p.v, 1, 0);
                                p.handed_o = owned_tensor::zeros(p.handed_o->type, p.handed_o->layout);
                              }));
  REQUIRE(found);
  for (auto const* const list : {&found->mistakes, &found->partly})
    for (named_mistake const& mistake : *list) CHECK(mistake.name != "delta-added");
}

TEST_CASE("a delta of 0 where V is NaN is told from keys that are left out and from other numbers", "[unit]") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  owned_problem const with_nan = passes([](problem_draft& p) { store(p.v, 1, nan); }).back();  // key 0; one kv head
  problem::sizes const& s = with_nan.size();
  answered_call const swallowed{with_nan, kernel_of([&](problem_draft& p) {
                                  store(p.v, 1, 0);
                                  p.handed_o = owned_tensor::zeros(p.handed_o->type, p.handed_o->layout);
                                })(with_nan),
                                claim()};
  auto const with_key_0 = [&](double of_dk, double of_dq, double factor) {
    answered_call call = swallowed;
    scale(call.outputs.dk, factor);
    for (std::int64_t t = 0; t < s.d; ++t) store(*call.outputs.dk, static_cast<std::size_t>(t), of_dk);
    for (std::size_t at = 0; at < call.outputs.dq->spanned_elements(); ++at) store(*call.outputs.dq, at, of_dq);
    return call;
  };
  for (char const* name : {"nan-delta-0", "nan-in-dp-and-delta-0"}) {
    CAPTURE(name);
    hypothesis const& how = *find_hypothesis(name);
    auto const explains = [&](answered_call const& call) {
      auto const all = supposed_passes(how, call);
      return !all.empty() && std::ranges::all_of(all, [](answered_call const& pass) {
        return judge_gradients(pass.problem, pass.outputs, pass.claim, thoroughness::verdict, pass.from).failed == 0;
      });
    };
    CHECK(explains(with_key_0(nan, nan, 1)));
    CHECK_FALSE(explains(with_key_0(0, nan, 1)));       // key 0 is not read
    CHECK_FALSE(explains(with_key_0(nan, 0, 1)));       // nor in dQ
    CHECK_FALSE(explains(with_key_0(nan, nan, 1.01)));  // other keys are wrong otherwise
  }
}

TEST_CASE("calls that are made to tell mistakes apart leave the ones that they do not contradict", "[unit]") {
  auto const pass = passes([](problem_draft& p) { p.scale = std::numbers::log2e; }).front();
  auto const plain = passes().front();
  auto const without_scale = [](owned_problem const& problem) {
    owned_outputs outputs = gradients_of(problem);
    scale(outputs.dq, 1 / problem.draft().scale.value_or(1 / std::sqrt(static_cast<double>(problem.size().d))));
    return outputs;
  };
  std::vector<answered_case> answers(2);
  answers[0].add(pass, without_scale(pass), claim(), {});
  answers[1].add(plain, without_scale(plain), claim(), {});
  cause_question asked;
  asked.failing = {{"backward", "pass", 1}};
  asked.answers = [&](searched_case const&) { return std::optional(answers[0]); };
  asked.concerns = [](auto const&, auto const&) { return true; };
  asked.products = [](auto const&) { return 0.0; };
  asked.late = [](double) { return false; };
  CHECK(find_cause(asked)->is_ambiguous());
  asked.telling_apart = [&](searched_case const&) { return std::vector{answers[1]}; };
  auto const found = find_cause(asked);
  REQUIRE(found->mistakes.size() == 1);
  CHECK(found->mistakes.front().name == "dq-unscaled");
}

}  // namespace attest::audit::gradient_causes_test
