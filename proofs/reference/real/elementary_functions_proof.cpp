// reference/real/exp.hpp, expm1.hpp, log.hpp, tanh.hpp and constants.hpp. The parameters of exp and expm1 leave
// remainders as small as their radii say, at every width that the program uses; some values of all functions are
// checked.
#include <cstdint>

#include "proofs/worked_example.hpp"
#include "reference/real/tanh.hpp"

namespace attest::proofs {
namespace {

/// Holds the products below, which stay under 2^4352 at 4096 bits.
using large = reference::integer<4608>;

constexpr large factorial(std::int64_t n) noexcept {
  large product = 1;
  for (std::int64_t i = 2; i <= n; ++i) product *= i;
  return product;
}
constexpr large power(std::int64_t base, std::int64_t exponent) noexcept {
  large product = 1;
  for (std::int64_t i = 0; i < exponent; ++i) product *= base;
  return product;
}

/// Taylor to degree N of e^r, 0 ≤ r < 2^−H: the remainder r^(N+1)/(N+1)!·(1 + 2^−H + …) is below 1 unit of 2^−F; and
/// the error budget holds 7 units before H squarings that double each, times 2, and 2^(H+1) for their own rounding.
template <unsigned W>
constexpr bool exp_is_sound() noexcept {
  using p = reference::exp_parameters<W>;
  return factorial(p::N + 1) * power(2, p::H * (p::N + 1)) >= power(2, p::F + 1) &&
         p::error_units >= 7 * (2u << p::H) + (2u << p::H) && p::F >= W + 64;
}
static_assert(exp_is_sound<64>() && exp_is_sound<96>() && exp_is_sound<128>() && exp_is_sound<192>() &&
                  exp_is_sound<256>() && exp_is_sound<512>() && exp_is_sound<1152>() && exp_is_sound<4096>(),
              "exp: the Taylor remainder is below one unit and the error budget holds it, at 64, 96, 128, 192, 256, "
              "512, 1152 and 4096 bits");

/// Near 0: Σ_{n>N} |y|^n/(n+1)! ≤ |y|^(N+1)/(N+2)!·4/3 for |y| < 2^−zeros ≤ 1/4 is below 2^−(W+8).
template <unsigned W>
constexpr bool expm1_is_sound() noexcept {
  for (std::int64_t const zeros : {2, 3, 5, 17, 64, 200, static_cast<int>(W) + 16}) {
    std::int64_t const N = reference::expm1_parameters<W>::degree_for(zeros);
    if (3 * factorial(N + 2) * power(2, zeros * (N + 1)) < power(2, W + 8) * 4) return false;
  }
  return reference::expm1_parameters<W>::near_zero <= -2;
}
static_assert(expm1_is_sound<64>() && expm1_is_sound<96>() && expm1_is_sound<128>() && expm1_is_sound<192>() &&
                  expm1_is_sound<256>() && expm1_is_sound<512>() && expm1_is_sound<1152>() && expm1_is_sound<4096>(),
              "expm1: the series near 0 leaves less than 2^-(W+8), at 64, 96, 128, 192, 256, 512, 1152 and 4096 bits");

// ln 2 = 0.693147180559945309417232121458176568075500134360255254120680009493393621969694715605863326996418687…
static_assert(
    [] {
      constexpr unsigned F = 256;
      large const found(reference::ln2_fixed<F>);
      std::string_view constexpr digits =
          "69314718055994530941723212145817656807550013436025525412068000949339362196969471";
      large decimals = 0;
      for (char const c : digits) decimals = decimals * 10 + (c - '0');
      large const ten = power(10, static_cast<std::int64_t>(digits.size()));
      // decimals/ten ≤ ln 2 < (decimals + 1)/ten and found/2^F ≤ ln 2 < (found + 2)/2^F
      return found * ten < (decimals + 1) * power(2, F) && decimals * power(2, F) < (found + 2) * ten;
    }(),
    "ln 2 to 80 decimal places lies where make_ln2 says");

static_assert(prints(exp(number(1)), "2.71828182845904523536028747135266250"), "e to 35 decimal places");
static_assert(prints(exp(number(-10)), "0.00004539992976248485153559151556055"), "e^-10 to 35 decimal places");
static_assert(prints(log(number(2)), "0.69314718055994530941723212145817657"), "ln 2 to 35 decimal places");
static_assert(prints(log(number(10)), "2.30258509299404568401799145468436421"), "ln 10 to 35 decimal places");
static_assert(prints(expm1(number(1) / number(10)), "0.10517091807564762481170782649024667"),
              "e^0.1 - 1, by the series near 0, to 35 decimal places");
static_assert(prints(tanh(number(1)), "0.76159415595576488811945828260479359"), "tanh 1 to 35 decimal places");
static_assert(prints(tanh(number(1) / number(10)), "0.09966799462495581711830508367835218"),
              "tanh 0.1, by the series near 0, to 35 decimal places");

}  // namespace
}  // namespace attest::proofs
