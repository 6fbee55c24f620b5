// The memory and threads of a running process, observed from outside: limits that also hold for root, and that the
// process cannot raise.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "audit/isolation/process_tree.hpp"

namespace attest::audit {

/// Limits for the process of a kernel together with all processes that it starts.
struct process_limits {
  std::uint64_t resident_bytes = std::uint64_t{4} << 30;  ///< in addition to the tensors of a call
  std::int64_t threads = 512;
};

/// The first limit that process `id` exceeds, as a clause: "holds 4.10 GiB of memory, 4.00 are allowed". Returns
/// nothing if it exceeds none. Its peak memory counts, so that a peak between two observations is found; `not_its_own`
/// bytes of it do not count.
/// Cost      one read of /proc
std::optional<std::string> passes_limits(int id, process_limits const& limits, std::uint64_t not_its_own = 0);

/// The same for the sum over all processes of a kernel.
/// Cost      one read of /proc for each process of the tree
std::optional<std::string> tree_passes_limits(std::span<tree_process const> tree, process_limits const& limits,
                                              std::uint64_t not_its_own = 0);

}  // namespace attest::audit
