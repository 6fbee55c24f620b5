// Names that other programs give to what a problem file holds, and the options with which attest reads them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "audit/files/problem_file_entry.hpp"
#include "audit/files/safetensors.hpp"

namespace attest::audit {

/// The tensor of a problem that other programs call `name`: "q_offsets" for "cu_seqlens_q". Empty if there is none.
std::string_view role_of_foreign(std::string_view name);

/// The option that reads the tensors with foreign names of this prefix: "--names o=output". A name whose tensor the
/// prefix has is left out, and of two names for one tensor the second one. Empty if none is left.
std::string names_option(safetensors_file const& file, std::string_view prefix);

/// The same for all prefixes together: what is foreign in one of them.
std::string names_option(safetensors_file const& file);

/// The last part of the first name that means o to other programs. Empty if the file has none.
std::string foreign_o(safetensors_file const& file);

/// ", which is 'o' here: --names o=output" behind the name of an ignored tensor. Empty if it is no foreign name.
std::string foreign_tensor(std::string_view name);

/// ", which is 'scale' here: --scale 0.125" behind the name of an ignored key of the metadata, or what parameter was
/// meant; without the option if a flag says it already. Empty if the key is read, or is like no parameter.
std::string foreign_key(std::string_view key, std::string_view value, std::vector<problem_file_entry> const& problems,
                        flag_overrides const& flags);

}  // namespace attest::audit
