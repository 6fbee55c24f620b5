// Contracts as users name them: presets, ready contracts, files, JSON, and conventions that differ from theirs.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "audit/contract/contract_fields.hpp"
#include "audit/contract/contract_file.hpp"
#include "audit/support/locate.hpp"
#include "audit/support/printable.hpp"
#include "audit/support/words.hpp"

namespace attest::audit {
namespace {

using problem::error;
using problem::error_code;

/// Sets one convention by its name and word, and lists what there is.
struct convention_setter {
  std::string_view field, word_said;
  bool found = false, changed = false;
  std::vector<std::string> fields{}, words{};

  void word(char const* name, std::span<char const* const> known, std::size_t& at) {
    fields.emplace_back(name);
    if (field != name) return;
    words.assign(known.begin(), known.end());
    auto const said = std::ranges::find(known, word_said);
    if (said == known.end()) return;
    auto const chosen = static_cast<std::size_t>(said - known.begin());
    found = true, changed = chosen != at;
    at = chosen;
  }
};

/// Each convention with its word: "lse_base=2".
struct convention_lister {
  std::vector<std::string> all{};
  void word(char const* name, std::span<char const* const> known, std::size_t& at) {
    all.push_back(fmt::format("{}={}", name, known[at]));
  }
};

std::vector<std::string> listed(conventions how) {
  convention_lister lister;
  visit_conventions(how, lister);
  return std::move(lister.all);
}

/// Where "+FIELD=" of a convention begins, behind the name of a contract.
std::size_t conventions_begin(std::string const& argument) {
  std::size_t first = argument.npos;
  for (std::string const& convention : listed({}))
    first = std::min(first, argument.find("+" + convention.substr(0, convention.find('=') + 1)));
  return first;
}

bool is_path(std::string_view argument) { return argument.ends_with(".json") || argument.find('/') != argument.npos; }

std::vector<std::filesystem::path> ready_files() {
  std::vector<std::filesystem::path> files;
  auto const folder = locate_contracts();
  if (!folder) return files;
  std::error_code ignored;
  for (auto const& entry : std::filesystem::directory_iterator(folder.value(), ignored))
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

/// The file of the ready contract of this name.
std::optional<std::filesystem::path> ready_file(std::string_view name) {
  for (auto const& file : ready_files())
    if (file.stem() == name) return file;
  return std::nullopt;
}

/// A contract that is written on the command line. Without a name it is named after its parts.
problem::result<contract> written_contract(std::string const& text) {
  constexpr char nameless[] = "written";
  auto parsed = parse_contract(text, nameless);
  if (!parsed || parsed.value().name != nameless) return parsed;
  contract& claim = parsed.value();
  std::vector<contract> known = ready_contracts();
  known.insert(known.begin(), contracts().begin(), contracts().end());
  for (contract const& preset : known) {
    contract same = preset;
    same.name = claim.name, same.sentence = claim.sentence, same.conventions = claim.conventions;
    if (!(same == claim) || preset.sentence != claim.sentence) continue;
    claim.name = preset.name;
    auto const usual = listed(preset.conventions), here = listed(claim.conventions);
    for (std::size_t n = 0; n < here.size(); ++n)
      if (here[n] != usual[n]) claim.name += "+" + here[n];
    break;
  }
  return parsed;
}

/// The contract in a file. If there is no such file but a ready contract of its name, the error says so.
problem::result<contract> contract_at(std::filesystem::path const& path) {
  auto claim = read_contract(path);
  std::error_code ignored;
  std::string const name = path.stem().native();
  if (claim || std::filesystem::exists(path, ignored) || !ready_file(name)) return claim;
  error why = claim.why();
  why.reason += fmt::format("; the ready contract needs no path: '{}'", name);
  return why;
}

problem::result<contract> base_contract(std::string const& argument) {
  if (contract const* const preset = find_contract(argument)) return *preset;
  if (argument.starts_with('{')) return written_contract(argument);
  if (is_path(argument)) return contract_at(argument);
  if (auto const file = ready_file(argument)) return read_contract(*file);
  return error{error_code::bad_value, "",
               fmt::format("no contract is called '{}'{}; see `attest list contracts`, or give a FILE.json",
                           printable(argument), did_you_mean(argument, contract_names()))};
}

}  // namespace

std::optional<error> accept(contract& claim, std::string const& convention, char const* option) {
  auto const sign = std::min(convention.find_first_of("=:"), convention.size());
  convention_setter set{std::string_view(convention).substr(0, sign),
                        std::string_view(convention).substr(std::min(sign + 1, convention.size()))};
  conventions changed = claim.conventions;
  visit_conventions(changed, set);
  if (set.words.empty())
    return error{error_code::bad_value, option,
                 fmt::format("there is no convention '{}'{}; they are {}", printable(set.field, 60),
                             did_you_mean(set.field, set.fields), fmt::join(set.fields, ", "))};
  if (!set.found)
    return error{error_code::bad_value, option,
                 fmt::format("'{}' is no word of {}, expected {}={}", printable(set.word_said, 60), set.field,
                             set.field, fmt::join(set.words, fmt::format(" or {}=", set.field)))};
  if (!set.changed) return std::nullopt;
  claim.conventions = changed;
  claim.name += fmt::format("+{}={}", set.field, set.word_said);
  return std::nullopt;
}

problem::result<contract> contract_named(std::string const& argument) {
  std::size_t begin = argument.starts_with('{') ? argument.npos : conventions_begin(argument);
  auto claim = base_contract(argument.substr(0, begin));
  while (claim && begin != argument.npos) {
    std::string const rest = argument.substr(begin + 1);
    std::size_t const end = conventions_begin(rest);
    if (auto why = accept(claim.value(), rest.substr(0, end), "")) return *std::move(why);
    begin = end == rest.npos ? end : begin + 1 + end;
  }
  return claim;
}

std::optional<std::filesystem::path> contract_path(std::string const& argument) {
  std::string const base = argument.substr(0, argument.starts_with('{') ? argument.npos : conventions_begin(argument));
  if (find_contract(base) || base.starts_with('{') || !is_path(base)) return std::nullopt;
  return base;
}

std::optional<contract> find_ready_contract(std::string_view name) {
  auto const file = ready_file(name);
  if (!file) return std::nullopt;
  auto read = read_contract(*file, base_contracts::presets);
  if (!read) return std::nullopt;
  return std::move(read).value();
}

std::vector<std::string> contract_names() {
  std::vector<std::string> all;
  for (contract const& preset : contracts()) all.push_back(preset.name);
  for (auto const& file : ready_files()) all.push_back(file.stem().native());
  return all;
}

std::vector<contract> ready_contracts() {
  std::vector<contract> all;
  for (auto const& file : ready_files())
    if (auto read = read_contract(file)) all.push_back(std::move(read).value());
  return all;
}

std::vector<std::string> conventions_set_by(void (*change)(conventions&)) {
  conventions usual, other;
  struct {
    void word(char const*, std::span<char const* const>, std::size_t& at) { at = 1; }
  } second;
  visit_conventions(other, second);
  change(usual), change(other);
  auto const a = listed(usual), b = listed(other);
  std::vector<std::string> set;
  for (std::size_t n = 0; n < a.size(); ++n)
    if (a[n] == b[n]) set.push_back(a[n]);
  return set;
}

}  // namespace attest::audit
