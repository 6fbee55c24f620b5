// The rules for a merge and its answer: attest/kernel.h and docs/semantics.md, independently of problem/.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>

#include "audit/tensors/elements.hpp"
#include "fuzz/support/merge_call.hpp"

namespace attest::fuzz {
namespace {

problem::element_type type_of(DLDataType type) {
  using enum problem::element_type;
  if (type.code == kDLBfloat) return bf16;
  return type.bits == 64 ? f64 : type.bits == 32 ? f32 : f16;
}

/// A NaN is one; −0 is not 0.
bool is_same_number(double a, double b) {
  return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}

}  // namespace

bool merge_under_test::inside_memory() const {
  if (!there_ || call.abi_version != ATTEST_KERNEL_ABI_2) return true;  // nothing of it may be read
  if (call.parts > std::ssize(o_)) return false;
  for (std::size_t at = 0; at < slots_.size(); ++at) {
    slot const& s = slots_[at];
    if (!s.present) continue;
    bool const into_output = s.owner < first_part;
    if (s.owner != at && (at < first_part || into_output)) return false;
    for (int const rank : {3, 4})  // a tensor of one may stand where the other should
      if (!s.lies_inside(slots_[s.owner], rank)) return false;
  }
  if (expected() != ATTEST_OK) return true;
  for (std::size_t const at : {out, out_lse})
    if (slots_[at].present && slots_[at].meets_itself(rank_of(at))) return false;
  for (std::size_t s = 0; s < static_cast<std::size_t>(call.parts); ++s)
    if (o_[s] < first_part || lse_[s] < first_part) return false;  // an output as a part
  return true;
}

/// The rules for an O (rank 4) or an LSE (3), which has the first axes of out.
bool merge_under_test::is_sound(std::size_t at, int rank, DLDataType type) const {
  if (at == none || !slots_[at].present) return false;
  slot const& s = slots_[at];
  if (!same(s.tensor.dtype, type) || s.tensor.dtype.lanes != 1 || !s.is_sound(rank, rank == 3)) return false;
  return std::equal(s.shape.begin(), s.shape.begin() + rank, slots_[out].shape.begin());
}

attest_status merge_under_test::expected() const {
  if (!there_) return ATTEST_FAILED;
  if (call.abi_version != ATTEST_KERNEL_ABI_2) return ATTEST_UNSUPPORTED;
  if (call.threads < 0 || call.parts < 1 || call.reserved != 0 || !has_o_ || !has_lse_) return ATTEST_FAILED;
  DLDataType const answer = slots_[out].tensor.dtype;
  if (!is_float(answer) || !is_sound(out, 4, answer)) return ATTEST_FAILED;
  if (o_[0] == none || !slots_[o_[0]].present) return ATTEST_FAILED;
  DLDataType const type = slots_[o_[0]].tensor.dtype, lse = type.bits == 64 ? type : floating_types[0];
  if (!is_float(type)) return ATTEST_FAILED;
  for (std::size_t s = 0; s < static_cast<std::size_t>(call.parts); ++s)
    if (!is_sound(o_[s], 4, type) || !is_sound(lse_[s], 3, lse)) return ATTEST_FAILED;
  return slots_[out_lse].present && !is_sound(out_lse, 3, lse) ? ATTEST_FAILED : ATTEST_OK;
}

bool merge_under_test::affordable() const {
  auto const& shape = slots_[out].shape;
  double work = static_cast<double>(call.parts) * (static_cast<double>(shape[3]) + 1);
  for (std::size_t axis = 0; axis < 3; ++axis) work *= static_cast<double>(shape[axis]);
  return work <= static_cast<double>(most_products);
}

bool merge_under_test::same_inputs(merge_under_test const& before) const {
  for (std::size_t at = 0; at < slots_.size(); ++at) {
    if (at >= first_part && slots_[at].memory != before.slots_[at].memory) return false;
    if (!slots_[at].same_descriptor(before.slots_[at])) return false;
  }
  auto const stayed = [&](std::vector<std::size_t> const& chosen, std::vector<DLTensor const*> const& list) {
    for (std::size_t s = 0; s < chosen.size(); ++s)
      if (list[s] != (chosen[s] == none || !slots_[chosen[s]].present ? nullptr : &slots_[chosen[s]].tensor))
        return false;
    return true;
  };
  return call_stayed_ && stayed(o_, o_list_) && stayed(lse_, lse_list_);
}

bool merge_under_test::same_outputs(merge_under_test const& before) const {
  return slots_[out].memory == before.slots_[out].memory && slots_[out_lse].memory == before.slots_[out_lse].memory;
}

bool merge_under_test::same_memory(std::size_t at, merge_under_test const& other, bool of_elements) const {
  slot const& s = slots_[at];
  auto const elements = s.present ? s.element_bytes(rank_of(at)) : std::vector<bool>(s.memory.size());
  for (std::size_t byte = 0; byte < elements.size(); ++byte)
    if (elements[byte] == of_elements && s.memory[byte] != other.slots_[at].memory[byte]) return false;
  return true;
}

bool merge_under_test::same_gaps(merge_under_test const& before) const {
  return same_memory(out, before, false) && same_memory(out_lse, before, false);
}

bool merge_under_test::same_elements(merge_under_test const& other) const {
  return same_memory(out, other, true) && same_memory(out_lse, other, true);
}

void merge_under_test::fill_outputs(std::byte with) {
  for (std::size_t const at : {out, out_lse}) std::ranges::fill(slots_[at].memory, with);
}

std::byte const* merge_under_test::element(std::size_t at, std::array<std::int64_t, 4> const& index) const {
  slot const& s = slots_[at];
  std::int64_t offset = 0;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(s.tensor.ndim); ++axis)
    offset += index[axis] * s.strides[axis];
  slot const& owner = slots_[s.owner];
  offset *= static_cast<std::int64_t>(bytes_of(s.tensor.dtype));
  return owner.memory.data() + owner.at + s.tensor.byte_offset + offset;
}

bool merge_under_test::copies_single_parts() const {
  bool copies = true;
  each_row([&](std::array<std::int64_t, 4> at) {
    std::size_t read = 0, last = 0;
    bool all_finite = true;
    for (std::size_t s = 0; s < static_cast<std::size_t>(call.parts); ++s) {
      double const x = number_at(lse_[s], at);
      all_finite = all_finite && x < HUGE_VAL;  // else, with NaN, the row is NaN
      if (x != -HUGE_VAL) ++read, last = s;
    }
    if (read != 1 || !all_finite) return;
    if (slots_[out_lse].present) copies = copies && is_same_number(number_at(out_lse, at), number_at(lse_[last], at));
    for (; at[3] < slots_[out].shape[3]; ++at[3]) {
      double const x = number_at(o_[last], at), rounded = audit::rounded_to(x, problem::row_of(answer_type()).format);
      copies = copies && is_same_number(number_at(out, at), rounded);
      if (type() == answer_type())  // a NaN, too
        copies = copies && std::memcmp(element(out, at), element(o_[last], at), problem::size_of(type())) == 0;
    }
  });
  return copies;
}

double merge_under_test::number_at(std::size_t at, std::array<std::int64_t, 4> const& index) const {
  problem::element_row const& row = problem::row_of(type_of(slots_[at].tensor.dtype));
  std::uint64_t bits = 0;
  std::memcpy(&bits, element(at, index), row.bytes);
  return audit::number_of(bits, row.format);
}

problem::element_type merge_under_test::type() const { return type_of(slots_[o_[0]].tensor.dtype); }
problem::element_type merge_under_test::answer_type() const { return type_of(slots_[out].tensor.dtype); }

}  // namespace attest::fuzz
