#include "audit/program/judging_options.hpp"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "audit/contract/contract_file.hpp"
#include "audit/program/command.hpp"
#include "audit/report/html/page.hpp"
#include "audit/report/junit.hpp"
#include "audit/session/compare.hpp"
#include "audit/support/files.hpp"
#include "audit/support/words.hpp"

namespace attest::audit {

using problem::error;
using problem::error_code;

void report_files::declare(CLI::App& command) {
  command.add_option("--json", json_, "write the report as JSON to FILE, - for standard output")->type_name("FILE");
  command.add_option("--junit", junit_, "write the report as JUnit XML to FILE")->type_name("FILE");
  command.add_option("--report", page_, "write the report as one HTML page to FILE")->type_name("FILE");
}

int report_files::write(std::span<report const> all, std::string const& json) const {
  fmt::print("{}", json_ == "-" ? json : as_text(all));
  auto const save = [](char const* option, std::string const& path, std::string const& content) {
    auto const why = write_file(path, std::as_bytes(std::span(content)));
    if (why) usage_error(std::string(option) + ": " + why->message());
    return !why;
  };
  bool written = json_.empty() || json_ == "-" || save("--json", json_, json);
  written &= junit_.empty() || save("--junit", junit_, as_junit(all));
  written &= page_.empty() || save("--report", page_, as_html(all));
  return written ? static_cast<int>(worst(all)) : usage;
}

void judging_options::declare(CLI::App& command) {
  command.add_option("--contract", contract_,
                     "what the kernel claims: a name of `attest list contracts`, or FILE.json");
  command.add_option("--waive", waived_, "list findings of these classes without refuting")
      ->delimiter(',')
      ->type_name("CLASS,…");
  command.add_option("--outside", outside_, "undecided where a larger share of an output is outside the hypotheses")
      ->check(real_between(0, 1))
      ->type_name("SHARE")
      ->capture_default_str();
  files_.declare(command);
}

std::optional<error> judging_options::read() {
  for (std::string const& name : waived_)
    if (!bug_class_named(name))
      return error{error_code::bad_value, "--waive",
                   fmt::format("no class is called '{}'{}; see `attest list classes`", name,
                               did_you_mean(name, bug_class_tokens))};
  if (contract_.empty()) return std::nullopt;
  auto named = contract_named(contract_);
  if (!named) return error{named.why().code, "--contract", named.why().message()};
  claim_ = std::move(named).value();
  return std::nullopt;
}

int judging_options::write_report(problem::result<report> const& verified) const {
  return verified ? write_reports(std::span(&verified.value(), 1)) : usage_error(verified.why().message());
}

int judging_options::write_reports(std::span<report const> all) const { return files_.write(all, as_json(all)); }

}  // namespace attest::audit
