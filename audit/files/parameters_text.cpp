#include "audit/files/parameters_text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>

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
                                     recorded_problem& to, std::vector<std::string>& notes) {
  auto const find = [&](std::string_view name, std::optional<std::string> const& flag) -> std::optional<written> {
    auto at = metadata.find(to.name_of(name));
    if (at == metadata.end()) at = metadata.find(name);
    if (flag) {
      if (at != metadata.end())
        notes.push_back(fmt::format("--{} {} overrides '{}' = '{}' of the file's metadata", name, printable(*flag, 60),
                                    printable(at->first), printable(at->second, 60)));
      return written{"--" + std::string(name), *flag};
    }
    if (at == metadata.end() || at->second == "default") return std::nullopt;
    return written{at->first, at->second};
  };
  auto const read = [](std::optional<written> const& from, auto parse, auto& target,
                       std::string_view expected) -> std::optional<error> {
    if (!from || from->text == "default") return std::nullopt;
    auto const value = parse(from->text);
    if (!value) return garbage(*from, expected);
    target = *value;
    return std::nullopt;
  };
  constexpr std::string_view finite = "a finite decimal number or hex float (such as 0.125 or 0x1p-3)";
  constexpr std::string_view whole = "a whole number";
  auto& asked = to.asked;
  if (auto why = read(find("scale", flags.scale), real_number, asked.scale, finite)) return why;
  if (auto why = read(find("softcap", flags.softcap), real_number, asked.softcap, finite)) return why;
  if (auto why = read(find("diagonal", flags.diagonal), whole_number, asked.where.diagonal, whole)) return why;
  if (auto why = read(find("left", flags.left), whole_number, asked.where.left, whole)) return why;
  return read(find("right", flags.right), whole_number, asked.where.right, whole);
}

void write_parameters(recorded_problem const& from, safetensors_metadata& to) {
  auto const& asked = from.asked;
  // All five, so that a plain key among the caller's own metadata cannot change the problem.
  to[from.name_of("scale")] = asked.scale ? fmt::format("{:a}", *asked.scale) : "default";
  to[from.name_of("softcap")] = fmt::format("{:a}", asked.softcap);
  to[from.name_of("diagonal")] = std::to_string(asked.where.diagonal);
  to[from.name_of("left")] = std::to_string(asked.where.left);
  to[from.name_of("right")] = std::to_string(asked.where.right);
}

}  // namespace attest::audit
