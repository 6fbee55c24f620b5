// The memory of one call: the position of each tensor, the bytes around it, and how the kernel changed both.
//
// The process under audit maps the tensors, with inaccessible pages around them. This process reads and writes the same
// memory as a file, so that nothing the other process does to it can cause a fault here.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "audit/isolation/isolated_kernel.hpp"
#include "audit/isolation/runner/protocol.hpp"
#include "audit/tensors/owned_outputs.hpp"
#include "audit/tensors/owned_problem.hpp"
#include "problem/result.hpp"

namespace attest::audit {

class call_memory {
 public:
  /// Plans the memory of a call. An error where it needs more than limits.bytes.
  static problem::result<call_memory> plan(owned_problem const& problem, call_request const& request,
                                           isolation_limits const& limits);

  runner::call_message const& message() const noexcept { return message_; }

  /// Writes the inputs, NaN into the outputs, and the bytes around both; clears the crash note.
  std::optional<problem::error> fill(int memory) const;

  /// Compares the memory with what fill wrote, and copies the outputs where the call succeeded.
  /// Ensures   `broken` names every tensor whose surrounding bytes (or, for an input, contents) changed
  std::optional<problem::error> read_back(int memory, call_outcome outcome, owned_outputs& outputs,
                                          std::vector<broken_promise>& broken) const;

  /// The promise that a crash broke; none where the recorded address is not in or near a tensor.
  std::optional<broken_promise> explain_crash(int memory, std::uint64_t sequence) const;

 private:
  struct placed_tensor {
    std::optional<owned_tensor> output;   ///< layout of an output, without bytes
    owned_tensor const* input = nullptr;  ///< a tensor of problem_
    std::uint64_t first = 0;              ///< byte of the first element in the mapped pages
    std::uint64_t bytes = 0;              ///< that the elements span

    bool present() const noexcept { return input || output; }
    owned_tensor const& tensor() const noexcept { return input ? *input : *output; }
  };

  void place(runner::tensor_index index, placed_tensor placed, call_request const& request, std::uint64_t& memory_end);
  std::vector<std::byte> image(std::size_t index) const;

  explicit call_memory(owned_problem problem) : problem_(std::move(problem)) {}

  owned_problem problem_;
  std::array<placed_tensor, runner::slot_count> regions_{};
  runner::call_message message_{};
  std::uint64_t memory_bytes_ = 0;
};

}  // namespace attest::audit
