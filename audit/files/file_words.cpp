#include "audit/files/file_words.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "audit/files/axis_orders.hpp"
#include "audit/support/words.hpp"
#include "problem/operators.hpp"
#include "problem/optional_tensors.hpp"

namespace attest::audit {
namespace {

using problem::error;
using problem::error_code;

/// The tensors of problems, in the order of the operators, then outputs and optional tensors.
/// Each once: outputs, what the operators take, optional tensors. (Of two words that are as near, the first is meant.)
std::vector<std::string> all_roles() {
  std::vector<std::string> roles;
  auto const add = [&](std::string_view role) {
    if (std::ranges::find(roles, role) == roles.end()) roles.emplace_back(role);
  };
  for (char const* const output : problem::output_names) add(output);
  for (problem::operator_row const& row : problem::operators)
    for (auto const& taken : row.takes) add(taken);
  problem::visit_optional_tensors([&](problem::optional_tensor const& row, int) { add(row.name); },
                                  problem::detail::optional_tensor_names{});
  return roles;
}

/// PREFIX.role for PREFIX.NAME. Returns nothing if `have` is another tensor.
std::optional<std::string> renamed_to(std::string_view have, std::string_view name, std::string_view role) {
  if (name.find('.') != name.npos) return have == name ? std::optional(std::string(role)) : std::nullopt;
  auto const dot = have.rfind('.');
  if (have.substr(dot == have.npos ? 0 : dot + 1) != name) return std::nullopt;
  return prefixed(have.substr(0, dot == have.npos ? 0 : dot), role);
}

void set_order(std::string const& option, std::string_view key, std::string const& word, safetensors_file& file,
               std::vector<std::string>& notes) {
  if (word.empty()) return;
  std::string const ending = "." + std::string(key);
  std::erase_if(file.metadata, [&](auto const& item) {
    if (item.first != key && !item.first.ends_with(ending)) return false;
    if (order_word(item.second) != order_word(word))
      notes.push_back(fmt::format("{} {} overrides '{}' = '{}' of the file's metadata", option, word,
                                  printable(item.first), printable(item.second, 60)));
    return true;
  });
  file.metadata[std::string(key)] = order_word(word);
}

}  // namespace

std::string file_words::options() const {
  std::string text;
  if (!layout.empty()) text += " --layout " + layout;
  if (!kv_layout.empty()) text += " --kv-layout " + kv_layout;
  std::vector<std::string> pairs;
  for (auto const& [role, name] : names) pairs.push_back(role + '=' + name);
  return pairs.empty() ? text : text + " --names " + shell_word(fmt::format("{}", fmt::join(pairs, ",")));
}

problem::result<std::pair<std::string, std::string>> name_pair(std::string const& text) {
  auto const sign = text.find('=');
  if (sign == text.npos || sign == 0 || sign + 1 == text.size())
    return error{error_code::bad_value, "--names",
                 fmt::format("'{}' is not ROLE=NAME, such as o=output", printable(text, 60))};
  std::string role = text.substr(0, sign), name = text.substr(sign + 1);
  auto const roles = all_roles();
  if (std::ranges::find(roles, role) == roles.end())
    return error{error_code::bad_value, "--names",
                 fmt::format("no tensor of a problem is called '{}'{}; they are {}", printable(role, 60),
                             did_you_mean(role, roles), fmt::join(roles, ", "))};
  return std::pair{std::move(role), std::move(name)};
}

std::optional<error> apply(file_words const& words, safetensors_file& file, std::vector<std::string>& notes,
                           std::set<std::string>& found) {
  safetensor_map renamed;
  for (auto& [have, tensor] : file.tensors) {
    std::string name = have;
    for (auto const& [role, said] : words.names)
      if (auto to = renamed_to(have, said, role)) name = *std::move(to), found.insert(said);
    if (name != have && file.tensors.contains(name))
      return error{error_code::bad_value, "--names",
                   fmt::format("the file has both '{}' and '{}'", printable(name), printable(have))};
    if (!renamed.emplace(name, tensor).second)
      return error{error_code::bad_value, "--names",
                   fmt::format("two tensors of the file become '{}'", printable(name))};
  }
  file.tensors = std::move(renamed);
  set_order("--layout", layout_key, words.layout, file, notes);
  set_order("--kv-layout", kv_layout_key, words.kv_layout, file, notes);
  return std::nullopt;
}

std::optional<error> unfound_name(file_words const& words, std::set<std::string> const& found,
                                  safetensors_file const& file) {
  for (auto const& [role, name] : words.names) {
    if (found.contains(name)) continue;
    std::vector<std::string> known;
    for (auto const& [have, tensor] : file.tensors)
      known.push_back(name.find('.') == name.npos ? have.substr(have.rfind('.') + 1) : have);
    return error{error_code::missing, "--names",
                 fmt::format("no tensor of the file is called '{}'{}", printable(name, 60), did_you_mean(name, known))};
  }
  return std::nullopt;
}

problem::result<safetensors_file> read_in_words(std::filesystem::path const& path, file_words const& words,
                                                std::vector<std::string>& notes) {
  auto file = read_safetensors(path);
  if (!file) return file.why();
  std::set<std::string> found;
  if (auto why = apply(words, file.value(), notes, found)) return *std::move(why);
  if (auto why = unfound_name(words, found, file.value())) return *std::move(why);
  return file;
}

}  // namespace attest::audit
