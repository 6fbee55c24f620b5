// Certified test vectors for projects in other languages: problems with the truth about their outputs. docs/vectors.md
// describes their files, docs/vectors.schema.json is the schema.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/tensors/owned_problem.hpp"
#include "problem/result.hpp"

namespace attest::audit {

/// The truth about one element, and its correctly rounded value.
struct certified_value {
  double lower = 0, upper = 0;    ///< outward; NaN both if the value is NaN, −∞ … ∞ if it is some non-finite number
  std::optional<double> rounded;  ///< to the output's type, ties to even; nothing if the value is not one number
};

struct vector_case {
  std::string name;                         ///< TYPE/CASE
  std::vector<std::string> flags;           ///< the bug classes that it can detect
  owned_problem problem;                    ///< rank 4, compact
  std::vector<certified_value> o{}, lse{};  ///< row-major: [b, hq, n, dv], [b, hq, n]
};

/// One file: the cases of one check.
struct vector_file {
  std::string check;
  std::map<std::string, std::string, std::less<>> flags;  ///< flag → what it means
  std::vector<vector_case> cases;
};

/// A problem with the truth about its O and LSE.
/// Requires  a problem of rank 4
/// Ensures   nothing if no width decides a rounding
std::optional<vector_case> certified(std::string name, std::vector<std::string> flags, owned_problem problem);

/// The vectors of this version: small parts of the audit's own cases, every check and element type. The vectors are
/// always the same.
std::vector<vector_file> certified_vectors();

}  // namespace attest::audit
