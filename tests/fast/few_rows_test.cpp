// Few queries are multiplied with K and V where they lie (row_products of operations.hpp): with the same bits as the same
// queries among many, which read packed copies, for every number of rows, type, target and awkward size.
#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "tests/fast/case.hpp"

using namespace attest;
using tests::owned;

namespace {

/// One kv head of numbers stored as E; the rows are the queries of `heads` heads, one each.
template <class E>
struct rows_case {
  owned<E> q, k, v;
  std::int64_t rows, m, d, dv;

  rows_case(std::int64_t rows_, std::int64_t m_, std::int64_t d_, std::int64_t dv_, std::int64_t gap = 0)
      : q(owned<E>::shaped({1, rows_, 1, d_}, gap, E{})),
        k(owned<E>::shaped({1, 1, m_, d_}, gap, E{})),
        v(owned<E>::shaped({1, 1, m_, dv_}, gap, E{})),
        rows(rows_), m(m_), d(d_), dv(dv_) {
    std::mt19937_64 random(static_cast<std::uint64_t>(m_ * 1000 + d_ * 10 + dv_));
    std::normal_distribution<float> normal;
    for (auto* tensor : {&q, &k, &v})
      tensor->each([&](E& x, auto...) {
        if constexpr (fast::is_narrow<E>) x = fast::narrowed<E>(normal(random));
        else x = static_cast<E>(normal(random));
      });
  }

  /// The outputs of the first `some` rows: O, then LSE, as bytes of each row.
  std::vector<std::vector<std::byte>> run(std::int64_t some) const {
    using L = problem::lse_element<E>;
    problem::arguments<E> arguments;
    arguments.q = q.in(), arguments.k = k.in(), arguments.v = v.in();
    arguments.q.layout.shape[1] = some;
    auto const instance = problem::instance<E>::make(arguments).value();
    auto o = owned<E>::shaped({1, some, 1, dv});
    auto lse = owned<L>::shaped({1, some, 1});
    auto const outputs = problem::outputs<E>::make(instance, {o.out(), lse.out(), {}}).value();
    REQUIRE(fast::attention(instance, outputs, {.threads = 1}));
    std::vector<std::vector<std::byte>> answer(static_cast<std::size_t>(some));
    auto const append = [&](std::size_t r, auto const& values, std::int64_t count) {
      auto const bytes = std::as_bytes(std::span(values).subspan(r * static_cast<std::size_t>(count), static_cast<std::size_t>(count)));
      answer[r].insert(answer[r].end(), bytes.begin(), bytes.end());
    };
    for (std::size_t r = 0; r < answer.size(); ++r) append(r, o.values, dv), append(r, lse.values, 1);
    return answer;
  }
};

}  // namespace

TEMPLATE_TEST_CASE("few rows have the bits that they have among many", "[unit][differential]", float, double, problem::bf16,
                   problem::f16) {
  tests::simd_target const set(GENERATE(from_range(fast::simd_targets())));
  std::int64_t const many = 40;  // more than a strip
  for (std::int64_t const m : {1, 15, 16, 31, 32, 33, 127, 128, 160, 300})
    for (std::int64_t const d : {1, 3, 4, 7, 8, 9, 16, 33, 64, 80, 128}) {
      std::int64_t const dv = std::array<std::int64_t, 4>{16, 48, 7, 208}[static_cast<std::size_t>(m + d) % 4];
      rows_case<TestType> const problem(many, m, d, dv, (m + d) % 3);
      auto const among = problem.run(many);
      for (std::int64_t rows = 1; rows <= 9; ++rows) {
        auto const few = problem.run(rows);
        CAPTURE(m, d, dv, rows);
        REQUIRE(std::equal(few.begin(), few.end(), among.begin()));
      }
    }
}
