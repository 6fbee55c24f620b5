// Wrong answers that a loose or empty bound certifies, and honest ones (docs/bound.md, section 11). Every wrong answer
// is refuted, by both tiers.
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tests/support/recorded_row.hpp"

namespace attest::tests::wrong_rows_test {
namespace {

using problem::element_type;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

double gaussian(std::mt19937_64& random) {
  double sum = -6;
  for (int n = 0; n < 12; ++n) sum += static_cast<double>(random() >> 11) * 0x1p-53;
  return sum;
}

/// The exact answer, in doubles of their own: O for every column, and the LSE.
struct answer {
  std::vector<double> o;
  double lse = 0, max = 0;
};
/// With `with_bias` false the mask is ignored.
answer answer_to(recorded_row const& row, bool with_bias = true) {
  std::size_t const m = static_cast<std::size_t>(row.m()), d = row.q.size(), dv = static_cast<std::size_t>(row.dv());
  auto const format = problem::row_of(row.type).format;
  auto const read = [&](double x) { return audit::rounded_to(x, format); };
  double const scale = row.scale.value_or(1 / std::sqrt(static_cast<double>(d)));
  std::vector<double> s(m);
  for (std::size_t j = 0; j < m; ++j) {
    for (std::size_t t = 0; t < d; ++t) s[j] += read(row.q[t]) * read(row.k[j * d + t]) * scale;
    if (with_bias && !row.bias.empty()) s[j] += read(row.bias[j]);
  }
  answer result{std::vector<double>(dv), 0, *std::ranges::max_element(s)};
  double sum = 0;
  for (std::size_t j = 0; j < m; ++j) {
    double const p = std::exp(s[j] - result.max);
    sum += p;
    for (std::size_t c = 0; c < dv; ++c) result.o[c] += p * read(row.v[j * dv + c]);
  }
  for (double& x : result.o) x /= sum;
  result.lse = result.max + std::log(sum);
  return result;
}

/// The row with an answer.
recorded_row with(recorded_row row, std::vector<double> const& o, std::vector<double> const& lse = {}) {
  row.o = o, row.lse = lse;
  return row;
}

recorded_row gaussian_row(std::int64_t m, std::int64_t d, std::int64_t dv, element_type type) {
  std::mt19937_64 random(1);
  recorded_row row;
  row.type = type;
  for (std::int64_t n = 0; n < d; ++n) row.q.push_back(gaussian(random));
  for (std::int64_t n = 0; n < m * d; ++n) row.k.push_back(gaussian(random));
  for (std::int64_t n = 0; n < m * dv; ++n) row.v.push_back(gaussian(random));
  return row;
}

/// The mean of the values of keys first ≤ j < m.
std::vector<double> mean_of(recorded_row const& row, std::size_t first) {
  std::size_t const m = static_cast<std::size_t>(row.m()), dv = static_cast<std::size_t>(row.dv());
  std::vector<double> mean(dv);
  for (std::size_t j = first; j < m; ++j)
    for (std::size_t c = 0; c < dv; ++c) mean[c] += row.v[j * dv + c] / static_cast<double>(m - first);
  return mean;
}

std::vector<double> times(std::vector<double> numbers, double factor) {
  for (double& x : numbers) x *= factor;
  return numbers;
}

}  // namespace

// 0.1 took the maxima of H4 over keys without weight: one key under a mask of −10⁷ to −10³⁶ left a row to the hull of
// V, and the LSE free by ln n.
TEST_CASE("finite additive masks hide no wrong answer", "[unit]") {
  for (auto const& [type, names] : {std::pair{element_type::f32, std::vector{"f32", "f32-any", "f32-split", "f32-ring",
                                                                             "f32-ordered", "f32-blocked"}},
                                    {element_type::bf16, std::vector{"bf16", "bf16-ieee-ordered"}},
                                    {element_type::f64, std::vector{"f64", "f64-blocked"}}}) {
    recorded_row row = gaussian_row(64, 16, 8, type);
    for (double const mask : {-1e4, -1e6, -1e7, -1e9, -1e10, -1e30, -0x1.fffffep127}) {
      if (type == element_type::bf16 && mask < -1e38) continue;  // rounds to −∞ in bfloat16
      row.bias.assign(64, 0);
      for (std::size_t j = 0; j < 32; ++j) row.bias[j] = mask;  // the first half, so that its values come first
      answer const exact = answer_to(row);
      auto const title = [&](char const* what) {
        char text[80];
        std::snprintf(text, sizeof text, "mask%g-%s-%s", mask, problem::name_of(type).data(), what);
        return std::string(text);
      };
      for (char const* const name : names) {
        INFO(name << ", a mask of " << mask);
        auto const claim = preset(name);
        bool const narrow = type == element_type::bf16;
        check_inside(title("exact"), with(row, exact.o, {exact.lse}), claim);
        check_refuted(title("ignored"), with(row, answer_to(row, false).o), claim);
        check_refuted(title("mean"), with(row, mean_of(row, 0)), claim);
        check_refuted(title("visible-mean"), with(row, mean_of(row, 32)), claim);
        check_refuted(title("lse+1"), with(row, exact.o, {exact.lse + 1}), claim);
        check_refuted(title("lse-without-log"), with(row, exact.o, {exact.max}), claim);
        check_refuted(title("lse+0.01"), with(row, exact.o, {exact.lse + 0.01}), claim);
        check_refuted(title("10%"), with(row, times(exact.o, 1.1)), claim);
        if (!narrow && claim.name != "f32-ring") check_refuted(title("1.001"), with(row, times(exact.o, 1.001)), claim);
      }
    }
  }
}

// Padding: where every key is masked, the answer is an average of V, and nothing else is.
TEST_CASE("a row whose keys are all masked is an average of V", "[unit]") {
  recorded_row row = gaussian_row(64, 16, 8, element_type::f32);
  for (double const mask : {-1e8, -1e9, -1e10, -1e30}) {
    row.bias.assign(64, mask);
    char title[40];
    std::snprintf(title, sizeof title, "padding%g", mask);
    INFO(title);
    check_inside(std::string(title) + "-mean", with(row, mean_of(row, 0)), preset("f32"));
    check_refuted(std::string(title) + "-nan", with(row, std::vector<double>(8, nan)), preset("f32"));
    check_refuted(std::string(title) + "-9", with(row, std::vector<double>(8, 9)), preset("f32"));
  }
}

// Two keys share the weight of a pair row, whatever its length: a key that is lost or counted twice moves O by a sixth.
TEST_CASE("a pair row of 4200 keys shows a key that is lost or counted twice", "[unit]") {
  for (auto const type : {element_type::f32, element_type::bf16, element_type::f16}) {
    constexpr std::size_t m = 4200, d = 64;
    std::mt19937_64 random(3);
    recorded_row row;
    row.type = type;
    row.scale = 1;
    for (std::size_t n = 0; n < m * d; ++n) row.k.push_back(random() % 2 ? 1 : -1);
    // The pair: the last key and the key closest to it.
    auto const product = [&](std::size_t a, std::size_t b) {
      double sum = 0;
      for (std::size_t t = 0; t < d; ++t) sum += row.k[a * d + t] * row.k[b * d + t];
      return sum;
    };
    std::size_t pair = 0;
    for (std::size_t j = 1; j + 1 < m; ++j)
      if (product(j, m - 1) > product(pair, m - 1)) pair = j;
    for (std::size_t t = 0; t < d; ++t) row.q.push_back(row.k[pair * d + t] + row.k[(m - 1) * d + t]);
    for (std::size_t j = 0; j < m; ++j) row.v.push_back(j == m - 1 ? 1 : j == pair ? 0 : 0.25);
    answer const exact = answer_to(row);
    REQUIRE(std::abs(exact.o[0] - 0.5) < 1e-3);
    std::string const name(problem::name_of(type));
    for (std::string const& claim : {name, name == "f32" ? std::string("f32-any") : name + "-ieee"}) {
      check_inside(name + "-pair", with(row, exact.o), preset(claim));
      check_refuted(name + "-pair-lost", with(row, {0}), preset(claim));
      check_refuted(name + "-pair-twice", with(row, {2.0 / 3}), preset(claim));
    }
  }
}

// A column of V that is 1 for one key alone: O is that key's weight, of order 1/m.
TEST_CASE("a one-hot column of 4200 keys shows its key", "[unit]") {
  for (auto const type : {element_type::f32, element_type::bf16, element_type::f16}) {
    recorded_row row = gaussian_row(4200, 64, 1, type);
    for (std::size_t j = 0; j < row.v.size(); ++j) row.v[j] = j + 1 == row.v.size() ? 1 : 0;
    answer const exact = answer_to(row);
    std::string const name(problem::name_of(type));
    check_inside(name + "-one-hot", with(row, exact.o), preset(name));
    check_refuted(name + "-one-hot-lost", with(row, {0}), preset(name));
    check_refuted(name + "-one-hot-twice", with(row, times(exact.o, 2)), preset(name));
  }
}

// Where V is constant no weight matters, and what is left is the rounding of sums: V cut to bfloat16 is outside.
TEST_CASE("a constant column of 4200 keys shows values that were cut", "[unit]") {
  recorded_row row = gaussian_row(4200, 64, 1, element_type::f32);
  for (double& x : row.v) x = 1 + 0x1p-9 + 0x1p-20;
  for (auto const* name : {"f32", "f32-ordered"}) {
    check_inside("constant", with(row, {row.v[0]}), preset(name));
    check_refuted("constant-cut", with(row, {1}), preset(name));
  }
}

}  // namespace attest::tests::wrong_rows_test
