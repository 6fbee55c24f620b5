#include "audit/tensors/memory_form.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "audit/support/words.hpp"
#include "problem/checks.hpp"

namespace attest::audit {
namespace {

using problem::error;
using problem::error_code;
using problem::layout;

/// The rows of a tensor of rank 4, and their bytes.
struct row_reader {
  owned_tensor const& tensor;
  layout lifted;

  row_reader(owned_tensor const& of, int problem_rank) : tensor(of), lifted(problem::lifted(of.layout, problem_rank)) {}

  std::byte const* row(std::array<std::int64_t, 3> const& at) const {
    std::int64_t offset = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) offset += at[axis] * lifted.stride[axis];
    return tensor.bytes.data() + static_cast<std::size_t>(offset) * problem::size_of(tensor.type);
  }

  /// True if f(the index of a row) holds for each row.
  template <class F>
  bool all_rows(F&& f) const {
    std::array<std::int64_t, 3> at{};
    for (at[0] = 0; at[0] < lifted.shape[0]; ++at[0])
      for (at[1] = 0; at[1] < lifted.shape[1]; ++at[1])
        for (at[2] = 0; at[2] < lifted.shape[2]; ++at[2])
          if (!f(at)) return false;
    return true;
  }
};

bool equal_bytes(std::byte const* a, std::byte const* b, std::size_t bytes) {
  return bytes == 0 || std::memcmp(a, b, bytes) == 0;
}

/// The first pair of elements of one tensor that would share a place but differ, as a sentence.
std::optional<std::string> sharing_fault(row_reader const& of, memory_form const& form) {
  auto const element = problem::size_of(of.tensor.type);
  auto const row_bytes = static_cast<std::size_t>(of.lifted.shape[3]) * element;
  if (row_bytes == 0) return std::nullopt;  // and the tensor has no address
  auto const same_as = [&](auto other) {
    return of.all_rows([&](auto const& at) { return equal_bytes(of.row(at), of.row(other(at)), row_bytes); });
  };
  using index = std::array<std::int64_t, 3>;
  if (form.shared_batch && !same_as([](index const& at) { return index{0, at[1], at[2]}; }))
    return "batch entries differ, and are to share their memory";
  if (form.shared_heads && !same_as([](index const& at) { return index{at[0], 0, at[2]}; }))
    return "heads differ, and are to share their memory";
  auto const shared = static_cast<std::size_t>(form.overlap) * element;
  bool const fits = form.overlap == 0 || of.all_rows([&](auto const& at) {
    return at[2] + 1 == of.lifted.shape[2] ||
           equal_bytes(of.row(at) + (row_bytes - shared), of.row({at[0], at[1], at[2] + 1}), shared);
  });
  if (!fits) return fmt::format("the last {} elements of a row differ from the first of the next", form.overlap);
  return std::nullopt;
}

constexpr std::int64_t most_apart = std::int64_t{1} << 40, largest_gap = std::int64_t{1} << 20;

}  // namespace

std::string memory_form::text() const {
  std::vector<std::string> says;
  if (v_in_k) says.push_back("V is the first columns of K");
  if (shared_batch) says.push_back("K and V have stride 0 over the batch");
  if (shared_heads) says.push_back("K and V have stride 0 over the heads");
  if (overlap > 0)
    says.push_back(fmt::format("rows of K and of V share {} with the next", counted(overlap, "element", "elements")));
  if (heads_inside) says.push_back("Q, K, V and O lie in the order [b, n, h, d]");
  if (o_inside) says.push_back("O lies in the order [b, n, h, d]");
  if (unaligned) says.push_back("byte_offset is not 0");
  if (row_gap > 0) says.push_back(counted(row_gap, "element lies", "elements lie") + " between rows of the outputs");
  if (head_gap > 0) says.push_back(counted(head_gap, "element lies", "elements lie") + " between heads of the outputs");
  struct distance {
    std::string_view of;
    std::int64_t elements;
  };
  for (auto const& [of, elements] :
       {distance{"batch entries", far_batch}, distance{"heads", far_head}, distance{"rows", far_row}})
    if (elements > 0)
      says.push_back(fmt::format("{} between {}", counted(elements, "element lies", "elements lie"), of));
  return fmt::format("{}", fmt::join(says, "; "));
}

std::optional<error> memory_fault(owned_problem const& problem, memory_form const& form) {
  auto const fault = [](std::string_view argument, std::string reason) {
    return error{error_code::bad_value, std::string(argument), std::move(reason)};
  };
  auto const& s = problem.size();
  problem_draft const& draft = problem.draft();
  bool const strided = !draft.has_slots();
  if (strided && (memory_form(form) != memory_form{.unaligned = form.unaligned}))
    return fault("q", "packed and paged tensors lie as their offsets and their table say");
  struct range {
    std::string_view name;
    std::int64_t value, largest;
    std::string_view formula;
  };
  for (auto const& [name, value, largest, formula] :
       {range{"row_gap", form.row_gap, largest_gap, "2^20"}, range{"head_gap", form.head_gap, largest_gap, "2^20"},
        range{"far_batch", form.far_batch, most_apart, "2^40"}, range{"far_head", form.far_head, most_apart, "2^40"},
        range{"far_row", form.far_row, most_apart, "2^40"},
        range{"overlap", form.overlap, std::min(s.d, s.dv), "min(d, dv)"}})
    if (value < 0 || value > largest) return fault(name, fmt::format("is {}, expected 0 to {}", value, formula));
  if (form.overlap > 0 && (form.heads_inside || form.far_row > 0))
    return fault("overlap", "rows that overlap lie neither far apart nor with other heads between them");
  row_reader const k(problem.draft().k, problem.rank()), v(problem.draft().v, problem.rank());
  if (auto why = sharing_fault(k, form)) return fault("k", *std::move(why));
  if (!form.v_in_k) {
    if (auto why = sharing_fault(v, form)) return fault("v", *std::move(why));
    return std::nullopt;
  }
  if (s.dv > s.d) return fault("v", "is wider than k, and is to be its first columns");
  auto const row_bytes = static_cast<std::size_t>(s.dv) * problem::size_of(problem.type());
  if (!v.all_rows([&](auto const& at) { return equal_bytes(v.row(at), k.row(at), row_bytes); }))
    return fault("v", "differs from the first columns of k");
  return std::nullopt;
}

bool moves(memory_form const& form, call_tensor which) noexcept {
  bool const far = form.far_batch > 0 || form.far_head > 0 || form.far_row > 0;
  switch (which) {
    case call_tensor::q: return far || form.heads_inside;
    case call_tensor::k:
    case call_tensor::v: return far || form.heads_inside || form.shared_batch || form.shared_heads || form.overlap > 0;
    case call_tensor::mask:
    case call_tensor::bias:
    case call_tensor::keep: return far;
    case call_tensor::beside: return false;
    case call_tensor::o: return far || form.heads_inside || form.o_inside || form.row_gap > 0 || form.head_gap > 0;
    case call_tensor::lse: return far || form.row_gap > 0;
    case call_tensor::weights: return far || form.row_gap > 0 || form.head_gap > 0;
  }
  return false;
}

std::optional<layout> formed(layout const& usual, call_tensor which, memory_form const& form) {
  if (!moves(form, which)) return usual;
  constexpr std::size_t batch = 0, head = 1, row = 2;
  bool const is_lse = which == call_tensor::lse, is_kv = which == call_tensor::k || which == call_tensor::v;
  bool const is_output = which >= call_tensor::o;
  bool const is_optional = which == call_tensor::mask || which == call_tensor::bias || which == call_tensor::keep;
  bool const inside = (form.o_inside && which == call_tensor::o) ||
                      (form.heads_inside && (which == call_tensor::q || is_kv || which == call_tensor::o));
  std::array<std::size_t, 3> const outwards = inside ? std::array{head, row, batch} : std::array{row, head, batch};

  layout to = usual;
  auto const last = static_cast<std::size_t>(usual.rank - 1);
  to.stride[last] = 1;
  // Elements that the inner axes need.
  std::int64_t extent = std::max<std::int64_t>(usual.shape[last], 1) + (is_output ? form.row_gap : 0);
  for (std::size_t const axis : outwards) {
    if (is_lse && axis == row) continue;  // the last axis of [b, hq, n]
    std::int64_t const size = std::max<std::int64_t>(usual.shape[axis], 1);
    bool const shared =
        size > 1 && ((is_kv && ((axis == batch && form.shared_batch) || (axis == head && form.shared_heads))) ||
                     (is_optional && usual.stride[axis] == 0));
    if (shared) {
      to.stride[axis] = 0;
      continue;
    }
    std::int64_t const far = axis == batch ? form.far_batch : axis == head ? form.far_head : form.far_row;
    std::int64_t const behind = is_output && !is_lse && axis == head ? form.head_gap : 0;
    std::int64_t const stride = extent + (size > 1 ? far + behind : 0) - (is_kv && axis == row ? form.overlap : 0);
    auto const needed = problem::checks::multiply_add(size - 1, stride, extent);
    if (!needed || *needed > std::int64_t{1} << 59) return std::nullopt;
    to.stride[axis] = stride;
    extent = *needed;
  }
  return to;
}

}  // namespace attest::audit
