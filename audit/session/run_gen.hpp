// The cases of an audit as a file: `attest gen`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "audit/asking/options.hpp"
#include "audit/files/problem_file.hpp"
#include "problem/result.hpp"

namespace attest::audit {

struct gen_options {
  audit_options cases;                     ///< kernel and findings do not matter
  bool plain = false;                      ///< only cases whose every call is_plain (cases/plain.hpp)
  int version = 1;                         ///< of the C interface: 1 leaves out cases that need its later fields
  std::uint64_t most_bytes = 320'000'000;  ///< of the file
  axis_order order = axis_order::bhnd;
};

/// A file for a kernel that runs elsewhere, and the cases that it does not hold.
struct generated_file {
  std::vector<std::byte> bytes;
  std::string left_out;  ///< a clause: what `only` names and version 1 has no cases of; then the cases that most_bytes
                         ///< leaves out, with their checks; empty if there is neither
};

/// The cases that the options choose, as a safetensors file for a kernel that runs elsewhere. If they exceed
/// most_bytes, the largest draws are left out, then the largest others. The file's metadata list
/// what it does not hold (attest.options, attest.left_out).
/// Ensures   at most most_bytes; an error if no case is left
problem::result<generated_file> run_gen(gen_options const& options);

}  // namespace attest::audit
