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

void require(bool holds, char const* claim, call_under_test const& tested) {
  if (!holds) std::cerr << tested;
  fuzz::require(holds, claim);
}

/// The same question through C++, into memory of its own.
std::vector<std::byte> by_cpp(call_under_test const& tested, fuzz::place output) {
  call_under_test const copy(tested);
  auto const unpacked = problem::unpack(copy.call).value();
  auto const instance = problem::make_instance(unpacked.arguments).value();
  std::visit(
      [&](auto const& p) {
        auto const outputs = problem::make_outputs(p, unpacked.outputs).value();
        require(fast::attention(p, outputs, {.threads = copy.call.threads}).has_value(), "the C++ interface answers",
                tested);
      },
      instance);
  return copy.memory(output);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  call_under_test tested({data, size});
  if (!tested.inside_memory()) return 0;  // the kernel cannot know
  bool const sound = tested.well_formed();
  if (sound && !tested.affordable()) return 0;
  call_under_test const before(tested);
  attest_status const status = attest_attention(&tested.call);
  for (fuzz::place const place : fuzz::places)
    if (!sound || !fuzz::is_output(place))
      require(tested.memory(place) == before.memory(place), "what is not an output of a sound call stays as it was",
              tested);
  require(tested.same_descriptors(before), "descriptors stay as they were", tested);
  if (!sound) {
    require(status == ATTEST_UNSUPPORTED || status == ATTEST_FAILED, "a malformed call is not OK", tested);
    return 0;
  }
  require(status == ATTEST_OK, "a sound call is answered", tested);
  for (fuzz::place const place : {fuzz::place::out, fuzz::place::lse, fuzz::place::weights})
    require(tested.memory(place) == by_cpp(before, place), "C and C++ agree, gaps untouched", tested);
  return 0;
}
