// fast/algorithm/exp2.hpp: the coefficients approximate 2^r as well as exp_approximation says, in exact arithmetic.
// What the rounding of the evaluation adds is proven by proofs/gappa/.
#include <array>
#include <cstddef>
#include <cstdint>

#include "fast/algorithm/exp2.hpp"
#include "reference/real/constants.hpp"

namespace attest::proofs {
namespace {

/// Fixed point: units of 2^−112. Every number below is less than 2^14 in size, and 2^112·2^14 fits.
__extension__ using fixed = __int128;
constexpr int places = 112;

/// The degree of the Taylor polynomial that stands for 2^r.
/// Why  for |r| ≤ 1/2 the rest is below 1.02·0.3466^21/21! < 2^−96
constexpr std::size_t degree = 20;
constexpr fixed rest = fixed{1} << (places - 96);

/// Rounding below: coefficients to 2 units, 20·21/2 shifts to 1 unit each in a Taylor shift, which multiplies an error
/// by no more than Σ (1/2 + 1/cells)^k < 3; and as many in a sum.
constexpr fixed rounding = 1'000;

/// [−1/2, 1/2] in intervals of 2^−cell_bits, narrow enough for their first Taylor coefficients to tell the error.
constexpr int cell_bits = 8, cells = 1 << cell_bits;

/// (ln 2)^k/k!, to 2 units.
constexpr std::array<fixed, degree + 1> taylor_coefficients() noexcept {
  constexpr unsigned F = 160;
  using wide = reference::integer<512>;
  wide const ln2(reference::ln2_fixed<F>);
  std::array<fixed, degree + 1> coefficients{};
  wide power = 1;
  power <<= F;
  for (std::size_t k = 0; k <= degree; ++k) {
    wide const units = power >> (F - places);
    wide const high = units >> 64, low = units - (high << 64);
    coefficients[k] = static_cast<fixed>(static_cast<std::uint64_t>(high)) << 64 | static_cast<std::uint64_t>(low);
    power = (power * ln2 >> F) / static_cast<int>(k + 1);
  }
  return coefficients;
}
constexpr auto taylor = taylor_coefficients();

/// c·2^112 for |c| < 1 whose bits end above 2^−112: exactly.
constexpr fixed exactly(double c) noexcept {
  for (int bit = 0; bit < places; ++bit) c *= 2;
  return static_cast<fixed>(c);
}

/// 1 + Σ c_k·r^k − 2^r, without the rest: coefficients of r^0 … r^20.
template <class T>
constexpr std::array<fixed, degree + 1> difference() noexcept {
  std::array<fixed, degree + 1> differences{};
  constexpr auto& c = fast::exp2_format<T>::coefficients;
  for (std::size_t k = 1; k <= degree; ++k) differences[k] = (k <= c.size() ? exactly(c[k - 1]) : 0) - taylor[k];
  return differences;
}

constexpr fixed size(fixed x) noexcept { return x < 0 ? -x : x; }

/// An upper bound of |1 + Σ c_k·r^k − 2^r| in an interval: the Taylor coefficients at its centre, centre/(2·cells),
/// times powers of its half width.
template <class T>
constexpr fixed largest_difference(int centre) noexcept {
  auto d = difference<T>();
  for (std::size_t j = 0; j < degree; ++j)
    for (std::size_t k = degree; k-- > j;) d[k] += (d[k + 1] * centre) >> (cell_bits + 1);
  fixed sum = 0;
  for (std::size_t k = degree + 1; k-- > 0;) sum = (sum >> (cell_bits + 1)) + size(d[k]);
  return sum + rest + rounding;
}

/// A lower bound of 2^(place/cells): 1 + x + x²/2 + x³/6 ≤ e^x, of either sign.
constexpr fixed power_lower(int place) noexcept {
  fixed sum = taylor[3];
  for (std::size_t k = 3; k-- > 0;) sum = ((sum * place) >> cell_bits) + taylor[k];
  return sum - rounding;
}

/// |(1 + Σ c_k·r^k)/2^r − 1| ≤ bound on every interval of [−1/2, 1/2].
template <class T>
constexpr bool approximates_to(double bound) noexcept {
  for (int cell = -cells / 2; cell < cells / 2; ++cell) {
    auto const wrong = static_cast<double>(largest_difference<T>(2 * cell + 1));
    if (!(wrong * (1 + 0x1p-50) <= bound * static_cast<double>(power_lower(cell)))) return false;
  }
  return true;
}

static_assert(approximates_to<float>(fast::exp_approximation<float>),
              "f32: 1 + r*(c_1 + c_2*r + ...) is within 25/64 u of 2^r, relatively, for every |r| <= 1/2");
static_assert(approximates_to<double>(fast::exp_approximation<double>),
              "f64: 1 + r*(c_1 + c_2*r + ...) is within 25/64 u of 2^r, relatively, for every |r| <= 1/2");
static_assert(!approximates_to<float>(0.35 * 0x1p-24) && !approximates_to<double>(0.37 * 0x1p-53),
              "and no better than 0.35 u and 0.37 u: the bound is not idle");

}  // namespace
}  // namespace attest::proofs
