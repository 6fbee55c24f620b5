// The oracle as a calculator: certified or correctly rounded answers to anybody's problem.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "audit/files/problem_file.hpp"
#include "reference/machine/rounded.hpp"

namespace attest::audit {

struct solve_options {
  std::filesystem::path inputs;
  flag_overrides flags;
  std::optional<problem::element_type> round;  ///< o, lse, weights correctly rounded to this type
  std::optional<int> digits;                   ///< text instead of a file: so many significant digits, certified
};

/// What was solved: a safetensors file's tensors, or text.
struct solution {
  std::vector<std::byte> file;  ///< where no digits were asked for
  std::string text;             ///< where digits were asked for: one line an element
  std::int64_t elements = 0;
  reference::machine::rounding_tally rounded;  ///< where `round` was asked for
  std::int64_t undecided = 0;  ///< elements that no width decided: NaN in the file, "undecided" in the text
};

/// Largest --digits: what the widest enclosures, of 4096 bits, show of a result that does not cancel.
inline constexpr int largest_digits = 1200;

/// Solves every problem of a file. Tensors of the result, each with its problem's prefix:
///   with `round`   o, weights, lse of that type
///   else           o.lower, o.upper, weights.lower, weights.upper, lse.lower, lse.upper: f64, rounded outward
/// With digits, an element is asked again at 256, 1152 and 4096 bits where it was left open; exact decimal ties stay
/// so. Ensures   NaN where semantics.md says NaN or leaves the value open, −∞ for the LSE of an empty row
problem::result<solution> run_solve(solve_options const& options);

}  // namespace attest::audit
