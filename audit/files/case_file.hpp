// Case files: cases in safetensors files. `gen` and shrinking write them, `verify` and `--replay` read them.
//
// A file that attest wrote has the metadata attest.seed and attest.contract, and for each problem:
//   PREFIX.attest.check;
//   PREFIX.attest.group     the case to which it belongs;
//   PREFIX.attest.expect    how it relates to the group's first call;
//   PREFIX.attest.says;
//   PREFIX.attest.as        flag_words.hpp;
//   PREFIX.attest.memory    memory_words.hpp;
//   PREFIX.attest.together  audit_case::callers;
//   PREFIX.attest.curve     the axis of a stability curve, and the place on it.
// Its prefixes begin with a number, 00042/CHECK/CASE. Calls must be made in the order of their names: calls that
// prepare another come before it. Files of attest 0.1 and 0.2 have no numbers. In any other file, every problem is a
// case of its own.
//
// A program that runs a kernel may add PREFIX.attest.status (call_status.hpp).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "audit/cases/case.hpp"
#include "audit/files/call_status.hpp"
#include "audit/files/problem_file.hpp"

namespace attest::audit {

/// The contents of a case file in addition to its cases.
struct case_file_options {
  std::uint64_t seed = 0;
  std::string contract;
  axis_order order = axis_order::bhnd;
  safetensors_metadata further = {};  ///< further metadata
};

/// The bytes of a file with these cases, and with their outputs if `outputs` has them. Layouts lose their gaps.
problem::result<std::vector<std::byte>> case_file_bytes(std::span<audit_case const> cases,
                                                        case_file_options const& options,
                                                        std::span<case_outputs const> outputs = {});

/// What a file says of one call, in addition to its problem and its outputs.
struct recorded_call {
  std::string prefix;
  std::optional<call_status> status{};
  std::vector<unusable_output> unusable{};
  axis_order order = axis_order::bhnd;  ///< of q, k, v and o in the file
  pool_order pools = pool_order::hnd;
};

/// A case of a file, and the recorded outputs of each of its calls. Outputs are missing if the file has none for a
/// call.
struct recorded_case {
  audit_case input;
  case_outputs outputs;
  std::vector<recorded_call> calls;  ///< as many as outputs
  bool in_order = false;             ///< the numbers of the prefixes say that its calls were made in order
  bool generated = false;            ///< attest wrote it: its check and its expectation are known
};

/// The prefix of a call in a file of case_file_bytes that holds its case alone.
std::string prefix_in_own_file(audit_case const& of, std::size_t call);

/// The cases of a file, in the order of their first calls' prefixes. Further calls are in that order, too.
/// Ensures   calls_fault finds no fault in any case, and no two cases that attest wrote have one name; an error names
///           the metadata key
problem::result<std::vector<recorded_case>> cases_of(problem_file&& file);

}  // namespace attest::audit
