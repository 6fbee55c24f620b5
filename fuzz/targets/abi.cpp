// Bytes → an attest_call, sound at first and then wrecked (ranks, shapes, strides, types, NULLs, numbers, overlaps) →
// the exported C function of the built-in kernel. A malformed call is not OK and touches nothing; a sound one is OK,
// touches its outputs alone and equals the C++ interface, bit for bit.
#include <cstring>
#include <iostream>

#include "fast/attention.hpp"
#include "fuzz/support/abi_call.hpp"
#include "fuzz/support/require.hpp"
#include "problem/dlpack.hpp"

namespace {

using namespace attest;
using fuzz::call_under_test;

void require(bool holds, char const* what, call_under_test const& made) {
  if (!holds) std::cerr << made;
  fuzz::require(holds, what);
}

/// The same question through C++, into memory of its own.
std::vector<std::byte> by_cpp(call_under_test const& made, fuzz::place output) {
  call_under_test const copy(made);
  auto const unpacked = problem::unpack(copy.call).value();
  auto const asked = problem::make_instance(unpacked.arguments).value();
  std::visit(
      [&](auto const& p) {
        auto const outputs = problem::make_outputs(p, unpacked.outputs).value();
        require(fast::attention(p, outputs, {.threads = copy.call.threads}).has_value(), "the C++ interface answers", made);
      },
      asked);
  return copy.memory(output);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  call_under_test made({data, size});
  if (!made.inside_memory()) return 0;  // the kernel cannot know
  bool const sound = made.well_formed();
  if (sound && !made.affordable()) return 0;
  call_under_test const before(made);
  attest_status const status = attest_attention(&made.call);
  for (fuzz::place const each : fuzz::places)
    if (!sound || !fuzz::is_output(each))
      require(made.memory(each) == before.memory(each), "what is not an output of a sound call stays as it was", made);
  require(made.same_descriptors(before), "descriptors stay as they were", made);
  if (!sound) {
    require(status == ATTEST_UNSUPPORTED || status == ATTEST_FAILED, "a malformed call is not OK", made);
    return 0;
  }
  require(status == ATTEST_OK, "a sound call is answered", made);
  for (fuzz::place const each : {fuzz::place::out, fuzz::place::lse, fuzz::place::weights})
    require(made.memory(each) == by_cpp(before, each), "C and C++ agree, gaps untouched", made);
  return 0;
}
