// Calls of the exported C function, sound and wrecked: none leaves its memory, and sound ones are answered rightly.
//
// Bytes → an attest_call of version 1 or 2, sound at first and then wrecked (ranks, shapes, strides, types, NULLs,
// numbers, contents of lengths, offsets and tables, overlaps). The exported C function of the built-in kernel gets it.
// A malformed call is not OK and touches nothing; nor does a call with dropout, which is UNSUPPORTED. Any other is OK
// and touches elements of its outputs alone. It equals the C++ interface, bit for bit, in every row that the problem
// has, whatever lies where no row is.

#include "fast/attention.hpp"
#include "fuzz/support/abi_call.hpp"
#include "fuzz/support/require.hpp"
#include "problem/dlpack.hpp"

namespace {

using namespace attest;
using fuzz::call_under_test;
using fuzz::require;

/// The same question through C++, in memory of its own, which must hold rows of the problem and the fields of the
/// version.
call_under_test by_cpp(call_under_test const& tested, call_under_test::bytes_of_places const& used) {
  call_under_test copy(tested);
  copy.spoil(used);
  auto const unpacked = problem::unpack(copy.call);
  require(unpacked.has_value(), "the C++ interface reads it", tested);
  auto const instance = problem::make_instance(unpacked.value().arguments);
  require(instance.has_value(), "the C++ interface finds it valid", tested);
  std::visit(
      [&](auto const& p) {
        auto const outputs = problem::make_outputs(p, unpacked.value().outputs).value();
        require(fast::attention(p, outputs, {.threads = copy.call.threads}).has_value(), "the C++ interface answers",
                tested);
      },
      instance.value());
  return copy;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  call_under_test tested({data, size});
  if (!tested.inside_memory()) return 0;  // the kernel cannot know
  bool const sound = tested.well_formed(), answerable = sound && !tested.has_dropout();
  if (sound && !tested.affordable()) return 0;
  call_under_test const before(tested);
  attest_status const status = tested.ask();
  for (fuzz::place const place : fuzz::places)
    if (!answerable || !fuzz::is_output(place))
      require(tested.memory(place) == before.memory(place), "what is not an output of an answered call stays as it was",
              tested);
  require(tested.same_descriptors(before), "descriptors stay as they were", tested);
  if (!sound) {
    require(status == ATTEST_UNSUPPORTED || status == ATTEST_FAILED, "a malformed call is not OK", tested);
    return 0;
  }
  require(status == (answerable ? ATTEST_OK : ATTEST_UNSUPPORTED),
          "a sound call is answered, unless it asks for dropout", tested);
  if (!answerable) return 0;
  auto const used = before.used_bytes();
  call_under_test const expected = by_cpp(before, used);
  for (fuzz::place const place : {fuzz::place::out, fuzz::place::lse, fuzz::place::weights}) {
    auto const& rows = used[static_cast<std::size_t>(place)];
    auto const elements = before.element_bytes(place);
    for (std::size_t at = 0; at < rows.size(); ++at) {
      std::byte const written = tested.memory(place)[at];
      if (rows[at]) require(written == expected.memory(place)[at], "C and C++ agree", tested);
      else if (!elements[at]) require(written == before.memory(place)[at], "gaps stay as they were", tested);
    }
  }
  return 0;
}
