#include "audit/session/save_recorded.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <fmt/format.h>

#include "audit/cases/default_contract.hpp"
#include "audit/contract/preset_family.hpp"
#include "audit/findings/draw_pictures.hpp"
#include "audit/findings/explain_command.hpp"
#include "audit/report/rows_of_parts.hpp"
#include "audit/support/files.hpp"
#include "audit/support/words.hpp"

namespace attest::audit {
namespace {

constexpr std::size_t most_files = 64;
/// Keys without a prefix that say how the problems of a file are read, in addition to parameters.
constexpr std::array<std::string_view, 4> keys_of_all{"attest.layout", "attest.kv_layout", "attest.seed",
                                                      "attest.contract"};

/// The part of a name behind "PREFIX.", or the whole name if the prefix is empty. Returns nothing if it begins
/// otherwise.
std::optional<std::string_view> behind(std::string_view prefix, std::string_view name) {
  if (prefix.empty()) return name;
  if (!name.starts_with(prefix) || name.size() <= prefix.size() || name[prefix.size()] != '.') return std::nullopt;
  return name.substr(prefix.size() + 1);
}

bool is_parameter(std::string_view word) {
  bool found = false;
  problem::visit_parameters(problem::parameters{},
                            [&](auto const& parameter, auto const&) { found = found || word == parameter.name; });
  return found;
}

/// The inputs and outputs of `verify`, as their files have them.
class recorded_files {
 public:
  explicit recorded_files(verify_options const& options) : options_(options) {
    auto inputs = read_safetensors(options.inputs);
    take(std::move(inputs), inputs_);
    if (why || !options.outputs) return;
    drop_outputs(inputs_, options.operators);
    take(read_safetensors(*options.outputs), outputs_);
  }

  std::optional<problem::error> why;  ///< they cannot be read

  /// One file with the tensors and metadata of these problems.
  problem::result<std::vector<std::byte>> with(std::vector<recorded_call> const& calls) const {
    safetensor_map tensors;
    safetensors_metadata metadata;
    for (auto const& [key, value] : inputs_.metadata)
      if (is_parameter(key) || std::ranges::find(keys_of_all, key) != keys_of_all.end()) metadata[key] = value;
    for (recorded_call const& call : calls) {
      for (auto const& [name, tensor] : inputs_.tensors)
        if (auto const role = behind(call.prefix, name); role && role->find('.') == role->npos) tensors[name] = tensor;
      for (auto const& [name, tensor] : outputs_.tensors)
        if (auto const role = behind(call.prefix, name); role && problem::output_named(*role)) tensors[name] = tensor;
      for (auto const& [key, value] : inputs_.metadata)
        if (auto const word = behind(call.prefix, key); word && (is_parameter(*word) || word->starts_with("attest.")))
          metadata[key] = value;
      std::string const status = prefixed(call.prefix, "attest.status");
      if (auto const at = outputs_.metadata.find(status); at != outputs_.metadata.end()) metadata[status] = at->second;
      for (auto const& [flag, value] : options_.flags)
        if (value) metadata[prefixed(call.prefix, flag)] = *value;
    }
    for (char const* const about_all : {"attest.options", "attest.left_out"}) metadata.erase(about_all);
    return safetensors_bytes(tensors, metadata);
  }

 private:
  void take(problem::result<safetensors_file> read, safetensors_file& to) {
    if (!read) {
      why = read.why();
      return;
    }
    to = std::move(read).value();
    std::vector<std::string> notes;
    std::set<std::string> found;
    why = apply(options_.words, to, notes, found);
  }

  verify_options const& options_;
  safetensors_file inputs_, outputs_;
};

/// Do the inputs hold only this case, so that their file replays it?
bool is_alone(verify_options const& options, std::vector<recorded_case> const& cases) {
  bool const no_flag = std::ranges::none_of(options.flags, [](auto const& flag) { return flag.second.has_value(); });
  return cases.size() == 1 && options.only.empty() && !options.outputs && no_flag && options.words.empty() &&
         can_be_read_again(options.inputs);
}

}  // namespace

void save_recorded(verify_options const& options, std::vector<recorded_case> const& cases, findings_folder& folder,
                   report& into) {
  std::optional<recorded_files> files;
  std::set<std::pair<std::string, std::string>> done;
  std::map<std::int64_t, std::string> saved;  // by the number of the case
  auto const complain = [&](std::string const& why) {
    into.observations.push_back({"a finding could not be saved: " + why, kind_not_saved});
  };
  for (finding& found : into.findings) {
    if (found.waived || !done.emplace(found.check, found.class_token()).second) continue;
    recorded_case const& failing = cases[static_cast<std::size_t>(found.number - 1)];
    owned_problem const& problem = failing.input.call(found.what.call);
    std::string file = is_alone(options, cases) ? options.inputs.native() : "";
    if (file.empty() && saved.contains(found.number)) file = saved[found.number];
    if (file.empty()) {
      if (saved.size() == most_files) return complain(fmt::format("there are {} files already", most_files));
      if (!files) files.emplace(options);
      if (files->why) return complain(files->why->message());
      auto const bytes = files->with(failing.calls);
      auto const path = bytes ? folder.save(findings_file_name(found), bytes.value()) : bytes.why();
      if (!path) {
        complain(path.why().message());
        continue;
      }
      saved[found.number] = file = path.value().native();
    }
    found.shrunk = shrunk_finding{found.what, found.sizes, file, list_inputs(problem), found.merged, true};
    found.shrunk->parameters = found.parameters;
    std::string const contract =
        options.contract_argument.empty() ? contract_of(options.claim, problem).name : options.contract_argument;
    std::string const prefix = failing.calls.size() > 1 ? failing.calls[found.what.call].prefix : "";
    found.shrunk->explain = explain_command(*found.shrunk, problem, prefix, contract);
    if (is_alone(options, cases)) continue;
    found.reproducer = fmt::format("attest verify {} --contract {}{}", shell_word(file), shell_word(contract),
                                   options.reproducible ? " --reproducible" : "");
  }
}

}  // namespace attest::audit
