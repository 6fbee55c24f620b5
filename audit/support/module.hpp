// Parts of attest that are libraries of their own, loaded when a command needs them.
#pragma once

#include <filesystem>

#include "problem/result.hpp"

namespace attest::audit {

/// The address of `symbol` in the library at `path`, which stays loaded until the program ends.
/// Ensures   an error says in the loader's own words why the file cannot be loaded
problem::result<void*> symbol_of(std::filesystem::path const& path, char const* symbol);

}  // namespace attest::audit
