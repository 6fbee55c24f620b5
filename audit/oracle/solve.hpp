// `attest solve`: certified or correctly rounded outputs of the problems of a file.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "audit/files/file_words.hpp"
#include "audit/files/problem_file.hpp"
#include "reference/machine/rounding_tally.hpp"

namespace attest::audit {

struct solve_options {
  std::filesystem::path inputs;
  flag_overrides flags;
  file_words words{};                          ///< the names and the order of axes
  std::optional<problem::element_type> round;  ///< o, lse, weights correctly rounded to this type
  std::optional<int> digits;                   ///< text instead of a file, with this many certified significant digits
};

/// The outputs of all problems, as a safetensors file or as text.
struct solution {
  std::vector<std::byte> file;  ///< without `digits`
  std::string text;             ///< with `digits`: one line for each element
  std::int64_t elements = 0;
  reference::machine::rounding_tally rounded;  ///< with `round`
  std::int64_t undecided = 0;          ///< elements that no width decided: NaN in the file, "undecided" in the text
  std::vector<std::string> ignored{};  ///< sentences about tensors that belong to no problem
};

/// The largest --digits: the widest enclosures, of 4096 bits, certify as many of a result without cancellation.
inline constexpr int largest_digits = 1200;

/// Solves every problem of a file. The tensors of the result, each with the prefix of its problem:
///   with `round`   o, weights, lse of that type
///   else           o.lower, o.upper, weights.lower, weights.upper, lse.lower, lse.upper: f64, rounded outward
///   beside a do    likewise dq, dk, dv, dbias, dsink (without `round` dq.lower, …), each in the shape of its input
/// With `digits`, an element that a width does not decide is enclosed again at 256, 1152 and 4096 bits; an exact
/// decimal tie stays undecided.
/// Ensures   NaN where docs/semantics.md says NaN or leaves the value open, −∞ for the LSE of an empty row
problem::result<solution> run_solve(solve_options const& options);

}  // namespace attest::audit
