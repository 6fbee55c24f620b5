// Cases in safetensors files: written by `gen` and by shrinking, read by `verify` and `--replay`.
//
// A file of attest's own carries the metadata attest.seed and attest.contract, and for each problem
// PREFIX.attest.check, PREFIX.attest.group (the case that it belongs to), PREFIX.attest.expect (how it relates to the
// group's first call), PREFIX.attest.says and PREFIX.attest.curve (the axis of a stability curve, and its place there).
// In any other file every problem is a case of its own.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "audit/cases/case.hpp"
#include "audit/files/problem_file.hpp"

namespace attest::audit {

/// The file with these cases, and with what they were answered where that is given. Layouts lose their gaps.
problem::result<std::vector<std::byte>> case_file_bytes(std::span<audit_case const> cases, std::uint64_t seed,
                                                        std::string const& contract,
                                                        std::span<answers const> given = {});

/// A case of a file, and what the file has recorded for each of its calls (nothing where there is no output).
struct answered_case {
  audit_case asked;
  audit::answers answers;
};

/// Ensures   calls_fault answers nothing for each; an error names the metadata key
problem::result<std::vector<answered_case>> cases_of(problem_file&& file);

}  // namespace attest::audit
