// The cause of wrong gradients where a mistake is in one of them alone, or in one loop alone.
#include <cmath>
#include <functional>
#include <initializer_list>
#include <numbers>
#include <utility>
#include <vector>

#include "audit/tensors/elements.hpp"
#include "tests/audit/cause/gradient_answers.hpp"
#include "tests/support/catch.hpp"

namespace attest::audit::single_gradients_test {
namespace {

using enum problem::output_kind;

/// The gradients `which` are the gradients of the changed pass.
answering_kernel wrong_in(std::initializer_list<output_kind> which, std::function<void(problem_draft&)> const& change) {
  return [kinds = std::vector(which), wrong = kernel_of(change)](owned_problem const& problem) {
    owned_outputs outputs = gradients_of(problem), others = wrong(problem);
    for (output_kind const kind : kinds) outputs.of(kind) = others.of(kind);
    return outputs;
  };
}

void each_lse(problem_draft& p, double factor) { scale(p.handed_lse, factor); }
void each_o(problem_draft& p, double (*f)(double)) {
  for (std::size_t at = 0; at < p.handed_o->spanned_elements(); ++at) store(*p.handed_o, at, f(load(*p.handed_o, at)));
}
void drop_some(problem_draft& p) {
  p.dropout = 0.25;
  p.keep = owned_tensor::compact(problem::element_type::u8, {1, 1, p.q.layout.shape[2], p.k.layout.shape[2]});
  fill(*p.keep, [](auto, auto, auto i, auto j) { return (i + 2 * j) % 4 != 0 ? 1.0 : 0.0; });
}

}  // namespace

TEST_CASE("an LSE in another base, in dV or in dS alone, is named", "[unit]") {
  CHECK(name_of_cause(passes(), wrong_in({dv}, [](auto& p) { each_lse(p, std::numbers::ln2); })) ==
        "lse-read-in-base-2-in-dv");
  CHECK(name_of_cause(passes(), wrong_in({dq, dk}, [](auto& p) { each_lse(p, std::numbers::log2e); })) ==
        "lse-expected-in-base-2-in-ds");
}

TEST_CASE("a delta of a rounded O is named", "[unit]") {
  CHECK(name_of_cause(passes(), wrong_in({dq, dk}, [](problem_draft& p) {
                        each_o(p, [](double o) { return rounded_to(o, problem::format_of<problem::bf16>); });
                      })) == "delta-of-o-in-bf16");
}

TEST_CASE("the factor of dropout, left out of dP or of dV, is named", "[unit]") {
  auto const dropped = passes(drop_some);
  auto const unscaled = [](problem_draft& p) { p.dropout = 0; };
  CHECK(name_of_cause(dropped, wrong_in({dq, dk}, unscaled)) == "dropout-unscaled-in-dp");
  CHECK(name_of_cause(dropped, wrong_in({dv}, unscaled)) == "dropout-unscaled-in-dv");
}

TEST_CASE("a band or a mask of one loop alone is named", "[unit]") {
  auto const windows = passes([](problem_draft& p) { p.band = {0, 3, 0}; });
  CHECK(name_of_cause(windows, wrong_in({dk, dv}, [](auto& p) { --p.band.left; })) == "dkv-left-edge-outside");
  CHECK(name_of_cause(windows, wrong_in({dv}, [](auto& p) { p.band.left = -1; })) == "dv-left-ignored");
  CHECK(name_of_cause(windows, wrong_in({dq}, [](auto& p) { p.band.left = -1; })) == "dq-left-ignored");
}

TEST_CASE("keys at the end whose dK is 0, means in the place of sums, and a stated scale that is lost are named",
          "[unit]") {
  CHECK(name_of_cause(passes(), [](owned_problem const& problem) {
          owned_outputs outputs = gradients_of(problem);
          problem::sizes const& s = problem.size();
          for (std::size_t at = 0; at < outputs.dk->spanned_elements(); ++at)
            if (s.m > 8 && static_cast<std::int64_t>(at) / s.d % s.m >= (s.m - 1) / 8 * 8) store(*outputs.dk, at, 0);
          return outputs;
        }) == "dk-0-at-last-block-of-8");
  CHECK(name_of_cause(passes(add_bias_of_one_row), [](owned_problem const& problem) {
          owned_outputs outputs = gradients_of(problem);
          scale(outputs.dbias, 1 / static_cast<double>(problem.size().hq));
          return outputs;
        }) == "dbias-mean-of-heads");
  CHECK(name_of_cause(passes([](problem_draft& p) { p.scale = 0.3; }), [](owned_problem const& problem) {
          owned_outputs outputs = gradients_of(problem);
          scale(outputs.dk, 1 / std::sqrt(static_cast<double>(problem.size().d)) / 0.3);
          return outputs;
        }) == "dk-of-default-scale");
}

TEST_CASE("means over a group of query heads are said of the gradients that have them", "[unit]") {
  auto const mean_in = [](std::vector<output_kind> const& kinds) {
    return name_of_cause(passes(), [&](owned_problem const& problem) {
      owned_outputs outputs = gradients_of(problem);
      for (output_kind const kind : kinds)
        scale(outputs.of(kind), static_cast<double>(problem.size().hk) / static_cast<double>(problem.size().hq));
      return outputs;
    });
  };
  CHECK(mean_in({dk}) == "dk-mean-of-group");
  CHECK(mean_in({dv}) == "dv-mean-of-group");
  CHECK(mean_in({dk, dv}) == "dkv-mean-of-group");
}

TEST_CASE("query heads that are added to the wrong head of K and V are named", "[unit]") {
  // Each query head by itself has K and V of its own: what it adds is known.
  auto const added_to = [](auto head) {
    return [=](owned_problem const& problem) {
      problem::sizes const& s = problem.size();
      problem_draft draft = problem.draft();
      for (owned_tensor* t : {&draft.k, &draft.v}) {
        owned_tensor const from = *t;
        *t = owned_tensor::compact(from.type, {s.b, s.hq, s.m, from.layout.shape[3]});
        fill(*t,
             [&](auto b, auto h, auto j, auto x) { return load(from, offset_of(from, b, h / (s.hq / s.hk), j, x)); });
      }
      owned_outputs outputs = gradients_of(problem);
      owned_outputs const alone = gradients_of(owned_problem::of_valid(std::move(draft)));
      for (output_kind const kind : {dk, dv}) {
        owned_tensor& sum = *outputs.of(kind);
        owned_tensor const& of = *alone.of(kind);
        fill(sum, [](auto...) { return 0.0; });
        each_row(of, [&](auto b, auto h, auto j) {
          for (std::int64_t x = 0; x < of.layout.shape[3]; ++x) {
            std::size_t const at = offset_of(sum, b, head(s, h), j, x);
            store(sum, at, load(sum, at) + load(of, offset_of(of, b, h, j, x)));
          }
        });
      }
      return outputs;
    };
  };
  CHECK_FALSE(cause_of(passes(), added_to([](auto const& s, auto h) { return h / (s.hq / s.hk); })));
  CHECK(name_of_cause(passes(), added_to([](auto const& s, auto h) { return h % s.hk; })) == "dkv-heads-interleaved");
}

}  // namespace attest::audit::single_gradients_test
