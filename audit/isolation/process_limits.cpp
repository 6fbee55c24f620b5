#include "audit/isolation/process_limits.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

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

/// The parent in /proc/ID/stat: the second field after the name, which ends with the last ')'. 0 where it has ended.
int parent_of(int id) {
  std::ifstream file(fmt::format("/proc/{}/stat", id));
  std::string text;
  std::getline(file, text);
  auto const end = text.rfind(')');
  char state = 0;
  int parent = 0;
  if (end == text.npos || std::sscanf(text.c_str() + end + 1, " %c %d", &state, &parent) != 2) return 0;
  return parent;
}

/// The name of a file as a number.
std::optional<int> number_in(std::string const& name) {
  int number = 0;
  auto const [stop, fault] = std::from_chars(name.data(), name.data() + name.size(), number);
  return fault == std::errc{} && stop == name.data() + name.size() ? std::optional(number) : std::nullopt;
}

/// Calls f(thread, nanoseconds on a run queue) for each thread of the process.
template <class F>
void visit_waits(int id, F&& f) {
  std::error_code code;
  for (std::filesystem::directory_iterator at(fmt::format("/proc/{}/task", id), code), end; !code && at != end;
       at.increment(code)) {
    std::ifstream file(at->path() / "schedstat");
    std::int64_t running = 0, waiting = 0;
    auto const thread = number_in(at->path().filename().native());
    if (thread && file >> running >> waiting) f(*thread, waiting);
  }
}

}  // namespace

processor_wait::processor_wait(int id) : id_(id) {
  visit_waits(id, [&](int thread, std::int64_t waited) { waited_before_[thread] = waited; });
}

std::chrono::nanoseconds processor_wait::so_far() const {
  std::int64_t most = 0;
  visit_waits(id_, [&](int thread, std::int64_t waited) {
    auto const found = waited_before_.find(thread);
    most = std::max(most, found == waited_before_.end() ? waited : waited - found->second);
  });
  return std::chrono::nanoseconds(most);
}

std::optional<std::string> passes_limits(int id, process_limits const& limits, std::uint64_t not_its_own) {
  auto const used = usage_of(id);
  return used ? exceeded_limit(*used, limits, not_its_own) : std::nullopt;
}

std::optional<std::string> tree_passes_limits(int id, process_limits const& limits, std::uint64_t not_its_own) {
  std::unordered_multimap<int, int> children;  // by parent
  std::error_code code;
  for (std::filesystem::directory_iterator at("/proc", code), end; !code && at != end; at.increment(code))
    if (auto const number = number_in(at->path().filename().native())) children.emplace(parent_of(*number), *number);
  usage sum;
  std::vector<int> below{parent_of(id)};
  if (below[0] <= 1) return std::nullopt;
  for (std::size_t next = 0; next < below.size(); ++next) {
    auto const [first, last] = children.equal_range(below[next]);
    for (auto child = first; child != last; ++child) {
      below.push_back(child->second);
      if (auto const used = usage_of(child->second)) sum.bytes += used->bytes, sum.threads += used->threads;
    }
  }
  return exceeded_limit(sum, limits, not_its_own);
}

}  // namespace attest::audit
