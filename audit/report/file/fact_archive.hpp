// The two archives of facts.hpp: one writes facts as JSON, the other reads them from a file that anybody may have
// changed. Real numbers are hex floats in strings, so that they are exact and may be infinite or NaN.
#pragma once

#include <cstdint>
#include <optional>
#include <ranges>
#include <string>
#include <type_traits>
#include <utility>

#include <nlohmann/json.hpp>

#include "audit/support/real_number.hpp"

namespace attest::audit {

/// A fault in the file of a shard. Thrown by fact_reader, read_shard and the rules of shard_rules.hpp, caught by
/// join_reports.
struct report_fault {
  std::string reason;
};

/// The range of a fact that is a whole number. The sum over all numbers that a file can hold does not overflow.
struct whole_range {
  std::int64_t least = 0, most = std::int64_t{1} << 40;
};
inline constexpr whole_range of_either_sign{-(std::int64_t{1} << 40)};
/// The upper end is more than the program draws, and few enough for a browser.
inline constexpr whole_range side_of_picture{0, 4096};
inline constexpr whole_range side_of_listing{0, std::int64_t{1} << 20};
/// A real number that is neither negative nor NaN.
struct not_negative {};

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool is_pair = false;
template <class A, class B>
inline constexpr bool is_pair<std::pair<A, B>> = true;

class fact_writer {
 public:
  using json = nlohmann::json;  // its keys are in order, so that equal facts are equal texts

  template <class T, class... Limit>
  void operator()(char const* name, T const& fact, Limit const&...) {
    object_[name] = written(fact);
  }
  template <class Write, class Read>
  void text(char const* name, Write&& write, Read&&) {
    object_[name] = write();
  }
  void require(bool, char const*) const {}

  /// Ensures  an object with all facts of `of`
  template <class T>
  static json facts_of(T of) {
    fact_writer facts;
    visit(facts, of);
    return std::move(facts.object_);
  }

 private:
  template <class T>
  static json written(T const& fact) {
    if constexpr (std::is_same_v<T, double>) return hex(fact);
    else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) return fact;
    else if constexpr (is_optional<T>) return fact ? written(*fact) : json();
    else if constexpr (is_pair<T>) return json::array({written(fact.first), written(fact.second)});
    else if constexpr (std::ranges::range<T>) {
      json items = json::array();
      for (auto const& item : fact) items.push_back(written(item));
      return items;
    } else {
      return facts_of(fact);
    }
  }

  json object_ = json::object();
};

/// Reads the facts of an object.
/// Throws    report_fault with the place of a fact that is missing, has another type or is outside its limits
class fact_reader {
 public:
  using json = nlohmann::ordered_json;

  /// Where a fact stands: a member of an object or an element of a list.
  struct place {
    place const* outer = nullptr;
    char const* name = nullptr;  ///< of the member; null for an element
    std::size_t at = 0;

    std::string words() const;  ///< "shard.facts.reports[0].checks[3].cases"
  };

  fact_reader(json const& from, place const& at);

  template <class T, class... Limit>
  void operator()(char const* name, T& fact, Limit const&... limit) {
    read(member(name), fact, {&at_, name}, limit...);
  }
  template <class Write, class Read>
  void text(char const* name, Write&&, Read&& read_text) {
    std::string written;
    (*this)(name, written);
    if (std::string const wrong = read_text(written); !wrong.empty()) fail({&at_, name}, wrong);
  }
  void require(bool holds, char const* wrong) const {
    if (!holds) fail(at_, wrong);
  }

 private:
  [[noreturn]] static void fail(place const& at, std::string const& wrong);
  [[noreturn]] static void unexpected(place const& at, json const& found, std::string const& expected);
  json const& member(char const* name) const;

  static void read(json const& from, bool& fact, place const& at);
  static void read(json const& from, std::int64_t& fact, place const& at, whole_range const& allowed = {});
  static void read(json const& from, int& fact, place const& at);
  static void read(json const& from, std::uint64_t& fact, place const& at);
  static void read(json const& from, double& fact, place const& at);
  static void read(json const& from, double& fact, place const& at, not_negative);
  static void read(json const& from, std::string& fact, place const& at);
  /// Requires  a list, of `size` elements if it is given
  static void require_list(json const& from, place const& at, std::optional<std::size_t> size = {});

  template <class T, class... Limit>
  static void read(json const& from, T& fact, place const& at, Limit const&... limit) {
    if constexpr (is_optional<T>) {
      if (from.is_null()) fact.reset();
      else read(from, fact.emplace(), at, limit...);
    } else if constexpr (is_pair<T>) {
      require_list(from, at, 2);
      read(from[0], fact.first, {&at, nullptr, 0}), read(from[1], fact.second, {&at, nullptr, 1});
    } else if constexpr (requires { std::tuple_size<T>::value; }) {
      require_list(from, at, fact.size());
      for (std::size_t n = 0; n < fact.size(); ++n) read(from[n], fact[n], {&at, nullptr, n}, limit...);
    } else if constexpr (std::ranges::range<T>) {
      require_list(from, at);
      fact.clear();
      for (std::size_t n = 0; n < from.size(); ++n) {
        typename T::value_type item{};
        read(from[n], item, {&at, nullptr, n}, limit...);
        fact.insert(fact.end(), std::move(item));
      }
    } else {
      fact_reader inside(from, at);
      visit(inside, fact);
    }
  }

  json const& from_;
  place const& at_;
};

}  // namespace attest::audit
