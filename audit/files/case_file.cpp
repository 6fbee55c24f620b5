#include "audit/files/case_file.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include <fmt/format.h>

#include "audit/cases/call_order.hpp"
#include "audit/files/flag_words.hpp"
#include "audit/files/memory_words.hpp"
#include "audit/support/printable.hpp"
#include "audit/support/real_number.hpp"

namespace attest::audit {
namespace {

using problem::error;
using problem::error_code;

constexpr std::string_view relation_names[]{"before", "same-bits", "same-rows", "part", "weight-columns"};
constexpr std::string_view reading_names[]{"answer", "weights", "visibility", "range"};

/// "00003/masks/random-full", of so many calls in the file.
std::string prefix_of(std::size_t number, std::size_t calls, audit_case const& of) {
  std::size_t const digits = std::max<std::size_t>(5, std::to_string(calls).size());
  return fmt::format("{:0{}}/{}", number, digits, of.full_name());
}

std::string expect_of(further_call const& call) {
  std::string text(relation_names[static_cast<std::size_t>(call.is)]);
  if (call.is == relation::same_rows) text += fmt::format(" {} {} {}", call.at[0], call.at[1], call.at[2]);
  if (call.is == relation::weight_columns) text += fmt::format(" {}", call.at[0]);
  if (call.threads != 0) text += fmt::format(" threads {}", call.threads);
  return text + (call.promised ? "" : " unpromised");
}

/// The metadata of one call. `reads` is for the first call of a case, `is`, `at` and `promised` for a further one.
struct call_metadata {
  bool is_first = true;
  reading reads = reading::nothing;
  relation is = relation::same_bits;
  std::array<std::int64_t, 3> at{};
  std::int32_t threads = 0;
  bool promised = true;
};

/// Parses PREFIX.attest.expect. False if attest does not write such words.
bool parse_expect(std::string const& text, call_metadata& to) {
  std::istringstream words(text);
  std::string word;
  words >> word;
  auto const reads = std::ranges::find(reading_names, word);
  auto const is = std::ranges::find(relation_names, word);
  to.is_first = reads != std::end(reading_names);
  if (to.is_first) to.reads = static_cast<reading>(reads - std::begin(reading_names));
  else if (is != std::end(relation_names)) to.is = static_cast<relation>(is - std::begin(relation_names));
  else return false;
  auto const number = [&](auto& target) { return static_cast<bool>(words >> target); };
  if (!to.is_first && to.is == relation::same_rows)
    for (auto& at : to.at)
      if (!number(at)) return false;
  if (!to.is_first && to.is == relation::weight_columns && !number(to.at[0])) return false;
  while (words >> word) {
    if (word == "mandatory" && to.is_first) continue;  // of earlier files; it demands nothing any more
    else if (word == "unpromised" && !to.is_first) to.promised = false;
    else if (word == "threads" && number(to.threads)) continue;
    else return false;
  }
  return true;
}

/// Parses "AXIS PLACE" of PREFIX.attest.curve. False if attest does not write such words.
bool parse_curve(std::string const& text, audit_case& to) {
  auto const space = std::min(text.rfind(' '), text.size());
  auto const axis = std::ranges::find(curve_axes, std::string_view(text).substr(0, space));
  if (axis == std::end(curve_axes) || space + 1 >= text.size()) return false;
  auto const place = real_number(std::string_view(text).substr(space + 1));
  to.axis = *axis;
  to.place = place.value_or(0);
  return place.has_value();
}

/// Parses the N of PREFIX.attest.together: threads that make the calls of the case at the same time.
std::optional<std::int32_t> parse_callers(std::string const& text) {
  constexpr int most = 16;
  for (int callers = 1; callers <= most; ++callers)
    if (text == std::to_string(callers)) return callers;
  return std::nullopt;
}

/// "00042/CHECK/CASE" as "CHECK/CASE". Returns nothing if the prefix has no number.
std::optional<std::string_view> without_number(std::string_view prefix) {
  auto const past = prefix.find_first_not_of("0123456789");
  if (past < 5 || past == prefix.npos || prefix[past] != '/') return std::nullopt;
  return prefix.substr(past + 1);
}

}  // namespace

std::string prefix_in_own_file(audit_case const& of, std::size_t call) {
  auto const order = order_of_calls(of);
  auto const place = static_cast<std::size_t>(std::ranges::find(order, call) - order.begin());
  return prefix_of(place + 1, order.size(), of);
}

problem::result<std::vector<std::byte>> case_file_bytes(std::span<audit_case const> cases,
                                                        case_file_options const& options,
                                                        std::span<case_outputs const> outputs) {
  std::vector<problem_file_entry> problems;
  safetensors_metadata metadata = options.further;
  metadata["attest.seed"] = std::to_string(options.seed), metadata["attest.contract"] = options.contract;
  std::size_t calls = 0;
  for (audit_case const& written : cases) calls += 1 + written.further.size();
  for (audit_case const& written : cases) {
    auto const at = static_cast<std::size_t>(&written - cases.data());
    auto const add = [&](std::size_t call) {
      owned_problem const& problem = written.call(call);
      std::string const prefix = prefix_of(problems.size() + 1, calls, written);
      metadata[prefix + ".attest.check"] = written.check;
      metadata[prefix + ".attest.group"] = written.full_name();
      if (call > 0) {
        further_call const& further = written.further[call - 1];
        metadata[prefix + ".attest.expect"] = expect_of(further);
        if (!further.says.empty()) metadata[prefix + ".attest.says"] = further.says;
      } else {
        metadata[prefix + ".attest.expect"] = reading_names[static_cast<std::size_t>(written.reads)];
        if (written.threads != 0) metadata[prefix + ".attest.expect"] += fmt::format(" threads {}", written.threads);
        if (written.beyond) metadata[prefix + ".attest.beyond"] = "yes";
        if (!written.axis.empty())
          metadata[prefix + ".attest.curve"] = fmt::format("{} {}", written.axis, written.place);
      }
      if (call == 0 && written.callers > 0) metadata[prefix + ".attest.together"] = std::to_string(written.callers);
      if (auto words = memory_words(written.memory_of(call)); !words.empty())
        metadata[prefix + ".attest.memory"] = std::move(words);
      if (auto words = flag_words(problem)) metadata[prefix + ".attest.as"] = *std::move(words);
      bool const known = at < outputs.size() && call < outputs[at].size() && outputs[at][call];
      problems.push_back({.prefix = prefix,
                          .problem = problem,
                          .outputs = known ? *outputs[at][call] : owned_outputs{},
                          .order = options.order});
    };
    for (std::size_t const call : order_of_calls(written)) add(call);
  }
  return problem_file_bytes(problems, std::move(metadata));
}

problem::result<std::vector<recorded_case>> cases_of(problem_file&& file) {
  std::vector<recorded_case> cases;
  std::map<std::string, std::size_t> groups;
  auto const metadata = [&](std::string const& key) -> std::optional<std::string> {
    auto const at = file.metadata.find(key);
    return at == file.metadata.end() ? std::nullopt : std::optional(at->second);
  };
  auto const if_any = [](owned_outputs&& outputs) -> std::optional<owned_outputs> {
    if (outputs.empty()) return std::nullopt;
    return std::move(outputs);
  };
  auto const call_of = [&](problem_file_entry& entry) -> problem::result<recorded_call> {
    std::string const key = entry.name_of("attest.status");
    recorded_call call{
        .prefix = entry.prefix, .unusable = std::move(entry.unusable), .order = entry.order, .pools = entry.pools};
    auto const status = metadata(key);
    if (status) call.status = parse_call_status(*status);
    if (status && !call.status)
      return error{error_code::bad_value, printable(key),
                   fmt::format("is '{}', expected error: TEXT, killed: SIGNAL, hung or unsupported: TEXT",
                               printable(*status, 60))};
    return call;
  };
  auto const not_written = [](std::string const& key, std::string const& text) {
    return error{error_code::bad_value, printable(key),
                 fmt::format("is '{}', which attest gen does not write", printable(text, 60))};
  };
  auto const memory_of = [&](problem_file_entry const& entry) -> problem::result<memory_form> {
    std::string const key = entry.name_of("attest.memory");
    auto const words = metadata(key);
    if (!words) return memory_form{};
    auto const form = parse_memory_words(*words);
    if (!form) return not_written(key, *words);
    if (auto why = memory_fault(entry.problem, *form)) return error{why->code, printable(key), why->message()};
    return *form;
  };
  struct waiting {
    problem_file_entry* entry;
    further_call call;
    recorded_call said;
    std::string group;
  };
  std::vector<waiting> further;
  for (problem_file_entry& entry : file.problems) {
    std::string const key = entry.name_of("attest.expect");
    auto const expect = metadata(key);
    auto const group = metadata(entry.name_of("attest.group"));
    call_metadata found;
    auto said = call_of(entry);
    if (!said) return said.why();
    auto const memory = memory_of(entry);
    if (!memory) return memory.why();
    if (expect && (!group || !parse_expect(*expect, found))) return not_written(key, *expect);
    if (expect && !found.is_first) {
      further.push_back({&entry,
                         {.is = found.is,
                          .problem = entry.problem,
                          .says = printable(metadata(entry.name_of("attest.says")).value_or("")),
                          .at = found.at,
                          .threads = found.threads,
                          .promised = found.promised,
                          .memory = memory.value()},
                         std::move(said).value(),
                         *group});
      continue;
    }
    std::string const name = expect ? *group : entry.prefix.empty() ? "(no prefix)" : entry.prefix;
    std::string const check = metadata(entry.name_of("attest.check")).value_or(name);
    bool const own = expect && name.starts_with(check + "/");
    audit_case first{.check = printable(check),
                     .name = printable(own ? name.substr(check.size() + 1) : name),
                     .problem = entry.problem,
                     .reads = found.reads,
                     .threads = found.threads,
                     .beyond = expect && metadata(entry.name_of("attest.beyond")) == "yes",
                     .memory = memory.value()};
    std::string const curve = entry.name_of("attest.curve");
    if (auto const drawn = metadata(curve); drawn && !parse_curve(*drawn, first)) return not_written(curve, *drawn);
    std::string const together = entry.name_of("attest.together");
    if (auto const callers = metadata(together)) {
      auto const parsed = parse_callers(*callers);
      if (!parsed) return not_written(together, *callers);
      first.callers = *parsed;
    }
    recorded_case& added = cases.emplace_back(recorded_case{std::move(first), {}, {}});
    added.outputs.push_back(if_any(std::move(entry.outputs)));
    added.calls.push_back(std::move(said).value());
    added.in_order = without_number(entry.prefix).has_value();
    added.generated = own && find_check(check) != nullptr;
    if (group && !groups.emplace(*group, cases.size() - 1).second && expect)
      return error{error_code::bad_value, printable(entry.name_of("attest.group")),
                   fmt::format("two problems of the file are the first call of '{}'", printable(*group))};
  }
  // Problems are in the order of their prefixes, in which a further call may come before the first call of its group.
  for (waiting& call : further) {
    auto const at = groups.find(call.group);
    if (at == groups.end())
      return error{error_code::missing, printable(call.entry->name_of("attest.group")),
                   fmt::format("no problem of the file is the first call of '{}'", printable(call.group))};
    recorded_case& recorded = cases[at->second];
    recorded.input.further.push_back(std::move(call.call));
    recorded.outputs.push_back(if_any(std::move(call.entry->outputs)));
    bool const prepares = recorded.input.further.back().is == relation::warm_up;
    std::string const& first = recorded.calls.front().prefix;
    recorded.in_order = recorded.in_order && without_number(call.said.prefix) &&
                        (prepares ? call.said.prefix < first : first < call.said.prefix);
    recorded.calls.push_back(std::move(call.said));
    if (auto why = calls_fault(recorded.input))
      return error{error_code::bad_shape, printable(call.entry->prefix), *why};
  }
  for (recorded_case const& recorded : cases)
    if (auto why = calls_fault(recorded.input))
      return error{error_code::bad_shape, printable(recorded.input.name), *why};
  return cases;
}

}  // namespace attest::audit
