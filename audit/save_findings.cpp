#include "audit/save_findings.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "audit/case_file.hpp"
#include "audit/examine.hpp"
#include "audit/files.hpp"
#include "audit/interruptible.hpp"
#include "audit/shrink.hpp"
#include "audit/slice.hpp"
#include "audit/words.hpp"

namespace attest::audit {
namespace {

using clock = std::chrono::steady_clock;

/// FOLDER/CHECK-CLASS-CASE.safetensors: shards that share a folder do not overwrite each other's.
std::filesystem::path file_for(std::filesystem::path const& folder, finding const& of) {
  std::string name = fmt::format("{}-{}-{}", of.check, of.what.bug_class, of.case_name);
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-') c = '_';
  return folder / (name.substr(0, 100) + ".safetensors");
}

}  // namespace

void save_findings(audit_options const& options, std::vector<audit_case> const& cases, clock::time_point until, report& what) {
  // A hang is not shrunk: every attempt would take the whole time limit.
  if (std::ranges::all_of(what.findings, [](finding const& f) { return f.waived || f.what.bug_class == "hang"; })) return;
  auto kernel = questioner::open(options.kernel, options.claim->type, {options.stop, until}, limits_of(options));
  if (!kernel) return;
  judging_rules const rules{options.claim, options.reproducible};
  examiner const ask = [&](audit_case const& each) {
    problem::result<case_result> made = case_result{};
    bool const cut = interruptible([&] { return (options.stop && options.stop->load()) || clock::now() >= until; },
                                   [&] { made = examine(each, kernel.value(), rules); });
    return made && !cut ? std::move(made).value() : case_result{};
  };
  answerer const answer = [&](stored_problem const& asked) -> std::optional<recorded_answer> {
    auto reply = kernel.value().ask(asked, 0, placement::end);
    if (!reply || reply.value().did.outcome != call_outcome::answered) return std::nullopt;
    return std::move(reply.value().answer);
  };
  std::error_code fault;
  std::set<std::pair<std::string, std::string>> done;
  for (std::size_t n = 0; n < what.findings.size() && clock::now() < until; ++n) {
    finding& each = what.findings[n];
    auto const at = std::ranges::find_if(cases, [&](audit_case const& c) { return c.check == each.check && c.name == each.case_name; });
    if (each.waived || each.what.bug_class == "hang" || at == cases.end() || !done.emplace(each.check, each.what.bug_class).second)
      continue;
    each.pictures = draw_pictures(*at, each.what, *options.claim, answer);
    auto made = shrink(*at, each.what, ask, std::min(until, clock::now() + std::chrono::seconds(2)));
    if (!made) continue;
    audit_case& small = made->asked;
    small.name += "-shrunk";
    each.shrunk = shrunk_finding{made->what, sizes_of(small.asked), "", list_inputs(small.asked)};
    std::filesystem::create_directories(options.findings, fault);
    auto const path = file_for(options.findings, each);
    auto const bytes = case_file_bytes({&small, 1}, options.seed, options.claim->name);
    if (!bytes) continue;
    if (auto why = write_file(path, bytes.value())) {
      what.observations.push_back("a finding could not be saved: " + why->message());
      continue;
    }
    each.shrunk->file = path.native();
    each.reproducer = fmt::format("attest audit --kernel {} --contract {} --replay {}{}", shell_word(options.kernel),
                                  shell_word(options.contract_argument), shell_word(path.native()),
                                  options.reproducible ? " --reproducible" : "");
  }
}

}  // namespace attest::audit
