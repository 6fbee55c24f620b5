// The calls of the kernel: one by itself, or a group from one thread or from several. The tensors of all calls of a
// group stay mapped meanwhile.
#pragma once

#include <atomic>
#include <cfenv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>

#include <attest/kernel.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include "audit/isolation/runner/crash_handler.hpp"
#include "audit/isolation/runner/environment.hpp"
#include "audit/isolation/runner/merge_call.hpp"
#include "audit/isolation/runner/protocol.hpp"
#include "problem/call_parameters.hpp"
#include "problem/optional_tensors.hpp"

namespace attest::audit::runner {

using kernel_function = attest_status (*)(attest_call const*);

inline double now() noexcept {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// The descriptors that are passed to a kernel, in one object, so that one comparison shows whether it wrote to them.
struct descriptors {
  DLTensor tensors[slot_count];
  std::int64_t shape[slot_count][4], strides[slot_count][4];
  attest_call call;
};

/// Memory that ends with inaccessible bytes. The structure of a call lies at its end: a kernel of a later version that
/// reads beyond the structure finds nothing there.
class call_places {
 public:
  call_places() noexcept {
    page_ = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    void* const memory = mmap(nullptr, 2 * page_ * most_together, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;
    first_ = static_cast<std::byte*>(memory);
    for (std::uint32_t at = 0; at < most_together; ++at)
      if (mprotect(first_ + 2 * page_ * at, page_, PROT_READ | PROT_WRITE) != 0) first_ = nullptr, at = most_together;
  }
  bool usable() const noexcept { return first_ != nullptr; }

  /// Copies a call to its place. Requires usable()
  attest_call const* put(std::uint32_t at, attest_call const& call) noexcept {
    std::byte* const to = first_ + 2 * page_ * at + page_ - problem::call_bytes(call);
    std::memcpy(to, &call, problem::call_bytes(call));
    return reinterpret_cast<attest_call const*>(to);
  }

 private:
  std::byte* first_ = nullptr;
  std::size_t page_ = 0;
};

/// Maps the tensors from the shared `memory` into `range`: inputs are read-only, and memory of no tensor is
/// inaccessible.
inline bool map_tensors(call_message const& message, int memory, std::byte* range) noexcept {
  for (std::uint64_t i = 0; i < message.piece_count; ++i) {
    auto const& piece = message.pieces[i];
    int const access = piece.writable != 0 ? PROT_READ | PROT_WRITE : PROT_READ;
    if (mmap(range + piece.place, piece.bytes, access, MAP_SHARED | MAP_FIXED, memory,
             static_cast<off_t>(piece.memory_offset)) == MAP_FAILED)
      return false;
  }
  return true;
}

/// Fills in the descriptors of a call. Requires `to` zeroed, since padding is compared too.
inline void describe(call_message const& message, std::byte* range, descriptors& to) noexcept {
  for (std::uint32_t i = 0; i < slot_count; ++i) {
    auto const& slot = message.slots[i];
    auto& tensor = to.tensors[i];
    std::memcpy(to.shape[i], slot.shape, sizeof slot.shape);
    std::memcpy(to.strides[i], slot.strides, sizeof slot.strides);
    tensor.data = slot.data == null_data ? nullptr : range + slot.data;
    tensor.device.device_type = kDLCPU;
    tensor.ndim = slot.rank;
    tensor.dtype.code = slot.type_code;
    tensor.dtype.bits = slot.type_bits;
    tensor.dtype.lanes = 1;
    tensor.shape = to.shape[i];
    tensor.strides = to.strides[i];
    tensor.byte_offset = slot.byte_offset;
  }
  auto const present = [&](tensor_index i) { return message.slots[i].present ? &to.tensors[i] : nullptr; };
  auto& call = to.call;
  auto const& p = message.parameters;
  int version =
      p.align != 0 || p.dropout != 0 || p.block_q != 0 || p.block_k != 0 ? ATTEST_KERNEL_ABI_2 : ATTEST_KERNEL_ABI;
  problem::visit_optional_tensors(
      [&](problem::optional_tensor const& row, tensor_index i) {
        if (row.version > version && message.slots[i].present != 0) version = row.version;
      },
      optional_slots{});
  call.abi_version = static_cast<std::uint32_t>(version);
  call.threads = message.threads;
  call.q = present(q);
  call.k = present(k);
  call.v = present(v);
  problem::visit_optional_tensors(
      [&](problem::optional_tensor const& row, DLTensor const*& field, tensor_index i) {
        if (row.version <= version) field = present(i);
      },
      call, optional_slots{});
  problem::set_parameters(call, message.parameters);
  call.out = present(out);
  call.lse = present(lse);
  call.weights = present(weights);
  if (version < ATTEST_KERNEL_ABI_3) return;
  call.d_q = present(d_q), call.d_k = present(d_k), call.d_v = present(d_v);
  call.d_bias = present(d_bias), call.d_sink = present(d_sink);
}

/// A sum over the pages that the kernel may write. If one word changes, the sum changes: each step is one to one in the
/// word, and one to one in the sum so far. Cost  four cycles a word
inline std::uint64_t sum_of_outputs(call_message const& message, std::byte const* range) noexcept {
  std::uint64_t sum = 0xcbf29ce484222325;
  for (std::uint64_t i = 0; i < message.piece_count; ++i) {
    auto const& piece = message.pieces[i];
    if (piece.writable == 0) continue;
    for (std::uint64_t at = 0; at < piece.bytes; at += sizeof sum) {  // whole pages
      std::uint64_t word;
      std::memcpy(&word, range + piece.place + at, sizeof word);
      sum = (sum ^ word) * 0x100000001b3;  // FNV-1a, by words
    }
  }
  return sum;
}

/// The reply to the call that this thread is making; attest_serve_say writes its text there.
inline thread_local reply_message* saying_for = nullptr;

/// The calls of a group, and the threads that make them. A merge is no call of a larger group.
class call_group {
 public:
  void merges_with(merge_function merge) noexcept { merge_ = merge; }
  void differentiates_with(kernel_function backward, bool alone) noexcept { backward_ = backward, alone_ = alone; }

  /// Makes the calls, whose tensors lie in the shared `memory`, and writes their replies.
  /// Requires  1 ≤ count ≤ most_together
  void make(call_message const* messages, std::uint32_t count, kernel_function kernel, int memory,
            reply_message* replies) noexcept {
    messages_ = messages, count_ = count, kernel_ = kernel, replies_ = replies;
    for (std::uint32_t at = 0; at < count; ++at) {
      replies[at] = {};
      replies[at].magic = reply_magic, replies[at].sequence = messages[at].sequence;
    }
    std::uint64_t const range_bytes = messages[count - 1].range_bytes;
    range_ = static_cast<std::byte*>(
        mmap(nullptr, range_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (range_ == MAP_FAILED || !places_.usable()) return nothing_called(no_range_magic);
    bool mapped = true;
    for (std::uint32_t at = 0; at < count && mapped; ++at) mapped = map_tensors(messages[at], memory, range_);
    if (mapped) call_all();
    else nothing_called(no_memory_magic);
    munmap(range_, range_bytes);
  }

 private:
  struct caller {
    call_group* group;
    std::uint32_t number;
  };

  void nothing_called(std::uint32_t magic) noexcept {
    for (std::uint32_t at = 0; at < count_; ++at) replies_[at].magic = magic;
  }

  void call_all() noexcept {
    callers_ = 1;
    for (std::uint32_t at = 0; at < count_; ++at) {
      std::memset(&passed_[at], 0, sizeof passed_[at]);
      describe(messages_[at], range_, passed_[at]);
      std::memcpy(&before_[at], &passed_[at], sizeof passed_[at]);
      calls_[at] = places_.put(at, passed_[at].call);
      if (messages_[at].caller >= callers_) callers_ = messages_[at].caller + 1;
    }
    if (is_merge()) {
      std::memset(&merged_, 0, sizeof merged_);
      describe_merge(messages_[0], range_, merged_);
      std::memcpy(&merged_before_, &merged_, sizeof merged_);
    }
    crash.sequence = messages_[0].sequence;
    crash.range = range_;
    arrived_ = 0, abandoned_ = false;
    pthread_t threads[most_together];
    caller others[most_together];
    std::uint32_t started = 1;
    for (; started < callers_; ++started) {
      others[started] = {this, started};
      if (pthread_create(&threads[started], nullptr, run, &others[started]) != 0) break;
    }
    bool const all_started = started == callers_;
    if (all_started) calls_of(0);
    else abandoned_ = true;
    for (std::uint32_t at = 1; at < started; ++at) pthread_join(threads[at], nullptr);
    if (!all_started) return nothing_called(no_thread_magic);
    bool const compared = count_ > 1 && callers_ == 1;
    for (std::uint32_t at = 0; at < count_; ++at) {
      replies_[at].descriptors_changed =
          std::memcmp(&before_[at], &passed_[at], sizeof passed_[at]) != 0 ||
          std::memcmp(calls_[at], &before_[at].call, problem::call_bytes(before_[at].call)) != 0 ||
          (is_merge() && std::memcmp(&merged_before_, &merged_, sizeof merged_) != 0);
      replies_[at].outputs_changed = compared && sum_of_outputs(messages_[at], range_) != sums_[at];
    }
  }

  static void* run(void* of) noexcept {
    auto const& self = *static_cast<caller*>(of);
    self.group->calls_of(self.number);
    return nullptr;
  }

  /// Makes the calls of one thread, in order. No thread begins before all are there.
  void calls_of(std::uint32_t number) noexcept {
    ++arrived_;
    while (arrived_ < callers_ && !abandoned_) sched_yield();
    for (std::uint32_t at = 0; at < count_ && !abandoned_; ++at)
      if (messages_[at].caller == number) call(at);
  }

  void call(std::uint32_t at) noexcept {
    call_message const& message = messages_[at];
    double const begin = now();
    call_once(at);
    bool const repeats = message.repeat_seconds > 0;
    if (repeats || (count_ > 1 && callers_ == 1)) sums_[at] = sum_of_outputs(message, range_);
    // Outputs that differ are left where they can be read.
    while (now() - begin < message.repeat_seconds && replies_[at].status == ATTEST_OK) {
      call_once(at);
      if (sum_of_outputs(message, range_) != sums_[at]) break;
    }
  }

  void call_once(std::uint32_t at) noexcept {
    std::fenv_t environment;
    std::fegetenv(&environment);
    auto const control = control_bits();
    double const start = now();
    saying_for = replies_ + at;
    replies_[at].status = static_cast<std::int32_t>(answer_of(at));
    double const end = now();
    if (control_bits() != control) replies_[at].environment_changed = 1;
    restore(environment);
    replies_[at].seconds += end - start;
  }

  attest_status answer_of(std::uint32_t at) noexcept {
    if (messages_[at].merge.asked != 0) return is_merge() && merge_ ? merge_(&merged_.call) : ATTEST_UNSUPPORTED;
    if (messages_[at].slots[d_out].present == 0) return kernel_(calls_[at]);
    replies_[at].alone = alone_;
    if (backward_) return backward_(calls_[at]);
    std::strncpy(replies_[at].text, no_backward_said, sizeof replies_[at].text);
    return ATTEST_UNSUPPORTED;
  }

  bool is_merge() const noexcept {
    return count_ == 1 && messages_[0].merge.asked != 0 && messages_[0].slots[v].shape[2] <= most_parts;
  }

  merge_function merge_ = nullptr;
  kernel_function backward_ = nullptr;
  bool alone_ = false;
  merge_descriptors merged_{}, merged_before_{};
  call_message const* messages_ = nullptr;
  reply_message* replies_ = nullptr;
  kernel_function kernel_ = nullptr;
  std::byte* range_ = nullptr;
  std::uint32_t count_ = 0, callers_ = 0;
  std::atomic<std::uint32_t> arrived_ = 0;
  std::atomic<bool> abandoned_ = false;
  descriptors passed_[most_together]{}, before_[most_together]{};
  call_places places_;
  attest_call const* calls_[most_together]{};
  std::uint64_t sums_[most_together]{};  ///< of the outputs after each call, if one thread makes all
};

}  // namespace attest::audit::runner
