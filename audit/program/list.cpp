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
  std::string what;
  bool json = false;
};

struct line {
  std::string name, sentence;
};

problem::result<std::vector<line>> lines_of(std::string const& what) {
  std::vector<line> lines;
  if (what == "kernels") {
    lines = {
        {"builtin", "attest's own blocked kernel (libattest_kernel), on the best instruction set of this machine"}};
    for (builtin_set const& each : builtin_sets())
      lines.push_back({fmt::format("builtin:{}", each.word),
                       fmt::format("the same, held to {}", each.word == "scalar" ? "plain code" : each.word)});
    lines.push_back({"PATH[:SYMBOL]", "a shared library with the interface of attest/kernel.h"});
  } else if (what == "contracts") {
    for (contract const& each : contracts()) lines.push_back({each.name, each.sentence});
  } else if (what == "checks") {
    for (check const& each : checks())
      lines.push_back({std::string(each.name),
                       fmt::format("{} [{}]; not: {}", each.proves, token_of(each.bug_class), each.cannot)});
  } else if (what == "cases") {
    auto const real = real_data_cases();
    if (!real) return real.why();
    for (audit_case const& each : real.value()) lines.push_back({each.full_name(), ""});
    for (audit_case const& each : generated_cases({})) lines.push_back({each.full_name(), ""});
  } else {
    for (std::string_view const each : bug_class_tokens) lines.push_back({std::string(each), ""});
  }
  return lines;
}

int run(list_arguments const& given) {
  auto const lines = lines_of(given.what);
  if (!lines) return usage_error(lines.why().message());
  if (given.json && given.what == "contracts") {  // each as a contract file
    auto made = nlohmann::ordered_json::array();
    for (contract const& each : contracts()) made.push_back(nlohmann::ordered_json::parse(contract_text(each)));
    fmt::print("{}\n", made.dump(2));
    return 0;
  }
  if (given.json) {
    auto made = nlohmann::ordered_json::array();
    for (line const& each : lines.value()) made.push_back({{"name", each.name}, {"sentence", each.sentence}});
    fmt::print("{}\n", made.dump(2));
    return 0;
  }
  std::size_t width = 0;
  if (given.what != "cases")
    for (line const& each : lines.value()) width = std::max(width, each.name.size());
  for (line const& each : lines.value())
    each.sentence.empty() ? fmt::print("{}\n", each.name) : fmt::print("{:<{}}  {}\n", each.name, width, each.sentence);
  return 0;
}

}  // namespace

action list_command(CLI::App& command) {
  auto const given = std::make_shared<list_arguments>();
  command.add_option("what", given->what, "kernels, contracts, checks, cases or classes")
      ->required()
      ->check(one_of({"kernels", "contracts", "checks", "cases", "classes"}));
  command.add_flag("--json", given->json, "as JSON");
  return [given] { return run(*given); };
}

}  // namespace attest::audit
