// Of a backward pass some rows of dQ, and some keys, are judged as they are among all.
#include <algorithm>

#include "audit/cases/default_contract.hpp"
#include "audit/cases/families/backward.hpp"
#include "audit/cases/families/backward_forms.hpp"
#include "audit/cases/random.hpp"
#include "audit/cases/row_sample.hpp"
#include "audit/judge/by_law.hpp"
#include "audit/tensors/gradient_form.hpp"
#include "audit/tensors/key_rows.hpp"
#include "reference/attention/visibility.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::sampled_gradients_test {
using namespace attest::audit;

namespace {

owned_outputs zeros_for(owned_problem const& problem) {
  owned_outputs outputs;
  for (output_kind const kind : {output_kind::dq, output_kind::dk, output_kind::dv})
    outputs.of(kind) = zero_gradient(problem, kind);
  return outputs;
}

owned_problem small_pass(problem::sizes const& s, problem::band const& band) {
  random_stream random(1, "small");
  problem_draft draft = gaussian(s, problem::element_type::f32, random);
  draft.band = band;
  audit_case of{.check = {}, .name = "small", .problem = owned_problem::of_valid(std::move(draft))};
  return differentiated(std::move(of), 1).problem;
}

judgement judged(owned_problem const& problem, owned_outputs const& outputs, std::span<row_index const> rows = {}) {
  return judge_by_law(problem, outputs, default_contract(problem.type()), rows);
}

/// Rows of queries and of keys one by one.
std::vector<row_index> all_rows(problem::sizes const& s) {
  std::vector<row_index> rows;
  for (std::int64_t b = 0; b < s.b; ++b) {
    for (std::int64_t h = 0; h < s.hq; ++h)
      for (std::int64_t i = 0; i < s.n; ++i) rows.push_back({b, h, i});
    for (std::int64_t g = 0; g < s.hk; ++g)
      for (std::int64_t j = 0; j < s.m; ++j) rows.push_back(row_of_key(s, b, g, j));
  }
  return rows;
}

}  // namespace

TEST_CASE("rows and keys that are judged one by one are judged as all together", "[unit]") {
  owned_problem const problem = small_pass({2, 4, 2, 9, 13, 8, 6}, {0, -1, 0});
  owned_outputs outputs = zeros_for(problem);
  judgement const whole = judged(problem, outputs);
  auto const rows = all_rows(problem.size());
  judgement const together = judged(problem, outputs, rows);
  CHECK(together.judged() == whole.judged());
  CHECK(together.failed == whole.failed);
  CHECK(whole.failed > 500);
  std::int64_t failed = 0, count = 0;
  for (row_index const& row : rows) {
    judgement const alone = judged(problem, outputs, {&row, 1});
    failed += alone.failed, count += alone.judged();
    std::int64_t const width = is_row_of_key(problem.size(), row) ? 8 + 6 : 8;
    CHECK(alone.judged() == width);
    for (violation const& wrong : alone.violations) CHECK(wrong.index[2] == row.i);
  }
  CHECK(failed == whole.failed);
  CHECK(count == whole.judged());
}

TEST_CASE("a sample has the rows that its cost allows, and keys", "[unit]") {
  owned_problem const problem = small_pass({2, 8, 2, 300, 500, 16, 16}, {0, -1, 200});
  problem::sizes const& s = problem.size();
  random_stream random(2, "sample");
  CHECK(sampled_gradients(problem, std::int64_t{1} << 40, random).empty());
  for (std::int64_t const rows_paid : {200, 1500, 3000}) {
    auto const rows = sampled_gradients(problem, rows_paid * s.m * (s.d + s.dv), random);
    std::int64_t keys = 0, needed = 0;
    std::visit(
        [&](auto const& p) {
          for (std::int64_t b = 0; b < s.b; ++b)
            for (std::int64_t h = 0; h < s.hq; ++h)
              for (std::int64_t i = 0; i < s.n; ++i)
                needed += std::ranges::any_of(rows, [&](row_index const& row) {
                  return row.b == b &&
                         (is_row_of_key(s, row) ? row.h - s.hq == h / 4 && reference::visible(p, b, h, i, row.i)
                                                : row == row_index{b, h, i});
                });
        },
        problem.instance());
    for (row_index const& row : rows) keys += is_row_of_key(s, row);
    CAPTURE(rows_paid, keys, needed, rows.size());
    CHECK(keys > 0);
    CHECK(std::ssize(rows) - keys >= 4);
    CHECK(needed <= rows_paid + 64);
    CHECK(std::ranges::is_sorted(rows));
  }
}

TEST_CASE("drawn and production backward passes are the same for the same number, and in their limits", "[unit]") {
  shape_limits limits;
  limits.gradients.products = std::int64_t{1} << 22;
  std::int64_t moved = 0, few = 0;
  for (std::int64_t number = 1; number <= 60; ++number) {
    audit_case const one = drawn_gradients(problem::element_type::f32, 3, number, limits),
                     again = drawn_gradients(problem::element_type::f32, 3, number, limits);
    CHECK(one.problem.draft().q.bytes == again.problem.draft().q.bytes);
    CHECK(one.problem.draft().d_out->bytes == again.problem.draft().d_out->bytes);
    CHECK(one.rows == again.rows);
    CHECK_FALSE(one.problem.draft().block_table);
    auto const& d_out = *one.problem.draft().d_out;
    few += one.problem.draft().of->gives.size() < 5;
    moved += d_out.layout.stride[2] != d_out.layout.shape[3];
  }
  CHECK(few > 2);
  CHECK(moved > 5);
  limits.gradients.products = std::int64_t{1} << 26, limits.judged_products = std::int64_t{1} << 20;
  for (production_shape const* row : production_of_gradients()) {
    CAPTURE(row->name);
    CHECK(fits_gradients(*row, problem::element_type::f32, limits));
    audit_case const made = production_gradients(*row, problem::element_type::f32, 1, limits);
    CHECK(made.check == check_of_gradients);
    CHECK(depends_on_limits(made.name));
    problem::sizes const& s = made.problem.size();
    CHECK(s.b * s.hq * s.n * s.m * (s.d + s.dv) <= limits.gradients.products);
    CHECK(s.d == row->size.d);
    CHECK(s.hq / s.hk == row->size.hq / row->size.hk);
  }
  CHECK(production_of_gradients().size() == 11);
}

}  // namespace attest::tests::sampled_gradients_test
