// Where tensors lie in memory: each form is asked by the check `strides`, before anything is drawn.
#include <string>

#include "tests/program/program.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::cli_strides_test {
namespace {

TEST_CASE("kernels that mistake where tensors lie are refuted without a draw", "[unit]") {
  std::string const strides = "audit --quick --draws 0 --seed 1 --fail-fast --only strides";
  for (char const* const name : {"stride_0", "overlapping_rows", "values_inside_keys", "keys_before_heads",
                                 "byte_offset_of_keys_ignored", "byte_offset_of_mask_ignored", "strides_of_out_ignored",
                                 "strides_of_lse_ignored", "byte_offsets_in_int32", "element_offsets_in_int32"}) {
    outcome const ran = attest(strides + " --findings '' --kernel '" ATTEST_TEST_ZOO ":zoo_" + name + "'");
    INFO(name << '\n' << ran.out << ran.err);
    CHECK(ran.status == 1);
  }
  outcome const honest = attest(strides + " --kernel " ATTEST_TEST_BUILTIN);
  INFO(honest.out);
  CHECK(honest.status == 0);
}

}  // namespace
}  // namespace attest::tests::cli_strides_test
