// An object of a JSON report, read key by key. A value that is missing or does not fit throws a report_fault that names
// the key.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "audit/support/strict_json.hpp"

namespace attest::audit {

/// What is wrong with the file of a report. Thrown by report_object and read_shard, caught by join_reports.
struct report_fault {
  std::string reason;
};

class report_object {
 public:
  /// `name` stands for the object in the faults: "the file", "'shard'".
  report_object(nlohmann::ordered_json const& from, std::string name);

  nlohmann::ordered_json const& at(char const* key) const;
  bool has(char const* key) const { return from_.contains(key); }
  report_object inside(char const* key) const;
  nlohmann::ordered_json const& list(char const* key) const;
  /// Printable, at most about 8,000 bytes.
  std::string text(char const* key) const;
  std::vector<std::string> texts(char const* key) const;
  bool boolean(char const* key) const;
  /// A whole number from 0 to 2^40, so that no sum of as many as a file can hold overflows.
  std::int64_t count(char const* key) const;
  std::vector<std::int64_t> counts(char const* key) const;
  /// Whole numbers from −2^40 to 2^40.
  std::vector<std::int64_t> wholes(char const* key) const;
  std::optional<std::uint64_t> seed() const;
  double seconds(char const* key) const;
  std::vector<double> all_seconds(char const* key) const;
  /// A hex float in a string, "nan", "inf" or "-inf".
  double number(char const* key) const;
  std::vector<double> numbers(char const* key) const;
  /// A hex float that is neither negative nor NaN.
  double magnitude(char const* key) const;

 private:
  [[noreturn]] void wrong(char const* key, nlohmann::ordered_json const& found, std::string const& expected) const;
  std::string text_in(char const* key, nlohmann::ordered_json const& found) const;
  double seconds_in(char const* key, nlohmann::ordered_json const& found) const;
  std::int64_t count_in(char const* key, nlohmann::ordered_json const& found) const;
  double number_in(char const* key, nlohmann::ordered_json const& found) const;

  nlohmann::ordered_json const& from_;
  std::string name_;
};

}  // namespace attest::audit
