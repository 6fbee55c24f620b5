// The outputs that a file has for a problem.
#pragma once

#include <string_view>

#include "audit/files/merge_file.hpp"
#include "audit/files/problem_file.hpp"

namespace attest::audit {

/// Reads one output of a problem, if the file has it. An output that fits the problem goes to entry.outputs, compact
/// and in the order of a call; any other goes to entry.unusable. Weights of packed rows cannot be judged, whatever
/// their shape: entry says that they are there.
void read_output(std::string_view role, tensor_group const& from, problem_file_entry& entry);

}  // namespace attest::audit
