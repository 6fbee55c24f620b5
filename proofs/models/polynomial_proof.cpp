// The arithmetic of the formal proofs: sums, products and derivatives of polynomials, and garbage.
#include "proofs/models/polynomial.hpp"

namespace attest::proofs {
namespace {

constexpr polynomial x(monomial(0)), y(monomial(40)), nothing{};

static_assert((x + y) * (x + y) == x * x + polynomial(2) * x * y + y * y && (x + y) * (x - y) == x * x - y * y,
              "the square of a sum, and the product of a sum and a difference");
static_assert(x - x == nothing && x + y == y + x && !(x == y) && !(x == polynomial(2) * x) && !(x * x == x),
              "what cancels is gone, the order of a sum does not matter, other terms are other polynomials");
static_assert(
    [] {
      std::vector<polynomial> slopes(41);
      slopes[0] = polynomial(1), slopes[40] = x;  // as if y were x²/2
      return derivative(x * x * x, slopes) == polynomial(3) * x * x && derivative(x * y, slopes) == y + x * x &&
             derivative(y * y - x, slopes) == polynomial(2) * x * y - 1;
    }(),
    "the derivatives of powers, products and differences");
static_assert(
    [] {
      polynomial const garbage = polynomial::garbage();
      polynomial grown = nothing;
      grown += garbage;
      return !(garbage == garbage) && !(nothing * garbage == nothing) && !(garbage * nothing == nothing) &&
             !(x + garbage == x) && !(x - garbage == x) && !(grown == nothing);
    }(),
    "garbage stays garbage, times 0 too, and equals nothing, itself included");

}  // namespace
}  // namespace attest::proofs
