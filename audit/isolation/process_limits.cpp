#include "audit/isolation/process_limits.hpp"

#include <algorithm>
#include <fstream>

#include <fmt/format.h>

namespace attest::audit {
namespace {

struct usage {
  std::uint64_t bytes = 0;
  std::int64_t threads = 0;
};

/// VmHWM (the peak) and Threads of /proc/ID/status; none where the process has ended.
std::optional<usage> usage_of(int id) {
  std::ifstream status(fmt::format("/proc/{}/status", id));
  usage used;
  std::string word;
  while (status >> word) {
    if (word == "VmHWM:") {
      status >> used.bytes;
      used.bytes *= 1024;
    } else if (word == "Threads:") {
      status >> used.threads;
    }
    status.ignore(4096, '\n');
  }
  if (used.threads == 0) return std::nullopt;
  return used;
}

/// The first exceeded limit, as a clause.
std::optional<std::string> exceeded_limit(usage used, process_limits const& limits, std::uint64_t not_its_own) {
  used.bytes -= std::min(used.bytes, not_its_own);
  auto const gib = [](std::uint64_t bytes) { return static_cast<double>(bytes) * 0x1p-30; };
  if (used.bytes > limits.resident_bytes)
    return fmt::format("holds {:.2f} GiB of memory, {:.2f} are allowed", gib(used.bytes), gib(limits.resident_bytes));
  if (used.threads > limits.threads)
    return fmt::format("runs {} threads, {} are allowed", used.threads, limits.threads);
  return std::nullopt;
}

}  // namespace

std::optional<std::string> passes_limits(int id, process_limits const& limits, std::uint64_t not_its_own) {
  auto const used = usage_of(id);
  return used ? exceeded_limit(*used, limits, not_its_own) : std::nullopt;
}

std::optional<std::string> tree_passes_limits(std::span<tree_process const> tree, process_limits const& limits,
                                              std::uint64_t not_its_own) {
  usage sum;
  for (tree_process const& one : tree)
    if (auto const used = usage_of(one.id)) sum.bytes += used->bytes, sum.threads += used->threads;
  return exceeded_limit(sum, limits, not_its_own);
}

}  // namespace attest::audit
