// libattest_kernel.so: the fast kernel behind the C interface of <attest/kernel.h>, and the functions of
// <attest/builtin.h>.
#include <string>
#include <variant>

#include <attest/builtin.h>

#include "fast/attention.hpp"
#include "fast/simd/operations.hpp"
#include "problem/dlpack.hpp"

namespace attest::fast {
namespace {

attest_status status_of(problem::error const& why) noexcept {
  return why.code == problem::error_code::unsupported ? ATTEST_UNSUPPORTED : ATTEST_FAILED;
}

template <class T>
attest_status run(problem::instance<T> const& instance, problem::erased_outputs const& erased, options const& chosen) {
  auto const outputs = problem::make_outputs(instance, erased);
  if (!outputs) return status_of(outputs.why());
  auto const done = attention(instance, outputs.value(), chosen);
  return done ? ATTEST_OK : status_of(done.why());
}

attest_status run(attest_call const& call, bf16_arithmetic arithmetic) {
  auto const unpacked = problem::unpack(call);
  if (!unpacked) return status_of(unpacked.why());
  auto const instance = problem::make_instance(unpacked.value().arguments);
  if (!instance) return status_of(instance.why());
  options const chosen{.threads = call.threads, .bf16_arithmetic = arithmetic};
  return std::visit([&](auto const& typed) { return run(typed, unpacked.value().outputs, chosen); }, instance.value());
}

/* FAILED for a malformed call (also for a `reserved` that is not 0), UNSUPPORTED for dropout and for an unknown
 * abi_version; then no output is written. */
attest_status answer(attest_call const* call, bf16_arithmetic arithmetic) noexcept {
  if (call == nullptr) return ATTEST_FAILED;
  if (call->abi_version != ATTEST_KERNEL_ABI && call->abi_version != ATTEST_KERNEL_ABI_2) return ATTEST_UNSUPPORTED;
  if (call->abi_version == ATTEST_KERNEL_ABI_2 && call->reserved != 0) return ATTEST_FAILED;
  try {
    return run(*call, arithmetic);
  } catch (...) {  // out of memory
    return ATTEST_FAILED;
  }
}

}  // namespace
}  // namespace attest::fast

extern "C" {

ATTEST_EXPORT attest_status attest_attention(attest_call const* call) {
  return attest::fast::answer(call, attest::fast::bf16_arithmetic::f32);
}

ATTEST_EXPORT attest_status attest_attention_bf16_dot(attest_call const* call) {
  return attest::fast::answer(call, attest::fast::bf16_arithmetic::dot_products);
}

ATTEST_EXPORT attest_status attest_attention_bf16_tiles(attest_call const* call) {
  return attest::fast::answer(call, attest::fast::bf16_arithmetic::tile_products);
}

ATTEST_EXPORT void attest_release_memory() { attest::fast::release_memory(); }

ATTEST_EXPORT char const* attest_kernel_name() {
  try {
    static std::string const name = std::string("attest fast (") + attest::fast::best_operations<float>().name + ")";
    return name.c_str();
  } catch (...) {  // out of memory
    return "attest fast";
  }
}
}
