#include "audit/report/baseline.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "audit/report/builder.hpp"
#include "audit/support/printable.hpp"
#include "audit/support/strict_json.hpp"
#include "audit/support/words.hpp"

namespace attest::audit {
namespace {

using json = nlohmann::ordered_json;
using problem::error;
using problem::error_code;

constexpr int schema = 1;
constexpr json_limits limits{std::size_t{1} << 26, 8};
constexpr std::pair<char const*, std::string known_cause::*> fields[]{{"kernel", &known_cause::kernel},
                                                                      {"contract", &known_cause::contract},
                                                                      {"check", &known_cause::check},
                                                                      {"cause", &known_cause::cause}};

/// The kernel without the folder of its file.
std::string kernel_of(report const& of) { return of.kernel.substr(of.kernel.rfind('/') + 1); }

known_cause key_of(report const& of, finding const& found) {
  known_cause key{kernel_of(of), of.contract, found.check, fmt::format("class {}", found.class_token())};
  if (!of.cause || of.cause->mistakes.empty() || of.cause->is_ambiguous()) return key;
  auto const& left = of.cause->unexplained;
  if (std::ranges::find(left, fmt::format("{}/{}", found.check, found.case_name)) != left.end()) return key;
  std::vector<std::string> names;
  for (named_mistake const& mistake : of.cause->mistakes) names.push_back(mistake.name);
  std::ranges::sort(names);
  key.cause = fmt::format("{}", fmt::join(names, " "));
  return key;
}

/// Does the report name the known mistake, if only beside another one, or as a partial explanation?
bool is_named(known_cause const& known, report const& of) {
  auto const same = [&](named_mistake const& mistake) { return mistake.name == known.cause; };
  return of.cause && (std::ranges::any_of(of.cause->mistakes, same) || std::ranges::any_of(of.cause->partly, same));
}

bool is_about(known_cause const& known, report const& of) {
  return known.kernel == kernel_of(of) && known.contract == of.contract;
}

error of_key(std::string key, std::string reason) { return {error_code::bad_value, std::move(key), std::move(reason)}; }

}  // namespace

problem::result<baseline> parse_baseline(std::string_view text) {
  auto const parsed = parse_strict(text, limits);
  if (!parsed) return parsed.why();
  json const& from = parsed.value();
  if (!from.is_object() || !from.contains("schema") || from["schema"] != schema || !from.contains("known") ||
      !from["known"].is_array())
    return of_key("", "is no baseline: expected {\"schema\": 1, \"known\": […]}; --update-baseline writes one");
  baseline known;
  for (std::size_t n = 0; n < from["known"].size(); ++n) {
    json const& entry = from["known"][n];
    known_cause read;
    for (auto const& [name, member] : fields) {
      std::string const key = fmt::format("known[{}].{}", n, name);
      if (!entry.is_object() || !entry.contains(name)) return of_key(key, "is missing");
      if (!entry[name].is_string()) return of_key(key, fmt::format("is {}, expected a string", kind_of(entry[name])));
      read.*member = entry[name].get<std::string>();
    }
    known.insert(std::move(read));
  }
  return known;
}

std::string baseline_text(baseline const& known) {
  json list = json::array();
  for (known_cause const& one : known) {
    json entry;
    for (auto const& [name, member] : fields) entry[name] = printable(one.*member, 1000);
    list.push_back(std::move(entry));
  }
  return json{{"schema", schema}, {"known", std::move(list)}}.dump(2) + '\n';
}

baseline causes_of(report const& of) {
  baseline causes;
  for (finding const& found : of.findings)
    if (!found.waived) causes.insert(key_of(of, found));
  return causes;
}

void apply(baseline const& known, report& to) {
  baseline shown;
  std::int64_t count = 0;
  for (finding& found : to.findings) {
    known_cause const key = key_of(to, found);
    if (found.waived || !known.contains(key)) continue;
    found.waived = true, ++count;
    shown.insert(key);
  }
  std::vector<std::string> gone;
  for (known_cause const& one : known)
    if (is_about(one, to) && !shown.contains(one) && !is_named(one, to))
      gone.push_back(fmt::format("{} in {}", one.cause, one.check));
  if (count > 0)
    to.observations.push_back(
        {fmt::format("known: {} by --baseline", counted(count, "finding", "findings")), kind_baseline});
  if (!gone.empty())
    to.observations.push_back(
        {fmt::format("known and not shown: {}; --update-baseline forgets what does not show", fmt::join(gone, ", ")),
         kind_baseline});
  if (count == 0) return;
  std::set<std::string, std::less<>> const waived(to.waived.begin(), to.waived.end());
  report_builder(to, waived).finish(to.complete(), to.incomplete_because);
}

baseline updated(baseline known, std::span<report const> all) {
  for (report const& of : all) {
    std::erase_if(known, [&](known_cause const& one) { return is_about(one, of); });
    known.merge(causes_of(of));
  }
  return known;
}

}  // namespace attest::audit
