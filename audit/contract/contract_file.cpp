#include "audit/contract/contract_file.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "audit/contract/contract_fields.hpp"
#include "audit/contract/field_reader.hpp"
#include "audit/support/files.hpp"
#include "audit/support/printable.hpp"
#include "audit/support/strict_json.hpp"
#include "audit/support/words.hpp"
#include "problem/element_names.hpp"
#include "reference/bound/declared_weights.hpp"

namespace attest::audit {
namespace {

using json = nlohmann::ordered_json;
using problem::element_type;
using problem::error;
using problem::error_code;

error of_key(char const* name, std::string reason) { return {error_code::bad_value, name, std::move(reason)}; }

problem::result<std::string> string_at(json const& from, char const* name, std::string otherwise) {
  auto const at = from.find(name);
  if (at == from.end()) return otherwise;
  if (!at->is_string()) return of_key(name, fmt::format("is {}, expected a string", kind_of(*at)));
  std::string const text = printable(at->get_ref<std::string const&>(), 1000);
  return text.empty() ? problem::result<std::string>(of_key(name, "is empty")) : text;
}

problem::result<element_type> type_at(json const& from, char const* name, std::optional<element_type> otherwise) {
  auto const text = string_at(from, name, otherwise ? std::string(problem::name_of(*otherwise)) : "");
  if (!text) return text.why();
  for (problem::element_row const& row : problem::floating_rows)
    if (text.value() == row.name) return row.type;
  if (text.value().empty()) return of_key(name, "is missing; write it, or start \"from\" a preset");
  return of_key(name, fmt::format("is '{}', expected {}", text.value(), problem::listed(problem::floating_rows, "or")));
}

/// Collects the names of the fields of a struct; an object counts as one field.
struct field_names {
  void number(char const* name, double&, range const&) { add(name); }
  void count(char const* name, std::int64_t&, range const&) { add(name); }
  void flag(char const* name, bool&) { add(name); }
  void word(char const* name, std::span<char const* const>, std::size_t&) { add(name); }
  template <class Fields>
  void optional(Fields&& fields) {
    fields(*this);
  }
  template <class Fields>
  void object(char const* name, Fields&&) {
    add(name);
  }
  void add(char const* name) { all.push_back(prefix + name); }

  std::string prefix{};  ///< "gradient." of the fields of the gradient model
  std::vector<std::string> all{};
};

/// The fault of the object "sources", which maps names of fields to the origins of their values.
std::optional<error> wrong_sources(json const& from) {
  constexpr std::size_t longest = 1000;  // bytes of one text
  auto const sources = from.find("sources");
  if (sources == from.end()) return std::nullopt;
  if (!sources->is_object()) return of_key("sources", fmt::format("is {}, expected an object", kind_of(*sources)));
  contract any;
  field_names known;
  visit_model(any.fixed, known);
  visit_conventions(any.conventions, known);
  known.prefix = "gradient.";
  visit_gradient(any.gradient, known);
  for (auto const& item : sources->items()) {
    std::string const key = "sources." + printable(item.key());
    if (std::ranges::find(known.all, item.key()) == known.all.end())
      return error{error_code::bad_value, key, "there is no such field" + did_you_mean(item.key(), known.all)};
    if (!item.value().is_string())
      return error{error_code::bad_value, key, fmt::format("is {}, expected a string", kind_of(item.value()))};
    std::size_t const bytes = item.value().get_ref<std::string const&>().size();
    if (bytes == 0) return error{error_code::bad_value, key, "is empty"};
    if (bytes > longest)
      return error{error_code::bad_value, key, fmt::format("has {} bytes, expected at most {}", bytes, longest)};
  }
  return std::nullopt;
}

/// Does a declared weight_reference contradict another field, so that it would say nothing? A block size that comes
/// from the preset does not count, since it is not this kernel's.
std::optional<error> wrong_weight_reference(problem::kernel_model const& model, bool block_is_written) {
  using problem::weight_reference;
  if (model.weight_reference == weight_reference::unknown) return std::nullopt;
  if (!reference::declares_weights(model))
    return of_key("model.weight_reference",
                  "contradicts another field: known weights need a u_p that is a power of two, u_v 0, p_shared false, "
                  "p_normalised 'no', k_pre 0, tau 0, splits 1, merge 'raw', normalise 'sum'; 'rising' and 'falling' "
                  "also rescales other than 'none', and all but 'own_block' merges 0");
  if (model.weight_reference != weight_reference::whole_row && !block_is_written)
    return of_key("model.block", "is missing: weight_reference speaks of blocks, so write how many keys they have");
  bool const in_order =
      model.weight_reference == weight_reference::rising || model.weight_reference == weight_reference::falling;
  if (in_order && model.block_most > model.block && model.block_most % model.block != 0)
    return of_key("model.block_most", "contradicts model.block: it must be a multiple of it");
  return std::nullopt;
}

/// The fault of a field that says nothing beside another one. `written` are the fields of the file: a value that comes
/// from the preset does not count, nor a default.
std::optional<error> wrong_idle_field(problem::kernel_model const& model, json const& written) {
  problem::kernel_model const usual;
  bool const raw = model.merge == problem::split_merge::raw, any_order = model.order == problem::key_order::any;
  struct idle {
    char const* field;
    bool is_set, says_nothing;
    char const* beside;
  };
  idle const fields[] = {
      {"merge_levels", model.merge_levels != usual.merge_levels, raw, "merge 'raw'"},
      {"parts_are_keys", model.parts_are_keys, raw, "merge 'raw'"},
      {"u_state", model.u_state > 0, raw, "merge 'raw'"},
      {"omega_state", model.omega_state > 0, raw, "merge 'raw'"},
      {"state_limit", model.state_limit != usual.state_limit, raw, "merge 'raw'"},
      {"merges", model.merges > 0, any_order, "order 'any'"},
      {"least_block", model.least_block != usual.least_block, any_order, "order 'any'"},
      {"block_most", model.block_most > 1,
       model.weight_reference != problem::weight_reference::rising &&
           model.weight_reference != problem::weight_reference::falling,
       "a weight_reference that is neither 'rising' nor 'falling'"},
      {"l_height_base", model.l_height_base > 0, model.l_height_divisor == 0, "l_height_divisor 0"},
      {"alignment_bits", model.alignment_bits > 0, model.block_fma == 0, "block_fma 0"},
      {"accumulator", model.accumulator == problem::accumulator::one, !reference::has_one_accumulator(model),
       "a weight_reference that is neither 'rising' nor 'falling'"},
      {"k_sink", model.k_sink != usual.k_sink, model.sink_form == problem::sink_form::term, "sink_form 'term'"},
  };
  for (auto const& [field, is_set, says_nothing, beside] : fields)
    if (is_set && says_nothing && written.contains(field))
      return of_key((std::string("model.") + field).c_str(),
                    fmt::format("contradicts {}, beside which it says nothing", beside));
  if (model.normalise == problem::normaliser::first_pass && problem::by_sigmoid(model.merge))
    return of_key("model.normalise", "'first_pass' contradicts a merge by a sigmoid: no such kernel has a bound");
  bool const by_lse_alone = model.normalise == problem::normaliser::lse;
  if (by_lse_alone && problem::by_sigmoid(model.merge))
    return of_key("model.normalise", "'lse' contradicts a merge by a sigmoid: no such kernel has a bound");
  if (by_lse_alone && !raw && (model.u_state > 0 || model.omega_state > 0))
    return of_key("model.normalise", "'lse' contradicts u_state and omega_state: no such kernel has a bound");
  return std::nullopt;
}

}  // namespace

problem::result<contract> parse_contract(std::string_view text, std::string const& fallback_name) {
  return parse_contract(text, fallback_name, base_contracts::presets_and_ready);
}

problem::result<contract> parse_contract(std::string_view text, std::string const& fallback_name,
                                         base_contracts allowed) {
  auto const parsed = parse_strict(text);
  if (!parsed) return parsed.why();
  json const& from = parsed.value();
  if (!from.is_object())
    return error{error_code::bad_value, "", fmt::format("is {}, expected an object", kind_of(from))};
  std::array constexpr known{"from",  "name",     "sentence",    "input",  "output",
                             "model", "gradient", "conventions", "sources"};
  for (auto const& item : from.items())
    if (std::ranges::find(known, item.key()) == known.end())
      return error{error_code::bad_value, printable(item.key()),
                   "there is no such key" + did_you_mean(item.key(), known)};

  contract claim;
  bool const whole = !from.contains("from");
  if (!whole) {
    auto const preset = string_at(from, "from", "");
    if (!preset) return preset.why();
    if (contract const* const start = find_contract(preset.value())) {
      claim = *start;
    } else if (auto ready = allowed == base_contracts::presets ? std::nullopt : find_ready_contract(preset.value())) {
      claim = *std::move(ready);
    } else {
      return of_key("from", fmt::format("no contract is called '{}'{}", preset.value(),
                                        did_you_mean(preset.value(), contract_names())));
    }
    claim.name.clear();
  }
  auto const name = string_at(from, "name", fallback_name);
  if (!name) return name.why();
  auto const sentence = string_at(from, "sentence", whole ? name.value() : claim.sentence);
  if (!sentence) return sentence.why();
  claim.name = name.value(), claim.sentence = sentence.value();
  auto const input = type_at(from, "input", whole ? std::nullopt : std::optional(claim.type));
  if (!input) return input.why();
  claim.type = input.value();
  if (whole) claim.gradient = default_contract(claim.type).gradient;
  auto const output = type_at(from, "output", claim.type);
  if (!output) return output.why();
  if (output.value() != claim.type)
    return of_key("output", fmt::format("is {}, the input {}: a kernel is asked for outputs of the type of its inputs",
                                        problem::name_of(output.value()), problem::name_of(claim.type)));
  if (auto const model = from.find("model"); model != from.end() && *model == "builtin") {
    claim.builtin = true, claim.fixed = {};
  } else if (model == from.end()) {
    if (whole) return of_key("model", "is missing; write it, or start \"from\" a preset");
  } else {
    // The built-in model depends on the problem: it has no fields to start from.
    bool const was_builtin = claim.builtin;
    claim.builtin = false;
    field_reader outer(from, "", whole || was_builtin);
    outer.object("model", [&](field_reader& fields) { visit_model(claim.fixed, fields); });
    if (outer.why) return *std::move(outer.why);
    if (auto wrong = wrong_weight_reference(claim.fixed, whole || model->contains("block"))) return *std::move(wrong);
    if (auto wrong = wrong_idle_field(claim.fixed, *model)) return *std::move(wrong);
    bool const wide = claim.type == problem::element_type::f32 || claim.type == problem::element_type::f64;
    if (claim.fixed.block_fma > 0 && wide)
      return of_key("model.block_fma", fmt::format("contradicts input {}: the steps of a matrix unit (Lemma 9 of "
                                                   "docs/bound.md) take numbers of 16 bits",
                                                   problem::name_of(claim.type)));
    // Version 0.1 printed its presets under their names, which have more meaning today.
    if (whole && !outer.knows_later_fields && find_contract(claim.name)) claim.name += "-0.1";
  }
  field_reader outer(from, "", false);
  outer.object("gradient", [&](field_reader& fields) { visit_gradient(claim.gradient, fields); });
  outer.object("conventions", [&](field_reader& fields) { visit_conventions(claim.conventions, fields); });
  if (outer.why) return *std::move(outer.why);
  if (auto wrong = wrong_sources(from)) return *std::move(wrong);
  // Cases and findings are identified by this name, so it must not be the name of a different preset.
  if (contract const* const preset = find_contract(claim.name); preset && !(claim == *preset))
    return of_key("name",
                  fmt::format("is '{}', which is a preset that says otherwise; give it a name of its own", claim.name));
  return claim;
}

problem::result<contract> read_contract(std::filesystem::path const& path, base_contracts from) {
  auto const file = read_file(path);
  if (!file) return file.why();
  auto const bytes = file.value().bytes;
  auto parsed = parse_contract({reinterpret_cast<char const*>(bytes.data()), bytes.size()},
                               printable(path.stem().native(), 60), from);
  if (parsed) return parsed;
  error why = parsed.why();
  why.argument = name_of_input(path) + (why.argument.empty() ? "" : ": " + why.argument);
  return why;
}

std::vector<std::string> relaxed(conventions const& how) {
  struct {
    std::vector<std::string> found{};
    void word(char const* name, std::span<char const* const> words, std::size_t at) {
      if (at != 0) found.push_back(fmt::format("{}: {}", name, words[at]));
    }
  } relaxations;
  conventions visited = how;
  visit_conventions(visited, relaxations);
  return std::move(relaxations.found);
}

}  // namespace attest::audit
