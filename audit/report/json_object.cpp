#include "audit/report/json_object.hpp"

#include <fmt/format.h>

#include "audit/support/printable.hpp"
#include "audit/support/real_number.hpp"

namespace attest::audit {
namespace {

using json = nlohmann::ordered_json;

/// Each element of a list, read by `read`.
template <class Read>
auto each_of(json const& list, Read&& read) {
  std::vector<decltype(read(list))> items;
  for (json const& item : list) items.push_back(read(item));
  return items;
}

}  // namespace

report_object::report_object(json const& from, std::string name) : from_(from), name_(std::move(name)) {
  if (!from.is_object()) throw report_fault{fmt::format("{} is {}, expected an object", name_, kind_of(from))};
}

void report_object::wrong(char const* key, json const& found, std::string const& expected) const {
  throw report_fault{fmt::format("'{}' in {} is {}, expected {}", key, name_, kind_of(found), expected)};
}

json const& report_object::at(char const* key) const {
  auto const found = from_.find(key);
  if (found == from_.end()) throw report_fault{fmt::format("there is no '{}' in {}", key, name_)};
  return *found;
}

report_object report_object::inside(char const* key) const { return {at(key), fmt::format("'{}'", key)}; }

json const& report_object::list(char const* key) const {
  json const& found = at(key);
  if (!found.is_array()) wrong(key, found, "an array");
  return found;
}

std::string report_object::text_in(char const* key, json const& found) const {
  if (!found.is_string()) wrong(key, found, "a string");
  return printable(found.get_ref<std::string const&>(), 8000);
}

std::string report_object::text(char const* key) const { return text_in(key, at(key)); }

std::vector<std::string> report_object::texts(char const* key) const {
  return each_of(list(key), [&](json const& item) { return text_in(key, item); });
}

bool report_object::boolean(char const* key) const {
  json const& found = at(key);
  if (!found.is_boolean()) wrong(key, found, "true or false");
  return found.get<bool>();
}

std::int64_t report_object::count_in(char const* key, json const& found) const {
  if (!found.is_number_integer()) wrong(key, found, "a whole number");
  double const value = found.get<double>();
  if (!(value >= 0 && value <= 0x1p40))
    throw report_fault{fmt::format("'{}' in {} is {}, expected a number from 0 to 2^40", key, name_, found.dump())};
  return found.get<std::int64_t>();
}

std::int64_t report_object::count(char const* key) const { return count_in(key, at(key)); }

std::vector<std::int64_t> report_object::counts(char const* key) const {
  return each_of(list(key), [&](json const& item) { return count_in(key, item); });
}

std::vector<std::int64_t> report_object::wholes(char const* key) const {
  return each_of(list(key), [&](json const& item) {
    if (!item.is_number_integer()) wrong(key, item, "a whole number");
    if (!(std::abs(item.get<double>()) <= 0x1p40))
      throw report_fault{fmt::format("'{}' in {} has {}, expected a number from -2^40 to 2^40", key, name_, item.dump())};
    return item.get<std::int64_t>();
  });
}

std::optional<std::uint64_t> report_object::seed() const {
  json const& found = at("seed");
  if (found.is_null()) return std::nullopt;
  if (!found.is_number_unsigned()) wrong("seed", found, "a whole number that is not negative");
  return found.get<std::uint64_t>();
}

double report_object::seconds_in(char const* key, json const& found) const {
  if (!found.is_number() || !(found.get<double>() >= 0)) wrong(key, found, "a number that is not negative");
  return found.get<double>();
}

double report_object::seconds(char const* key) const { return seconds_in(key, at(key)); }

std::vector<double> report_object::all_seconds(char const* key) const {
  return each_of(list(key), [&](json const& item) { return seconds_in(key, item); });
}

double report_object::number_in(char const* key, json const& found) const {
  std::string const text = text_in(key, found);
  if (auto const read = hex_number(text)) return *read;
  throw report_fault{fmt::format("'{}' in {} is '{}', expected a hex float, nan, inf or -inf", key, name_, text)};
}

double report_object::number(char const* key) const { return number_in(key, at(key)); }

std::vector<double> report_object::numbers(char const* key) const {
  return each_of(list(key), [&](json const& item) { return number_in(key, item); });
}

double report_object::magnitude(char const* key) const {
  double const value = number(key);
  if (!(value >= 0))
    throw report_fault{
        fmt::format("'{}' in {} is '{}', expected a number that is not negative", key, name_, text(key))};
  return value;
}

}  // namespace attest::audit
