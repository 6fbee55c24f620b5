// Sampled rows are distinct, inside, and spread over heads and entries.
#include "audit/cases/row_sample.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "audit/cases/arranged.hpp"
#include "audit/cases/forms/value_forms.hpp"
#include "audit/tensors/entry_forms.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/problem_recipe.hpp"

namespace attest::tests::row_sample_test {
using namespace attest::audit;
using attest::problem::sizes;

TEST_CASE("sampled rows are distinct, inside, and meet every head and batch entry in turn", "[unit]") {
  random_stream random(2, "rows");
  sizes const s{3, 5, 5, 700, 700, 8, 8};
  auto const rows = sampled_rows(s, 60, random);
  CHECK((std::ranges::is_sorted(rows) && std::ranges::adjacent_find(rows) == rows.end()));
  CHECK((rows.size() > 40 && rows.size() <= 60));
  CHECK(rows.back() == row_index{2, 4, 699});
  std::set<std::int64_t> batches, heads;
  for (auto const& [b, h, i] : rows) {
    CHECK((b >= 0 && b < 3 && h >= 0 && h < 5 && i >= 0 && i < 700));
    batches.insert(b), heads.insert(h);
  }
  CHECK((batches.size() == 3 && heads.size() == 5));
  CHECK(sampled_rows({2, 2, 2, 8, 8, 8, 8}, 32, random).empty());  // all
}

TEST_CASE("sampled rows meet every pair of batch entry and head once before any comes again", "[unit]") {
  for (auto const& [b, hq] :
       {std::pair{8, 32}, {4, 32}, {32, 8}, {5, 3}, {2, 3}, {6, 4}, {4, 6}, {1, 7}, {7, 1}, {6, 6}}) {
    INFO("b " << b << ", hq " << hq);
    random_stream random(3, "pairs");
    std::int64_t const pairs = std::int64_t{b} * hq;
    auto const met = [&](std::int64_t rows) {
      std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> times;
      for (auto const& row : sampled_rows({b, hq, hq, 100'000, 8, 8, 8}, rows + 1, random)) ++times[{row.b, row.h}];
      --times[{b - 1, hq - 1}];  // the last row of the last head
      return times;
    };
    auto const once = met(pairs);
    CHECK(std::ssize(once) == pairs);
    CHECK(std::ranges::all_of(once, [](auto const& pair) { return pair.second <= 1; }));
    for (auto const& [pair, times] : met(pairs / 2)) CHECK(times <= 1);
    // Rows that are drawn twice count once.
    CHECK(std::ranges::all_of(met(8 * pairs), [](auto const& pair) { return pair.second >= 4 && pair.second <= 8; }));
  }
}

TEST_CASE("sampled queries are those of their entries, short ones too", "[unit]") {
  attest::tests::recipe r;
  r.b = 4, r.hk = 3, r.n = 100, r.m = 2, r.d = 1, r.dv = 1;
  problem_draft draft = attest::tests::make_problem(r);
  set_lengths(draft, {2, 100, 0, 7}, {2, 2, 2, 2});
  auto const packed = owned_problem::of_valid(std::move(draft));
  random_stream random(3, "queries");
  std::map<std::int64_t, int> rows_of;
  for (row_index const& row : sampled_queries(packed, 200, random)) {
    REQUIRE(row.i < queries_of(packed, row.b));
    ++rows_of[row.b];
  }
  CHECK(rows_of.size() == 3);
  CHECK(rows_of[0] == 6);  // all of them
  CHECK(rows_of[3] >= 12);
  CHECK(rows_of[1] >= 30);
}

}  // namespace attest::tests::row_sample_test
