// Rounding by the machine tier first gives the ball tier's values, bit for bit, on every SIMD target.
#include "reference/machine/rounded.hpp"

#include "audit/cases/random.hpp"
#include "reference/compiled/rounding.hpp"
#include "reference/compiled/row.hpp"
#include "reference/machine/testing.hpp"
#include "tests/machine/problem.hpp"
#include "tests/support/property.hpp"

namespace attest::tests::rounded_test {
namespace {

using reference::machine::rounded_row;
using reference::machine::rounding_tally;

template <class E>
auto bits_of(E x) {
  return std::bit_cast<typename reference::float_format<E>::bits>(x);
}

/// The row by the ball tier alone.
template <class Target, class T>
void check_row(problem::instance<T> const& p, rounded_row<Target> const& got) {
  reference::enclosed_row<128, T> row;
  reference::compiled::enclose_row(p, got.b, got.h, got.i, row);
  Target const nan = reference::quiet_nan<Target>();
  auto const same = [&](Target found, reference::rounded_value<Target> const& expected) {
    RC_ASSERT(bits_of(found) == bits_of(expected.value_or(nan)));
  };
  std::optional<reference::exponential_sums<T>> sums;
  if (row.kind == reference::row_kind::finite) sums.emplace(reference::compiled::sums_of(row));
  for (std::size_t c = 0; c < got.o.size(); ++c) {
    auto const column = static_cast<std::int64_t>(c);
    bool const is_number = reference::compiled::output(p, row, column).kind == reference::value_kind::finite;
    same(got.o[c], !is_number ? std::nullopt
                   : sums     ? reference::compiled::rounded_output<Target>(p, row, column, *sums)
                              : reference::compiled::rounded_output<Target>(p, row, column));
  }
  auto const number = [](std::int64_t n) { return reference::value_of_ordinal<Target>(n); };
  bool const finite = row.kind == reference::row_kind::finite, is_nan = row.kind == reference::row_kind::nan;
  same(got.lse, finite   ? reference::compiled::rounded_log_sum_exp<Target>(row, *sums)
                : is_nan ? nan
                         : number(-reference::infinity_ordinal<Target>));
  std::size_t at = 0;
  for (std::size_t j = 0; j < got.weights.size(); ++j) {
    bool const seen = finite && at < row.keys.size() && row.keys[at].j == static_cast<std::int64_t>(j);
    same(got.weights[j], is_nan ? nan : seen ? reference::compiled::rounded_weight<Target>(row, at, *sums) : number(0));
    at += seen;
  }
}

template <class Target, class T>
rounding_tally check(problem::instance<T> const& p) {
  reference::machine::row_rounder<Target, T> rounder(p);
  problem::sizes const& s = p.size();
  for (std::int64_t b = 0; b < s.b; ++b)
    for (std::int64_t h = 0; h < s.hq; ++h)
      rounder.each(b, h, 0, s.n, [&](rounded_row<Target> const& row) { check_row(p, row); });
  return rounder.tally();
}

template <class Visit>
void on_every_target(Visit&& visit) {
  for (std::string_view const target : reference::machine::simd_targets()) {
    reference::machine::use_simd_target(target);
    visit(std::string(target));
  }
  reference::machine::use_simd_target("");
}

template <class T, class... Targets>
void random_problems(std::string const& name) {
  on_every_target([&](std::string const& target) {
    rounding_tally all;
    property(name + " on " + target + ": rounded as the ball tier rounds", [&](std::uint64_t seed) {
      machine_problem<T> const problem(seed);
      auto const instance = problem.instance();
      ((all += check<Targets>(instance)), ...);
    });
    INFO(all.in_balls << " of " << all.elements << " by the ball tier");
    CHECK(all.in_balls * 4 < all.elements);
    CHECK(all.undecided == 0);
  });
}

/// Few keys, equal scores or one far below, and values around what Target's rounding turns on: neighbours whose mean is
/// a boundary, subnormals, zeros of both signs, the overflow threshold.
template <class Target>
struct boundary_problem {
  using stored =
      std::conditional_t<std::is_same_v<Target, double>, double, float>;  ///< holds every midpoint's neighbours
  std::int64_t m, dv = 9;
  std::vector<stored> q{1}, k, v;

  explicit boundary_problem(std::uint64_t seed) {
    audit::random_stream random(seed, "boundaries");
    m = 1 + random.below(6);
    bool const equal = random.below(4) != 0, far = random.below(3) == 0;
    auto const any = static_cast<stored>(random.normal() * 4);
    for (std::int64_t j = 0; j < m; ++j) k.push_back(equal ? any : static_cast<stored>(random.normal()));
    if (far) k.back() -= static_cast<stored>(random.below(2) ? 60 : 1e6);
    v.resize(static_cast<std::size_t>(m * dv));
    auto const drawn = [&](std::int64_t end) { return random.below(end); };
    constexpr std::int64_t top = reference::infinity_ordinal<Target>;
    for (std::int64_t c = 0; c < dv; ++c) {
      std::int64_t const kind = drawn(6);
      std::int64_t const low = kind == 0 ? drawn(4) : kind == 1 ? top - 1 - drawn(3) : 1 + drawn(top - 1);
      for (std::int64_t j = 0; j < m; ++j) {
        std::int64_t const number = std::min(top - 1, low + drawn(2));
        double x = value(number);
        if (kind == 1 && std::is_same_v<Target, problem::f16>)
          x += static_cast<double>(drawn(3)) * 16;  // past the largest
        if (kind == 2) x = drawn(2) ? x : -x;
        if (kind == 3) x = -x;
        v[static_cast<std::size_t>(j * dv + c)] = static_cast<stored>(x);
      }
    }
  }
  static double value(std::int64_t number) {
    reference::element const e = reference::value_of(reference::value_of_ordinal<Target>(number));
    return std::ldexp(static_cast<double>(e.significand), e.exponent);
  }
  problem::instance<stored> instance() const {
    using problem::layout;
    problem::arguments<stored> arguments;
    arguments.q = {q.data(), layout::compact({1, 1})};
    arguments.k = {k.data(), layout::compact({m, 1})};
    arguments.v = {v.data(), layout::compact({m, dv})};
    arguments.scale = 1;
    return problem::instance<stored>::make(arguments).value();
  }
};

template <class Target>
void boundary_problems(std::string const& name) {
  on_every_target([&](std::string const& target) {
    rounding_tally all;
    property(name + " on " + target + ": boundaries are rounded as the ball tier rounds them", [&](std::uint64_t seed) {
      boundary_problem<Target> const problem(seed);
      all += check<Target>(problem.instance());
    });
    INFO(all.in_balls << " of " << all.elements << " by the ball tier");
    CHECK(all.in_balls > 0);
    CHECK(all.in_balls < all.elements);
    CHECK(all.undecided == 0);
  });
}

}  // namespace

TEST_CASE("machine first or exact alone: the same rounded values", "[property][differential]") {
  random_problems<float, float, problem::bf16>("f32");
  random_problems<double, double>("f64");
  random_problems<float, double>("f32 to f64");
  random_problems<problem::bf16, problem::bf16>("bf16");
  random_problems<problem::f16, problem::f16>("f16");
}

TEST_CASE("machine first or exact alone: the same at ties, overflow, subnormals and zeros",
          "[property][differential]") {
  boundary_problems<double>("f64");
  boundary_problems<float>("f32");
  boundary_problems<problem::bf16>("bf16");
  boundary_problems<problem::f16>("f16");
}

TEST_CASE("moderate f64 problems hardly need the ball tier, on every target", "[unit]") {
  audit::random_stream random(1, "moderate");
  std::int64_t const n = 40, m = 70, d = 16, dv = 33;
  std::vector<double> q, k, v;
  for (std::int64_t at = 0; at < n * d; ++at) q.push_back(random.normal());
  for (std::int64_t at = 0; at < m * d; ++at) k.push_back(random.normal());
  for (std::int64_t at = 0; at < m * dv; ++at) v.push_back(random.normal());
  problem::arguments<double> arguments;
  arguments.q = {q.data(), problem::layout::compact({n, d})};
  arguments.k = {k.data(), problem::layout::compact({m, d})};
  arguments.v = {v.data(), problem::layout::compact({m, dv})};
  auto const p = problem::instance<double>::make(arguments).value();
  on_every_target([&](std::string const& target) {
    reference::machine::row_rounder<double, double> rounder(p);
    rounder.each(0, 0, 0, n, [](rounded_row<double> const&) {});
    auto const& tally = rounder.tally();
    INFO(target << ": " << tally.in_balls << " of " << tally.elements << " by the ball tier");
    CHECK(tally.elements == n * (m + dv + 1));
    CHECK(tally.in_balls * 1000 < tally.elements);
  });
}

TEST_CASE("an enclosure of both signs and any size is bisected in at most 65 questions", "[unit]") {
  using reference::ball;
  for (int const exponent : {-900, 1, 300, 1020})
    for (double const x : {1.0, -1.0, 0x1p-1074, -0x1.8p-30}) {
      if (std::abs(x) > std::ldexp(1.0, exponent)) continue;
      ball<128> around;
      around.radius = reference::magnitude(1, exponent);
      int questions = 0;
      auto const rounded = reference::nearest<double>(around, [&](reference::element const& t) {
        if (++questions > 65) return std::optional<int>();
        return std::optional(reference::certain_sign(ball<128>::from(reference::value_of(x)) - ball<128>::from(t)));
      });
      CAPTURE(exponent, x, questions);
      REQUIRE(rounded.has_value());
      CHECK(*rounded == x);
    }
}

TEST_CASE("what every number of an interval rounds to", "[unit]") {
  using reference::nearest_of_all;
  CHECK(nearest_of_all<float>(1, 0, 0x1p-26) == 1.0f);
  CHECK_FALSE(nearest_of_all<float>(1 + 0x1p-24, 0, 0x1p-60).has_value());  // a boundary inside
  CHECK(nearest_of_all<float>(1 + 0x1p-24, 0, 0) == 1.0f);                  // exactly a tie
  CHECK(nearest_of_all<float>(1 + 0x1p-24 + 0x1p-50, 0, 0x1p-51) == 1 + 0x1p-23f);
  CHECK_FALSE(nearest_of_all<float>(1 + 0x1p-24, 0x1p-60, 0x1p-61).has_value());  // the sum is a double, taken outward
  CHECK_FALSE(nearest_of_all<double>(1, 0x1p-53, 0).has_value());                 // so is a tie in f64
  CHECK_FALSE(nearest_of_all<double>(1, 0x1p-53, 0x1p-100).has_value());
  CHECK(nearest_of_all<double>(1, 0x1p-53 + 0x1p-90, 0x1p-100) == 1 + 0x1p-52);
  CHECK(std::signbit(*nearest_of_all<float>(-0x1p-200, 0, 0x1p-201)));
  CHECK_FALSE(std::signbit(*nearest_of_all<float>(0x1p-200, 0, 0x1p-201)));
  CHECK_FALSE(nearest_of_all<float>(0x1p-200, 0, 0x1p-199).has_value());  // the sign of a zero is open
  CHECK_FALSE(std::signbit(*nearest_of_all<float>(0, 0, 0)));
  CHECK(std::isinf(*nearest_of_all<float>(0x1.ffffffp127, 0, 0)));
  CHECK_FALSE(nearest_of_all<float>(0x1.ffffffp127, 0, 0x1p50).has_value());
  CHECK_FALSE(nearest_of_all<float>(1, 0, reference::infinity).has_value());
  CHECK_FALSE(nearest_of_all<float>(std::nan(""), 0, 1).has_value());
}

}  // namespace attest::tests::rounded_test
