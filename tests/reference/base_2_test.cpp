// Scores that are logarithms to the base 2, as the LSEs of a merge may be: weights are powers of two, which may cancel.
#include <cmath>
#include <limits>
#include <vector>

#include <boost/multiprecision/cpp_int.hpp>

#include "reference/compiled/rounding.hpp"
#include "reference/compiled/row.hpp"
#include "tests/support/property.hpp"
#include "tests/support/written.hpp"

namespace attest::tests::base_2_test {
namespace {

using boost::multiprecision::cpp_int;
using boost::multiprecision::cpp_rational;

written<float> merge_of(std::vector<float> const& lse, std::vector<float> const& o) {
  written<float> parts(static_cast<std::int64_t>(lse.size()), 0, 1);
  parts.scale = 1, parts.base = problem::log_base::two;
  parts.bias.values = lse, parts.v.values = o;
  return parts;
}

struct merged {
  float o, lse;
};

/// Correctly rounded. NaN: undecided
merged exact_merge(std::vector<float> const& lse, std::vector<float> const& o) {
  written<float> const parts = merge_of(lse, o);
  auto const p = parts.instance();
  reference::enclosed_row<128, float> row;
  reference::compiled::enclose_row(p, 0, 0, 0, row);
  return {reference::compiled::rounded_output<float>(p, row, 0).value_or(std::nanf("")),
          reference::compiled::rounded_log_sum_exp<float>(row).value_or(std::nanf(""))};
}

bool is_even(float x) {
  int exponent;
  return static_cast<std::int64_t>(std::ldexp(std::frexp(x, &exponent), std::numeric_limits<float>::digits)) % 2 == 0;
}

bool is_nearest(float x, cpp_rational const& exact) {
  cpp_rational const off = abs(exact - cpp_rational(x));
  for (float const side : {-INFINITY, INFINITY}) {
    cpp_rational const other = abs(exact - cpp_rational(std::nextafter(x, side)));
    if (other < off || (other == off && !is_even(x))) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("merges of whole LSEs in base 2 are the rounded quotients of integers", "[property]") {
  property("O, and the LSE where the sum is a power of two", [] {
    auto const parts = *rc::gen::inRange<std::size_t>(1, 9);
    constexpr int lowest = -40;
    std::vector<float> lse, o;
    cpp_int of_o = 0, sum = 0;
    for (std::size_t s = 0; s < parts; ++s) {
      int const x = *rc::gen::oneOf(rc::gen::inRange(lowest, 40), rc::gen::inRange(-2, 3));
      int const value = *rc::gen::inRange(-1000, 1000);
      lse.push_back(static_cast<float>(x)), o.push_back(static_cast<float>(value));
      of_o += (cpp_int(1) << (x - lowest)) * value, sum += cpp_int(1) << (x - lowest);
    }
    auto const got = exact_merge(lse, o);
    RC_ASSERT(is_nearest(got.o, cpp_rational(of_o, sum)));
    auto const highest = static_cast<int>(msb(sum));
    double const log = std::log2(cpp_rational(sum, cpp_int(1) << highest).convert_to<double>()) + highest + lowest;
    if (sum == cpp_int(1) << highest) RC_ASSERT(got.lse == static_cast<float>(log));
    // `log` is a double below 2⁷ from three roundings and a log2 within an ulp of at most 1.
    RC_ASSERT(std::abs(got.lse - log) <= std::abs(std::nextafter(got.lse, INFINITY) - got.lse) * 0.5 + 0x1p-45);
  });
}

TEST_CASE("theorem T6: sums of powers of two that vanish are ties, in every residue of the scores mod 1", "[unit]") {
  for (float const residue : {0.0F, 0.25F, 0x1p-20F}) {
    CAPTURE(residue);
    // (3 + 2·3·2⁻²⁵)/3 = 1 + 2⁻²⁴, halfway between 1 and the next number.
    CHECK(exact_merge({residue, residue + 1}, {3, 3 * 0x1p-25F}).o == 1);
    CHECK(exact_merge({residue, residue + 1}, {3 * 0x1p-25F, 3}).o == 2);  // 2 + 2⁻²⁵, no tie
    CHECK(exact_merge({residue, residue, residue + 1}, {1, 2, 3}).lse == residue + 2);
  }
  // The same in two residues at once.
  CHECK(exact_merge({0, 1, 0.5F, 1.5F}, {3, 3 * 0x1p-25F, 3, 3 * 0x1p-25F}).o == 1);
  // 2²⁴ + 3, halfway between 2²⁴ + 2 and 2²⁴ + 4.
  CHECK(exact_merge({0x1.000002p24F, 0x1.000002p24F}, {1, 1}).lse == 0x1.000004p24F);
}

TEST_CASE("LSEs in base 2 that lie far apart are merged as any others", "[unit]") {
  CHECK(exact_merge({0, -1e30F, -2e30F}, {0.5F, 7, 9}).o == 0.5F);
  CHECK(exact_merge({0, -1e30F, -2e30F}, {0.5F, 7, 9}).lse == 0);
  CHECK(exact_merge({3e38F, -3e38F}, {2, 1e30F}).lse == 3e38F);
  // A tie without the last part, which moves the sum above it.
  CHECK(exact_merge({0, 1, -1e30F}, {3, 3 * 0x1p-25F, 2}).o == std::nextafter(1.0F, 2.0F));
  CHECK(exact_merge({0, 1, -1e30F}, {3, 3 * 0x1p-25F, 0}).o == 1);
}

TEST_CASE("only rows without a softcap, a sink and the scale 1/sqrt(d) have scores in base 2", "[unit]") {
  auto const fault = [](auto&& change) {
    written<float> parts = merge_of({1, 2}, {3, 4});
    change(parts);
    auto const made = problem::instance<float>::make(parts.arguments());
    return made ? "none" : made.why().message();
  };
  CHECK(fault([](auto&) {}) == "none");
  for (auto const& found : {fault([](auto& p) { p.softcap = 1; }), fault([](auto& p) { p.sink.values = {1.0F}; }), [] {
                              written<float> row(2, 1, 1);
                              row.q.values = {1}, row.k.values = {1, 2}, row.v.values = {3, 4};
                              row.base = problem::log_base::two;
                              return problem::instance<float>::make(row.arguments()).why().message();
                            }()}) {
    CAPTURE(found);
    CHECK(found.find("base: is 2 beside a softcap, a sink or the scale 1/sqrt(d)") != std::string::npos);
  }
}

}  // namespace attest::tests::base_2_test
