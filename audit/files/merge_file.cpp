#include "audit/files/merge_file.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "audit/files/dtype.hpp"
#include "audit/files/empty_rows.hpp"
#include "audit/files/problem_file_entry.hpp"
#include "audit/support/printable.hpp"
#include "problem/optional_tensors.hpp"

namespace attest::audit {
namespace {

using problem::element_type;
using problem::error;
using problem::error_code;
using problem::result;

/// N of "o_part_N". Returns nothing if the word begins otherwise, or N has a sign, a leading zero or too many digits.
std::optional<std::int64_t> number_of_part(std::string_view role, std::string_view word) {
  if (!role.starts_with(word)) return std::nullopt;
  std::string_view const digits = role.substr(word.size());
  std::int64_t number = 0;
  auto const [end, why] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  bool const whole = why == std::errc{} && end == digits.data() + digits.size() && digits.front() != '-';
  if (!whole || (digits.size() > 1 && digits.front() == '0')) return std::nullopt;
  return number;
}

constexpr std::string_view o_word = "o_part_", lse_word = "lse_part_";

/// The tensors of one kind, in the order of the parts.
result<std::vector<std::pair<std::string, safetensor const*>>> in_order(std::string_view prefix,
                                                                        tensor_group const& group,
                                                                        std::string_view whole, std::string_view word) {
  std::vector<std::pair<std::int64_t, std::pair<std::string, safetensor const*>>> found;
  for (auto const& [role, tensor] : group) {
    if (!role.starts_with(word)) continue;
    auto const number = number_of_part(role, word);
    if (!number)
      return fault(error_code::bad_value, prefixed(prefix, role),
                   fmt::format("is no part: they are {}0, {}1, … without a sign or leading zeros", word, word));
    found.push_back({*number, {prefixed(prefix, role), tensor}});
  }
  if (auto const at = group.find(whole); at != group.end()) {
    if (!found.empty())
      return fault(error_code::bad_shape, prefixed(prefix, whole),
                   fmt::format("stands beside '{}': the parts are in one tensor or in one each",
                               printable(found.front().second.first)));
    return std::vector{std::pair{prefixed(prefix, whole), at->second}};
  }
  std::ranges::sort(found, {}, [](auto const& part) { return part.first; });
  std::vector<std::pair<std::string, safetensor const*>> parts;
  for (auto& [number, part] : found) {
    if (number != std::ssize(parts))
      return fault(error_code::missing, prefixed(prefix, fmt::format("{}{}", word, parts.size())),
                   fmt::format("is missing beside '{}'", printable(part.first)));
    parts.push_back(std::move(part));
  }
  return parts;
}

bool is_narrow(element_type type) { return type != element_type::f32 && type != element_type::f64; }

/// Reads the parts of one prefix, and keeps the first error.
class reader {
 public:
  reader(std::string_view prefix, tensor_group const& group) : prefix_(prefix), group_(group) {}

  result<merge_parts> parts() {
    auto const o = in_order(prefix_, group_, o_parts, o_word), lse = in_order(prefix_, group_, lse_parts, lse_word);
    if (!o) return o.why();
    if (!lse) return lse.why();
    bool const one_block = group_.contains(o_parts);
    std::string_view const o_first = one_block ? o_parts : "o_part_0", lse_first = one_block ? lse_parts : "lse_part_0";
    if (o.value().empty()) return missing(o_first, lse.value().front().first);
    if (lse.value().empty() || one_block != group_.contains(lse_parts))
      return missing(lse_first, o.value().front().first);
    if (o.value().size() != lse.value().size())
      return missing(fmt::format("{}{}", o.value().size() < lse.value().size() ? o_word : lse_word,
                                 std::min(o.value().size(), lse.value().size())),
                     (o.value().size() < lse.value().size() ? lse : o).value().back().first);
    if (auto why = take_shape(o.value().front(), o.value().size(), one_block)) return *std::move(why);
    for (std::size_t s = 0; s < o.value().size(); ++s)
      if (auto why = take(o.value()[s], lse.value()[s], s)) return *std::move(why);
    return std::move(read_);
  }

 private:
  error missing(std::string_view role, std::string_view beside) const {
    return fault(error_code::missing, prefixed(prefix_, role),
                 fmt::format("is missing beside '{}'", printable(beside)));
  }

  /// The shape and type of the parts, from the first tensor of O.
  std::optional<error> take_shape(std::pair<std::string, safetensor const*> const& first, std::size_t tensors,
                                  bool one_block) {
    auto const& [name, tensor] = first;
    auto const type = floating_type(tensor->dtype);
    if (!type)
      return fault(error_code::bad_type, name,
                   fmt::format("dtype is {}, expected {}", printable(tensor->dtype, 20),
                               problem::listed(problem::ieee_rows_first(), "or", &problem::element_row::dtype)));
    read_.type = *type, dtype_ = tensor->dtype;
    shape_ = tensor->shape;
    std::size_t const axes = shape_.size() - (one_block ? 1 : 0);
    if (shape_.empty() || axes < 2 || axes > 4)
      return fault(error_code::bad_shape, name,
                   fmt::format("rank is {}, expected {}", tensor->shape.size(),
                               one_block ? "3, 4 or 5: [S, b, hq, n, dv]" : "2, 3 or 4: [b, hq, n, dv]"));
    read_.parts = one_block ? shape_.front() : static_cast<std::int64_t>(tensors);
    if (one_block && read_.parts < 1) return fault(error_code::bad_shape, name, "merge needs at least one part");
    std::vector<std::int64_t> sizes(shape_.end() - static_cast<std::ptrdiff_t>(axes), shape_.end());
    sizes.insert(sizes.begin(), 4 - axes, 1);
    read_.b = sizes[0], read_.hq = sizes[1], read_.n = sizes[2], read_.dv = sizes[3];
    read_.rank = static_cast<int>(axes);
    lse_shape_ = shape_, lse_shape_.pop_back();
    // Without elements, the bytes of the file do not bound the memory of the problem.
    bool const no_rows = std::ranges::find(lse_shape_, 0) != lse_shape_.end();
    if (no_rows && empty_rows(lse_shape_) > most_empty_rows)
      return fault(error_code::unsupported, name,
                   fmt::format("shape is [{}]: parts without rows have at most {} of them along the other axes",
                               fmt::join(tensor->shape, ", "), most_empty_rows));
    return std::nullopt;
  }

  std::optional<error> take(std::pair<std::string, safetensor const*> const& o,
                            std::pair<std::string, safetensor const*> const& lse, std::size_t part) {
    if (o.second->dtype != dtype_)
      return fault(error_code::bad_type, o.first,
                   fmt::format("dtype is {}, part 0 has {}", printable(o.second->dtype, 20), dtype_));
    if (o.second->shape != shape_) {
      auto const& shape = o.second->shape;
      std::string const where = prefixed(prefix_, fmt::format("{}{}", o_word, part));
      bool const same_rows =
          shape.size() == shape_.size() && std::equal(shape.begin(), shape.end() - 1, shape_.begin());
      return fault(error_code::bad_shape, where,
                   same_rows ? fmt::format("part {} has dv = {}, part 0 has {}", part, shape.back(), shape_.back())
                             : fmt::format("part {} has shape [{}], part 0 has [{}]", part, fmt::join(shape, ", "),
                                           fmt::join(shape_, ", ")));
    }
    std::string_view const expected = read_.type == element_type::f64 ? "F64" : "F32";
    if (lse.second->dtype != expected)
      return fault(error_code::bad_type, lse.first,
                   fmt::format("dtype is {}, expected {} beside parts of {}", printable(lse.second->dtype, 20),
                               expected, dtype_));
    if (lse.second->shape != lse_shape_)
      return fault(
          error_code::bad_shape, lse.first,
          fmt::format("shape is [{}], expected [{}]", fmt::join(lse.second->shape, ", "), fmt::join(lse_shape_, ", ")));
    read_.o.insert(read_.o.end(), o.second->bytes.begin(), o.second->bytes.end());
    read_.lse.insert(read_.lse.end(), lse.second->bytes.begin(), lse.second->bytes.end());
    return std::nullopt;
  }

  std::string_view prefix_;
  tensor_group const& group_;
  merge_parts read_{};
  std::string dtype_{};
  std::vector<std::int64_t> shape_{}, lse_shape_{};
};

}  // namespace

std::optional<error> answer_fault(std::string_view name, element_type parts, element_type answer) {
  bool const known = parts == answer || (answer == element_type::f32 && is_narrow(parts)) ||
                     (parts == element_type::f32 && is_narrow(answer));
  if (known) return std::nullopt;
  return fault(
      error_code::unsupported, name,
      fmt::format("is {} and the parts are {}: there is no contract for that; the answer of a merge has the type of "
                  "its parts, or one of the two is f32 and the other has 16 bits",
                  problem::name_of(answer), problem::name_of(parts)));
}

result<problem_draft> merge_of(std::string_view prefix, tensor_group const& group) {
  for (auto const& [role, tensor] : group) {
    if (is_taken(problem::merge, role) || problem::output_named(role)) continue;
    return fault(error_code::bad_value, prefixed(prefix, role),
                 problem::attention.does_take(role)
                     ? "stands beside parts: a group is attention, with q, k and v, or a merge, with parts"
                     : "stands beside parts: a merge takes the O and the LSE of its parts, and nothing else");
  }
  auto parts = reader(prefix, group).parts();
  if (!parts) return parts.why();
  element_type answer = parts.value().type;
  if (auto const at = group.find("o"); at != group.end())
    if (auto const type = floating_type(at->second->dtype); type && !answer_fault(prefixed(prefix, "o"), answer, *type))
      answer = *type;
  return merge_draft(std::move(parts).value(), answer);
}

}  // namespace attest::audit
