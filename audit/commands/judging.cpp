#include "audit/commands/judging.hpp"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "audit/commands/command.hpp"
#include "audit/comparison.hpp"
#include "audit/files.hpp"
#include "audit/html_report.hpp"
#include "audit/report.hpp"

namespace attest::audit {

using problem::error;
using problem::error_code;

void judging::declare(CLI::App& command) {
  command.add_option("--contract", contract_, "what the kernel claims; see `attest list contracts`");
  command.add_option("--json", json_, "write the report as JSON to FILE, - for standard output")->type_name("FILE");
  command.add_option("--report", page_, "write the report as one HTML page to FILE")->type_name("FILE");
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
  return answer(std::span(&made.value(), 1));
}

int judging::answer(std::span<report const> all) const {
  fmt::print("{}", json_ == "-" ? as_json(all) : as_text(all));
  auto const save = [](char const* option, std::string const& path, std::string const& content) {
    auto const why = write_file(path, std::as_bytes(std::span(content)));
    if (why) complain(std::string(option) + ": " + why->message());
    return !why;
  };
  bool written = json_.empty() || json_ == "-" || save("--json", json_, as_json(all));
  written &= page_.empty() || save("--report", page_, as_html(all));
  return written ? static_cast<int>(worst(all)) : usage;
}

}  // namespace attest::audit
