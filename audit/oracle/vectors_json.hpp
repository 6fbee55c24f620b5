// The files of certified test vectors: JSON by docs/vectors.schema.json.
#pragma once

#include <string>
#include <string_view>

#include "audit/oracle/vectors.hpp"
#include "problem/result.hpp"

namespace attest::audit {

std::string vector_text(vector_file const& file);

/// Reads the text of a file, whose contents may be anything.
/// Ensures   as many truths as outputs; an error names the case and the field
/// Cost      memory in proportion to the text; text with deeper nesting than vectors have is refused
problem::result<vector_file> parse_vectors(std::string_view text);

}  // namespace attest::audit
