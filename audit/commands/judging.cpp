#include "audit/commands/judging.hpp"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "audit/commands/command.hpp"
#include "audit/files.hpp"
#include "audit/report.hpp"

namespace attest::audit {

using problem::error;
using problem::error_code;

void judging::declare(CLI::App& command) {
  command.add_option("--contract", contract_, "what the kernel claims; see `attest list contracts`");
  command.add_option("--json", json_, "write the report as JSON to FILE, - for standard output")->type_name("FILE");
  command.add_option("--waive", waived_, "list findings of these classes without refuting")->delimiter(',')->type_name("CLASS,…");
}

std::optional<error> judging::read() {
  for (std::string const& name : waived_)
    if (std::ranges::find(bug_classes(), name) == bug_classes().end())
      return error{error_code::bad_value, "--waive", fmt::format("no class is called '{}'; see `attest list classes`", name)};
  if (contract_.empty()) return std::nullopt;
  claim_ = find_contract(contract_);
  if (!claim_)
    return error{error_code::bad_value, "--contract", fmt::format("no contract is called '{}'; see `attest list contracts`", contract_)};
  return std::nullopt;
}

int judging::answer(problem::result<report> const& made) const {
  if (!made) return complain(made.why().message());
  report const& what = made.value();
  if (json_ != "-") fmt::print("{}", as_text(what));
  if (!json_.empty()) {
    std::string const text = as_json(what);
    if (json_ == "-") fmt::print("{}", text);
    else if (auto why = write_file(json_, std::as_bytes(std::span(text)))) return complain("--json: " + why->message());
  }
  return static_cast<int>(what.answer);
}

}  // namespace attest::audit
