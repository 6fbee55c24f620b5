// Case files: cases in safetensors files. `gen` and shrinking write them, `verify` and `--replay` read them.
//
// A file that attest wrote has the metadata attest.seed and attest.contract, and for each problem
// PREFIX.attest.check, PREFIX.attest.group (the case that it belongs to), PREFIX.attest.expect (how it relates to the
// group's first call), PREFIX.attest.says and PREFIX.attest.curve (the axis of a stability curve, and its place there).
// In any other file, every problem is a case of its own.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "audit/cases/case.hpp"
#include "audit/files/problem_file.hpp"

namespace attest::audit {

/// The bytes of a file with these cases, and with their outputs where `outputs` has them. Layouts lose their gaps.
problem::result<std::vector<std::byte>> case_file_bytes(std::span<audit_case const> cases, std::uint64_t seed,
                                                        std::string const& contract,
                                                        std::span<case_outputs const> outputs = {});

/// A case of a file, and the recorded outputs of each of its calls (none where the file has no output of that call).
struct recorded_case {
  audit_case input;
  case_outputs outputs;
};

/// The cases of a file.
/// Ensures   calls_fault finds no fault in any; an error names the metadata key
problem::result<std::vector<recorded_case>> cases_of(problem_file&& file);

}  // namespace attest::audit
