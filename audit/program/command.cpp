#include "audit/program/command.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <random>
#include <sstream>
#include <vector>

#include <fmt/format.h>

#include "audit/program/outputs.hpp"
#include "audit/program/settings.hpp"
#include "audit/program/usage_words.hpp"
#include "audit/report/version.hpp"
#include "audit/support/files.hpp"
#include "audit/support/output_file.hpp"
#include "audit/support/printable.hpp"
#include "audit/support/real_number.hpp"
#include "audit/support/words.hpp"

namespace attest::audit {
namespace {

constexpr command commands[]{
    {"audit", "run a kernel on adversarial inputs and judge every element",
     "Example: attest audit --kernel ./libmine.so --contract f32 --json report.json", audit_command},
    {"verify", "judge recorded outputs in safetensors files",
     "Example: attest verify dump.safetensors --contract f32\n"
     "Tensors q k v o (mask bias lse weights), with prefixes such as layer0. for several problems.",
     verify_command},
    {"gen", "write the audit's inputs, for a kernel that runs elsewhere",
     "Example: attest gen --out cases.safetensors, run your kernel, then\n"
     "         attest verify cases.safetensors outputs.safetensors",
     gen_command},
    {"solve", "certified or correctly rounded answers",
     "Example: attest solve in.safetensors --out out.safetensors --round f32\n"
     "Without --round: o.lower, o.upper, … as outward-rounded f64.",
     solve_command},
    {"reference", "correctly rounded answers, and how far each may be off",
     "Example: attest reference in.safetensors --contract bf16 --out reference.safetensors\n"
     "Tensors o, lse, o.bound and lse.bound; a bound of inf: not judged.",
     reference_command},
    {"selftest", "the audit against kernels with known defects, and honest ones", "Example: attest selftest --jobs 2",
     selftest_command},
    {"vectors", "write certified test vectors as JSON", "Example: attest vectors --out vectors", vectors_command},
    {"list", "what there is", "Example: attest list contracts", list_command},
    {"explain", "one query of a recorded problem, seen through",
     "Example: attest explain dump.safetensors --row 0,3,17", explain_command},
    {"merge", "the reports of all shards of an audit as one verdict",
     "Example: attest audit --seed 7 --shard 1/2 --json 1.json   (and 2/2 on another machine), then\n"
     "         attest merge 1.json 2.json",
     merge_command},
    {"why", "what a class of findings means, what causes it, and what to do", "Example: attest why causal-alignment",
     why_command},
    {"describe", "the manual page, or what a shell completes", "Example: attest describe bash", describe_command},
};

/// A message about the first argument that no command or option takes, with the nearest known word. Returns nothing if
/// there is no such argument. Words behind -- are no options.
std::optional<std::string> unknown_word(CLI::App const& app, std::vector<std::string> const& words) {
  if (std::ranges::count(words, "--") > 1) return "-- stands twice; the path of a file of that name is ./--";
  auto const chosen = app.get_subcommands();
  CLI::App const& at = chosen.empty() ? app : *chosen.front();
  auto left = at.remaining();
  // Arguments that a command without positional arguments does not take stay with its parent.
  if (!chosen.empty()) std::ranges::copy(app.remaining(), std::back_inserter(left));
  std::erase(left, "--");
  if (left.empty()) return std::nullopt;
  auto const options_end = std::ranges::find(words, "--");
  bool const option =
      left.front().starts_with('-') && left.front() != "-" &&
      (options_end == words.end() || std::find(words.begin(), options_end, left.front()) != options_end);
  std::string const word = option ? left.front().substr(0, left.front().find('=')) : left.front();
  std::vector<std::string> known;
  if (option)
    for (CLI::Option const* known_option : at.get_options()) known.push_back("--" + known_option->get_single_name());
  else if (chosen.empty())
    for (command const& entry : commands) known.emplace_back(entry.name);
  return fmt::format("there is no {} '{}'{}",
                     option           ? "option"
                     : chosen.empty() ? "command"
                                      : "further argument",
                     printable(word), did_you_mean(word, known));
}

}  // namespace

int run(int argc, char** argv) {
  std::vector<std::string> words = plain_words({argv + std::min(argc, 1), argv + argc});
  CLI::App app{"attention kernels, judged against certified truth", "attest"};
  app.set_version_flag("--version", fmt::format("attest {}", version));
  app.require_subcommand(1);
  app.allow_extras();
  app.footer(
      "`attest help COMMAND` is `attest COMMAND --help`.\n"
      "Exit status: 0 certified, 1 refuted, 2 bad usage, unreadable input or an output that cannot be written, 3 "
      "undecided.");
  struct declared {
    CLI::App* parser;
    action act;
  };
  std::vector<declared> all;
  for (command const& entry : commands) {
    CLI::App* const parser = app.add_subcommand(entry.name, entry.summary);
    parser->footer(entry.example);
    parser->allow_extras();  // so that unknown_word can name them
    parser->set_version_flag("--version", app.version(), "Display program version information and exit");
    all.push_back({parser, entry.declare(*parser)});
  }
  auto const refuse = [&](std::string const& why) {
    auto const chosen = app.get_subcommands();
    return usage_error(
        fmt::format("{}; see `attest {}--help`", why, chosen.empty() ? "" : chosen.front()->get_name() + " "));
  };
  auto const repository = read_settings(app, words);
  if (!repository) return usage_error(repository.why().message());
  auto const& [file, from_file] = repository.value();
  if (!from_file.empty()) {
    std::string line = name_of_input(file) + ":";
    for (std::string const& word : from_file) line += " " + shell_word(word);
    tell({line});
    words.insert(words.begin() + 1, from_file.begin(), from_file.end());
  }
  auto const empty = empty_word(words);
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (CLI::ParseError const& e) {
    bool const is_command = !app.get_subcommands().empty() || !unknown_word(app, words);
    if (e.get_exit_code() == 0 && is_command) {  // --help, --version
      std::ostringstream told;
      app.exit(e, told, told);
      return print(told.str());
    }
    auto const word = empty ? empty : unknown_word(app, words);
    auto const chosen = app.get_subcommands();
    return refuse(word ? *word : sentence_of(e, chosen.empty() ? app : *chosen.front()));
  }
  if (auto const word = empty ? empty : unknown_word(app, words)) return refuse(*word);
  for (auto const& [parser, act] : all)
    if (parser->parsed()) return act();
  return usage;
}

CLI::Validator real_between(double least, double most) {
  auto const fault = [=](std::string const& text) {
    auto const value = real_number(text);
    return value && *value >= least && *value <= most
               ? ""
               : fmt::format("{} is not a number from {:g} to {:g}", text, least, most);
  };
  return {fault, fmt::format("in [{:g} - {:g}]", least, most)};
}

int usage_error(std::string const& message) {
  // Whoever closed the pipe, such as `| head -1`, has what was wanted.
  if (message.ends_with(reader_gone) && message.find("; ") == message.npos) return usage;
  fmt::print(stderr, "attest: {}\n", printable(message, 10'000));
  return usage;
}

void tell(std::vector<std::string> const& sentences) {
  for (std::string const& sentence : sentences) fmt::print(stderr, "attest: {}\n", sentence);
}

int print(std::string_view text, int status) {
  auto const why = write_text(text);
  return why ? usage_error(why->message()) : status;
}

CLI::Validator one_of(std::vector<std::string> words) {
  return CLI::Validator(
      [words](std::string const& word) {
        if (std::ranges::find(words, word) != words.end()) return std::string();
        return fmt::format("'{}' is none of {}{}", printable(word), fmt::join(words, ", "), did_you_mean(word, words));
      },
      "", fmt::format("{}", fmt::join(words, ",")));
}

std::uint64_t random_seed() {
  std::random_device device;
  return device() % 1'000'000'000u;
}

}  // namespace attest::audit
