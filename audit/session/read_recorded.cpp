#include "audit/session/read_recorded.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "audit/cases/case.hpp"
#include "audit/files/foreign_names.hpp"
#include "audit/support/files.hpp"
#include "audit/support/printable.hpp"
#include "audit/support/words.hpp"

namespace attest::audit {
namespace {

using problem::error;
using problem::error_code;

}  // namespace

problem::result<problem_file> read_recorded(verify_options const& options) {
  auto file = read_safetensors(options.inputs);
  if (!file) return file.why();
  std::vector<std::string> notes;
  std::set<std::string> found;
  if (auto why = apply(options.words, file.value(), notes, found)) return *std::move(why);
  if (!options.outputs)
    if (auto why = unfound_name(options.words, found, file.value())) return *std::move(why);
  auto const dropped = options.outputs ? drop_outputs(file.value(), options.operators) : dropped_outputs{};
  auto recorded = problem_file_of(file.value(), options.flags, options.operators);
  if (recorded) recorded.value().foreign_o = foreign_o(file.value());
  if (recorded) std::ranges::copy(notes, std::back_inserter(recorded.value().notes));
  if (!options.outputs) return recorded;
  if (!recorded) {  // of two files, it is the first
    error why = recorded.why();
    why.argument = name_of_input(options.inputs) + (why.argument.empty() ? "" : ": " + why.argument);
    return why;
  }
  if (dropped.outputs + dropped.statuses > 0)
    recorded.value().notes.push_back(
        fmt::format("outputs of the first file are not judged: {}{}", dropped.outputs,
                    dropped.statuses > 0 ? fmt::format(", and its attest.status of {} calls", dropped.statuses) : ""));
  auto outputs = read_safetensors(*options.outputs);
  if (!outputs) return outputs.why();
  notes.clear();  // the first file has said them
  if (auto why = apply(options.words, outputs.value(), notes, found)) return *std::move(why);
  if (auto why = unfound_name(options.words, found, outputs.value())) return *std::move(why);
  recorded.value().foreign_o = foreign_o(outputs.value());
  return with_outputs(std::move(recorded).value(), outputs.value(), options.operators);
}

std::optional<error> names_fault(char const* option, names const& named, std::vector<recorded_case> const& cases) {
  std::set<std::string, std::less<>> known;
  for (check const& entry : checks()) known.emplace(entry.name);
  for (recorded_case const& entry : cases)
    known.insert({entry.input.check, entry.input.full_name(), entry.calls.front().prefix});
  for (std::string const& name : named)
    if (!known.contains(name))
      return error{error_code::bad_value, option,
                   fmt::format("no check, case or prefix of the file is called '{}'{}", printable(name),
                               did_you_mean(name, known))};
  return std::nullopt;
}

std::optional<error> keep_only(names const& only, std::vector<recorded_case>& cases) {
  if (only.empty()) return std::nullopt;
  if (auto why = names_fault("--only", only, cases)) return why;
  std::erase_if(cases, [&](recorded_case const& entry) {
    return !only.contains(entry.input.check) && !only.contains(entry.input.full_name()) &&
           !only.contains(entry.calls.front().prefix);
  });
  return std::nullopt;
}

std::vector<omission> left_out_of(safetensors_metadata const& metadata) {
  std::vector<omission> omissions;
  if (auto const at = metadata.find("attest.left_out"); at != metadata.end())
    omissions.push_back({printable(at->second, 400), "attest gen left them out"});
  if (auto const at = metadata.find("attest.options"); at != metadata.end())
    omissions.push_back({"the cases that its options leave out", "attest gen " + printable(at->second, 400)});
  return omissions;
}

std::vector<omission> unjudged_weights(problem_file const& recorded) {
  constexpr std::size_t named = 8;
  std::vector<std::string> weights;
  for (problem_file_entry const& entry : recorded.problems)
    if (entry.weights_over_packed_rows) weights.push_back(printable(entry.name_of("weights")));
  if (weights.empty()) return {};
  bool const more = weights.size() > named;
  if (more) weights.resize(named);
  return {{fmt::format("recorded {}{}", fmt::join(weights, ", "), more ? ", …" : ""),
           "weights have no shape over packed rows"}};
}

}  // namespace attest::audit
