// Certified test vectors: problems with truth, as JSON, for projects in other languages. docs/vectors.md describes the
// files, docs/vectors.schema.json is their schema.
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
  double lower = 0, upper = 0;  ///< outward; NaN both where the value is NaN, −∞ … ∞ where it is some non-finite number
  std::optional<double> rounded;  ///< to the output's type, ties to even; nothing where the value is not one number
};

struct vector_case {
  std::string name;                         ///< TYPE/CASE
  std::vector<std::string> flags;           ///< bug classes that it looks for
  owned_problem asked;                      ///< rank 4, compact
  std::vector<certified_value> o{}, lse{};  ///< row-major: [b, hq, n, dv], [b, hq, n]
};

/// One file: the cases of one check.
struct vector_file {
  std::string check;
  std::map<std::string, std::string, std::less<>> flags;  ///< flag → what it means
  std::vector<vector_case> cases;
};

/// What docs/semantics.md and the reference say about `asked`.
/// Requires  a problem of rank 4
/// Ensures   o and lse set; nothing where no width decides a rounding
std::optional<vector_case> certified(std::string name, std::vector<std::string> flags, owned_problem asked);

/// The vectors of this version: small parts of the audit's own cases, every check and element type. Always the same
/// ones.
std::vector<vector_file> certified_vectors();

std::string vector_text(vector_file const& file);

/// Reads a file's text. Everything in it is hostile until it was checked here.
/// Ensures   as many truths as outputs; an error names case and field
/// Cost      memory in proportion to the text; nesting is refused, not followed
problem::result<vector_file> parse_vectors(std::string_view text);

/// certified_vectors() as FOLDER/CHECK.json, by libattest_vectors.so; the folder is made where there is none.
std::optional<problem::error> write_vectors(std::filesystem::path const& folder);

}  // namespace attest::audit
