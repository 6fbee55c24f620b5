#include "audit/files/parameters_text.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <type_traits>

#include <fmt/format.h>

#include "audit/support/printable.hpp"
#include "audit/support/real_number.hpp"

namespace attest::audit {
namespace {

using problem::error;
using problem::error_code;

/// The text of a parameter, and its source: the name of the flag or of the metadata key.
struct written {
  std::string source;
  std::string text;
};

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  auto const [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

error garbage(written const& from, std::string_view expected) {
  return {error_code::bad_value, printable(from.source),
          fmt::format("is '{}'{}, expected {} or 'default'", printable(from.text, 60),
                      is_too_small(from.text) ? ", which is 0 as a double" : "", expected)};
}

}  // namespace

std::optional<error> read_parameters(safetensors_metadata const& metadata, flag_overrides const& flags,
                                     std::string_view prefix, problem::parameters& to,
                                     std::vector<std::string>& notes) {
  auto const find = [&](std::string_view name) -> std::optional<written> {
    auto at = metadata.find(prefixed(prefix, name));
    if (at == metadata.end()) at = metadata.find(name);
    if (auto const set = flags.find(name); set != flags.end() && set->second) {
      std::string const& flag = *set->second;
      if (at != metadata.end())
        notes.push_back(fmt::format("--{} {} overrides '{}' = '{}' of the file's metadata", name, printable(flag, 60),
                                    printable(at->first), printable(at->second, 60)));
      return written{"--" + std::string(name), flag};
    }
    if (at == metadata.end() || at->second == "default") return std::nullopt;
    return written{at->first, at->second};
  };
  std::optional<error> why;
  problem::visit_parameters(to, [&]<class T>(problem::parameter<T> const& parameter, T& target) {
    if (why) return;
    auto const from = find(parameter.name);
    if (!from || from->text == "default") return;
    auto const assign = [&](auto const& value, std::string_view expected) {
      if (value) target = *value;
      else why = garbage(*from, expected);
    };
    if constexpr (std::is_same_v<T, std::int64_t>) {
      if (parameter.words[0] == nullptr) return assign(whole_number(from->text), "a whole number");
      auto const named = std::ranges::find(parameter.words, from->text);
      auto const found = named == parameter.words.end() ? whole_number(from->text)
                                                        : std::optional<std::int64_t>(named - parameter.words.begin());
      assign(found, fmt::format("{} or {}", parameter.words[0], parameter.words[1]));
    } else assign(real_number(from->text), "a finite decimal number or hex float (such as 0.125 or 0x1p-3)");
  });
  return why;
}

void write_parameters(problem::parameters const& from, std::string_view prefix, safetensors_metadata& to) {
  // Every parameter is written, so that a key without prefix in the caller's metadata cannot change the problem.
  // A number is the shortest decimal that reads back as itself, in JSON's grammar, so that every language reads it.
  problem::visit_parameters(from, [&]<class T>(problem::parameter<T> const& parameter, T const& value) {
    std::string& text = to[prefixed(prefix, parameter.name)];
    if constexpr (std::is_same_v<T, std::optional<double>>) text = value ? fmt::format("{}", *value) : "default";
    else text = fmt::format("{}", value);
    if constexpr (std::is_same_v<T, std::int64_t>)
      if (parameter.words[0] != nullptr && (value == 0 || value == 1))
        text = parameter.words[static_cast<std::size_t>(value)];
  });
}

}  // namespace attest::audit
