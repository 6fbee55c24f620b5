// The cost of correct rounding if the ball tier decides, in processor time: at most a few times the cost of enclosing
// the same rows at 1152 bits, the judge's last width. The inputs once took seconds.
#include <algorithm>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>
#include <variant>
#include <vector>

#include "fuzz/support/problem_bytes.hpp"
#include "reference/compiled/row.hpp"
#include "reference/machine/rounded.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::rounding_cost_test {
namespace {

/// The processor time of this process, in clock ticks: the least of five calls.
template <class Call>
double ticks(Call&& call) {
  double least = 0;
  for (int n = 0; n < 5; ++n) {
    std::clock_t const start = std::clock();
    call();
    auto const taken = static_cast<double>(std::clock() - start);
    least = n == 0 ? taken : std::min(least, taken);
  }
  return std::max(least, 1.0);
}

template <class Visit, class T>
void for_each_row(problem::instance<T> const& p, Visit&& visit) {
  for (std::int64_t b = 0; b < p.size().b; ++b)
    for (std::int64_t h = 0; h < p.size().hq; ++h)
      for (std::int64_t i = 0; i < p.size().n; ++i) visit(b, h, i);
}

struct cost {
  double ratio = 0;
  reference::machine::rounding_tally tally;
};

/// Rounding every element to f64, over enclosing every row at 1152 bits.
template <class T>
cost cost_of(problem::instance<T> const& p) {
  cost result;
  double const rounding = ticks([&] {
    reference::machine::row_rounder<double, T> rounder(p);
    for (std::int64_t b = 0; b < p.size().b; ++b)
      for (std::int64_t h = 0; h < p.size().hq; ++h) rounder.each(b, h, 0, p.size().n, [](auto const&) {});
    result.tally = rounder.tally();
  });
  double const enclosing = ticks([&] {
    for_each_row(p, [&](std::int64_t b, std::int64_t h, std::int64_t i) {
      reference::enclosed_row<1152, T> row;
      reference::compiled::enclose_row(p, b, h, i, row);
      for (std::int64_t c = 0; c < p.size().dv; ++c) (void)reference::compiled::output(p, row, c);
    });
  });
  result.ratio = rounding / enclosing;
  return result;
}

cost cost_of_input(std::string const& name) {
  std::ifstream file(std::string(ATTEST_FUZZ_REGRESSIONS) + "/problem/" + name, std::ios::binary);
  std::vector<char> const bytes{std::istreambuf_iterator<char>(file), {}};
  REQUIRE_FALSE(bytes.empty());
  // The sizes of fuzz/targets/rounding.cpp.
  fuzz::decoded const in =
      fuzz::decode({reinterpret_cast<std::uint8_t const*>(bytes.data()), bytes.size()},
                   {.b = 1, .groups = 2, .hk = 1, .n = 3, .m = 12, .d = 6, .dv = 3, .f64_part = 1});
  auto const instance = problem::make_instance(in.problem.arguments());
  REQUIRE(instance.has_value());
  return std::visit([](auto const& p) { return cost_of(p); }, instance.value());
}

TEST_CASE("inputs that once took seconds are rounded in a few times what their rows cost at 1152 bits", "[unit]") {
  for (std::string const name : {"slow-rounding", "slow-capped-differences", "slow-capped-row"}) {
    cost const found = cost_of_input(name);
    CAPTURE(name, found.ratio, found.tally.elements, found.tally.in_balls, found.tally.undecided);
    CHECK(found.tally.in_balls > 0);
    CHECK(found.ratio < 6);
    WARN(name << ": " << found.ratio << " times, " << found.tally.undecided << " undecided");
  }
}

}  // namespace
}  // namespace attest::tests::rounding_cost_test
