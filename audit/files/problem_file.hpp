// Problem files: problems, with or without outputs, recorded in safetensors files.
//
// A tensor's name is PREFIX.role or role. A role is one of q k v o lse weights (problem/operators.hpp), or the name of
// an optional input (problem/optional_tensors.hpp). The tensors with the same prefix are one problem. The metadata keys
// of problem/parameters.hpp (PREFIX.scale before plain scale) hold a decimal number, a hex float, or `default`.
// PREFIX.attest.layout (before plain attest.layout) says the order of the axes of q, k, v and o: `bhnd`, which is the
// default, `bnhd`, or `thd`. Under `thd`, tensors that offsets pack are [rows, heads, width], and their LSE is [heads,
// rows]. PREFIX.attest.kv_layout does so for pools of pages: `hnd`, [pages, heads, page, width], or `nhd`. A prefix
// with parts (merge_file.hpp) is the merge of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "audit/files/problem_file_entry.hpp"
#include "audit/files/safetensors.hpp"
#include "audit/files/tensor_group.hpp"
#include "problem/result.hpp"

namespace attest::audit {

struct problem_file {
  std::vector<problem_file_entry> problems;  ///< by prefix; at least one
  std::vector<std::string> ignored;          ///< names of the tensors that belong to no problem, printable
  std::vector<std::string> notes;            ///< sentences for the report, such as which flag overrides which metadata
  safetensors_metadata metadata;             ///< all metadata of the file
  std::string foreign_o{};                   ///< the last part of a name under which other programs store o
};

/// A sentence for each of the first tensors and keys of the metadata that were ignored, and one for all others.
inline std::vector<std::string> sentences_of_ignored(problem_file const& file) {
  constexpr std::size_t most_named = 20;
  std::size_t const named = std::min(file.ignored.size(), most_named);
  std::vector<std::string> sentences;
  for (std::size_t n = 0; n < named; ++n) sentences.push_back("ignored: " + file.ignored[n]);
  if (file.ignored.size() > named)
    sentences.push_back("ignored: " + std::to_string(file.ignored.size() - named) + " further tensors");
  return sentences;
}

/// The problems of a file, by these operators, whose rows outlive the problems.
/// Ensures   problem::make_outputs accepts the outputs of each problem. Outputs of a wrong type or shape are
///           `unusable`, and the rest of the file is read. Errors are about inputs and name the tensor, the metadata
///           key or the flag. A prefix without any of q, k, v is ignored (and listed); one with only some of them is an
///           error. A mask of floating type is an error that suggests a bias.
/// Cost      memory in proportion to the file
problem::result<problem_file> problem_file_of(safetensors_file const& file, flag_overrides const& flags = {},
                                              operator_table table = problem::operators);

/// What a file said of calls in addition to their problems.
struct dropped_outputs {
  std::int64_t outputs = 0, statuses = 0;  ///< tensors o, lse and weights; keys PREFIX.attest.status
};

/// Removes the outputs of its problems from a file, and what its metadata say of the calls. If another file has the
/// outputs, the ones of this file belong to another run.
dropped_outputs drop_outputs(safetensors_file& file, operator_table table = problem::operators);

/// Adds the outputs in a second file to the problems of the first, by prefix, and what its metadata say of each call
/// (PREFIX.attest.status). Outputs without a problem are ignored (and listed). Its o has the axis order of the first
/// file's problem; if its metadata say another, an error is returned.
/// Requires  the first file was read without its outputs (drop_outputs)
problem::result<problem_file> with_outputs(problem_file inputs, safetensors_file const& outputs,
                                           operator_table table = problem::operators);

/// A safetensors file from which problem_file_of reads the same problems and outputs, in layouts without gaps and in
/// the axis order of each entry. `metadata` is added. Requires  different prefixes (checked)
problem::result<std::vector<std::byte>> problem_file_bytes(std::span<problem_file_entry const> problems,
                                                           safetensors_metadata metadata = {});

}  // namespace attest::audit
