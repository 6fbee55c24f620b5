// The files of a verification: problems with their outputs, the cases that options name, and the parts that the files
// do not hold.
#pragma once

#include <optional>
#include <vector>

#include "audit/files/case_file.hpp"
#include "audit/files/problem_file.hpp"
#include "audit/report/report.hpp"
#include "audit/session/verify_options.hpp"
#include "problem/result.hpp"

namespace attest::audit {

/// The problems of the first file, with the outputs of the second if there is one. If there are two files, the argument
/// of an error says which.
problem::result<problem_file> read_recorded(verify_options const& options);

/// An error about the first name in `named` that no check, case or prefix has.
std::optional<problem::error> names_fault(char const* option, names const& named,
                                          std::vector<recorded_case> const& cases);

/// Keeps the cases that --only names. An error is about a name that no case has.
std::optional<problem::error> keep_only(names const& only, std::vector<recorded_case>& cases);

/// The parts of an audit that a file does not hold, by the metadata of a file that attest wrote.
std::vector<omission> left_out_of(safetensors_metadata const& metadata);

/// The weights that the files hold and that cannot be judged.
std::vector<omission> unjudged_weights(problem_file const& recorded);

}  // namespace attest::audit
