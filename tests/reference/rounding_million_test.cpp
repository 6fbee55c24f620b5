// A million random f32 output elements, and many of f64: correct rounding, and the machine tier's enclosures, against
// MPFI at 192 bits.
#include <cmath>
#include <vector>

#include "audit/cases/random.hpp"
#include "oracles/mpfi.hpp"
#include "reference/machine/rounded.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::rounding_million_test {
namespace {

constexpr long bits = 192;

template <class T>
struct million_problem {
  static constexpr bool wide = std::is_same_v<T, double>;
  std::int64_t n = 64, m, d, dv = 64;
  std::vector<T> q, k, v;

  explicit million_problem(std::uint64_t seed) {
    audit::random_stream random(seed, "million");
    m = 1 + random.below(8), d = 1 + random.below(5);
    // From outputs that are subnormal in T to outputs near its largest.
    std::int64_t const power = !wide                  ? random.below(82) - 44
                               : random.below(4) == 0 ? random.below(20) - 325
                                                      : random.below(630) - 323;
    double const size = std::pow(10.0, static_cast<double>(random.below(4) == 0 ? power : 0)),
                 most = wide ? 1.7e308 : 3e38;
    auto const drawn = [&](std::int64_t count, double scale) {
      std::vector<T> elements;
      for (std::int64_t at = 0; at < count; ++at)
        elements.push_back(static_cast<T>(std::fmin(most, std::fmax(-most, random.normal() * scale))));
      return elements;
    };
    q = drawn(n * d, 2), k = drawn(m * d, 1), v = drawn(m * dv, size);
  }
  problem::instance<T> instance() const {
    using problem::layout;
    problem::arguments<T> arguments;
    arguments.q = {q.data(), layout::compact({n, d})};
    arguments.k = {k.data(), layout::compact({m, d})};
    arguments.v = {v.data(), layout::compact({m, dv})};
    return problem::instance<T>::make(arguments).value();
  }
  /// The same head for MPFI.
  oracles::head head() const {
    return oracles::head_of(k, v, static_cast<std::size_t>(d), static_cast<std::size_t>(dv));
  }
  std::vector<double> query(std::int64_t i) const { return {q.begin() + i * d, q.begin() + (i + 1) * d}; }
};

template <class T>
T nearest(mpfr_srcptr x) {
  if constexpr (std::is_same_v<T, double>) return mpfr_get_d(x, MPFR_RNDN);
  else return mpfr_get_flt(x, MPFR_RNDN);
}

template <class T>
void rounds_as_mpfi_says(std::int64_t count) {
  std::int64_t elements = 0, wrong = 0, open = 0, outside = 0, subnormal = 0;
  reference::machine::rounding_tally tally;
  for (std::uint64_t seed = 1; elements < count; ++seed) {
    million_problem<T> const problem(seed);
    auto const instance = problem.instance();
    oracles::mpfi_attention expected(problem.head(), bits);
    std::vector<T> rounded;
    reference::machine::row_rounder<T, T> rounder(instance, {.weights = false, .lse = false});
    rounder.each(0, 0, 0, problem.n, [&](reference::machine::rounded_row<T> const& row) {
      rounded.insert(rounded.end(), row.o.begin(), row.o.end());
    });
    tally += rounder.tally();
    auto rows = reference::machine::row_source<T>::make(instance);
    REQUIRE(rows.has_value());
    rows.value().each(0, 0, 0, problem.n, [&](reference::machine::certified_row const& row) {
      expected.row(problem.query(row.i));
      for (std::int64_t c = 0; c < problem.dv; ++c, ++elements) {
        oracles::mpfi_interval output = expected.output(static_cast<std::size_t>(c));
        mpfi_ptr const o = output.raw();
        T const low = nearest<T>(&o->left), high = nearest<T>(&o->right);
        T const got = rounded[static_cast<std::size_t>(row.i * problem.dv + c)];
        if (low != high) ++open;
        bool const negative = mpfr_sgn(&o->right) < 0 || (mpfr_sgn(&o->right) == 0 && mpfr_sgn(&o->left) < 0);
        wrong += !(low <= got && got <= high) || negative != std::signbit(got);
        subnormal += std::abs(got) < std::numeric_limits<T>::min();
        if (row.handed_over) continue;
        auto const at = static_cast<std::size_t>(c);
        if (!(row.o_radius[at] < reference::infinity)) continue;
        mpfi_sub_d(o, o, row.o[at]);
        if (!row.o_low.empty()) mpfi_sub_d(o, o, row.o_low[at]);
        outside += mpfr_cmp_d(&o->left, -row.o_radius[at]) < 0 || mpfr_cmp_d(&o->right, row.o_radius[at]) > 0;
      }
    });
  }
  INFO(elements << " elements, " << subnormal << " of them subnormal, " << tally.in_double_words << " by double words, "
                << tally.in_balls << " by the ball tier");
  CHECK(wrong == 0);
  CHECK(open == 0);  // 192 bits always told
  CHECK(outside == 0);
  CHECK(subnormal > 500);
  if (!million_problem<T>::wide) CHECK(tally.in_double_words > 0);
  // In f64, the largest values and values whose rests are lost below the smallest subnormal are for the ball tier.
  CHECK(tally.in_balls + tally.in_double_words < elements / (million_problem<T>::wide ? 10 : 100));
}

}  // namespace

TEST_CASE("a million random f32 outputs are correctly rounded, and enclosed, as MPFI says", "[slow]") {
  rounds_as_mpfi_says<float>(1'000'000);
}
TEST_CASE("a million random f64 outputs are correctly rounded, and enclosed, as MPFI says", "[slow]") {
  rounds_as_mpfi_says<double>(1'000'000);
}

}  // namespace attest::tests::rounding_million_test
