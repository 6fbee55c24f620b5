// A query that sees no key, under a contract that says its row is the mean of V.
#include <cmath>
#include <limits>

#include "tests/audit/judge/answered_draft.hpp"

namespace attest::tests::mean_rows_test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("the mean of V is asked of problems of lower rank, too", "[unit]") {
  answered_draft answered(problem::element_type::f32);
  conventions mean;
  mean.empty_row = conventions::row::mean;
  answered.set_mean();
  answered.draft.k.layout.shape[1] = 2, answered.draft.v.layout.shape[1] = 2;  // a kv head for each query head
  for (audit::owned_tensor* tensor : {&answered.draft.k, &answered.draft.v}) {
    auto const head = tensor->bytes;
    tensor->bytes.insert(tensor->bytes.end(), head.begin(), head.end());
  }
  CHECK(answered.judged(mean).failed == 0);
  for (audit::owned_tensor* tensor : {&answered.draft.q, &answered.draft.k, &answered.draft.v, &*answered.draft.mask,
                                      &*answered.answer.o, &*answered.answer.weights, &*answered.answer.lse}) {
    auto const shape = tensor->layout.shape;  // [1, heads, …] as [heads, …]
    tensor->layout = tensor->layout.rank == 3 ? problem::layout::compact({shape[1], shape[2]})
                                              : problem::layout::compact({shape[1], shape[2], shape[3]});
  }
  audit::judgement const found = answered.judged(mean);
  CHECK(found.failed == 0);
  CHECK(found.not_judged() == 0);
  CHECK(found.returned == std::array<std::int64_t, audit::output_names.size()>{1, 1, 1});
}

TEST_CASE("a query without keys is the mean of V where q or k holds no number", "[unit]") {
  answered_draft answered(problem::element_type::f32);
  conventions mean;
  mean.empty_row = conventions::row::mean;
  answered.set_mean();
  for (double const odd : {nan, infinity}) {
    audit::fill(answered.draft.q, [&, q = answered.draft.q](auto b, auto h, auto i, auto t) {
      return h == 1 && i == 1 ? odd : audit::load(q, audit::offset_of(q, b, h, i, t));
    });
    CHECK(answered.judged(mean).failed == 0);
    answered.set_o(nan);  // a mask that is added to the scores
    CHECK(answered.judged(mean).failed == 0);
    answered.set_o(0);
    CHECK(answered.judged(mean).failed == 4);
    answered.set_mean();
    // Such a mask makes NaN of the LSE and the weights, too.
    audit::owned_outputs const right = answered.answer;
    audit::store(*answered.answer.lse, answered.row, nan);
    for (std::size_t j = 0; j < answered.m; ++j)
      audit::store(*answered.answer.weights, answered.row * answered.m + j, nan);
    for (auto const log : {conventions::log::minus_infinity, conventions::log::zero}) {
      mean.empty_lse = log;
      audit::judgement const found = answered.judged(mean);
      CHECK(found.failed == 0);
      CHECK(found.judged() + found.not_judged() == 6 * (4 + 1 + 5));
    }
    mean.empty_lse = {};
    audit::store(*answered.answer.weights, answered.row * answered.m, 0.5);
    CHECK(answered.judged(mean).failed > 0);
    answered.answer = right;
  }
}

TEST_CASE("where the row of a query without keys is the mean of V, its weights are all the same, or 0", "[unit]") {
  answered_draft answered(problem::element_type::f32);
  conventions mean;
  mean.empty_row = conventions::row::mean;
  answered.set_mean();
  auto const set_weights = [&](double each) {
    for (std::size_t j = 0; j < answered.m; ++j)
      audit::store(*answered.answer.weights, answered.row * answered.m + j, each);
  };
  for (double const each : {0.0, 0.2}) {
    set_weights(each);
    audit::judgement const found = answered.judged(mean);
    CHECK(found.failed == 0);
    CHECK(found.judged() == 6 * (4 + 1 + 5));
  }
  audit::store(*answered.answer.weights, answered.row * answered.m, 0.3);
  CHECK(answered.judged(mean).failed > 0);
  set_weights(0);
  audit::store(*answered.answer.weights, answered.row * answered.m, 0.2);
  CHECK(answered.judged(mean).failed > 0);
  answered.set_o(0), set_weights(0.2);
  answered.breaks(mean, 4);
}

TEST_CASE("the mean of V is that of all rows, or of those that dropout keeps", "[unit]") {
  answered_draft answered(problem::element_type::f32);
  answered.draft.keep = audit::owned_tensor::compact(problem::element_type::u8, {1, 2, 3, 5});
  // Dropout removes the first key of the query that sees none, and doubles what the others have.
  audit::fill(*answered.draft.keep,
              [](auto, auto h, auto i, auto j) { return h == 1 && i == 1 && j == 0 ? 0.0 : 1.0; });
  answered.draft.dropout = 0.5;
  answered.answer.weights.reset();
  for (std::size_t at = 0; at < 6 * answered.dv; ++at)
    audit::store(*answered.answer.o, at, 2 * audit::load(*answered.answer.o, at));
  conventions mean;
  mean.empty_row = conventions::row::mean;
  answered.breaks(mean, 4);
  answered.set_mean();
  CHECK(answered.judged(mean).failed == 0);
  for (std::size_t c = 0; c < answered.dv; ++c) {
    std::size_t const at = answered.row * answered.dv + c;
    double const first =
        audit::load(answered.draft.v, audit::offset_of(answered.draft.v, 0, 0, 0, static_cast<std::int64_t>(c)));
    audit::store(*answered.answer.o, at, 2 * (audit::load(*answered.answer.o, at) - first / 5));
  }
  CHECK(answered.judged(mean).failed == 0);
  answered.set_o(0);
  answered.breaks(mean, 4);
}

}  // namespace attest::tests::mean_rows_test
