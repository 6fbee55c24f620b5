// The cause of wrong gradients: hypotheses tried on right gradients that one mistake has changed.
#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "audit/cases/families/backward.hpp"
#include "audit/cases/random.hpp"
#include "audit/cause/cause_search.hpp"
#include "audit/cause/gradient_mistakes.hpp"
#include "audit/cause/near_gradient.hpp"
#include "audit/judge/forward_answers.hpp"
#include "audit/report/cause_words.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/gradient_form.hpp"
#include "tests/support/catch.hpp"

namespace attest::audit {
namespace {

contract const& claim() { return *find_contract("f32"); }

/// Small passes of several sizes, with the O and LSE that are handed over.
std::vector<owned_problem> passes(std::function<void(problem_draft&)> const& change = [](auto&) {}) {
  std::vector<owned_problem> all;
  for (problem::sizes const& s :
       {problem::sizes{1, 4, 2, 13, 11, 8, 6}, {2, 2, 2, 9, 17, 4, 8}, {1, 2, 1, 20, 7, 16, 4}}) {
    random_stream random(1, "gradient causes " + std::to_string(s.n));
    problem_draft draft;
    draft.q = owned_tensor::compact(claim().type, {s.b, s.hq, s.n, s.d});
    draft.k = owned_tensor::compact(claim().type, {s.b, s.hk, s.m, s.d});
    draft.v = owned_tensor::compact(claim().type, {s.b, s.hk, s.m, s.dv});
    for (owned_tensor* t : {&draft.q, &draft.k, &draft.v}) fill(*t, [&](auto...) { return random.normal(); });
    change(draft);
    all.push_back(with_forward(
        differentiated({.check = "", .name = "pass", .problem = owned_problem::of_valid(draft)}, 1).problem));
  }
  return all;
}

/// The gradients of a pass, rounded: as a right kernel returns them, where `instead` is the pass itself.
owned_outputs gradients_of(owned_problem const& instead) {
  owned_outputs outputs;
  for (output_kind const kind : output_kinds) {
    auto gradient = problem::is_gradient(kind) ? zero_gradient(instead, kind) : std::nullopt;
    if (!gradient) continue;
    gradient_places const places(instead, kind);
    auto const& [b_size, h_size, rows, columns] = places.shape();
    for (std::int64_t b = 0; b < b_size; ++b)
      for (std::int64_t h = 0; h < h_size; ++h)
        for (std::int64_t i = 0; i < rows; ++i)
          for (std::int64_t x = 0; x < columns; ++x)
            store(*gradient, places.row(b, h, i) + static_cast<std::size_t>(x),
                  near_gradient({instead, {}, claim(), {}, formed_from::handed_alone}, kind, {b, h, i, x}));
    outputs.of(kind) = std::move(gradient);
  }
  return outputs;
}

void scale(std::optional<owned_tensor>& t, double by) {
  for (std::size_t at = 0; at < t->spanned_elements(); ++at) store(*t, at, load(*t, at) * by);
}

using answering_kernel = std::function<owned_outputs(owned_problem const&)>;

std::optional<named_cause> cause_of(std::vector<owned_problem> const& problems, answering_kernel const& kernel) {
  std::vector<answered_case> answers;
  cause_question asked;
  for (owned_problem const& problem : problems) {
    answers.emplace_back().add(problem, kernel(problem), claim(), {});
    auto const number = std::ssize(answers);
    (answers.back().is_wrong() ? asked.failing : asked.passing)
        .push_back({"backward", "pass-" + std::to_string(number), number});
  }
  asked.answers = [&](searched_case const& which) -> std::optional<answered_case> {
    return answers[static_cast<std::size_t>(which.number) - 1];
  };
  asked.concerns = [](auto const&, auto const&) { return true; };
  asked.products = [](auto const&) { return 0.0; };
  asked.late = [](double) { return false; };
  return find_cause(asked);
}

std::string name_of_cause(std::vector<owned_problem> const& problems, answering_kernel const& kernel) {
  auto const found = cause_of(problems, kernel);
  if (!found || found->mistakes.size() != 1 || found->explains < found->of) return found ? sentence_of(*found) : "";
  return found->mistakes.front().name;
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

}  // namespace attest::audit
