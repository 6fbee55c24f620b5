#include "audit/program/outputs.hpp"

#include <fmt/format.h>

#include "audit/support/printable.hpp"

namespace attest::audit {
namespace {

using problem::error;
using problem::error_code;

error fault(std::string const& option, std::string const& path, std::string_view reason) {
  return {error_code::bad_value, option, fmt::format("{} {}", name_in_messages(path), reason)};
}

}  // namespace

problem::result<outputs> outputs::open(std::vector<std::pair<std::string, std::string>> const& path_of_option,
                                       std::vector<std::filesystem::path> const& inputs) {
  std::vector<file_place> read;
  for (std::filesystem::path const& input : inputs)
    if (auto place = input == standard_stream ? place_of_descriptor(STDIN_FILENO) : place_of(input); place)
      read.push_back(std::move(place).value());
  auto const is_read = [&](file_place const& place) {
    for (file_place const& input : read)
      if (is_same_file(input, place)) return true;
    return false;
  };

  file_place const standard = place_of_descriptor(STDOUT_FILENO);
  outputs all;
  for (auto const& [option, path] : path_of_option) {
    if (path.empty()) continue;
    auto opened = output_file::open(path);
    if (!opened) return error{opened.why().code, option, opened.why().message()};
    file_place const& place = opened.value().place();
    file_place temporary;
    temporary.path = opened.value().temporary();
    if (is_read(place) || is_read(temporary)) return fault(option, path, "is a file that this command reads");
    if (place.descriptor == STDOUT_FILENO) all.takes_text_ = false;
    else if (standard.is_regular() && is_same_file(place, standard))
      return fault(option, path, "is the file that standard output goes to");
    for (auto const& [other, file] : all.opened_)
      if (is_same_file(place, file.place())) return fault(option, path, "is what " + other + " writes");
    all.opened_.emplace(option, std::move(opened).value());
  }
  if (standard.is_regular() && is_read(standard))
    return error{error_code::bad_value, "standard output", "goes to a file that this command reads"};
  return all;
}

std::optional<error> outputs::folder_fault(std::string const& option, std::filesystem::path const& folder) const {
  auto const place = place_of(folder);
  if (!place) return std::nullopt;  // the folder may not exist yet, and be made with others
  for (auto const& [other, file] : opened_)
    if (is_same_file(place.value(), file.place()))
      return fault(option, folder.native(), "is what " + other + " writes");
  return std::nullopt;
}

std::optional<error> outputs::write(std::string_view option, std::span<std::byte const> bytes) const {
  auto const& [name, file] = *opened_.find(option);
  auto why = file.write(bytes);
  if (why) return error{why->code, name, why->message()};
  return std::nullopt;
}

std::optional<error> write_text(std::string_view text) { return write_screen(printable_lines(text)); }

std::optional<error> write_screen(std::string_view text) {
  if (text.empty()) return std::nullopt;
  auto const output = output_file::open(standard_stream);
  return output ? output.value().write(std::as_bytes(std::span(text))) : std::optional(output.why());
}

}  // namespace attest::audit
