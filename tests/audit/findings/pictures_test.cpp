// The pictures of a finding: the weights asked for, the weights that a kernel applies, the errors of its answer.
#include <cmath>

#include "audit/cases/random.hpp"
#include "audit/findings/draw_pictures.hpp"
#include "audit/tensors/slice.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::pictures_test {
namespace {

using namespace attest::audit;

/// Two queries, three keys, all scores 0; query 0 sees keys 0 and 1, query 1 all three.
audit_case banded_case() {
  problem_draft draft = blank({1, 1, 1, 2, 3, 2, 2}, problem::element_type::f32);
  draft.band = {1, -1, 0};
  fill(draft.v, [](auto, auto, auto j, auto c) { return static_cast<double>(j * 2 + c); });
  return {.check = "bands", .name = "small", .problem = owned_problem::of_valid(std::move(draft))};
}

audit_case blank_case(problem::sizes const& s, problem::band const& band = {}) {
  problem_draft draft = blank(s, problem::element_type::f32);
  draft.band = band;
  return {.check = "bands", .name = "blank", .problem = owned_problem::of_valid(std::move(draft))};
}

/// Every key weighs the same, whatever the band: the mean of V.
std::optional<owned_outputs> ignores_band(owned_problem const& problem) {
  problem::sizes const& s = problem.size();
  owned_tensor const& v = problem.draft().v;
  owned_outputs outputs;
  outputs.o = owned_tensor::compact(problem.type(), {s.b, s.hq, s.n, s.dv});
  fill(*outputs.o, [&](auto, auto, auto, auto c) {
    double sum = 0;
    for (std::int64_t j = 0; j < s.m; ++j) sum += load(v, offset_of(v, 0, 0, j, c));
    return sum / static_cast<double>(s.m);
  });
  return outputs;
}

output_source ignoring_band(audit_case const& kernel_case) {
  return {.of_call = [&] { return ignores_band(kernel_case.problem); }, .of_problem = ignores_band};
}

violation about(char const* output, std::int64_t i = 0) {
  violation found;
  found.output = output, found.index = {0, 0, i, 0};
  return found;
}

TEST_CASE("a picture has the true weights, the applied ones through V, and the errors of the answer", "[unit]") {
  audit_case const kernel_case = banded_case();
  auto const drawn = draw_pictures(kernel_case, about("o"), *find_contract("f32"), ignoring_band(kernel_case));
  REQUIRE(drawn);
  CHECK(drawn->expected.rows == 2);
  CHECK(drawn->expected.columns == 3);
  std::vector<double> const expected{0.5, 0.5, 0, 1 / 3.0, 1 / 3.0, 1 / 3.0};
  for (std::size_t n = 0; n < 6; ++n) CHECK(std::abs(drawn->expected.values[n] - expected[n]) <= 0x1p-53);
  CHECK(drawn->masked == std::vector<bool>{false, false, true, false, false, false});
  REQUIRE(drawn->applied);  // dv = 2: keys 0 and 1 first, then key 2
  for (double const weight : drawn->applied->values) CHECK(weight == static_cast<double>(1 / 3.0f));
  REQUIRE(drawn->errors);
  for (std::int64_t c = 0; c < 2; ++c) {
    CHECK(drawn->errors->at(0, c) > 1);
    CHECK(drawn->errors->at(1, c) <= 1);
  }
}

TEST_CASE("without a second answer the applied weights are those that came with the first, or none, and it is said",
          "[unit]") {
  audit_case const kernel_case = banded_case();
  bool with_weights = true;
  output_source const recorded{.of_call = [&] {
    auto outputs = ignores_band(kernel_case.problem);
    if (!with_weights) return outputs;
    outputs->weights = owned_tensor::compact(kernel_case.problem.type(), {1, 1, 2, 3});
    fill(*outputs->weights, [](auto, auto, auto i, auto j) { return static_cast<double>(i * 3 + j); });
    return outputs;
  }};
  auto drawn = draw_pictures(kernel_case, about("o"), *find_contract("f32"), recorded);
  REQUIRE((drawn && drawn->applied));
  CHECK(drawn->applied->values == std::vector<double>{0, 1, 2, 3, 4, 5});
  with_weights = false;
  drawn = draw_pictures(kernel_case, about("o"), *find_contract("f32"), recorded);
  REQUIRE(drawn);
  CHECK(!drawn->applied);
  CHECK(drawn->applied_by.find("no weights") != std::string::npos);
  drawn =
      draw_pictures(kernel_case, about("o"), *find_contract("f32"),
                    {.of_call = [] { return std::nullopt; }, .of_problem = [](auto const&) { return std::nullopt; }});
  REQUIRE(drawn);
  CHECK(!drawn->applied);
  CHECK(!drawn->errors);
  CHECK(!draw_pictures(kernel_case, about("call"), *find_contract("f32"), ignoring_band(kernel_case)));
}

TEST_CASE("a large problem is drawn around its finding, a band's diagonal may lie anywhere, an empty one draws nothing",
          "[unit]") {
  for (std::int64_t const diagonal :
       {std::int64_t{50}, std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()}) {
    audit_case const kernel_case = blank_case({1, 1, 1, 100, 200, 1, 1}, {diagonal, -1, 0});
    auto const drawn = draw_pictures(kernel_case, about("o", 90), *find_contract("f32"), ignoring_band(kernel_case));
    REQUIRE(drawn);
    CHECK(drawn->expected.first_row <= 90);
    CHECK(90 < drawn->expected.first_row + drawn->expected.rows);
    CHECK(drawn->expected.first_column >= 0);
    CHECK(drawn->expected.first_column + drawn->expected.columns <= 200);
    if (diagonal == 50)
      CHECK((drawn->expected.first_column <= 140 && 140 < drawn->expected.first_column + drawn->expected.columns));
  }
  audit_case const kernel_case = blank_case({1, 1, 1, 1, 0, 1, 1});
  auto const drawn = draw_pictures(kernel_case, about("o"), *find_contract("f32"), ignoring_band(kernel_case));
  CHECK((!drawn || drawn->expected.values.empty()));
}

TEST_CASE("the probe's lines become keys asked for and keys read", "[unit]") {
  violation found = about("o");
  found.picture = {"asked  applied", "##.  #.#", ".##  ?"};
  audit_case kernel_case = banded_case();
  auto const drawn = draw_pictures(kernel_case, found, *find_contract("f32"), ignoring_band(kernel_case));
  REQUIRE((drawn && drawn->applied));
  CHECK(drawn->keys_only);
  CHECK(drawn->expected.values == std::vector<double>{1, 1, 0, 0, 1, 1});
  CHECK(drawn->applied->at(0, 0) == 1);
  CHECK(drawn->applied->at(0, 1) == 0);
  CHECK(drawn->applied->at(0, 2) == 1);
  CHECK(std::isnan(drawn->applied->at(1, 0)));
}

TEST_CASE("small inputs are listed whole, large ones not at all", "[unit]") {
  auto const listed = list_inputs(banded_case().problem);
  REQUIRE(listed.size() == 3);
  CHECK(listed[2].name == "v");
  CHECK(listed[2].shape == std::vector<std::int64_t>{1, 1, 3, 2});
  CHECK(listed[2].values == std::vector<double>{0, 1, 2, 3, 4, 5});
  CHECK(list_inputs(blank_case({1, 1, 1, 10, 10, 10, 10}).problem).empty());
}

}  // namespace
}  // namespace attest::tests::pictures_test
