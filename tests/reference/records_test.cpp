// rec_j of docs/bound.md, section 3, Rescales, by its definition.
#include "reference/bound/records.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "tests/support/catch.hpp"

namespace attest::tests::records_test {
namespace {

struct walk {
  std::vector<double> highest, lowest;
  std::vector<std::int64_t> index;
};

/// rec of every position of `order`: 0, or 1 + the rec of the first later position with highest > lowest.
void add_records(walk const& keys, std::vector<std::size_t> const& order, std::vector<double>& most) {
  std::vector<double> count(order.size(), 0.0);
  for (std::size_t at = order.size(); at-- > 0;) {
    for (std::size_t i = at + 1; i < order.size() && count[at] == 0; ++i)
      if (keys.highest[order[i]] > keys.lowest[order[at]]) count[at] = 1 + count[i];
    most[order[at]] = std::max(most[order[at]], count[at]);
  }
}

std::vector<double> by_definition(walk const& keys) {
  std::vector<double> most(keys.index.size(), 0.0);
  for (std::int64_t lanes = 1; lanes <= 64; lanes *= 2)
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      std::vector<std::size_t> order;
      for (std::size_t j = 0; j < keys.index.size(); ++j)
        if (keys.index[j] % lanes == lane) order.push_back(j);
      add_records(keys, order, most);
      add_records(keys, {order.rbegin(), order.rend()}, most);
    }
  return most;
}

/// Scores of few values, of many, or rising; each off by up to `width`; every key, or some.
walk draw(std::mt19937_64& random, std::size_t n, double width) {
  walk keys;
  std::uniform_real_distribution<double> uniform(0, 1);
  auto const shape = random() % 3;
  bool const gaps = random() % 2 == 0;
  std::int64_t index = static_cast<std::int64_t>(random() % 100);
  for (std::size_t j = 0; j < n; ++j) {
    double const score = shape == 0   ? static_cast<double>(random() % 4)
                         : shape == 1 ? uniform(random)
                                      : 0.01 * static_cast<double>(j);
    double const off = width * uniform(random);
    keys.highest.push_back(score + off), keys.lowest.push_back(score - off), keys.index.push_back(index);
    index += gaps ? 1 + static_cast<std::int64_t>(random() % 70) : 1;
  }
  return keys;
}

TEST_CASE("records by a stack are those of the definition", "[unit]") {
  std::mt19937_64 random(3);
  reference::record_memory memory;  // as a thread has it: one for rows of all lengths
  for (int trial = 0; trial < 400; ++trial)
    for (double const width : {0.0, 0.05, 1.5}) {
      walk const keys = draw(random, 1 + random() % 300, width);
      std::vector<double> records(keys.index.size());
      reference::records_of(keys.highest, keys.lowest, records, [&](std::size_t j) { return keys.index[j]; }, memory);
      CAPTURE(trial, width, keys.index.size());
      REQUIRE(records == by_definition(keys));
    }
}

}  // namespace
}  // namespace attest::tests::records_test
