#include "audit/contract/field_reader.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "audit/support/printable.hpp"
#include "audit/support/real_number.hpp"
#include "audit/support/strict_json.hpp"
#include "audit/support/words.hpp"

namespace attest::audit {
namespace {

using json = nlohmann::ordered_json;
using problem::error;
using problem::error_code;

/// A non-negative decimal number or hex float, or "inf". Returns nothing for other text.
std::optional<double> number_in(std::string_view text) {
  if (text == "inf") return std::numeric_limits<double>::infinity();
  return text.starts_with('-') ? std::nullopt : real_number(text);  // no field is negative
}

std::string outside(std::string const& value, range const& allowed) {
  return fmt::format("is {}, expected a number from {:g} to {:g}", value, allowed.least, allowed.most);
}

}  // namespace

void field_reader::number(char const* name, double& field, range const& allowed) {
  json const* const value = find(name);
  if (!value) return;
  auto const read = value->is_number()   ? std::optional(value->get<double>())
                    : value->is_string() ? number_in(value->get_ref<std::string const&>())
                                         : std::nullopt;
  if (!read) return fail(name, fmt::format("is {}, expected a number, or a string such as \"0x1p-24\"", shown(*value)));
  if (!(*read >= allowed.least && *read <= allowed.most)) return fail(name, outside(hex(*read), allowed));
  field = *read;
}

void field_reader::count(char const* name, std::int64_t& field, range const& allowed) {
  json const* const value = find(name);
  if (!value) return;
  if (!value->is_number_integer()) return fail(name, fmt::format("is {}, expected a whole number", shown(*value)));
  // Compared as a double: a number above 2^63 must not wrap.
  double const read = value->get<double>();
  if (!(read >= allowed.least && read <= allowed.most)) return fail(name, outside(value->dump(), allowed));
  field = value->get<std::int64_t>();
}

void field_reader::flag(char const* name, bool& field) {
  json const* const value = find(name);
  if (!value) return;
  if (!value->is_boolean()) return fail(name, fmt::format("is {}, expected true or false", shown(*value)));
  field = value->get<bool>();
}

void field_reader::word(char const* name, std::span<char const* const> words, std::size_t& at) {
  json const* const value = find(name);
  if (!value) return;
  if (value->is_string())
    for (std::size_t n = 0; n < words.size(); ++n)
      if (value->get_ref<std::string const&>() == words[n]) return void(at = n);
  fail(name, fmt::format("is {}, expected one of {}{}", shown(*value), fmt::join(words, ", "),
                         value->is_string() ? did_you_mean(value->get_ref<std::string const&>(), words) : ""));
}

void field_reader::end() {
  if (why) return;
  for (auto const& item : from_.items())
    if (std::ranges::find(known_, item.key()) == known_.end()) {
      why = error{error_code::bad_value, path_ + printable(item.key()),
                  "there is no such key" + did_you_mean(item.key(), known_)};
      return;
    }
}

json const* field_reader::find(char const* name) {
  known_.emplace_back(name);
  if (why) return nullptr;
  auto const at = from_.find(name);
  if (at != from_.end()) return &*at;
  if (whole_) fail(name, "is missing; write it, or start \"from\" a preset");
  return nullptr;
}

std::string field_reader::shown(json const& value) {
  return value.is_structured() ? std::string(kind_of(value))
                               : printable(value.dump(-1, ' ', false, json::error_handler_t::replace), 60);
}

void field_reader::fail(char const* name, std::string reason) {
  if (!why) why = error{error_code::bad_value, path_ + name, std::move(reason)};
}

}  // namespace attest::audit
