// The processes of a kernel, as Linux shows them in /proc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace attest::audit {

struct tree_process {
  int id = 0;
  double processor_seconds = 0;  ///< of the process and its children that it has waited for; Linux counts by 0.01
};

/// All processes below the parent of process `id`: every process that a kernel starts stays below that parent
/// (runner/caged_process.hpp). Empty if process `id` has ended.
/// Cost      one read of /proc for each process of the machine
/// Source    proc(5), /proc/ID/stat: ppid, utime, stime, cutime, cstime
std::vector<tree_process> process_tree(int id);

/// All processes below process `id`.
/// Cost, Source    as above
std::vector<tree_process> processes_below(int id);

/// The name of a file as a number.
std::optional<int> number_in(std::string const& name);

}  // namespace attest::audit
