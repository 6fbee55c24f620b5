// Reads the fields of a struct from a JSON object, as contract_fields.hpp visits them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "audit/contract/contract_fields.hpp"
#include "problem/result.hpp"

namespace attest::audit {

/// Reads the fields of a struct from an object. Keeps the first error and skips the fields after it.
class field_reader {
 public:
  using json = nlohmann::ordered_json;

  /// If `whole`, a missing key is an error; else the field keeps its value.
  field_reader(json const& from, std::string path, bool whole) : from_(from), path_(std::move(path)), whole_(whole) {}

  void number(char const* name, double& field, range const& allowed);
  void count(char const* name, std::int64_t& field, range const& allowed);
  void flag(char const* name, bool& field);
  void word(char const* name, std::span<char const* const> words, std::size_t& at);
  template <class Fields>
  void object(char const* name, Fields&& fields) {
    json const* const value = find(name);
    if (!value) return;
    if (!value->is_object()) return fail(name, fmt::format("is {}, expected an object", shown(*value)));
    field_reader inside(*value, path_ + name + '.', whole_);
    fields(inside);
    inside.end();
    if (!why) why = std::move(inside.why);
    knows_later_fields |= inside.knows_later_fields;
  }
  /// Fields that keep their value if the file does not have them.
  template <class Fields>
  void optional(Fields&& fields) {
    bool const whole = std::exchange(whole_, false);
    std::size_t const first = known_.size();
    fields(*this);
    whole_ = whole;
    for (std::size_t at = first; at < known_.size(); ++at) knows_later_fields |= from_.contains(known_[at]);
  }
  /// Must be called after the last field: a key that no field has is an error.
  void end();

  std::optional<problem::error> why;
  bool knows_later_fields = false;  ///< does the file have one of the optional fields?

 private:
  json const* find(char const* name);
  void fail(char const* name, std::string reason);
  static std::string shown(json const& value);

  json const& from_;
  std::string path_;
  bool whole_;
  std::vector<std::string> known_;
};

}  // namespace attest::audit
