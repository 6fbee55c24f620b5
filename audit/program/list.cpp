// attest list: the kernels, contracts, checks, cases and bug classes.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "audit/builtin/builtin_sets.hpp"
#include "audit/cases/case.hpp"
#include "audit/contract/contract_file.hpp"
#include "audit/program/command.hpp"
#include "audit/session/real_data.hpp"

namespace attest::audit {
namespace {

struct list_arguments {
  std::string topic;
  bool json = false;
};

struct line {
  std::string name, sentence;
};

problem::result<std::vector<line>> lines_of(std::string const& topic) {
  std::vector<line> lines;
  if (topic == "kernels") {
    lines = {
        {"builtin", "attest's own blocked kernel (libattest_kernel), on the best instruction set of this machine"}};
    for (builtin_set const& set : builtin_sets())
      lines.push_back({fmt::format("builtin:{}", set.word),
                       fmt::format("the same, held to {}", set.word == "scalar" ? "plain code" : set.word)});
    lines.push_back({"PATH[:SYMBOL]", "a shared library with the interface of attest/kernel.h"});
  } else if (topic == "contracts") {
    for (contract const& claim : contracts()) lines.push_back({claim.name, claim.sentence});
  } else if (topic == "checks") {
    for (check const& entry : checks())
      lines.push_back({std::string(entry.name),
                       fmt::format("{} [{}]; not: {}", entry.proves, token_of(entry.bug_class), entry.cannot)});
  } else if (topic == "cases") {
    auto const real = real_data_cases();
    if (!real) return real.why();
    for (audit_case const& kernel_case : real.value()) lines.push_back({kernel_case.full_name(), ""});
    for (audit_case const& kernel_case : generated_cases({})) lines.push_back({kernel_case.full_name(), ""});
  } else {
    for (std::string_view const token : bug_class_tokens) lines.push_back({std::string(token), ""});
  }
  return lines;
}

int run(list_arguments const& arguments) {
  auto const lines = lines_of(arguments.topic);
  if (!lines) return usage_error(lines.why().message());
  if (arguments.json && arguments.topic == "contracts") {  // each as a contract file
    auto array = nlohmann::ordered_json::array();
    for (contract const& claim : contracts()) array.push_back(nlohmann::ordered_json::parse(contract_text(claim)));
    return print(array.dump(2) + '\n');
  }
  if (arguments.json) {
    auto array = nlohmann::ordered_json::array();
    for (line const& entry : lines.value()) array.push_back({{"name", entry.name}, {"sentence", entry.sentence}});
    return print(array.dump(2) + '\n');
  }
  std::size_t width = 0;
  if (arguments.topic != "cases")
    for (line const& entry : lines.value()) width = std::max(width, entry.name.size());
  std::string text;
  for (line const& entry : lines.value())
    text += entry.sentence.empty() ? entry.name + '\n' : fmt::format("{:<{}}  {}\n", entry.name, width, entry.sentence);
  return print(text);
}

}  // namespace

action list_command(CLI::App& command) {
  auto const arguments = std::make_shared<list_arguments>();
  command.add_option("what", arguments->topic, "kernels, contracts, checks, cases or classes")
      ->required()
      ->check(one_of({"kernels", "contracts", "checks", "cases", "classes"}));
  command.add_flag("--json", arguments->json, "as JSON");
  return [arguments] { return run(*arguments); };
}

}  // namespace attest::audit
