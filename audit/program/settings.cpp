#include "audit/program/settings.hpp"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

#include "audit/support/files.hpp"
#include "audit/support/printable.hpp"
#include "audit/support/words.hpp"

namespace attest::audit {
namespace {

using problem::error;
using problem::error_code;
using problem::result;

constexpr char const *own_file = "attest.toml", *shared_file = "pyproject.toml";

/// The options of a command line: its words before --.
struct given_words {
  std::vector<std::string> words;

  bool has(CLI::Option const& option) const {
    return std::ranges::any_of(option.get_lnames(), [&](std::string const& name) { return place(name).has_value(); });
  }

  /// Where --NAME stands.
  std::optional<std::size_t> place(std::string const& name) const {
    for (std::size_t n = 0; n < words.size(); ++n)
      if (words[n] == "--" + name || words[n].starts_with("--" + name + "=")) return n;
    return std::nullopt;
  }

  std::optional<std::string> value(std::string const& name) const {
    auto const n = place(name);
    if (!n) return std::nullopt;
    if (auto const equal = words[*n].find('='); equal != std::string::npos) return words[*n].substr(equal + 1);
    return *n + 1 < words.size() ? words[*n + 1] : std::string();
  }
};

bool reads_settings(CLI::App const& command) { return command.get_option_no_throw("--no-config") != nullptr; }

/// A number or a text as a word. Returns nothing for anything else.
std::optional<std::string> word_of(toml::node const& node) {
  if (auto const text = node.value_exact<std::string>()) return *text;
  if (auto const whole = node.value_exact<std::int64_t>()) return fmt::format("{}", *whole);
  if (auto const real = node.value_exact<double>()) return fmt::format("{}", *real);
  return std::nullopt;
}

/// The words of an option; a sentence if its value is of the wrong kind.
result<std::vector<std::string>> words_of(CLI::Option const& option, std::string const& name, toml::node const& node) {
  auto const wrong = [&](char const* expected) { return error{error_code::bad_type, name, expected}; };
  if (option.get_expected_max() == 0) {
    auto const on = node.value_exact<bool>();
    if (!on) return wrong("expected true or false");
    return *on ? std::vector<std::string>{"--" + name} : std::vector<std::string>{};
  }
  std::vector<std::string> words;
  auto const take = [&](toml::node const& value) {
    auto const word = word_of(value);
    if (word) words.push_back(fmt::format("--{}={}", name, *word));
    return word.has_value();
  };
  if (auto const* const table = node.as_table(); table && name == "contract") {
    std::ostringstream json;
    json << toml::json_formatter(*table, toml::format_flags::none);
    return std::vector{"--contract=" + nlohmann::json::parse(json.str()).dump()};  // in one line
  }
  if (auto const* const several = node.as_array()) {
    for (toml::node const& one : *several)
      if (!take(one)) return wrong("expected texts and numbers in the array");
  } else if (!take(node)) {
    return wrong("expected a text, a number or an array of these");
  }
  return words;
}

/// The tables of the commands in a file. Returns nullptr if it has none.
toml::table const* tables_of(toml::table const& root, bool is_shared) {
  return is_shared ? root.at_path("tool.attest").as_table() : &root;
}

/// A key that is a table for each command that reads settings, and nothing else.
std::optional<std::string> wrong_key(CLI::App const& program, toml::table const& tables, std::string const& prefix) {
  std::vector<std::string> known;
  for (CLI::App const* command : program.get_subcommands([](CLI::App const* c) { return reads_settings(*c); }))
    known.push_back(command->get_name());
  for (auto const& [key, node] : tables) {
    std::string const name(key.str());
    bool const is_command = std::ranges::find(known, name) != known.end();
    if (is_command && node.is_table()) continue;
    if (!is_command && !node.is_table() && program.get_subcommand("audit")->get_option_no_throw("--" + name))
      return fmt::format("'{}' stands outside a table; options of `audit` stand below [{}audit]", name, prefix);
    return fmt::format("'{}' is no table of options{}; the tables are [{}{}]", printable(name),
                       did_you_mean(name, known), prefix, fmt::join(known, "], [" + prefix));
  }
  return std::nullopt;
}

}  // namespace

void declare_settings(CLI::App& command) {
  command
      .add_option("--config",
                  "options of this TOML file; without it of attest.toml, or [tool.attest] of pyproject.toml")
      ->type_name("FILE");
  command.add_flag("--no-config")->description("read no such file")->excludes("--config");
}

result<settings> read_settings(CLI::App const& program, std::vector<std::string> const& words) {
  settings read;
  auto const with_settings = program.get_subcommands([](CLI::App const* c) { return reads_settings(*c); });
  auto const is_named = [&](CLI::App const* c) { return !words.empty() && c->get_name() == words.front(); };
  auto const found = std::ranges::find_if(with_settings, is_named);
  if (found == with_settings.end()) return read;
  CLI::App const* const command = *found;
  given_words const given{{words.begin() + 1, std::find(words.begin(), words.end(), "--")}};
  if (given.place("no-config") || given.place("help")) return read;
  auto const named = given.value("config");
  std::error_code ignored;
  for (std::string const& file : named ? std::vector{*named} : std::vector<std::string>{own_file, shared_file})
    if (read.file.empty() && (named || std::filesystem::is_regular_file(file, ignored))) read.file = file;
  if (read.file.empty()) return read;

  std::string const name = name_of_input(read.file);
  auto const wrong = [&](std::string const& what) { return error{error_code::bad_value, name, what}; };
  auto const file = read_file(read.file);
  if (!file) return error{file.why().code, "--config", file.why().message()};
  auto const bytes = file.value().bytes;
  auto const parsed = toml::parse(std::string_view(reinterpret_cast<char const*>(bytes.data()), bytes.size()));
  if (!parsed)
    return wrong(fmt::format("line {}: {}", parsed.error().source().begin.line,
                             printable(std::string(parsed.error().description()))));
  bool const is_shared = read.file.filename() == shared_file;
  std::string const prefix = is_shared ? "tool.attest." : "";
  toml::table const* const tables = tables_of(parsed.table(), is_shared);
  if (!tables) return settings{};
  if (auto const why = wrong_key(program, *tables, prefix)) return wrong(*why);
  auto const* const options = tables->get_as<toml::table>(words.front());
  if (!options) return settings{};

  std::string const table = fmt::format("[{}{}]", prefix, words.front());
  std::vector<std::string> known;
  for (CLI::Option const* option : command->get_options())
    if (!option->get_lnames().empty() && option->get_name() != "--config" && option->get_name() != "--no-config" &&
        option->get_name() != "--help" && option->get_name() != "--version")
      known.push_back(option->get_lnames().front());
  for (auto const& [key, node] : *options) {
    std::string const word(key.str());
    if (std::ranges::find(known, word) == known.end())
      return wrong(fmt::format("{}: there is no option '{}'{}", table, printable(word), did_you_mean(word, known)));
    CLI::Option const* const option = command->get_option("--" + word);
    auto const line = words_of(*option, word, node);
    if (!line) return wrong(fmt::format("{}: {}", table, line.why().message()));
    auto const excluded = [&](CLI::Option const* other) { return given.has(*other); };
    if (given.has(*option) || std::ranges::any_of(option->get_excludes(), excluded) || line.value().empty()) continue;
    read.words.insert(read.words.end(), line.value().begin(), line.value().end());
  }
  return read;
}

}  // namespace attest::audit
