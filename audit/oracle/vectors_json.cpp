#include "audit/oracle/vectors_json.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "audit/support/printable.hpp"
#include "audit/support/real_number.hpp"
#include "audit/tensors/elements.hpp"
#include "problem/element_names.hpp"

namespace attest::audit {
namespace {

using nlohmann::json;
using problem::element_type;
using problem::error;
using problem::error_code;
using problem::result;

constexpr auto& types = problem::floating_rows;
constexpr std::int64_t deepest = 6;                         ///< nesting of a file of vectors
constexpr std::size_t largest_text = std::size_t{1} << 28;  ///< bytes

/// Reads fields and keeps the first error.
class reader {
 public:
  std::optional<error> why;

  explicit reader(std::string where) : where_(std::move(where)) {}

  bool fail(std::string_view field, std::string reason) {
    if (!why)
      why = error{error_code::unreadable,
                  fmt::format("{}{}{}", where_, where_.empty() || field.empty() ? "" : ".", field), std::move(reason)};
    return false;
  }
  /// The member; nullptr and an error if there is none.
  json const* member(json const& of, char const* field) {
    if (auto const at = of.find(field); at != of.end()) return &*at;
    fail(field, "is missing");
    return nullptr;
  }
  bool text(json const& of, char const* field, std::string& to) {
    json const* const x = member(of, field);
    if (!x) return false;
    if (!x->is_string()) return fail(field, "is not a string");
    to = x->get<std::string>();
    return true;
  }
  bool whole(json const& of, char const* field, std::int64_t least, std::int64_t& to) {
    json const* const x = member(of, field);
    if (!x) return false;
    bool const fits = x->is_number_integer() &&
                      (!x->is_number_unsigned() || x->get<std::uint64_t>() <= std::numeric_limits<std::int64_t>::max());
    if (!fits || x->get<std::int64_t>() < least)
      return fail(field, fmt::format("is not a whole number from {} to 2^63 - 1", least));
    to = x->get<std::int64_t>();
    return true;
  }
  bool number(json const& x, std::string_view field, double& to) {
    if (!x.is_string()) return fail(field, "holds something that is not a hex float in a string");
    std::string const text = x.get<std::string>();
    auto const read = hex_number(text);
    if (!read) return fail(field, fmt::format("holds '{}', which is not a hex float", printable(text, 60)));
    to = *read;
    return true;
  }
  /// An array of exactly `size` items, each given to take(item, index).
  bool items(json const* x, std::string_view field, std::size_t size, auto&& take) {
    if (!x) return false;
    if (!x->is_array() || x->size() != size) return fail(field, fmt::format("is not an array of {} items", size));
    for (std::size_t n = 0; n < size; ++n)
      if (!take((*x)[n], n)) return false;
    return true;
  }

 private:
  std::string where_;
};

/// Reads a compact tensor. Its number of elements must be the length of the array, which the text bounds.
bool read_tensor(reader& in, json const* values, std::string_view field, element_type type,
                 std::array<std::int64_t, 4> shape, owned_tensor& to) {
  std::int64_t count = 1;
  for (std::int64_t const size : shape) {
    auto const product = problem::checks::multiply_add(count, size, 0);
    if (!product || *product > static_cast<std::int64_t>(largest_text)) return in.fail(field, "has too many elements");
    count = *product;
  }
  if (!values) return false;
  if (!values->is_array() || values->size() != static_cast<std::size_t>(count))
    return in.fail(field, fmt::format("is not an array of {} items", count));
  to = owned_tensor::compact(type, {shape[0], shape[1], shape[2], shape[3]});
  return in.items(values, field, static_cast<std::size_t>(count), [&](json const& item, std::size_t n) {
    if (type == element_type::u8) {
      if (item != 0 && item != 1) return in.fail(field, "holds something that is neither 0 nor 1");
      store(to, n, item.get<int>());
      return true;
    }
    double x = 0;
    if (!in.number(item, field, x)) return false;
    store(to, n, x);
    return std::isnan(x) || load(to, n) == x ||
           in.fail(field, fmt::format("holds {}, which is not a number of {}", hex(x), problem::name_of(type)));
  });
}

bool read_broadcast(reader& in, json const& of, char const* field, element_type type, std::optional<owned_tensor>& to) {
  json const* const broadcast = in.member(of, field);
  if (!broadcast) return false;
  if (broadcast->is_null()) return true;
  if (!broadcast->is_object()) return in.fail(field, "is neither null nor an object");
  std::array<std::int64_t, 4> shape{};
  bool const read = in.items(in.member(*broadcast, "shape"), field, 4, [&](json const& item, std::size_t n) {
    bool const fits = item.is_number_unsigned() && item.get<std::uint64_t>() <= largest_text;
    if (fits) shape[n] = item.get<std::int64_t>();
    return fits || in.fail(field, "has a shape that is not four sizes");
  });
  return read && read_tensor(in, in.member(*broadcast, "values"), field, type, shape, to.emplace());
}

bool read_truths(reader& in, json const& of, char const* field, std::size_t size, std::vector<certified_value>& to) {
  json const* const truths = in.member(of, field);
  if (!truths) return false;
  if (!truths->is_object()) return in.fail(field, "is not an object");
  to.resize(size);
  return in.items(in.member(*truths, "truth_lower"), field, size, [&](json const& item, std::size_t n) {
    return in.number(item, field, to[n].lower);
  }) && in.items(in.member(*truths, "truth_upper"), field, size, [&](json const& item, std::size_t n) {
    return in.number(item, field, to[n].upper);
  }) && in.items(in.member(*truths, "rounded"), field, size, [&](json const& item, std::size_t n) {
    double x = 0;
    if (!item.is_null() && !in.number(item, field, x)) return false;
    if (!item.is_null()) to[n].rounded = x;
    return true;
  });
}

template <class T>
bool read_parameter(reader& in, json const& from, problem::parameter<T> const& about, T& to) {
  if (about.later && !from.contains(about.name)) return true;
  if constexpr (std::is_same_v<T, std::int64_t>) {
    return in.whole(from, about.name, about.least, to);
  } else {
    json const* const value = in.member(from, about.name);
    if (!value) return false;
    if constexpr (std::is_same_v<T, double>) return in.number(*value, about.name, to);
    else return value->is_null() || in.number(*value, about.name, to.emplace());
  }
}

result<vector_case> read_case(json const& from, std::size_t index) {
  reader in(fmt::format("cases[{}]", index));
  std::string name;
  std::vector<std::string> found_flags;
  problem_draft draft;
  if (!from.is_object()) return in.fail("", "is not an object"), *in.why;
  std::string type_name;
  std::array<std::int64_t, 7> s{};
  constexpr std::array names{"b", "hq", "hk", "n", "m", "d", "dv"};
  bool read = in.text(from, "name", name) && in.text(from, "type", type_name);
  auto const type = std::ranges::find(types, type_name, &problem::element_row::name);
  if (read && type == types.end())
    read = in.fail("type", fmt::format("'{}' is none of {}", printable(type_name, 40), problem::listed(types, "and")));
  json const* const sizes = read ? in.member(from, "sizes") : nullptr;
  read = sizes && (sizes->is_object() || in.fail("sizes", "is not an object"));
  for (std::size_t n = 0; n < names.size(); ++n) read = read && in.whole(*sizes, names[n], 0, s[n]);
  json const* const flags = read ? in.member(from, "flags") : nullptr;
  read = read && flags &&
         in.items(flags, "flags", flags->is_array() ? flags->size() : 0, [&](json const& item, std::size_t) {
           if (!item.is_string()) return in.fail("flags", "holds something that is not a string");
           found_flags.push_back(item.get<std::string>());
           return true;
         });
  auto const [b, hq, hk, n, m, d, dv] = s;
  read = read && read_tensor(in, in.member(from, "q"), "q", type->type, {b, hq, n, d}, draft.q) &&
         read_tensor(in, in.member(from, "k"), "k", type->type, {b, hk, m, d}, draft.k) &&
         read_tensor(in, in.member(from, "v"), "v", type->type, {b, hk, m, dv}, draft.v) &&
         read_broadcast(in, from, "mask", element_type::u8, draft.mask) &&
         read_broadcast(in, from, "bias", type->type, draft.bias);
  problem::visit_parameters(draft, [&]<class T>(problem::parameter<T> const& parameter, T& to) {
    read = read && read_parameter(in, from, parameter, to);
  });
  if (!read) return *in.why;
  auto problem = owned_problem::make(std::move(draft));
  if (!problem)
    return error{error_code::unreadable, fmt::format("cases[{}].{}", index, problem.why().argument),
                 problem.why().reason};
  vector_case certified_case{std::move(name), std::move(found_flags), std::move(problem).value()};
  // b·hq·n·dv does not overflow, or the problem would be invalid. Memory is allocated only for arrays of that length.
  std::int64_t const rows = b * hq * n;
  for (auto const& [field, size, to] :
       {std::tuple{"o", rows * dv, &certified_case.o}, std::tuple{"lse", rows, &certified_case.lse}}) {
    json const* const truths = in.member(from, field);
    json const* const lower = truths && truths->is_object() ? in.member(*truths, "truth_lower") : nullptr;
    if (truths && (!lower || !lower->is_array() || lower->size() != static_cast<std::size_t>(size)))
      in.fail(field, fmt::format("has not {} truths", size));
    if (in.why || !read_truths(in, from, field, static_cast<std::size_t>(size), *to)) return *in.why;
  }
  return certified_case;
}

/// An error for text with deep nesting or zero bytes, which no file of vectors has, found before the text is parsed.
std::optional<error> text_fault(std::string_view text) {
  auto const fault = [](std::string reason) { return error{error_code::unreadable, "", std::move(reason)}; };
  if (text.size() > largest_text) return fault("the file is too large for vectors");
  std::int64_t depth = 0;
  bool quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    char const c = text[at];
    if (c == '\0') return fault(fmt::format("byte {} is zero", at));
    if (quoted) {
      if (c == '\\') ++at;
      else quoted = c != '"';
      continue;
    }
    quoted = c == '"';
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (depth > deepest) return fault(fmt::format("byte {} nests deeper than vectors do", at));
  }
  return std::nullopt;
}

}  // namespace

result<vector_file> parse_vectors(std::string_view text) {
  if (auto why = text_fault(text)) return *std::move(why);
  json const all = json::parse(text, nullptr, false);
  reader in("");
  if (all.is_discarded() || !all.is_object()) return in.fail("", "the file is not a JSON object"), *in.why;
  vector_file file;
  std::string kind;
  std::int64_t schema = 0;
  if (!in.text(all, "attest", kind) || !in.whole(all, "schema", 0, schema) || !in.text(all, "check", file.check))
    return *in.why;
  if (kind != "vectors" || schema != 1) return in.fail("attest", "this is not a file of vectors of schema 1"), *in.why;
  json const* const flags = in.member(all, "flags");
  json const* const cases = flags ? in.member(all, "cases") : nullptr;
  if (!cases) return *in.why;
  if (!flags->is_object() || !cases->is_array())
    return in.fail(flags->is_object() ? "cases" : "flags", "has the wrong type"), *in.why;
  for (auto const& [flag, meaning] : flags->items()) {
    if (!meaning.is_string()) return in.fail("flags", "holds something that is not a string"), *in.why;
    file.flags[flag] = meaning.get<std::string>();
  }
  for (std::size_t n = 0; n < cases->size(); ++n) {
    auto read = read_case((*cases)[n], n);
    if (!read) return read.why();
    for (std::string const& flag : read.value().flags)
      if (!file.flags.contains(flag))
        return error{error_code::unreadable, fmt::format("cases[{}].flags", n),
                     fmt::format("'{}' is not explained", printable(flag, 40))};
    file.cases.push_back(std::move(read).value());
  }
  return file;
}

}  // namespace attest::audit
