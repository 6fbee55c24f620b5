// "The blocked backward is the derivative", for all real inputs of a size: beyond what the compiler proves in proofs/.
#include "proofs/models/every_cutting.hpp"
#include "tests/support/catch.hpp"

using namespace attest::proofs;

namespace {

/// Every mask, every cutting of rows and keys, every schedule.
void check(attention_form const& form) {
  CAPTURE(form.heads, form.n, form.m, form.d, form.dv, form.softcap, form.sink, form.dropout);
  backward_tally const found = try_masks(form);
  CHECK(found.tried == static_cast<std::int64_t>(form.masks()) * cuttings(form));
  CHECK(found.wrong == 0);
}

}  // namespace

TEST_CASE("every cutting of up to 3 queries and 3 keys is the derivative, whatever the mask", "[unit]") {
  for (std::size_t n = 1; n <= 3; ++n)
    for (std::size_t m = 1; m <= 3; ++m) check({.n = n, .m = m, .bias = bias_shape{}});
  CHECK(cuttings({.n = 3, .m = 3}) == 3 * 4 * 4);
}

TEST_CASE("with grouped heads, softcap, sink, dropout and every shape of bias", "[unit]") {
  for (int shape = 0; shape < 8; ++shape) {
    bias_shape const bias{(shape & 1) != 0, (shape & 2) != 0, (shape & 4) != 0};
    check({.heads = 2, .n = 2, .m = 2, .bias = bias, .softcap = true, .sink = true, .dropout = true});
  }
}

TEST_CASE("with each feature alone, and heads and columns of other sizes", "[unit]") {
  check({.n = 2, .m = 3, .softcap = true});
  check({.n = 2, .m = 3, .sink = true});
  check({.n = 2, .m = 3, .dropout = true});
  check({.n = 2, .m = 2, .d = 3, .dv = 2, .bias = bias_shape{}});
  check({.n = 2, .m = 2, .d = 0, .dv = 1, .bias = bias_shape{}});
  check({.n = 2, .m = 2, .d = 1, .dv = 0, .bias = bias_shape{}});
  check({.heads = 3, .n = 1, .m = 3});
}

TEST_CASE("every cutting of 3 queries and 4 keys, and of 4 queries and 3 keys", "[slow]") {
  check({.n = 3, .m = 4});
  check({.n = 4, .m = 3});
}

TEST_CASE("rows of dS sum to 0, and the sums of dO·O and of P·W are equal", "[unit]") {
  for (bool const with : {false, true}) {
    attention_form const form{.heads = 2, .n = 2, .m = 2, .dv = 2, .softcap = with, .sink = with, .dropout = with};
    CHECK(rows_of_dS_sum_to_0(form));
    CHECK(deltas_agree(form));
  }
}

TEST_CASE("a NaN changes the gradients of rows that see it, of keys that such a row sees, and no others", "[unit]") {
  for (std::size_t n = 1; n <= 3; ++n)
    for (std::size_t m = 1; m <= 3; ++m) CHECK(garbage_reaches_only_what_sees_it({.n = n, .m = m}));
  CHECK(garbage_reaches_only_what_sees_it({.heads = 2, .n = 2, .m = 2, .d = 2, .dv = 2}));
}
