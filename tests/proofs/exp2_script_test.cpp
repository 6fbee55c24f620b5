// proofs/gappa/*.g speak of this code: each script, its comments aside, is what the code's coefficients, order of
// evaluation and declared error make of it. Gappa itself runs as gappa.<script> where it is installed.
#include <array>
#include <concepts>
#include <cstdio>
#include <fstream>
#include <string>

#include "fast/algorithm/model.hpp"
#include "tests/support/catch.hpp"

using namespace attest;

namespace {

std::string hexadecimal(double x) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%a", x);
  return text.data();
}

/// The script of exp2() and doubled_series() in fast/simd/exponential-inl.hpp.
template <std::floating_point T>
std::string expected_script(bool fused) {
  constexpr auto& c = fast::exp2_format<T>::coefficients;
  auto const n = c.size();
  auto const times = [&](std::string const& s) { return fused ? "r * " + s : "rnd(r * " + s + ")"; };
  std::string text = std::string("@rnd = float<ieee_") + (sizeof(T) == 4 ? "32" : "64") + ", ne>;\nr = rnd(any);\n";
  for (std::size_t k = 1; k <= n; ++k)
    text += "c" + std::to_string(k) + " = " + hexadecimal(static_cast<double>(c[k - 1])) + ";\n";
  auto const last = std::to_string(n);
  text += "s" + last + " = 2 * c" + last + ";\n";
  for (std::size_t k = n - 1; k >= 1; --k)
    text += "s" + std::to_string(k) + " = rnd(" + times("s" + std::to_string(k + 1)) + " + 2 * c" + std::to_string(k) +
            ");\n";
  text += "p = rnd(" + times("s1") + " + 2);\n";
  text += "x" + last + " = 2 * c" + last + ";\n";
  for (std::size_t k = n - 1; k >= 1; --k)
    text += "x" + std::to_string(k) + " = r * x" + std::to_string(k + 1) + " + 2 * c" + std::to_string(k) + ";\n";
  text += "x = r * x1 + 2;\n";
  text += "{ |r| <= 0.5 /\\ |x -/ w| <= " + hexadecimal(fast::exp_approximation<T>) +
          " -> |p -/ w| <= " + hexadecimal(fast::model<T>(problem::sizes{}).eps) + " }\n$ r in 64;\n";
  return text;
}

std::string script(std::string const& name) {
  std::ifstream file(ATTEST_SOURCES "/proofs/gappa/" + name + ".g");
  REQUIRE(file);
  std::string text, line;
  while (std::getline(file, line))
    if (!line.empty() && line[0] != '#') text += line + "\n";
  return text;
}

}  // namespace

TEST_CASE("the Gappa scripts prove the declared error of the code's own polynomial", "[unit]") {
  CHECK(script("exp2_f32_fused") == expected_script<float>(true));
  CHECK(script("exp2_f32_separate") == expected_script<float>(false));
  CHECK(script("exp2_f64_fused") == expected_script<double>(true));
  CHECK(script("exp2_f64_separate") == expected_script<double>(false));
}
