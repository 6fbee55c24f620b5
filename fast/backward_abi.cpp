// The backward pass of the fast kernel behind the C interface of <attest/kernel.h>.
#include <variant>

#include <attest/kernel.h>

#include "fast/backward.hpp"
#include "problem/backward_call.hpp"

namespace attest::fast {
namespace {

attest_status backward_status(problem::error const& why) noexcept {
  return why.code == problem::error_code::unsupported ? ATTEST_UNSUPPORTED : ATTEST_FAILED;
}

template <class T>
attest_status run_backward(problem::instance<T> const& instance, problem::unpacked_backward_call const& call,
                           options const& chosen) {
  auto const views = problem::make_backward_views(instance, call);
  if (!views) return backward_status(views.why());
  auto const& v = views.value();
  auto const done = attention_backward<T>(instance, {instance.d_out(), v.o, v.lse},
                                          {v.dq, v.dk, v.dv, v.dbias, v.dbias_f32, v.dsink, v.dsink_f32}, chosen);
  return done ? ATTEST_OK : backward_status(done.why());
}

attest_status run_backward(attest_call const& call) {
  auto const unpacked = problem::unpack_backward(call);
  if (!unpacked) return backward_status(unpacked.why());
  auto const instance = problem::make_instance(unpacked.value().arguments);
  if (!instance) return backward_status(instance.why());
  return std::visit([&](auto const& typed) { return run_backward(typed, unpacked.value(), {.threads = call.threads}); },
                    instance.value());
}

}  // namespace
}  // namespace attest::fast

extern "C" {

/* FAILED for a malformed call, UNSUPPORTED for another abi_version and for keys in pages; then no output is written. It
 * needs the O and LSE of the forward pass. */
ATTEST_EXPORT attest_status attest_attention_backward(attest_call const* call) {
  if (call == nullptr) return ATTEST_FAILED;
  if (call->abi_version != ATTEST_KERNEL_ABI_3) return ATTEST_UNSUPPORTED;
  if (call->reserved != 0) return ATTEST_FAILED;
  try {
    return attest::fast::run_backward(*call);
  } catch (...) {  // out of memory
    return ATTEST_FAILED;
  }
}
}
