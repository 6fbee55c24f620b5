// The paths of attest's own files: next to the running program, in an installation, or in a build tree.
#pragma once

#include <filesystem>
#include <string_view>

#include "problem/result.hpp"

namespace attest::audit {

/// attest-runner: $ATTEST_RUNNER if it is set, else next to this program, else in ../libexec/attest/ from there.
/// Ensures   an error lists the paths that were tried
problem::result<std::filesystem::path> locate_runner();

/// libattest_kernel.so, the built-in kernel: next to this program, or in ../lib*/ or ../fast/ from there.
problem::result<std::filesystem::path> locate_builtin_kernel();

/// libattest_kernel_SET.so, the built-in kernel restricted to one instruction set: next to this program, or in
/// ../lib*/attest/ from there.
problem::result<std::filesystem::path> locate_builtin_kernel(std::string_view set);

/// The recorded tensors of a sentence encoder (audit/asking/real_data.cpp): in ../share/attest/ from this program.
problem::result<std::filesystem::path> locate_real_data();

/// The folder of the contract files that come with the program: ../share/attest/contracts/ from this program.
problem::result<std::filesystem::path> locate_contracts();

/// Next to this program, or in ../lib*/attest/ from there: libattest_zoo.so, the kernels of `attest selftest`,
/// libattest_vectors.so, which `attest vectors` loads, and libattest_answers.so, which `attest solve`, `reference` and
/// `explain` load.
problem::result<std::filesystem::path> locate_zoo();
problem::result<std::filesystem::path> locate_vectors();
problem::result<std::filesystem::path> locate_answers();

}  // namespace attest::audit
