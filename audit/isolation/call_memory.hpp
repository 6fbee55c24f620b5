// The memory of one call: the position of each tensor, the bytes around it (call_memory.cpp), and how the kernel
// changed both (memory_after_call.cpp).
//
// The process under audit maps the tensors, with inaccessible pages around them. This process reads and writes the same
// memory as a file, so that nothing the other process does to it can cause a fault here.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "audit/isolation/isolated_kernel.hpp"
#include "audit/isolation/owned_descriptor.hpp"
#include "audit/isolation/placed_tensor.hpp"
#include "audit/isolation/runner/protocol.hpp"
#include "audit/tensors/owned_outputs.hpp"
#include "audit/tensors/owned_problem.hpp"
#include "problem/result.hpp"

namespace attest::audit {

/// The place where the memory of a call begins: in the shared memory, a multiple of the page size, and in the address
/// range.
struct memory_origin {
  std::uint64_t memory = 0, range = 0;
};

class call_memory {
 public:
  /// Plans the memory of a call. Returns an error if the problem cannot have the form of the request (memory_fault), or
  /// if the tensors need more than limits.bytes. Returns error_code::unsupported if the form needs more address space
  /// than limits.address_bytes or more pieces of memory than a message has. A call of a group begins at the end of the
  /// one before it.
  static problem::result<call_memory> plan(owned_problem const& problem, call_request const& request,
                                           isolation_limits const& limits, memory_origin from = {});

  /// New memory for a process, without bytes of another process. It may grow, and not shrink.
  static problem::result<owned_descriptor> shared();

  /// The bytes of the message to the runner.
  std::span<std::byte const> message() const noexcept {
    return std::as_bytes(std::span(message_.get(), 1)).first(runner::bytes_with(message_->piece_count));
  }
  void set_sequence(std::uint64_t sequence) noexcept { message_->sequence = sequence; }
  /// Makes it a call of a group: `following` further messages of the group come after this one.
  void set_group(std::uint32_t following, call_of_group const& call) noexcept {
    message_->following = following, message_->caller = call.caller, message_->repeat_seconds = call.repeat_seconds;
  }

  memory_origin end() const noexcept { return {begin_ + memory_bytes_, message_->range_bytes}; }

  /// The bytes of address space of this call and the calls before it in its group.
  std::uint64_t range_bytes() const noexcept { return message_->range_bytes; }

  /// The bytes that the kernel's process may touch.
  std::uint64_t tensor_bytes() const noexcept;

  /// Writes the inputs, NaN into the outputs, and the bytes around both; clears the crash note.
  std::optional<problem::error> fill(int memory);

  /// Compares the memory with what fill wrote, and copies the outputs if the call succeeded. `remember` says that
  /// changed_since asks about the memory later.
  /// Ensures   `broken` names every tensor whose surrounding bytes (or, for an input, contents) changed
  std::optional<problem::error> read_back(int memory, call_outcome outcome, owned_outputs& outputs,
                                          std::vector<broken_promise>& broken, bool remember);

  /// After read_back: has the memory changed since then? False if it is large, or was not to be remembered.
  bool changed_since(int memory) const;

  /// The promise that a crash broke, if the call, or the first of its group, has this sequence number. Returns nothing
  /// if the recorded address is not in or near a tensor.
  std::optional<broken_promise> explain_crash(int memory, std::uint64_t sequence) const;

 private:
  struct region {
    placed_tensor tensor;
    std::uint64_t memory_offset = 0;  ///< of its image, from begin_ on
    std::uint64_t place = 0;          ///< of its first element in the address range
    std::uint64_t guard = 0;          ///< inaccessible bytes before and after it
  };

  std::optional<problem::error> add(runner::tensor_index index, placed_tensor tensor, placement where,
                                    isolation_limits const& limits);
  void describe(runner::tensor_index index, problem::element_type type, problem::layout const& strided);
  std::optional<broken_promise> changed_surroundings(std::size_t index, std::span<std::byte const> before,
                                                     std::span<std::byte const> after) const;
  /// The elements of an output that the call changed, the subset that belongs to a query, and their number.
  struct written_elements {
    std::size_t all = 0, of_queries = 0, expected = 0;
  };
  owned_tensor taken(std::size_t index, std::span<std::byte const> before, std::span<std::byte> after,
                     written_elements& written, padding_found& padding) const;

  explicit call_memory(owned_problem problem) : problem_(std::move(problem)) {}

  owned_problem problem_;
  std::array<std::optional<region>, runner::slot_count> regions_{};  ///< none: absent, or in the memory of another
  std::unique_ptr<runner::call_message> message_ = std::make_unique<runner::call_message>();
  std::uint64_t begin_ = 0, memory_bytes_ = 0;  ///< in the shared memory
  std::vector<std::byte> written_;              ///< the memory from begin_ on, if it is small; else empty
  std::vector<std::byte> found_;                ///< what read_back found in it, if changed_since asks; else empty
};

}  // namespace attest::audit
