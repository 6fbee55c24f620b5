// Where one command writes: standard output, and the files that its options name.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "audit/support/output_file.hpp"
#include "problem/result.hpp"

namespace attest::audit {

/// The outputs of a command by the options that name them. An empty path is no output. "-" is standard output; if an
/// option takes it, no text goes there.
class outputs {
 public:
  /// Finds and tries all of them before the work of the command.
  /// Ensures   an error, which names the option, if a file cannot be written, is a file that the command reads, or is
  ///           the file of another option
  static problem::result<outputs> open(std::vector<std::pair<std::string, std::string>> const& path_of_option,
                                       std::vector<std::filesystem::path> const& inputs);

  /// The fault if a folder that `option` names is the output of another option. The folder need not exist.
  std::optional<problem::error> folder_fault(std::string const& option, std::filesystem::path const& folder) const;

  /// Does the command write a file for this option?
  bool has(std::string_view option) const { return opened_.contains(option); }
  /// Is standard output free for text?
  bool takes_text() const noexcept { return takes_text_; }

  /// Writes what the option asks for. Requires has(option). An error names the option.
  std::optional<problem::error> write(std::string_view option, std::span<std::byte const> bytes) const;

 private:
  std::map<std::string, output_file, std::less<>> opened_;
  bool takes_text_ = true;
};

/// Writes text to standard output, except characters that would command a terminal: printable_lines().
std::optional<problem::error> write_text(std::string_view text);

/// Writes text whose characters may command a terminal, such as the colours of as_screen().
std::optional<problem::error> write_screen(std::string_view text);

}  // namespace attest::audit
