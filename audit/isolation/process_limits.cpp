#include "audit/isolation/process_limits.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

namespace attest::audit {
namespace {

struct usage {
  std::uint64_t bytes = 0;
  std::int64_t threads = 0;
};

/// VmHWM (the peak) and Threads of /proc/ID/status; nothing where the process is gone.
std::optional<usage> usage_of(int id) {
  std::ifstream status(fmt::format("/proc/{}/status", id));
  usage made;
  std::string word;
  while (status >> word) {
    if (word == "VmHWM:") {
      status >> made.bytes;
      made.bytes *= 1024;
    } else if (word == "Threads:") {
      status >> made.threads;
    }
    status.ignore(4096, '\n');
  }
  if (made.threads == 0) return std::nullopt;
  return made;
}

std::optional<std::string> judged(usage const& used, process_limits const& limits) {
  auto const gib = [](std::uint64_t bytes) { return static_cast<double>(bytes) * 0x1p-30; };
  if (used.bytes > limits.resident_bytes)
    return fmt::format("holds {:.2f} GiB of memory, {:.2f} are allowed", gib(used.bytes), gib(limits.resident_bytes));
  if (used.threads > limits.threads)
    return fmt::format("runs {} threads, {} are allowed", used.threads, limits.threads);
  return std::nullopt;
}

/// The process group of /proc/ID/stat: the third field behind the name, which ends with the last ')'.
int group_of(int id) {
  std::ifstream file(fmt::format("/proc/{}/stat", id));
  std::string text;
  std::getline(file, text);
  auto const end = text.rfind(')');
  if (end == text.npos) return -1;
  char state = 0;
  int parent = 0, group = -1;
  if (std::sscanf(text.c_str() + end + 1, " %c %d %d", &state, &parent, &group) != 3) return -1;
  return group;
}

/// A file's name as a number.
std::optional<int> number_in(std::string const& name) {
  int number = 0;
  auto const [stop, fault] = std::from_chars(name.data(), name.data() + name.size(), number);
  return fault == std::errc{} && stop == name.data() + name.size() ? std::optional(number) : std::nullopt;
}

/// f(thread, nanoseconds on a run queue), for each thread of the process.
template <class F>
void each_wait(int id, F&& f) {
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
  each_wait(id, [&](int thread, std::int64_t waited) { before_[thread] = waited; });
}

std::chrono::nanoseconds processor_wait::so_far() const {
  std::int64_t most = 0;
  each_wait(id_, [&](int thread, std::int64_t waited) {
    auto const found = before_.find(thread);
    most = std::max(most, found == before_.end() ? waited : waited - found->second);
  });
  return std::chrono::nanoseconds(most);
}

std::optional<std::string> passes_limits(int id, process_limits const& limits) {
  auto const used = usage_of(id);
  return used ? judged(*used, limits) : std::nullopt;
}

std::optional<std::string> group_passes_limits(int id, process_limits const& limits) {
  usage sum;
  std::error_code code;
  for (std::filesystem::directory_iterator at("/proc", code), end; !code && at != end; at.increment(code)) {
    auto const number = number_in(at->path().filename().native());
    if (!number || group_of(*number) != id) continue;
    if (auto const used = usage_of(*number)) sum.bytes += used->bytes, sum.threads += used->threads;
  }
  return judged(sum, limits);
}

}  // namespace attest::audit
