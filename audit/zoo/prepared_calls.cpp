// Kernels that prepare a call as libraries do, and then call the fast kernel: copies, a workspace that stays, one mask
// for mask and band. One further kernel writes into the caller's arrays.
#include <mutex>

#include "audit/zoo/conditional/changed_call.hpp"
#include "audit/zoo/define.hpp"

namespace attest::zoo {
namespace {

attest_status works_on_copies(attest_call const& call) {
  changed_call copied(call);
  for (changed_tensor* t : {&copied.q, &copied.k, &copied.v, &copied.mask, &copied.bias})
    if (t->t.shape) t->own_copy();
  return copied.answer();
}

/// O is computed in memory that memory_of(bytes) gives, and is copied from there.
template <class Memory>
attest_status answer_in(attest_call const& call, Memory&& memory_of) {
  changed_call inside(call);
  inside.out.describe_as_compact();
  std::size_t const bytes =
      static_cast<std::size_t>(inside.out.shape[0] * inside.out.strides[0]) * call.out->dtype.bits / 8;
  inside.out.t.data = memory_of(bytes), inside.out.t.byte_offset = 0;
  attest_status const status = inside.answer();
  if (status != ATTEST_OK) return status;
  with_element_type(*call.out, [&]<class F>(std::type_identity<F>) {
    for (std::int64_t b = 0; b < inside.out.shape[0]; ++b)
      for (std::int64_t h = 0; h < inside.out.shape[1]; ++h)
        for (std::int64_t i = 0; i < inside.out.shape[2]; ++i)
          for (std::int64_t c = 0; c < inside.out.shape[3]; ++c)
            store(*call.out, b, h, i, c, load<F>(inside.out.t, b, h, i, c));
  });
  return status;
}

std::byte* grown(std::vector<std::byte>& workspace, std::size_t bytes) {
  if (workspace.size() < bytes) workspace.resize(bytes);
  return workspace.data();
}

/// The workspace stays from earlier calls.
attest_status keeps_a_workspace(attest_call const& call) {
  static std::mutex guard;
  static std::vector<std::byte> workspace;
  std::lock_guard const held(guard);
  return answer_in(call, [](std::size_t bytes) { return grown(workspace, bytes); });
}

attest_status keeps_a_workspace_a_thread(attest_call const& call) {
  static thread_local std::vector<std::byte> workspace;
  return answer_in(call, [](std::size_t bytes) { return grown(workspace, bytes); });
}

/// As keeps_a_workspace, but no call waits for another.
attest_status shares_a_workspace(attest_call const& call) {
  alignas(64) static std::byte workspace[std::size_t{1} << 20];
  std::vector<std::byte> larger;
  return answer_in(call,
                   [&](std::size_t bytes) { return bytes <= sizeof workspace ? workspace : grown(larger, bytes); });
}

/// Mask and band as one mask of shape [b|1, hq|1, n, m].
attest_status band_made_a_mask(attest_call const& call) {
  changed_call merged(call);
  DLTensor& mask = merged.mask.t;
  if (call.mask) {
    merged.mask.shape[2] = call.q->shape[2];
  } else {
    mask = *call.q;
    merged.mask.shape = {1, 1, call.q->shape[2], call.k->shape[2]};
    mask.shape = merged.mask.shape.data(), mask.strides = merged.mask.strides.data();
    mask.dtype = {kDLUInt, 8, 1};
    merged.call.mask = &mask;
  }
  merged.mask.own_zeros();
  for (std::int64_t b = 0; b < mask.shape[0]; ++b)
    for (std::int64_t h = 0; h < mask.shape[1]; ++h)
      for (std::int64_t i = 0; i < mask.shape[2]; ++i)
        for (std::int64_t j = 0; j < mask.shape[3]; ++j) {
          bool const attends = !call.mask || load<std::uint8_t>(*call.mask, b, h, i, j) != 0;
          store(mask, b, h, i, j, std::uint8_t{attends && in_band(i, j, call.diagonal, call.left, call.right)});
        }
  merged.call.left = merged.call.right = -1;
  return merged.answer();
}

/// If out has another place than in the call before, writes 1 into the first element of the earlier one.
attest_status writes_into_earlier_out(attest_call const& call) {
  static std::mutex guard;
  static DLTensor earlier{};
  std::lock_guard const held(guard);
  if (earlier.data && earlier.data != call.out->data) {
    std::int64_t first[4]{1, 1, 1, 1}, strides[4]{0, 0, 0, 1};
    earlier.shape = first, earlier.strides = strides;
    for_each_element(earlier, [](double, auto...) { return 1.0; });
  }
  attest_status const status = attest_attention(&call);
  std::int64_t elements = 1;
  for (int axis = 0; axis < call.out->ndim; ++axis) elements *= call.out->shape[axis];
  earlier = elements > 0 ? *call.out : DLTensor{};
  return status;
}

/// `answer` for the calls of this version of the interface.
attest_status checked(attest_call const* call, attest_status (*answer)(attest_call const&)) {
  return call->abi_version == ATTEST_KERNEL_ABI ? answer(*call) : ATTEST_UNSUPPORTED;
}

}  // namespace
}  // namespace attest::zoo

/// A specimen zoo_<name> that answers by attest::zoo::name.
#define ATTEST_PREPARED(name, kind, seen_in, description, ...)                 \
  extern "C" ATTEST_EXPORT attest_status zoo_##name(attest_call const* call) { \
    return attest::zoo::checked(call, attest::zoo::name);                      \
  }                                                                            \
  [[maybe_unused]] static bool const registered_##name =                       \
      attest::zoo::register_specimen({#name, kind, seen_in, description, zoo_##name __VA_OPT__(, ) __VA_ARGS__});

ATTEST_PREPARED(works_on_copies, attest::zoo::no_bug, "", "all inputs are copied first")
ATTEST_PREPARED(keeps_a_workspace, attest::zoo::no_bug, "", "O is computed in memory that earlier calls used")
ATTEST_PREPARED(keeps_a_workspace_a_thread, attest::zoo::no_bug, "",
                "O is computed in memory that earlier calls of the thread used")
ATTEST_PREPARED(band_made_a_mask, attest::zoo::no_bug, "", "mask and band are made one mask first") ATTEST_PREPARED(
    shares_a_workspace, attest::zoo::bug_class::nondeterminism, "",
    "O is computed in memory that calls of all threads share", "f32", true, attest::zoo::conditional_family)
    ATTEST_PREPARED(writes_into_earlier_out, attest::zoo::bug_class::memory, "pytorch#141219",
                    "the first element of the out of the call before is overwritten", "f32", false,
                    attest::zoo::conditional_family)
