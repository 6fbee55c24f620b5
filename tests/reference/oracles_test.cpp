// attest's reference compared with two other oracles, Arb (balls) and MPFI (intervals): all enclose one exact value, so
// all must overlap, at every pair of widths. MPFR, which bench/ measures against, rounds to where they are.
#include <string>

#include "oracles/arb.hpp"
#include "oracles/mpfi.hpp"
#include "oracles/mpfr.hpp"
#include "reference/compiled/row.hpp"
#include "reference/real/decimal.hpp"
#include "tests/support/many.hpp"
#include "tests/support/mp.hpp"
#include "tests/support/oracle_head.hpp"
#include "tests/support/random_row.hpp"

namespace attest::tests::oracles_test {
using oracles::arb_attention;
using oracles::mpfi_attention;
using reference::row_kind;

namespace {

template <class Enclosure, unsigned W>
bool meets(Enclosure const& other, reference::ball<W> const& ours) {
  return other.low() <= middle(ours) + radius(ours) && middle(ours) - radius(ours) <= other.high();
}

/// `Oracle` at `bits` bits compared with ours at W.
template <unsigned W, class Oracle, class T>
void compare(written<T> const& problem, long bits) {
  reference::enclosed_row<W, T> row;
  auto const p = problem.instance();
  reference::compiled::enclose_row(p, 0, 0, 0, row);
  RC_PRE(row.kind == row_kind::finite);
  oracle_row const same(p, row);
  Oracle other(same.head, bits);
  other.row(same.q, same.bias);
  RC_ASSERT(meets(other.output(0), reference::compiled::output(p, row, 0).value));
  RC_ASSERT(meets(other.log_sum_exp(), reference::compiled::log_sum_exp(row)));
  RC_ASSERT(meets(other.entropy(), entropy(row)));
  for (std::size_t j = 0; j < row.keys.size(); ++j)
    RC_ASSERT(meets(other.weight(j), reference::compiled::weight(row, j)));
}

template <class T>
void against_both(char const* type, int times) {
  // Theirs far narrower than ours shows that ours contain; ours far narrower than theirs, that theirs do.
  many(times, std::string("Arb at 256 bits, ours at 64, ") + type,
       [] { compare<64, arb_attention>(drawn_row_of_either_base<T>(), 256); });
  many(times, std::string("Arb at 64 bits, ours at 256, ") + type,
       [] { compare<256, arb_attention>(drawn_row_of_either_base<T>(), 64); });
  many(times, std::string("MPFI at 300 bits, ours at 128, ") + type,
       [] { compare<128, mpfi_attention>(drawn_row_of_either_base<T>(), 300); });
}

}  // namespace

TEST_CASE("Arb and MPFI agree on f32 rows", "[property][differential]") { against_both<float>("f32", 15); }
TEST_CASE("Arb and MPFI agree on f64 rows", "[property][differential]") { against_both<double>("f64", 15); }
TEST_CASE("Arb and MPFI agree on bf16 rows", "[property][differential]") { against_both<problem::bf16>("bf16", 8); }
TEST_CASE("Arb and MPFI agree on f16 rows", "[property][differential]") { against_both<problem::f16>("f16", 8); }

TEST_CASE("MPFR rounds to where the reference is", "[property][differential]") {
  many(2, "MPFR at 2000 bits, ours at 128", [] {
    auto const problem = drawn_row_of_either_base<float>();
    reference::enclosed_row<128, float> row;
    auto const p = problem.instance();
    reference::compiled::enclose_row(p, 0, 0, 0, row);
    RC_PRE(row.kind == row_kind::finite);
    oracle_row const same(p, row);
    oracles::mpfr_attention other(same.head, 2000);
    other.row(same.q, same.bias);
    // At most 2^7 operations on numbers below 2^40, each right to 2^−2000 of its result, and e^x right to what x is:
    // together less than 2^−1900.
    auto const near = [](real const& x, auto const& ours) {
      return abs(x - middle(ours)) <= radius(ours) + scaled(real(1), -1900);
    };
    RC_ASSERT(near(other.output(0), reference::compiled::output(p, row, 0).value));
    RC_ASSERT(near(other.log_sum_exp(), reference::compiled::log_sum_exp(row)));
    for (std::size_t j = 0; j < row.keys.size(); ++j)
      RC_ASSERT(near(other.weight(j), reference::compiled::weight(row, j)));
  });
}

TEST_CASE("E11.1 of the documents: all three oracles print the same digits", "[unit]") {
  written<float> problem(3, 2, 1);
  problem.q.values = {1, 0}, problem.k.values = {1, 0, 0, 1, 0.5f, 0.5f}, problem.v.values = {1, 0, 0.5f};
  reference::enclosed_row<256, float> row;
  reference::compiled::enclose_row(problem.instance(), 0, 0, 0, row);
  auto const ours = reference::compiled::output(problem.instance(), row, 0).value;
  oracles::head const head{3, 2, 1, {1, 0, 0, 1, 0.5, 0.5}, {1, 0, 0.5}, {}, 0};
  arb_attention by_arb(head, 256);
  mpfi_attention by_mpfi(head, 300);
  oracles::mpfr_attention by_mpfr(head, 300);
  std::vector<double> const q{1, 0};
  by_arb.row(q), by_mpfi.row(q), by_mpfr.row(q);
  CHECK(meets(by_arb.output(0), ours));
  CHECK(meets(by_mpfi.output(0), ours));
  auto const prints = [](reference::ball<256> const& x) {
    return reference::rounds_to(x, "0.615460573432") == reference::decision::yes;
  };
  for (double const other : {by_arb.output(0).middle(), by_mpfr.output(0).approximately()})
    CHECK(prints(reference::ball<256>::from(reference::value_of(other))));
  CHECK(ours.radius <= reference::magnitude::power_of_two(-240));
  CHECK(prints(ours));
}

}  // namespace attest::tests::oracles_test
