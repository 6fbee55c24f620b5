// Few queries are multiplied with K and V where they lie (row_products of operations.hpp): with the same bits as the same
// queries among many, which read packed copies, for every number of rows, type, target and awkward size.
#include <algorithm>
#include <array>

#include "tests/fast/case.hpp"
#include "tests/fast/entry_case.hpp"

using namespace attest;
using tests::entry_case;

TEMPLATE_TEST_CASE("few rows have the bits that they have among many", "[unit][differential]", float, double, problem::bf16,
                   problem::f16) {
  tests::simd_target const set(GENERATE(from_range(fast::simd_targets())));
  for (std::int64_t const m : {1, 15, 16, 31, 32, 33, 127, 128, 160, 300})
    for (std::int64_t const d : {1, 3, 4, 7, 8, 9, 16, 33, 64, 80, 128}) {
      // The rows of one kv head are the queries of all heads, one each: more than a strip.
      entry_case<TestType> many;
      many.hq = 40, many.d = d;
      many.dv = std::array<std::int64_t, 4>{16, 48, 7, 208}[static_cast<std::size_t>(m + d) % 4];
      many.add(1, m, static_cast<std::uint64_t>(m * 1000 + d));
      auto const among = many.alone(0);
      for (std::int64_t rows = 1; rows <= 9; ++rows) {
        entry_case<TestType> few = many;
        few.hq = rows;
        few.entries[0].q.resize(static_cast<std::size_t>(rows * d));
        auto expected = among;
        expected.o.resize(static_cast<std::size_t>(rows * many.dv)), expected.lse.resize(static_cast<std::size_t>(rows));
        CAPTURE(m, d, many.dv, rows);
        REQUIRE(few.alone(0) == expected);
      }
    }
}
