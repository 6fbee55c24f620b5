#include "audit/asking/protections.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace attest::audit {

std::vector<std::string> protections_of(isolation_limits const& limits, std::vector<std::string> const& missing,
                                        bool served) {
  if (served)
    return {"tensors between inaccessible pages, outputs full of NaN",
            fmt::format("no process of its own; a call that takes {:g} s is unanswered", limits.waiting_seconds)};
  auto const gib = [](std::uint64_t bytes) { return static_cast<double>(bytes) / 0x1p30; };
  std::vector<std::string> words{
      "a process of its own", "tensors between inaccessible pages, at their end and at their start",
      "inputs that cannot be written, outputs full of NaN",
      missing.empty()
          ? "namespaces, an unprivileged user, a filter of system calls, Landlock"
          : "what the system permits of namespaces, an unprivileged user, a filter of system calls, Landlock",
      fmt::format("at most {:g} s of processor time a call, {:g} GiB and {} threads", limits.seconds,
                  gib(limits.process.resident_bytes), limits.process.threads)};
  auto const allowed = limits.needs.words();
  if (!allowed.empty()) words.push_back(fmt::format("the kernel was allowed: {}", fmt::join(allowed, ", ")));
  return words;
}

}  // namespace attest::audit
