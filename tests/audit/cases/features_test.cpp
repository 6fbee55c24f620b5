// The rows of the table of features: what each adds to a problem is recognised and removed by the same row.
#include "audit/cases/forms/call_form.hpp"
#include "audit/cases/random.hpp"
#include "problem/instance.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::features_test {
namespace {

using namespace audit;

constexpr problem::sizes few{3, 4, 2, 20, 24, 16, 16};

problem_draft with_only(feature_row const& row) {
  random_stream random(3, row.name);
  call_form form{.size = few, .options = {row.id}, .length = 5};
  return draft_of(form, problem::element_type::f32, random);
}

/// A mask has no more than its shape: of two with one shape the first is recognised.
feature recognised(feature one) {
  if (one == feature::left_padding) return feature::padding;
  return one == feature::prefix ? feature::shared_mask : one;
}

template <class F>
void each_option(F&& f) {
  for (feature_row const& row : feature_table())
    if (row.group != feature_group::sizes) {
      INFO(row.name);
      f(row);
    }
}

}  // namespace

TEST_CASE("a problem with one feature is valid, is recognised, and needs version 2 where the feature does", "[unit]") {
  each_option([](feature_row const& row) {
    problem_draft const draft = with_only(row);
    CHECK(problem::make_instance(draft.arguments()));
    CHECK(draft.is_of_version_1() == (row.id < first_of_version_2));
    auto const seen = form_of(draft);
    REQUIRE(seen.has_value());
    CHECK(seen->options == feature_set{recognised(row.id)});
    CHECK(seen->size.b == few.b);
  });
}

TEST_CASE("without its only feature a problem has none, and its tensors have their shapes", "[unit]") {
  each_option([](feature_row const& row) {
    problem_draft draft = with_only(row);
    auto const q = draft.q.layout.shape, k = draft.k.layout.shape;
    bool const moves_rows = row.id == feature::packed || row.id == feature::paged;
    REQUIRE(row.remove(draft) == !moves_rows);
    if (moves_rows) return;
    CHECK(problem::make_instance(draft.arguments()));
    CHECK(form_of(draft)->options.empty());
    CHECK(draft.is_of_version_1());
    CHECK(static_cast<problem::parameters const&>(draft) == problem::parameters{});
    CHECK((draft.q.layout.shape == q && draft.k.layout.shape == k));
  });
}

TEST_CASE("a table keeps its lengths of keys", "[unit]") {
  using enum needed_inputs::input;
  random_stream random(3, "paged");
  call_form form{.size = few, .options = {feature::lengths}, .length = 5};
  form.supplied.add(k_lengths).add(block_table);
  problem_draft draft = draft_of(form, problem::element_type::f32, random);
  REQUIRE(draft.block_table);
  CHECK_FALSE(row_of(feature::lengths).remove(draft));
  CHECK(problem::make_instance(draft.arguments()));
}

TEST_CASE("no problem is one without a feature of its sizes", "[unit]") {
  for (feature_row const& row : feature_table().first(static_cast<std::size_t>(feature::causal))) {
    INFO(row.name);
    problem_draft draft = with_only(row_of(feature::scale));
    CHECK_FALSE(row.remove(draft));
    CHECK(draft.scale.has_value());
  }
}

TEST_CASE("all that a form says of its features is reset with them", "[unit]") {
  call_form const plain{.size = few};
  call_form form = plain;
  form.scale = 2, form.cap = 3, form.diagonal = 4, form.mask_byte = 5;
  form.mask_over = form.bias_over = all_axes[0];
  each_option([&](feature_row const& row) { reset(form, row.id); });
  CHECK(form == plain);
}

TEST_CASE("packed rows have no mask, no bias, no dropout and no pages", "[unit]") {
  for (feature const one : {feature::mask, feature::alibi, feature::dropout, feature::block_mask, feature::paged})
    CHECK(exclude(feature::packed, one));
  CHECK_FALSE(exclude(feature::packed, feature::sink));
  CHECK_FALSE(exclude(feature::sink, feature::dropout));
}

}  // namespace attest::tests::features_test
