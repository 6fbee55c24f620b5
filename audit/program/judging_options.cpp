#include "audit/program/judging_options.hpp"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "audit/cases/case.hpp"
#include "audit/contract/contract_file.hpp"
#include "audit/program/command.hpp"
#include "audit/program/settings.hpp"
#include "audit/program/terminal.hpp"
#include "audit/report/file/json_write.hpp"
#include "audit/report/html/page.hpp"
#include "audit/report/junit.hpp"
#include "audit/report/sarif.hpp"
#include "audit/report/screen.hpp"
#include "audit/report/text.hpp"
#include "audit/session/compare.hpp"
#include "audit/support/files.hpp"
#include "audit/support/printable.hpp"
#include "audit/support/words.hpp"

namespace attest::audit {

using problem::error;
using problem::error_code;

void report_files::declare(CLI::App& command) {
  command.add_option("--json", json_, "write the report as JSON to FILE; - is standard output")->type_name("FILE");
  command.add_option("--junit", junit_, "write the report as JUnit XML to FILE or -")->type_name("FILE");
  command.add_option("--sarif", sarif_, "write the findings as SARIF 2.1.0 to FILE or -")->type_name("FILE");
  command.add_option("--report", page_, "write the report as one HTML page to FILE or -")->type_name("FILE");
  auto* const known =
      command.add_option("--baseline", baseline_, "known causes, which do not refute: new ones do")->type_name("FILE");
  command.add_flag("--update-baseline", update_, "write the causes of this run to the file of --baseline")
      ->needs(known);
  auto* const verbose = command.add_flag("--verbose", verbose_, "all checks, findings and notes, not one screen");
  command.add_flag("--quiet", quiet_, "the verdict in one line")->excludes(verbose);
  command.add_option("--color", colour_, "auto: colour on a terminal, unless NO_COLOR is set; always; never")
      ->check(one_of({"auto", "always", "never"}))
      ->type_name("WHEN")
      ->capture_default_str();
  declare_settings(command);
}

std::optional<error> report_files::read_baseline() {
  std::error_code ignored;
  if (update_ && !std::filesystem::exists(baseline_, ignored)) return std::nullopt;
  auto const file = read_file(baseline_);
  if (!file && !update_)
    return error{file.why().code, "--baseline", file.why().message() + "; --update-baseline writes it"};
  if (!file) return error{file.why().code, "--baseline", file.why().message()};
  auto const bytes = file.value().bytes;
  auto parsed = parse_baseline({reinterpret_cast<char const*>(bytes.data()), bytes.size()});
  if (!parsed) return error{parsed.why().code, "--baseline", name_of_input(baseline_) + ": " + parsed.why().message()};
  known_ = std::move(parsed).value();
  return std::nullopt;
}

std::optional<error> report_files::open(std::vector<std::filesystem::path> inputs) {
  if (!baseline_.empty())
    if (auto why = read_baseline()) return why;
  if (!baseline_.empty() && !update_) inputs.emplace_back(baseline_);
  auto opened = outputs::open({{"--json", json_},
                               {"--junit", junit_},
                               {"--sarif", sarif_},
                               {"--report", page_},
                               {"--baseline", update_ ? baseline_ : ""}},
                              inputs);
  if (!opened) return std::move(opened).why();
  opened_ = std::move(opened).value();
  if (!opened_.takes_text()) return std::nullopt;
  auto const text = output_file::open(standard_stream);
  return text ? std::nullopt : std::optional(text.why());
}

/// One screen, or what --verbose and --quiet ask for. Only colours command the terminal.
std::string report_files::text_of(std::span<report const> all) const {
  if (verbose_) return printable_lines(as_text(all));
  if (!quiet_) return as_screen(all, screen_of_output(colour_));
  std::string text;
  for (report const& of : all) text += (all.size() > 1 ? of.kernel + ": " : "") + verdict_sentence(of) + '\n';
  return printable_lines(text);
}

int report_files::write(std::vector<report> reports) const {
  baseline const known = update_ ? updated(known_, reports) : known_;
  if (!baseline_.empty())
    for (report& of : reports) apply(known, of);
  std::span<report const> const all = reports;
  std::string failed;
  auto const take = [&](std::optional<error> const& why) {
    if (why) failed += (failed.empty() ? "" : "; ") + why->message();
  };
  auto const save = [&](std::string_view option, auto const& content) {
    if (opened_.has(option)) take(opened_.write(option, std::as_bytes(std::span<char const>(content()))));
  };
  if (opened_.takes_text()) take(write_screen(text_of(all)));
  save("--json", [&] { return as_json(all); });
  save("--junit", [&] { return as_junit(all); });
  save("--sarif", [&] { return as_sarif(all); });
  save("--report", [&] { return as_html(all); });
  save("--baseline", [&] { return baseline_text(known); });
  if (failed.empty()) return static_cast<int>(worst(all));
  return usage_error(fmt::format("judged: {}, but the report could not be written: {}", name_of(worst(all)), failed));
}

namespace {

/// A suggestion in place of a class, which comes from a diagnosis and decides no verdict.
std::string instead_of_class(std::string const& token, bug_class named) {
  std::vector<std::string> checks_of;
  for (check const& entry : checks())
    if (entry.bug_class == named) checks_of.emplace_back(entry.name);
  return fmt::format(
      "'{}' is a class of findings, which decides no verdict any more: name the check of a finding, or its "
      "CHECK/CASE, as the report has it{}",
      token, checks_of.empty() ? "" : fmt::format(" (most of this class are of {})", fmt::join(checks_of, ", ")));
}

}  // namespace

void judging_options::declare(CLI::App& command) {
  command.add_option("--contract", contract_,
                     "what the kernel claims: a name of `attest list contracts`, FILE.json, or {\"from\": …}");
  command.add_option("--accept", accepted_, "a convention instead of the contract's own, such as lse_base=2")
      ->delimiter(',')
      ->type_name("CONVENTION");
  command.add_option("--waive", waived_, "list findings of these checks or CHECK/CASE names without refuting")
      ->delimiter(',')
      ->type_name("NAME,…");
  command.add_option("--outside", outside_, "undecided where a larger share of an output is outside the hypotheses")
      ->check(real_between(0, 1))
      ->type_name("SHARE")
      ->capture_default_str();
  files_.declare(command);
}

std::optional<error> judging_options::read(std::string const& usual) {
  for (std::string const& name : waived_)
    if (auto const named = bug_class_named(name); named && !find_check(name))
      return error{error_code::bad_value, "--waive", instead_of_class(name, *named)};
  if (contract_.empty() && !accepted_.empty()) contract_ = usual;
  if (contract_.empty() && !accepted_.empty())
    return error{error_code::missing, "--accept",
                 "changes a contract, and --contract is missing, such as --contract f32"};
  if (contract_.empty()) return std::nullopt;
  auto named = contract_named(contract_);
  if (!named) return error{named.why().code, "--contract", named.why().message()};
  claim_ = std::move(named).value();
  for (std::string const& convention : accepted_) {
    std::string const name = claim_->name;
    if (auto why = accept(*claim_, convention, "--accept")) return why;
    contract_ += claim_->name.substr(name.size());
  }
  return std::nullopt;
}

std::optional<error> judging_options::open_files(std::vector<std::filesystem::path> inputs,
                                                 std::filesystem::path const& findings) {
  if (auto path = contract_path(contract_)) inputs.push_back(*std::move(path));
  if (auto why = files_.open(inputs)) return why;
  return findings.empty() ? std::nullopt : files_.folder_fault("--findings", findings);
}

int judging_options::write_report(problem::result<report> const& verified) const {
  return verified ? write_reports(std::span(&verified.value(), 1)) : usage_error(verified.why().message());
}

int judging_options::write_reports(std::span<report const> all) const { return files_.write({all.begin(), all.end()}); }

}  // namespace attest::audit
