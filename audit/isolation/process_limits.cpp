#include "audit/isolation/process_limits.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

namespace attest::audit {
namespace {

struct usage {
  std::uint64_t bytes = 0;
  std::int64_t threads = 0;
};

/// VmHWM (the peak), VmPTE (the tables of pages) and Threads of a status file of /proc. No bytes if its thread has
/// ended, no threads if its process has.
usage read_status(std::string const& path) {
  std::ifstream status(path);
  usage used;
  std::string word;
  while (status >> word) {
    if (std::uint64_t kibibytes = 0; word == "VmHWM:" || word == "VmPTE:") {
      status >> kibibytes;
      used.bytes += kibibytes * 1024;
    } else if (word == "Threads:") {
      status >> used.threads;
    }
    status.ignore(4096, '\n');
  }
  return used;
}

/// Returns nothing if the process has ended.
std::optional<usage> usage_of(int id) {
  usage used = read_status(fmt::format("/proc/{}/status", id));
  if (used.threads == 0) return std::nullopt;
  if (used.bytes > 0 || used.threads == 1) return used;
  // The first thread of the process has ended: the numbers are read from another thread.
  std::error_code code;
  for (std::filesystem::directory_iterator at(fmt::format("/proc/{}/task", id), code), end; !code && at != end;
       at.increment(code))
    if (usage const seen = read_status(at->path() / "status"); seen.bytes > 0) {
      used.bytes = seen.bytes;
      break;
    }
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
