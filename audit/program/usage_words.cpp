#include "audit/program/usage_words.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "audit/support/printable.hpp"

namespace attest::audit {
namespace {

constexpr std::string_view may_be_empty = "--findings";

/// The part of `text` before `end`, or all of it.
std::string before(std::string const& text, std::string_view end) { return text.substr(0, text.find(end)); }

/// The text between two parts of `text`. Returns nothing if they are not in it.
std::optional<std::string> between(std::string const& text, std::string_view begin, std::string_view end) {
  auto const from = text.find(begin);
  if (from == text.npos) return std::nullopt;
  auto const to = text.find(end, from + begin.size());
  if (to == text.npos) return std::nullopt;
  return text.substr(from + begin.size(), to - from - begin.size());
}

}  // namespace

std::vector<std::string> plain_words(std::vector<std::string> words) {
  if (words.empty()) return words;
  if (words.front() == "version") words.front() = "--version";
  if (words.front() != "help") return words;
  words.erase(words.begin());
  words.insert(words.empty() || words.front().starts_with('-') ? words.begin() : words.begin() + 1, "--help");
  return words;
}

std::optional<std::string> empty_word(std::vector<std::string>& words) {
  bool options_end = false;
  for (std::size_t n = 0; n < words.size(); ++n) {
    std::string const word = words[n];
    if (word == fmt::format("{}=", may_be_empty) && !options_end) {
      words[n].pop_back();
      words.insert(words.begin() + static_cast<std::ptrdiff_t>(++n), "");
      continue;
    }
    bool const assigned = !options_end && word.starts_with("--") && word.find('=') == word.size() - 1;
    std::string const owner = assigned ? before(word, "=") : n > 0 ? words[n - 1] : "";
    if ((word.empty() && (owner != may_be_empty || options_end)) || assigned)
      return fmt::format(
          "{}the word is empty (an unset variable?), expected a value",
          !options_end && owner.starts_with("--") ? printable(owner) + ": " : fmt::format("argument {}: ", n + 1));
    options_end = options_end || word == "--";
  }
  return std::nullopt;
}

std::string sentence_of(CLI::ParseError const& thrown, CLI::App const& command) {
  std::string const said = printable(thrown.what(), 1000);
  std::string const kind = thrown.get_name();
  if (kind == "RequiredError") {
    if (said.starts_with("A subcommand")) return "what to do is missing, such as audit or verify";
    std::string const name = before(said, " is required");
    CLI::Option const* const option = command.get_option_no_throw(name);
    return fmt::format("{} is missing{}", name, option ? ": " + option->get_description() : "");
  }
  if (kind == "ArgumentMismatch" && said.ends_with(" missing")) return before(said, ":") + ": its value is missing";
  if (kind == "ConversionError")
    if (auto const name = between(said, "Could not convert: ", " = "))
      return fmt::format("{}: '{}' is not a number of its range", *name, said.substr(said.find(" = ") + 3));
  if (kind == "ValidationError")
    if (auto const value = between(said, ": Value ", " not in range "))
      return fmt::format("{}: '{}' is not in the range from {}", before(said, ":"), *value,
                         said.substr(said.rfind(" not in range ") + 14));
  if (kind == "ExcludesError")
    return fmt::format("{} and {} exclude each other", before(said, " excludes "), said.substr(said.rfind(' ') + 1));
  return said;
}

CLI::Validator whole_number() {
  return CLI::Validator(
      [](std::string& text) {
        bool const hexadecimal = text.starts_with("0x") || text.starts_with("0X");
        char const* const begin = text.data() + (hexadecimal ? 2 : 0);
        char const* const end = text.data() + text.size();
        std::uint64_t value = 0;
        auto const [rest, failed] = std::from_chars(begin, end, value, hexadecimal ? 16 : 10);
        if (failed != std::errc() || rest != end)
          return fmt::format("'{}' is not a whole number from 0 to {}", printable(text),
                             std::numeric_limits<std::uint64_t>::max());
        text = fmt::format("{}", value);
        return std::string();
      },
      "");
}

}  // namespace attest::audit
