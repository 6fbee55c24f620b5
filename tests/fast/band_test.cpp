// fast/algorithm/band.hpp against the definition of the band, pair by pair.
#include "fast/algorithm/band.hpp"

#include <limits>
#include <vector>

#include "tests/support/property.hpp"

namespace attest::tests::band_test {
using fast::interval;
using problem::band;

namespace {

__extension__ using wide = __int128;

/// docs/semantics.md, word by word: −left ≤ j − (i + diagonal) ≤ right, i + diagonal saturates.
bool in_band(band const& where, std::int64_t i, std::int64_t j) {
  using range = std::numeric_limits<std::int64_t>;
  wide centre = wide{i} + where.diagonal;
  if (centre > range::max()) centre = range::max();
  if (centre < range::min()) centre = range::min();
  wide const offset = j - centre;
  return (where.left < 0 || -wide{where.left} <= offset) && (where.right < 0 || offset <= where.right);
}

std::int64_t edge(int near, bool far, bool negative) {
  using range = std::numeric_limits<std::int64_t>;
  return !far ? near : negative ? range::min() + near : range::max() - near;
}

rc::Gen<band> bands() {
  return rc::gen::map(rc::gen::tuple(rc::gen::inRange(-12, 13), rc::gen::inRange(-1, 9), rc::gen::inRange(-1, 9),
                                     rc::gen::inRange(0, 12)),
                      [](auto const& drawn) {
                        auto const& [diagonal, left, right, extreme] = drawn;
                        int const near = diagonal < 0 ? -diagonal : diagonal;
                        return band{extreme == 0   ? edge(near, true, true)
                                    : extreme == 1 ? edge(near, true, false)
                                                   : diagonal,
                                    extreme == 2 && left >= 0 ? edge(left, true, false) : left,
                                    extreme == 3 && right >= 0 ? edge(right, true, false) : right};
                      });
}

/// What view_of reads of a query.
struct query_rule {
  interval visible{};
  std::uint8_t const* mask = nullptr;
};
constexpr std::uint8_t mask = 1;

}  // namespace

TEST_CASE("visible keys are those the definition names", "[property]") {
  tests::property("visible_keys", [] {
    band const where = *bands();
    std::int64_t const m = *rc::gen::inRange(0, 12), i = *rc::gen::inRange(0, 16);
    interval const visible = fast::visible_keys(where, i, m);
    for (std::int64_t j = 0; j < m; ++j) RC_ASSERT(visible.contains(j) == in_band(where, i, j));
    RC_ASSERT(visible.empty() || (visible.first >= 0 && visible.last <= m));
  });
}

TEST_CASE("a strip's view is what its queries see of a block of keys", "[property]") {
  tests::property("view_of", [] {
    band const where = *bands();
    std::int64_t const m = *rc::gen::inRange(0, 14), n = *rc::gen::inRange(1, 16);
    std::int64_t const start = *rc::gen::inRange(0, 16), rows = *rc::gen::inRange(1, 25);
    bool const masked = *rc::gen::inRange(0, 4) == 0;
    std::vector<query_rule> rules;
    for (std::int64_t r = start; r < start + rows; ++r)
      rules.push_back({fast::visible_keys(where, r % n, m), masked ? &mask : nullptr});
    fast::strip_view const view = fast::view_of(rules.data(), rows);

    interval const keys{*rc::gen::inRange(0, 14), *rc::gen::inRange(0, 20)};
    interval const seen = fast::intersection(view.any, keys);
    std::int64_t pairs = 0, outside = 0;
    bool first_is_seen = false, last_is_seen = false;
    for (std::int64_t r = start; r < start + rows; ++r)
      for (std::int64_t j = 0; j < m; ++j) {
        if (!in_band(where, r % n, j)) continue;
        pairs += keys.contains(j), outside += keys.contains(j) && !seen.contains(j);
        first_is_seen = first_is_seen || j == view.any.first, last_is_seen = last_is_seen || j + 1 == view.any.last;
      }
    RC_ASSERT(outside == 0);
    RC_ASSERT(view.any.empty() || (first_is_seen && last_is_seen));
    if (!keys.empty())
      RC_ASSERT(fast::contains(view.all, keys) == (!masked && keys.last <= m && pairs == rows * keys.size()));
  });
}

TEST_CASE("bands at the ends of 64 bits saturate", "[unit]") {
  using range = std::numeric_limits<std::int64_t>;
  constexpr std::int64_t m = 5;
  STATIC_REQUIRE(fast::visible_keys({range::max(), -1, -1}, 3, m) == interval{0, m});
  STATIC_REQUIRE(fast::visible_keys({range::max(), -1, 0}, 3, m) == interval{0, m});
  STATIC_REQUIRE(fast::visible_keys({range::max(), 0, -1}, 3, m).empty());
  STATIC_REQUIRE(fast::visible_keys({range::max(), range::max(), 0}, 3, m) == interval{0, m});
  STATIC_REQUIRE(fast::visible_keys({range::min(), -1, 0}, 3, m).empty());
  STATIC_REQUIRE(fast::visible_keys({range::min(), 0, -1}, 3, m) == interval{0, m});
  STATIC_REQUIRE(fast::visible_keys({range::min(), -1, range::max()}, 3, m) == interval{0, 3});
}

TEST_CASE("a strip whose queries see no key has an empty view", "[unit]") {
  static constexpr query_rule blind[]{{{5, 3}}, {{9, 9}}};
  STATIC_REQUIRE(fast::view_of(blind, 2).any.empty());
  STATIC_REQUIRE(fast::view_of(blind, 2).all.empty());
}

}  // namespace attest::tests::band_test
