#include "audit/files/case_file.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include <fmt/format.h>

#include "audit/support/printable.hpp"
#include "audit/support/real_number.hpp"

namespace attest::audit {
namespace {

using problem::error;
using problem::error_code;

constexpr std::string_view relation_names[]{"before", "same-bits", "same-rows", "part", "weight-columns"};
constexpr std::string_view reading_names[]{"answer", "weights", "visibility"};

std::string expect_of(further_call const& call) {
  std::string text(relation_names[static_cast<std::size_t>(call.is)]);
  if (call.is == relation::same_rows) text += fmt::format(" {} {} {}", call.at[0], call.at[1], call.at[2]);
  if (call.is == relation::weight_columns) text += fmt::format(" {}", call.at[0]);
  if (call.threads != 0) text += fmt::format(" threads {}", call.threads);
  return text + (call.promised ? "" : " unpromised");
}

/// What the metadata say of one call: the first of its case, or a further one, whose members then count.
struct described {
  bool is_first = true;
  reading reads = reading::nothing;
  bool mandatory = false;
  relation is = relation::same_bits;
  std::array<std::int64_t, 3> at{};
  std::int32_t threads = 0;
  bool promised = true;
};

/// The words of PREFIX.attest.expect. Nothing where they are not ours.
bool parse_expect(std::string const& text, described& to) {
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
    if (word == "mandatory" && to.is_first) to.mandatory = true;
    else if (word == "unpromised" && !to.is_first) to.promised = false;
    else if (word == "threads" && !to.is_first && number(to.threads)) continue;
    else return false;
  }
  return true;
}

/// "AXIS PLACE" of PREFIX.attest.curve. False where it is not ours.
bool parse_curve(std::string const& text, audit_case& to) {
  auto const space = std::min(text.rfind(' '), text.size());
  auto const axis = std::ranges::find(curve_axes, std::string_view(text).substr(0, space));
  if (axis == std::end(curve_axes) || space + 1 >= text.size()) return false;
  auto const place = real_number(std::string_view(text).substr(space + 1));
  to.axis = *axis;
  to.place = place.value_or(0);
  return place.has_value();
}

}  // namespace

problem::result<std::vector<std::byte>> case_file_bytes(std::span<audit_case const> cases, std::uint64_t seed,
                                                        std::string const& contract, std::span<answers const> given) {
  std::vector<problem_file_entry> problems;
  safetensors_metadata metadata{{"attest.seed", std::to_string(seed)}, {"attest.contract", contract}};
  for (audit_case const& each : cases) {
    auto const at = static_cast<std::size_t>(&each - cases.data());
    auto const add = [&](std::string prefix, owned_problem const& asked, std::string expect, std::string const& says,
                         std::size_t call) {
      metadata[prefix + ".attest.check"] = each.check;
      metadata[prefix + ".attest.group"] = each.full_name();
      metadata[prefix + ".attest.expect"] = std::move(expect);
      if (!says.empty()) metadata[prefix + ".attest.says"] = says;
      bool const known = at < given.size() && call < given[at].size() && given[at][call];
      problems.push_back({std::move(prefix), asked, known ? *given[at][call] : owned_outputs{}});
    };
    add(each.full_name(), each.asked,
        std::string(reading_names[static_cast<std::size_t>(each.reads)]) + (each.mandatory ? " mandatory" : ""), "", 0);
    if (!each.axis.empty()) metadata[each.full_name() + ".attest.curve"] = fmt::format("{} {}", each.axis, each.place);
    for (std::size_t n = 0; n < each.further.size(); ++n)
      add(fmt::format("{}#{:02}", each.full_name(), n + 1), each.further[n].asked, expect_of(each.further[n]),
          each.further[n].says, n + 1);
  }
  return problem_file_bytes(problems, std::move(metadata));
}

problem::result<std::vector<answered_case>> cases_of(problem_file&& file) {
  std::vector<answered_case> made;
  std::map<std::string, std::size_t> groups;
  auto const said = [&](std::string const& key) -> std::optional<std::string> {
    auto const at = file.metadata.find(key);
    return at == file.metadata.end() ? std::nullopt : std::optional(at->second);
  };
  auto const answer_of = [](owned_outputs&& answered) -> std::optional<owned_outputs> {
    if (answered.empty()) return std::nullopt;
    return std::move(answered);
  };
  struct waiting {
    problem_file_entry* problem;
    further_call call;
    std::string group;
  };
  std::vector<waiting> further;
  for (problem_file_entry& each : file.problems) {
    std::string const key = each.name_of("attest.expect");
    auto const expect = said(key);
    auto const group = said(each.name_of("attest.group"));
    described what;
    if (expect && (!group || !parse_expect(*expect, what)))
      return error{error_code::bad_value, printable(key),
                   fmt::format("is '{}', which attest gen does not write", printable(*expect, 60))};
    if (expect && !what.is_first) {
      further.push_back({&each,
                         {.is = what.is,
                          .asked = each.asked,
                          .says = printable(said(each.name_of("attest.says")).value_or("")),
                          .at = what.at,
                          .threads = what.threads,
                          .promised = what.promised},
                         *group});
      continue;
    }
    std::string const name = each.prefix.empty() ? "(no prefix)" : each.prefix;
    std::string const check = said(each.name_of("attest.check")).value_or(name);
    bool const own = expect && name.starts_with(check + "/");
    audit_case first{.check = printable(check),
                     .name = printable(own ? name.substr(check.size() + 1) : name),
                     .asked = each.asked,
                     .reads = what.reads,
                     .mandatory = what.mandatory};
    std::string const curve = each.name_of("attest.curve");
    if (auto const drawn = said(curve); drawn && !parse_curve(*drawn, first))
      return error{error_code::bad_value, printable(curve),
                   fmt::format("is '{}', which attest gen does not write", printable(*drawn, 60))};
    made.push_back({std::move(first), {answer_of(std::move(each.answered))}});
    if (group) groups.emplace(*group, made.size() - 1);
  }
  // Problems come by prefix, and "#1" sorts behind its first call; but a group may be named in any order.
  for (waiting& each : further) {
    auto const at = groups.find(each.group);
    if (at == groups.end())
      return error{error_code::missing, printable(each.problem->name_of("attest.group")),
                   fmt::format("no problem of the file is the first call of '{}'", printable(each.group))};
    answered_case& one = made[at->second];
    one.asked.further.push_back(std::move(each.call));
    one.answers.push_back(answer_of(std::move(each.problem->answered)));
    if (auto why = calls_fault(one.asked)) return error{error_code::bad_shape, printable(each.problem->prefix), *why};
  }
  for (answered_case const& one : made)
    if (auto why = calls_fault(one.asked)) return error{error_code::bad_shape, printable(one.asked.name), *why};
  return made;
}

}  // namespace attest::audit
