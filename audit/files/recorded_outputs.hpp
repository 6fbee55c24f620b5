// The outputs that a file has for a problem.
#pragma once

#include "audit/files/problem_file_entry.hpp"
#include "audit/files/tensor_group.hpp"

namespace attest::audit {

/// Reads the outputs of a problem that the file has. An output that fits the problem goes to entry.outputs, compact and
/// in the order of a call; any other goes to entry.unusable. Weights of packed rows cannot be judged, whatever their
/// shape: entry says that they are there.
void read_outputs(tensor_group const& from, problem_file_entry& entry);

}  // namespace attest::audit
