#include "audit/isolation/missing_protections.hpp"

#include <fmt/format.h>

#include "audit/support/descriptor.hpp"

namespace attest::audit {

std::vector<std::string> missing_protections(runner::protection_faults const& faults) {
  // In the order of runner::protection.
  constexpr char const* names[runner::protection_count] = {
      "processes of its own",   "read-only mounts",   "a network namespace",      "an IPC namespace",
      "another user than root", "no_new_privs",       "a filter of system calls", "Landlock for files",
      "Landlock for reads",     "signals kept inside"};
  std::vector<std::string> missing;
  for (std::uint32_t which = 0; which < runner::protection_count; ++which)
    if (faults.of[which] != 0) missing.push_back(fmt::format("{} ({})", names[which], system_reason(faults.of[which])));
  return missing;
}

}  // namespace attest::audit
