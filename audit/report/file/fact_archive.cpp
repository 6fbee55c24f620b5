#include "audit/report/file/fact_archive.hpp"

#include <limits>

#include <fmt/format.h>

#include "audit/support/printable.hpp"
#include "audit/support/strict_json.hpp"

namespace attest::audit {

std::string fact_reader::place::words() const {
  std::string const before = outer ? outer->words() : "";
  if (!name) return fmt::format("{}[{}]", before, at);
  return before.empty() ? name : before + "." + name;
}

fact_reader::fact_reader(json const& from, place const& at) : from_(from), at_(at) {
  if (!from.is_object()) unexpected(at, from, "an object");
}

void fact_reader::fail(place const& at, std::string const& wrong) {
  throw report_fault{fmt::format("'{}' {}", at.words(), wrong)};
}

void fact_reader::unexpected(place const& at, json const& found, std::string const& expected) {
  std::string const shown = found.is_structured()
                                ? std::string(kind_of(found))
                                : printable(found.dump(-1, ' ', false, json::error_handler_t::replace), 60);
  fail(at, fmt::format("is {}, expected {}", shown, expected));
}

fact_reader::json const& fact_reader::member(char const* name) const {
  auto const found = from_.find(name);
  if (found == from_.end()) fail({&at_, name}, "is missing");
  return *found;
}

void fact_reader::require_list(json const& from, place const& at, std::optional<std::size_t> size) {
  if (!from.is_array()) unexpected(at, from, "a list");
  if (size && from.size() != *size) fail(at, fmt::format("has {} entries, expected {}", from.size(), *size));
}

void fact_reader::read(json const& from, bool& fact, place const& at) {
  if (!from.is_boolean()) unexpected(at, from, "true or false");
  fact = from.get<bool>();
}

void fact_reader::read(json const& from, std::int64_t& fact, place const& at, whole_range const& allowed) {
  // Compared as a double: a number above 2^63 must not wrap.
  double const value = from.is_number_integer() ? from.get<double>() : std::numeric_limits<double>::quiet_NaN();
  if (!(value >= static_cast<double>(allowed.least) && value <= static_cast<double>(allowed.most)))
    unexpected(at, from, fmt::format("a whole number from {} to {}", allowed.least, allowed.most));
  fact = from.get<std::int64_t>();
}

void fact_reader::read(json const& from, int& fact, place const& at) {
  std::int64_t wide = 0;
  read(from, wide, at, {0, std::numeric_limits<int>::max()});
  fact = static_cast<int>(wide);
}

void fact_reader::read(json const& from, std::uint64_t& fact, place const& at) {
  if (!from.is_number_unsigned()) unexpected(at, from, "a whole number from 0 to 18446744073709551615");
  fact = from.get<std::uint64_t>();
}

void fact_reader::read(json const& from, double& fact, place const& at) {
  auto const value = from.is_string() ? hex_number(from.get_ref<std::string const&>()) : std::nullopt;
  if (!value) unexpected(at, from, "a hex float, nan, inf or -inf in a string");
  fact = *value;
}

void fact_reader::read(json const& from, double& fact, place const& at, not_negative) {
  read(from, fact, at);
  if (!(fact >= 0)) unexpected(at, from, "a number that is not negative");
}

void fact_reader::read(json const& from, std::string& fact, place const& at) {
  if (!from.is_string()) unexpected(at, from, "a string");
  fact = printable(from.get_ref<std::string const&>(), std::string::npos);
}

}  // namespace attest::audit
