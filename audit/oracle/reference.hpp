// `attest reference`: correctly rounded outputs of the problems of a file, and the largest allowed error of each.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "audit/contract/contract.hpp"
#include "audit/files/file_words.hpp"
#include "audit/files/problem_file.hpp"
#include "reference/machine/rounding_tally.hpp"

namespace attest::audit {

struct reference_options {
  std::filesystem::path inputs;
  flag_overrides flags{};
  file_words words{};                            ///< the names and the order of axes
  contract const* claim = nullptr;               ///< none: the preset of each problem's element type
  std::optional<problem::element_type> round{};  ///< the type of o; none: the type of q
  bool quick = false;                            ///< bounds by the machine tier alone, if it has them
};

/// The file of `attest reference`.
struct referenced {
  std::vector<std::byte> file;
  std::int64_t elements = 0;
  reference::machine::rounding_tally rounded;  ///< of o
  std::int64_t undecided = 0;                  ///< elements that no width decided: NaN in the file
  std::vector<std::string> ignored{};          ///< sentences about tensors that belong to no problem
};

/// Writes for every problem of a file, each with the prefix of its problem:
///   o, lse              correctly rounded: o in the type of q or `round`;
///                       lse in f64 for o in f64, else in f32;
///   o.bound, lse.bound  f64, the largest error of a kernel under the contract, by which attest judges
///                       (row_allowance in audit/judge/allowed_errors.hpp)
///   dq, dk, dv, dbias, dsink, dq.bound, …
///                       beside a do: the gradients in the type of their input or `round`; their bounds count the o
///                       and lse of the file, or else a forward pass under the contract
/// Shapes    o [b, hq, n, dv] and lse [b, hq, n] in the rank of q and the axis order of the file; a gradient as its
///           input; a bound as its tensor
/// Ensures   if a convention of the contract prescribes the output of a query that sees no key, this output and its
///           bound. If the contract leaves an output open, the bound is +∞
/// An error names the tensor or flag, for example if q has another type than the contract.
/// Cost      the ball tier; with `quick`, the machine tier; memory in proportion to n·dv
problem::result<referenced> run_reference(reference_options const& options);

}  // namespace attest::audit
