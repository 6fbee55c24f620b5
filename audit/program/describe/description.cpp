#include "audit/program/describe/description.hpp"

#include <algorithm>

#include "audit/cases/case.hpp"
#include "audit/contract/contract_file.hpp"
#include "audit/report/coverage/coverage_words.hpp"

namespace attest::audit {
namespace {

/// The words that the option's validator accepts (one_of), or the program's words for its name.
std::vector<std::string> words_of(CLI::Option& option) {
  std::vector<std::string> words;
  std::string const name = option.get_name();
  if (name == "--contract")
    for (contract const& claim : contracts()) words.push_back(claim.name);
  else if (name == "--only" || name == "--waive")
    for (check const& entry : checks()) words.emplace_back(entry.name);
  else if (name == "--require-support")
    for (std::string_view const support : support_names()) words.emplace_back(support);
  else if (name == "--kernel") words = {"builtin"};
  else {
    try {
      words = CLI::detail::split(option.get_validator(0)->get_name(), ',');
    } catch (CLI::OptionNotFound const&) {  // it accepts any value
    }
    std::erase(words, "");
  }
  return words;
}

described_option described(CLI::Option& option) {
  described_option result;
  if (option.get_positional()) result.names = {option.get_single_name()};
  for (std::string const& name : option.get_snames()) result.names.push_back("-" + name);
  for (std::string const& name : option.get_lnames()) result.names.push_back("--" + name);
  result.summary = option.get_description();
  if (option.get_type_size_max() > 0) {
    result.value = option.get_type_name();
    result.words = words_of(option);
  }
  result.positional = option.get_positional();
  result.required = option.get_required();
  result.several = option.get_items_expected_max() > 1;
  return result;
}

described_command described(CLI::App& app) {
  described_command result{app.get_name(), app.get_description(), app.get_footer(), {}};
  for (CLI::Option* const option : app.get_options([](CLI::Option const*) { return true; }))
    result.options.push_back(described(*option));
  return result;
}

}  // namespace

description describe(CLI::App& root) {
  description all{described(root), {}};
  for (CLI::App* const command : root.get_subcommands([](CLI::App const*) { return true; }))
    if (!command->get_group().empty()) all.commands.push_back(described(*command));
  return all;
}

}  // namespace attest::audit
