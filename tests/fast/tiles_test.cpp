// fast/algorithm/tiles.hpp against the definition of the band, pair by pair.
#include "fast/algorithm/tiles.hpp"

#include <limits>

#include "tests/support/property.hpp"

using namespace attest;
using fast::interval;
using fast::tile_kind;
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

TEST_CASE("a tile is empty, full or partial exactly as its pairs are", "[property]") {
  tests::property("classify", [] {
    band const where = *bands();
    interval const queries{*rc::gen::inRange(0, 10), *rc::gen::inRange(0, 16)};
    interval const keys{*rc::gen::inRange(0, 10), *rc::gen::inRange(0, 16)};
    std::int64_t seen = 0;
    for (std::int64_t i = queries.first; i < queries.last; ++i)
      for (std::int64_t j = keys.first; j < keys.last; ++j) seen += in_band(where, i, j);
    std::int64_t const all = queries.size() * keys.size();
    RC_ASSERT(fast::classify(where, queries, keys) == (seen == 0     ? tile_kind::empty
                                                       : seen == all ? tile_kind::full
                                                                     : tile_kind::partial));
  });
}

TEST_CASE("keys_of_any is the union over its queries", "[property]") {
  tests::property("keys_of_any", [] {
    band const where = *bands();
    std::int64_t const m = *rc::gen::inRange(0, 14);
    interval const queries{*rc::gen::inRange(0, 10), *rc::gen::inRange(0, 16)};
    interval const found = fast::keys_of_any(where, queries, m);
    for (std::int64_t j = 0; j < m; ++j) {
      bool any = false;
      for (std::int64_t i = queries.first; i < queries.last; ++i) any = any || in_band(where, i, j);
      RC_ASSERT(found.contains(j) == any);
    }
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
