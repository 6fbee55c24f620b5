// What a user says of a file beside it: the order of its axes, and which name stands for which tensor.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "audit/files/safetensors.hpp"
#include "problem/result.hpp"

namespace attest::audit {

struct file_words {
  std::string layout, kv_layout;  ///< words that order_word knows; empty: the file's own
  /// (role, NAME): the tensors PREFIX.NAME of the file are PREFIX.role here. A NAME with a '.' is one whole name, and
  /// the tensor has no prefix then.
  std::vector<std::pair<std::string, std::string>> names;

  bool empty() const { return layout.empty() && kv_layout.empty() && names.empty(); }
  /// The options that say the same: " --layout bnhd --names o=output".
  std::string options() const;
};

/// Reads "q=query". The error names --names.
problem::result<std::pair<std::string, std::string>> name_pair(std::string const& text);

/// Renames the tensors of the file, and puts the layouts of the words in place of the layouts in its metadata. The
/// notes say which keys they replace, and `found` takes each NAME that the file has.
/// Ensures   an error if a tensor of the file has the new name already
std::optional<problem::error> apply(file_words const& words, safetensors_file& file, std::vector<std::string>& notes,
                                    std::set<std::string>& found);

/// The fault of a NAME that no file has, with the nearest name of `file`.
std::optional<problem::error> unfound_name(file_words const& words, std::set<std::string> const& found,
                                           safetensors_file const& file);

/// Reads a file, and applies the words to it.
problem::result<safetensors_file> read_in_words(std::filesystem::path const& path, file_words const& words,
                                                std::vector<std::string>& notes);

}  // namespace attest::audit
