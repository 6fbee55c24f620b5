// Few queries are multiplied with K and V where they lie (row_products of operations.hpp): with the same bits as the
// same queries among many, which read packed copies, for every number of rows, type, target and awkward size.
#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <tuple>
#include <vector>

#include "fast/algorithm/storage.hpp"
#include "fast/simd/operations.hpp"
#include "tests/fast/case.hpp"
#include "tests/fast/entries.hpp"

namespace attest::tests::few_rows_test {
using tests::entry_set;

namespace {

/// Numbers in [−0.5, 0.51) whose sums and products round.
class numbers {
 public:
  template <class E>
  E of() {
    using T = fast::working<E>;
    T const x = static_cast<T>(random_() % 100003) / T(99991) - T(0.5);
    if constexpr (fast::is_narrow<E>) return fast::narrowed<E>(x);
    else return x;
  }

 private:
  std::minstd_rand random_{1};
};

}  // namespace

TEMPLATE_TEST_CASE("few rows have the bits that they have among many", "[unit][differential]", float, double,
                   problem::bf16, problem::f16) {
  tests::simd_target const set(GENERATE(from_range(fast::simd_targets())));
  for (std::int64_t const m : {1, 15, 16, 31, 32, 33, 127, 128, 160, 300})
    for (std::int64_t const d : {1, 3, 4, 7, 8, 9, 16, 33, 64, 80, 128}) {
      // The rows of one kv head are the queries of all heads, one each: more than a strip.
      entry_set many;
      many.type = problem::type_of<TestType>, many.hq = 40, many.d = d;
      many.dv = std::array<std::int64_t, 7>{16, 48, 7, 208, 128, 112, 64}[static_cast<std::size_t>(m + d) % 7];
      many.add(1, m, static_cast<std::uint64_t>(m * 1000 + d));
      auto const among = many.answer(0);
      for (std::int64_t rows = 1; rows <= 9; ++rows) {
        entry_set few = many;
        few.hq = rows;
        auto const part = [&](std::vector<std::byte>& bytes) {
          bytes.resize(bytes.size() / 40 * static_cast<std::size_t>(rows));
        };
        few.entries[0].q.layout = problem::layout::compact({1, rows, 1, d}), part(few.entries[0].q.bytes);
        auto expected = among;
        part(expected.o), part(expected.lse);
        CAPTURE(m, d, many.dv, rows);
        REQUIRE(few.answer(0) == expected);
      }
    }
}

TEMPLATE_TEST_CASE("whether K and V come from memory changes no bit of a score", "[unit][differential]", float, double,
                   problem::bf16, problem::f16) {
  tests::simd_target const set(GENERATE(from_range(fast::simd_targets())));
  using E = TestType;
  using T = fast::working<E>;
  auto const& operations = fast::best_operations<T>();
  auto const& few = std::get<fast::row_products<E>>(operations.few);
  std::int64_t const keys = GENERATE(16, 48, 128);
  std::int64_t const d = GENERATE(1, 8, 37, 64, 130);
  numbers draw;
  std::vector<E> K(static_cast<std::size_t>(keys * d));
  for (E& k : K) k = draw.of<E>();
  std::vector<E const*> list;
  for (std::int64_t j = 0; j < keys; ++j) list.push_back(K.data() + j * d);
  for (std::int64_t rows = 1; rows <= operations.few_rows; ++rows) {
    auto const all = static_cast<std::size_t>(operations.few_rows);
    std::vector<T> Q(all * static_cast<std::size_t>(d));
    for (T& q : Q) q = draw.of<T>();
    std::vector<std::vector<T>> answers;
    for (bool const from_memory : {false, true}) {
      std::vector<T> one_run(all * static_cast<std::size_t>(fast::score_stride<T>)), listed = one_run;
      few.scores(Q.data(), {K.data(), d}, nullptr, d, rows, keys, from_memory, one_run.data());
      few.listed_scores(Q.data(), list.data(), nullptr, d, rows, keys, from_memory, listed.data());
      for (auto const* const S : {&one_run, &listed}) {
        std::vector<T>& answer = answers.emplace_back();
        for (std::int64_t i = 0; i < rows; ++i)
          answer.insert(answer.end(), S->begin() + i * fast::score_stride<T>,
                        S->begin() + i * fast::score_stride<T> + keys);
      }
    }
    CAPTURE(keys, d, rows);
    for (auto const& answer : answers) REQUIRE(answer == answers.front());
  }
}

TEMPLATE_TEST_CASE("whether K and V come from memory changes no bit of a product with V", "[unit][differential]", float,
                   double, problem::bf16, problem::f16) {
  tests::simd_target const set(GENERATE(from_range(fast::simd_targets())));
  using E = TestType;
  using T = fast::working<E>;
  auto const& operations = fast::best_operations<T>();
  auto const& few = std::get<fast::row_products<E>>(operations.few);
  numbers draw;
  constexpr std::int64_t keys = 41;
  auto const step = operations.panel / 2;
  for (std::int64_t dv = step; dv <= 17 * step; dv += step) {
    std::vector<E> V(static_cast<std::size_t>(keys * dv));
    for (E& v : V) v = draw.of<E>();
    std::vector<E const*> list;
    for (std::int64_t j = 0; j < keys; ++j) list.push_back(V.data() + j * dv);
    for (std::int64_t rows = 1; rows <= operations.few_rows; ++rows) {
      auto const all = static_cast<std::size_t>(operations.few_rows);
      std::vector<T> P(all * static_cast<std::size_t>(fast::score_stride<T>)), factor(all),
          O(all * static_cast<std::size_t>(dv));
      for (auto* const some : {&P, &factor, &O})
        for (T& x : *some) x = draw.of<T>();
      std::vector<std::vector<T>> answers;
      for (bool const from_memory : {false, true}) {
        auto one_run = O, listed = O;
        few.values(P.data(), {V.data(), dv}, nullptr, rows, keys, dv, factor.data(), {one_run.data(), dv}, from_memory);
        few.listed_values(P.data(), list.data(), nullptr, rows, keys, dv, factor.data(), {listed.data(), dv},
                          from_memory);
        for (auto* const answer : {&one_run, &listed}) {
          answer->resize(static_cast<std::size_t>(rows * dv));
          answers.push_back(*answer);
        }
      }
      CAPTURE(dv, rows);
      for (auto const& answer : answers) REQUIRE(answer == answers.front());
    }
  }
}

}  // namespace attest::tests::few_rows_test
