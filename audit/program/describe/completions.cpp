#include <algorithm>

#include <fmt/format.h>

#include "audit/program/describe/description.hpp"
#include "audit/report/version.hpp"

namespace attest::audit {
namespace {

using word_list = std::vector<std::string>;

std::string banner(std::string_view shell) {
  return fmt::format("# Completions of attest {} for {}, written by `attest describe {}`.\n", version, shell, shell);
}

/// 'text' for a shell, which reads none of its characters as its own.
std::string shell_quoted(std::string_view text) {
  std::string out = "'";
  for (char const c : text) c == '\'' ? out += "'\\''" : out += c;
  return out + "'";
}

/// Names that begin with a dash.
word_list dashed(described_command const& command) {
  word_list all;
  for (described_option const& option : command.options)
    if (!option.positional) all.insert(all.end(), option.names.begin(), option.names.end());
  return all;
}

word_list names_of(std::vector<described_command> const& commands) {
  word_list all;
  for (described_command const& command : commands) all.push_back(command.name);
  return all;
}

/// The words of the first argument without dashes.
word_list first_words(described_command const& command) {
  for (described_option const& option : command.options)
    if (option.positional) return option.words;
  return {};
}

/// One word of zsh's _arguments: brackets and colons have a meaning there.
std::string zsh_escaped(std::string_view text) {
  std::string out;
  for (char const c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

std::string zsh_values(described_option const& option) {
  if (option.words.empty()) return "_files";
  return fmt::format(" _attest_words {}", fmt::join(option.words, " "));  // the space: it gets these words alone
}

}  // namespace

std::string bash_completion(description const& all) {
  std::string script = banner("bash") + R"(_attest() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=
  [[ $before != = ]] || before=${COMP_WORDS[COMP_CWORD-2]}
  [[ $word != = ]] || word=
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
)";
  word_list first = names_of(all.commands);
  word_list const root = dashed(all.program);
  first.insert(first.end(), root.begin(), root.end());
  script += fmt::format("    mapfile -t COMPREPLY < <(compgen -W {} -- \"$word\")\n    return\n  fi\n",
                        shell_quoted(fmt::format("{}", fmt::join(first, " "))));
  script += "  case ${COMP_WORDS[1]}:$before in\n";
  for (described_command const& command : all.commands)
    for (described_option const& option : command.options)
      if (!option.positional && !option.value.empty())
        for (std::string const& name : option.names)
          script += fmt::format(
              "    {}:{}) mapfile -t COMPREPLY < <(compgen -W {} -- \"$word\"; compgen -f -- \"$word\"); return ;;\n",
              command.name, name, shell_quoted(fmt::format("{}", fmt::join(option.words, " "))));
  script += "  esac\n  case ${COMP_WORDS[1]} in\n";
  for (described_command const& command : all.commands) {
    word_list const options = dashed(command);
    script += fmt::format("    {}) [[ $word == -* ]] && words={} || words={} ;;\n", command.name,
                          shell_quoted(fmt::format("{}", fmt::join(options, " "))),
                          shell_quoted(fmt::format("{}", fmt::join(first_words(command), " "))));
  }
  return script + R"(  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word"; [[ $word == -* ]] || compgen -f -- "$word")
}
complete -o filenames -F _attest attest
)";
}

std::string zsh_completion(description const& all) {
  std::string script = "#compdef attest\n" + banner("zsh") +
                       "_attest_words() {\n  compadd -- \"$@\"\n  _files\n}\n_attest() {\n  local -a commands=(\n";
  for (described_command const& command : all.commands)
    script += fmt::format("    {}\n", shell_quoted(command.name + ":" + zsh_escaped(command.summary)));
  script += "  )\n  if ((CURRENT == 2)); then\n    _describe command commands\n    _arguments";
  for (std::string const& name : dashed(all.program)) script += " " + shell_quoted(name);
  script += "\n    return\n  fi\n  local command=$words[2]\n  shift words\n  ((CURRENT--))\n  case $command in\n";
  for (described_command const& command : all.commands) {
    script += fmt::format("    {}) _arguments", command.name);
    for (described_option const& option : command.options)
      for (std::string const& name : option.names) {
        std::string const value =
            option.value.empty() ? "" : fmt::format(":{}:{}", zsh_escaped(option.value), zsh_values(option));
        std::string const form =
            option.positional
                ? fmt::format("{}:{}:{}", option.several ? "*" : "", zsh_escaped(name), zsh_values(option))
                : fmt::format("{}{}[{}]{}", option.several ? "*" : "", name, zsh_escaped(option.summary), value);
        script += " \\\n      " + shell_quoted(form);
      }
    script += " ;;\n";
  }
  return script + "  esac\n}\n_attest \"$@\"\n";
}

std::string fish_completion(description const& all) {
  std::string script = banner("fish");
  auto const line = [](std::string_view when, described_option const& option) {
    std::string text = fmt::format("complete -c attest -n {}", shell_quoted(when));
    if (!option.positional)
      for (std::string const& name : option.names)
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    if (!option.value.empty() && !option.positional) text += " -r";
    if (!option.words.empty()) text += " -a " + shell_quoted(fmt::format("{}", fmt::join(option.words, " ")));
    return text + " -d " + shell_quoted(option.summary) + "\n";
  };
  for (described_command const& command : all.commands)
    script += fmt::format("complete -c attest -f -n __fish_use_subcommand -a {} -d {}\n", command.name,
                          shell_quoted(command.summary));
  for (described_option const& option : all.program.options) script += line("__fish_use_subcommand", option);
  for (described_command const& command : all.commands)
    for (described_option const& option : command.options)
      if (!option.positional || !option.words.empty())
        script += line("__fish_seen_subcommand_from " + command.name, option);
  return script;
}

}  // namespace attest::audit
