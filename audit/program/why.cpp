// attest why: what a class of findings means, what causes it in code, and what to do.
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "audit/program/command.hpp"
#include "audit/program/terminal.hpp"
#include "audit/report/class_advice.hpp"
#include "audit/report/screen.hpp"
#include "audit/support/printable.hpp"
#include "audit/support/words.hpp"

namespace attest::audit {
namespace {

struct why_arguments {
  std::string token;
  bool json = false;
};

int run(why_arguments const& arguments) {
  auto const named = bug_class_named(arguments.token);
  if (!named)
    return usage_error(fmt::format("no class of findings is called '{}'{}; see `attest list classes`",
                                   printable(arguments.token, 60), did_you_mean(arguments.token, bug_class_tokens)));
  bug_class_row const& of = row_of(*named);
  class_advice const& advice = advice_of(*named);
  std::string const page = fmt::format("docs/{}", advice.page);
  if (arguments.json)
    return print(nlohmann::ordered_json{{"name", of.token},
                                        {"sentence", of.meaning},
                                        {"cause", advice.cause},
                                        {"fix", advice.fix},
                                        {"seen", advice.seen},
                                        {"page", page}}
                     .dump(2) +
                 '\n');
  std::pair<std::string_view, std::string_view> const rows[]{
      {"usual cause", advice.cause}, {"fix", advice.fix}, {"seen before", advice.seen}, {"page", page}};
  return print(fmt::format("{}: {}\n{}", of.token, of.meaning, labelled_rows(rows, screen_of_output("never"))));
}

}  // namespace

action why_command(CLI::App& command) {
  auto const arguments = std::make_shared<why_arguments>();
  command.add_option("class", arguments->token, "a class of findings, as a report has it in brackets")
      ->required()
      ->type_name("CLASS");
  command.add_flag("--json", arguments->json, "as JSON");
  return [arguments] { return run(*arguments); };
}

}  // namespace attest::audit
