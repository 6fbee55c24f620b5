// attest list: the kernels and the features of one of them, contracts, checks, cases, bug classes, specimens of the
// zoo.
#include <algorithm>
#include <functional>
#include <iterator>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "audit/asking/capabilities.hpp"
#include "audit/asking/real_data.hpp"
#include "audit/builtin/builtin_sets.hpp"
#include "audit/builtin/kernel_spec.hpp"
#include "audit/cases/case.hpp"
#include "audit/cases/families/backward.hpp"
#include "audit/cases/families/merges.hpp"
#include "audit/contract/contract_file.hpp"
#include "audit/program/command.hpp"
#include "audit/zoo/loaded.hpp"

namespace attest::audit {
namespace {

struct list_arguments {
  std::string topic;
  std::optional<std::string> name, kernel, contract;
  bool json = false;
};

struct line {
  std::string name, sentence;
};

/// The presets, then the ready contracts.
std::vector<contract> all_contracts() {
  std::vector<contract> all = contracts();
  std::ranges::move(ready_contracts(), std::back_inserter(all));
  return all;
}

problem::result<std::vector<line>> lines_of(std::string const& topic) {
  std::vector<line> lines;
  if (topic == "kernels") {
    lines = {
        {"builtin", "attest's own blocked kernel (libattest_kernel), on the best instruction set of this machine"}};
    for (builtin_set const& set : builtin_sets())
      lines.push_back({fmt::format("builtin:{}", set.word),
                       fmt::format("the same, held to {}", set.word == "scalar" ? "plain code" : set.word)});
    lines.push_back({"PATH[:SYMBOL]", "a shared library with the interface of attest/kernel.h"});
  } else if (topic == "checks") {
    for (check const& entry : checks())
      lines.push_back({std::string(entry.name),
                       fmt::format("{} [{}]; not: {}", entry.proves, token_of(entry.bug_class), entry.cannot)});
  } else if (topic == "cases") {
    auto const real = real_data_cases();
    if (!real) return real.why();
    for (audit_case const& kernel_case : real.value()) lines.push_back({kernel_case.full_name(), ""});
    for (audit_case const& kernel_case : generated_cases({})) lines.push_back({kernel_case.full_name(), ""});
    for (audit_case const& kernel_case : merge_cases({})) lines.push_back({kernel_case.full_name(), ""});
    for (audit_case const& kernel_case : backward_cases({})) lines.push_back({kernel_case.full_name(), ""});
  } else {
    for (bug_class_row const& row : bug_class_table)
      lines.push_back({std::string(row.token), std::string(row.meaning)});
  }
  return lines;
}

/// The shortest beginning of the sentence, in clauses, that no other sentence has.
std::string_view beginning_of(std::string_view sentence, std::vector<line> const& all) {
  for (std::size_t end = sentence.find_first_of(":;"); end != sentence.npos;
       end = sentence.find_first_of(":;", end + 1)) {
    std::string_view const beginning = sentence.substr(0, end);
    if (std::ranges::count_if(all, [&](line const& of) { return of.sentence.starts_with(beginning); }) == 1)
      return beginning;
  }
  return sentence;
}

/// A name and a sentence each.
std::string as_text(std::vector<line> const& lines) {
  std::size_t width = 0;
  for (line const& entry : lines)
    if (!entry.sentence.empty()) width = std::max(width, entry.name.size());
  std::string text;
  for (line const& entry : lines)
    text += entry.sentence.empty() ? entry.name + '\n' : fmt::format("{:<{}}  {}\n", entry.name, width, entry.sentence);
  return text;
}

/// One contract, or all of them by the beginnings of their sentences; as JSON a contract file each.
int list_contracts(list_arguments const& arguments) {
  if (arguments.name) {
    auto const one = contract_named(*arguments.name);
    if (!one) return usage_error(one.why().message());
    return print(arguments.json ? contract_text(one.value()) : as_text({{one.value().name, one.value().sentence}}));
  }
  if (arguments.json) {
    auto files = nlohmann::ordered_json::array();
    for (contract const& claim : all_contracts()) files.push_back(nlohmann::ordered_json::parse(contract_text(claim)));
    return print(files.dump(2) + '\n');
  }
  std::vector<line> lines;
  for (contract const& claim : all_contracts()) lines.push_back({claim.name, claim.sentence});
  std::vector<line> begun = lines;
  for (line& entry : begun) entry.sentence = beginning_of(entry.sentence, lines);
  return print(as_text(begun) + "\n`attest list contracts NAME` says all of one; with --json it is a contract file.\n");
}

/// The checks whose findings have the class of this specimen; empty for an honest one.
std::vector<std::string_view> checks_of(zoo::specimen const& of) {
  std::vector<std::string_view> names;
  for (check const& entry : checks())
    if (entry.bug_class == of.bug_class) names.push_back(entry.name);
  return names;
}

/// A line for each specimen, or an array of {"name", "class", "family", "contract", "sentence", "seen_in", "checks"}.
int list_zoo(bool as_json) {
  auto const loaded = zoo::load_zoo();
  if (!loaded) return usage_error(loaded.why().message());
  auto array = nlohmann::ordered_json::array();
  std::string text;
  for (zoo::specimen const& of : loaded.value().specimens) {
    auto const looked_for_by = checks_of(of);
    if (as_json)
      array.push_back({{"name", of.name},
                       {"class", of.class_token()},
                       {"family", of.family},
                       {"contract", of.contract},
                       {"sentence", of.description},
                       {"seen_in", of.seen_in},
                       {"checks", looked_for_by}});
    else
      text +=
          fmt::format("{:<34}  {}{} [{}, {}{}]\n", of.name, of.description,
                      looked_for_by.empty() ? "" : fmt::format("; looked for by {}", fmt::join(looked_for_by, ", ")),
                      of.class_token(), of.contract, of.family.empty() ? "" : fmt::format(", family {}", of.family));
  }
  return print(as_json ? array.dump(2) + '\n' : text);
}

/// The exports and features of one kernel: a line for each feature, which names the others that change it. As JSON
/// {"exports", "features": {NAME or NAME+NAME: ANSWER}}.
int list_capabilities(list_arguments const& arguments) {
  auto const claim = contract_named(arguments.contract.value_or("f32"));
  if (!claim) return usage_error("--contract: " + claim.why().message());
  auto const library = library_of(*arguments.kernel);
  if (!library) return usage_error(library.why().message());
  auto const found = capabilities_of(library.value(), claim.value(), {});
  if (!found) return usage_error(found.why().message());
  if (arguments.json) {
    nlohmann::ordered_json features;
    for (auto const& row : found.value().rows) features[row.name] = capability_names[static_cast<std::size_t>(row.is)];
    return print(nlohmann::ordered_json{{"exports", found.value().exports}, {"features", features}}.dump(2) + '\n');
  }
  std::map<std::string, capability, std::less<>> alone;
  for (auto const& row : found.value().rows)
    if (row.name.find('+') == row.name.npos) alone[row.name] = row.is;
  auto const together = [](capability a, capability b) {
    return a == capability::refused || b == capability::refused ? capability::refused : std::max(a, b);
  };
  std::string text =
      found.value().exports.empty() ? "" : fmt::format("exports {}\n\n", fmt::join(found.value().exports, ", "));
  for (auto const& [name, is] : found.value().rows) {
    auto const plus = name.find('+');
    char const* const word = capability_names[static_cast<std::size_t>(is)];
    if (plus == name.npos) text += fmt::format("{:<18}{}\n", name, word);
    // A pair that behaves as its two features do needs no word.
    else if (is != together(alone[name.substr(0, plus)], alone[name.substr(plus + 1)]))
      text += fmt::format("  {:<34}{}\n", name, word);
  }
  return print(text);
}

int run(list_arguments const& arguments) {
  if (arguments.kernel && arguments.topic != "kernels") return usage_error("--kernel: goes with 'list kernels' only");
  if (arguments.contract && !arguments.kernel) return usage_error("--contract: goes with 'list kernels --kernel' only");
  if (arguments.name && arguments.topic != "contracts") return usage_error("a name goes with 'list contracts' only");
  if (arguments.kernel) return list_capabilities(arguments);
  if (arguments.topic == "contracts") return list_contracts(arguments);
  if (arguments.topic == "zoo") return list_zoo(arguments.json);
  auto const lines = lines_of(arguments.topic);
  if (!lines) return usage_error(lines.why().message());
  if (arguments.json) {
    auto array = nlohmann::ordered_json::array();
    for (line const& entry : lines.value()) array.push_back({{"name", entry.name}, {"sentence", entry.sentence}});
    return print(array.dump(2) + '\n');
  }
  return print(as_text(lines.value()));
}

}  // namespace

action list_command(CLI::App& command) {
  auto const arguments = std::make_shared<list_arguments>();
  command.add_option("what", arguments->topic, "kernels, contracts, checks, cases, classes or zoo")
      ->required()
      ->check(one_of({"kernels", "contracts", "checks", "cases", "classes", "zoo"}));
  command.add_option("name", arguments->name, "with 'contracts': all that is said of this one");
  command.add_flag("--json", arguments->json, "as JSON");
  command.add_option("--kernel", arguments->kernel,
                     "with 'kernels': what this one exports, and which features it answers");
  command.add_option("--contract", arguments->contract, "by which its answers are judged; without it f32");
  return [arguments] { return run(*arguments); };
}

}  // namespace attest::audit
