#include "audit/files/parameters_text.hpp"

#include <charconv>
#include <cstdint>
#include <type_traits>

#include <fmt/format.h>

#include "audit/support/printable.hpp"
#include "audit/support/real_number.hpp"

namespace attest::audit {
namespace {

using problem::error;
using problem::error_code;

/// What a flag or a metadata key says, and how to call it in a sentence.
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
          fmt::format("is '{}', expected {} or 'default'", printable(from.text, 60), expected)};
}

}  // namespace

std::optional<error> read_parameters(safetensors_metadata const& metadata, flag_overrides const& flags,
                                     std::string_view prefix, problem::parameters& to,
                                     std::vector<std::string>& notes) {
  auto const find = [&](std::string_view name) -> std::optional<written> {
    auto at = metadata.find(prefixed(prefix, name));
    if (at == metadata.end()) at = metadata.find(name);
    if (auto const given = flags.find(name); given != flags.end() && given->second) {
      std::string const& flag = *given->second;
      if (at != metadata.end())
        notes.push_back(fmt::format("--{} {} overrides '{}' = '{}' of the file's metadata", name, printable(flag, 60),
                                    printable(at->first), printable(at->second, 60)));
      return written{"--" + std::string(name), flag};
    }
    if (at == metadata.end() || at->second == "default") return std::nullopt;
    return written{at->first, at->second};
  };
  std::optional<error> why;
  problem::visit_parameters(to, [&]<class T>(problem::parameter<T> const& each, T& target) {
    if (why) return;
    auto const from = find(each.name);
    if (!from || from->text == "default") return;
    auto const take = [&](auto const& value, std::string_view expected) {
      if (value) target = *value;
      else why = garbage(*from, expected);
    };
    if constexpr (std::is_same_v<T, std::int64_t>) take(whole_number(from->text), "a whole number");
    else take(real_number(from->text), "a finite decimal number or hex float (such as 0.125 or 0x1p-3)");
  });
  return why;
}

void write_parameters(problem::parameters const& from, std::string_view prefix, safetensors_metadata& to) {
  // All of them, so that a plain key among the caller's own metadata cannot change the problem.
  problem::visit_parameters(from, [&]<class T>(problem::parameter<T> const& each, T const& value) {
    std::string& text = to[prefixed(prefix, each.name)];
    if constexpr (std::is_same_v<T, std::int64_t>) text = std::to_string(value);
    else if constexpr (std::is_same_v<T, double>) text = fmt::format("{:a}", value);
    else text = value ? fmt::format("{:a}", *value) : "default";
  });
}

}  // namespace attest::audit
