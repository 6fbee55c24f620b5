// How a merge is made of bytes, wrecked and asked. merge_rules.cpp has the rules for its answer.
#include "fuzz/support/merge_call.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

#include "audit/tensors/elements.hpp"

namespace attest::fuzz {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t nonsense = std::numeric_limits<std::int64_t>::min();  // of axes that a descriptor does not have

problem::element_row const& row_of(DLDataType type) {
  for (problem::element_row const& row : problem::floating_rows)
    if (static_cast<int>(row.dlpack) == type.code && 8 * row.bytes == type.bits) return row;
  return problem::floating_rows.front();
}

void store(std::byte* to, DLDataType type, double x) {
  std::uint64_t const bits = audit::pattern_of(x, row_of(type).format);
  std::memcpy(to, &bits, bytes_of(type));
}
double load(std::byte const* from, DLDataType type) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, from, bytes_of(type));
  return audit::number_of(bits, row_of(type).format);
}

}  // namespace

merge_under_test::merge_under_test(std::span<std::uint8_t const> input) : byte_source(input) {
  make();
  for (int wrecks = 0; wrecks < 4 && !empty(); ++wrecks) wreck();
  point();
}

merge_under_test::merge_under_test(merge_under_test const& other)
    : byte_source(),
      call(other.call),
      instruction_set(other.instruction_set),
      slots_(other.slots_),
      o_(other.o_),
      lse_(other.lse_),
      there_(other.there_),
      has_o_(other.has_o_),
      has_lse_(other.has_lse_) {
  point();
}

/// A sound call: 32 bytes at most.
void merge_under_test::make() {
  auto const two_bytes = [&] {
    std::int64_t const low = byte();
    return low + 256 * byte();
  };
  std::int64_t const b = below(4), hq = below(5);
  std::int64_t n = below(160), dv = two_bytes() % 600, count = two_bytes() % 700;
  std::int64_t const own = 1 + below(4), kinds = byte(), there = byte();
  DLDataType const type = floating_types[static_cast<std::size_t>(kinds % 4)],
                   answer = floating_types[static_cast<std::size_t>(kinds / 4 % 4)],
                   lse = type.bits == 64 ? type : floating_types[0];
  call.abi_version = ATTEST_KERNEL_ABI_2;
  call.threads = static_cast<std::int32_t>(there / 2 % 4);
  instruction_set = byte();
  seed_draws(static_cast<std::uint32_t>(two_bytes()));
  while (b * hq * n * std::max<std::int64_t>(count, 1) * (dv + 1) > most_products)
    *std::ranges::max({&n, &dv, &count}, {}, [](auto const* size) { return *size; }) /= 2;
  call.parts = static_cast<std::int32_t>(count);

  slots_.resize(first_part + 2 * static_cast<std::size_t>(own));
  for (std::size_t at = 0; at < slots_.size(); ++at) {
    slots_[at].owner = at;
    lay(at, is_lse(at) ? lse : at == out ? answer : type, {b, hq, n, dv});
  }
  slots_[out_lse].present = there % 2 != 0;
  for (std::int64_t number = 0; number < own; ++number) {
    std::size_t const at = first_part + 2 * static_cast<std::size_t>(number);
    fill_lse(slots_[at + 1]);
    fill_o(slots_[at], slots_[at + 1], number);
  }
  for (std::int64_t s = 0; s < count; ++s) {
    o_.push_back(first_part + 2 * static_cast<std::size_t>(s % own));
    lse_.push_back(o_.back() + 1);
  }
}

/// Room for a tensor [b, hq, n, dv] or [b, hq, n]. A byte chooses the order of the outer axes, gaps, and (of an input)
/// which of them have stride 0.
void merge_under_test::lay(std::size_t at, DLDataType type, std::array<std::int64_t, 4> const& shape) {
  slot& s = slots_[at];
  bool const is_input = at >= first_part;
  std::int64_t const layout = byte(), gap = layout / 8 % 4;
  s.present = true;
  s.shape = {shape[0], shape[1], shape[2], is_lse(at) ? nonsense : shape[3], nonsense};
  s.strides = {0, 0, 0, is_lse(at) ? nonsense : 1, nonsense};
  std::int64_t step = is_lse(at) ? 1 + gap : std::max<std::int64_t>(shape[3], 1) + gap;
  std::array<std::size_t, 3> order{2, 1, 0};  // the innermost first
  for (std::int64_t turn = 0; turn < layout % 8 % 6; ++turn) std::ranges::next_permutation(order);
  for (std::size_t const axis : order) {
    if (is_input && (layout >> (5 + axis) & 1) != 0) continue;
    s.strides[axis] = step;
    step *= std::max<std::int64_t>(s.shape[axis], 1);
  }
  s.tensor = {nullptr, {kDLCPU, 0}, static_cast<std::int32_t>(rank_of(at)), type, nullptr, nullptr, 0};
  s.memory.assign(2 * canary + static_cast<std::size_t>(step) * bytes_of(type), std::byte{0xff});  // NaN
  s.at = canary;
}

/// The first element of a row, as it was laid.
std::byte* merge_under_test::place_of(slot& s, std::array<std::int64_t, 3> const& row) {
  std::int64_t const offset = row[0] * s.strides[0] + row[1] * s.strides[1] + row[2] * s.strides[2];
  return s.memory.data() + s.at + offset * static_cast<std::int64_t>(bytes_of(s.tensor.dtype));
}

/// A drawn number in [−size, size), of 32 bits.
double merge_under_test::between(double size) {
  double const high = static_cast<double>(draw(65536)), low = static_cast<double>(draw(65536));
  return size * ((high + low / 65536) / 32768 - 1);
}

/// A byte says how the LSE of a part lie relative to the other parts'.
void merge_under_test::fill_lse(slot& s) {
  std::int64_t const kind = byte() % 16;
  bool const is_f64 = s.tensor.dtype.bits == 64;
  double const largest =
                   is_f64 ? std::numeric_limits<double>::max() : static_cast<double>(std::numeric_limits<float>::max()),
               smallest = is_f64 ? 0x1p-1074 : 0x1p-149;
  auto const value = [&]() -> double {
    switch (kind) {
      case 0: return between(4);
      case 1: return 3;
      case 2: return 3 + 1e-7 * static_cast<double>(draw(5));
      case 3: return draw(2) == 0 ? 0 : -88;
      case 4: return draw(2) == 0 ? 0 : -95;
      case 5: return -1e4;
      case 6: return -infinity;
      case 7: return draw(3) == 0 ? between(4) : -infinity;
      case 8: return draw(4) == 0 ? nan : between(4);
      case 9: return draw(4) == 0 ? infinity : between(4);
      case 10: return between(largest);
      case 11: return smallest * static_cast<double>(draw(9) - 4);
      case 12: return between(800);
      case 13: return draw(2) == 0 ? largest : -largest;
      case 14: return -static_cast<double>(draw(64)) / 2;
      default: return (is_f64 ? -690 : -75) - static_cast<double>(draw(128)) / 2;  // about where exp vanishes
    }
  };
  for (std::int64_t b = 0; b < s.shape[0]; ++b)
    for (std::int64_t h = 0; h < s.shape[1]; ++h)
      for (std::int64_t i = 0; i < s.shape[2]; ++i) store(place_of(s, {b, h, i}), s.tensor.dtype, value());
}

/// A byte says what numbers O has. Where the LSE is −∞ they stay NaN, but in a few kinds.
void merge_under_test::fill_o(slot& s, slot& lse, std::int64_t number) {
  std::int64_t const kind = byte() % 16;
  audit::type_limits const limits = audit::limits_of(row_of(s.tensor.dtype).type);
  auto const value = [&]() -> double {
    switch (kind % 8) {
      case 0: return between(2);
      case 1: return static_cast<double>(1 + number);
      case 2: return between(limits.largest);
      case 3: return limits.smallest * static_cast<double>(draw(9) - 4);
      case 4: return draw(16) == 0 ? nan : between(2);
      case 5: return draw(16) == 0 ? infinity : between(2);
      case 6: return std::ldexp(between(1), static_cast<int>(draw(40)) - 20);
      default: return draw(2) == 0 ? limits.smallest_normal : -1 - limits.epsilon;
    }
  };
  std::size_t const bytes = bytes_of(s.tensor.dtype);
  for (std::int64_t b = 0; b < s.shape[0]; ++b)
    for (std::int64_t h = 0; h < s.shape[1]; ++h)
      for (std::int64_t i = 0; i < s.shape[2]; ++i) {
        bool const is_read = load(place_of(lse, {b, h, i}), lse.tensor.dtype) != -infinity;
        std::byte* to = place_of(s, {b, h, i});
        for (std::int64_t c = 0; c < s.shape[3]; ++c, to += bytes)
          if (double const drawn = value(); is_read || kind >= 8) store(to, s.tensor.dtype, drawn);
      }
}

/// One thing becomes something else.
void merge_under_test::wreck() {
  std::size_t const at = byte() % slots_.size();
  slot& s = slots_[at];
  std::int64_t const what = below(32);
  if (what < described_tensor::kinds_of_wrecks) return s.wreck(what, *this);
  switch (what) {
    case 14: s.owner = static_cast<std::size_t>(byte()) % slots_.size(); break;
    case 15: {  // an axis of all tensors
      std::int64_t const axis = below(4), size = number();
      for (std::size_t of = 0; of < slots_.size(); ++of)
        if (axis < rank_of(of)) slots_[of].shape[static_cast<std::size_t>(axis)] = size;
      break;
    }
    case 16:
    case 17: {  // a number of its memory: any bits, a few at its beginning
      std::size_t const element = std::size_t{8} * byte();
      std::array<std::uint8_t, 8> bits{};
      for (std::uint8_t& of : bits) of = byte();
      if (s.at + element + 8 + canary <= s.memory.size()) std::memcpy(s.memory.data() + s.at + element, bits.data(), 8);
      break;
    }
    case 18:
    case 19:
    case 20:
    case 21: {  // an infinity, a NaN or a zero at one of the first elements
      std::array const special{-infinity, infinity, nan, 0.0};
      std::size_t const size = bytes_of(s.tensor.dtype), element = byte() * size;
      if (is_float(s.tensor.dtype) && s.at + element + size + canary <= s.memory.size())
        store(s.memory.data() + s.at + element, s.tensor.dtype, special[static_cast<std::size_t>(what - 18)]);
      break;
    }
    default: wreck_call(what - 22);
  }
}

/// One field of the structure, or of its lists.
void merge_under_test::wreck_call(std::int64_t what) {
  auto const entry = [&](std::vector<std::size_t>& list, std::size_t becomes) {
    std::size_t const at = byte();
    if (!list.empty()) list[at % list.size()] = becomes;
  };
  switch (what) {
    case 0: call.abi_version = byte(); break;
    case 1: call.threads = static_cast<std::int32_t>(number()); break;
    case 2: call.parts = static_cast<std::int32_t>(number()); break;
    case 3: call.reserved = static_cast<std::int32_t>(number()); break;
    case 4: has_o_ = false; break;
    case 5: has_lse_ = false; break;
    case 6: entry(o_, none); break;
    case 7: entry(lse_, none); break;
    case 8: {
      std::vector<std::size_t>& list = byte() % 2 == 0 ? o_ : lse_;
      entry(list, byte() % slots_.size());
      break;
    }
    default: there_ = false;
  }
}

/// The descriptors point into this object's own memory.
void merge_under_test::point() {
  for (slot& s : slots_) s.point(slots_[s.owner]);
  auto const at = [&](std::size_t of) { return of != none && slots_[of].present ? &slots_[of].tensor : nullptr; };
  o_list_.clear(), lse_list_.clear();
  for (std::size_t const of : o_) o_list_.push_back(at(of));
  for (std::size_t const of : lse_) lse_list_.push_back(at(of));
  o_list_.shrink_to_fit(), lse_list_.shrink_to_fit();
  call.o = has_o_ ? o_list_.data() : nullptr, call.lse = has_lse_ ? lse_list_.data() : nullptr;
  call.out = at(out), call.out_lse = at(out_lse);
}

attest_status merge_under_test::ask() {
  auto const alone = std::make_unique<attest_merge_call>(call);
  attest_status const status = attest_merge(there_ ? alone.get() : nullptr);
  call_stayed_ = std::memcmp(alone.get(), &call, sizeof(call)) == 0;
  return status;
}

audit::merge_parts merge_under_test::parts() const {
  auto const& shape = slots_[out].shape;
  audit::merge_parts all{
      .parts = call.parts, .b = shape[0], .hq = shape[1], .n = shape[2], .dv = shape[3], .type = type()};
  for (std::size_t s = 0; s < static_cast<std::size_t>(call.parts); ++s)
    each_row([&](std::array<std::int64_t, 4> const& row) {
      std::byte const* const o = element(o_[s], row);
      std::byte const* const lse = element(lse_[s], row);
      if (shape[3] > 0) all.o.insert(all.o.end(), o, o + static_cast<std::size_t>(shape[3]) * problem::size_of(type()));
      all.lse.insert(all.lse.end(), lse, lse + problem::size_of(lse_type()));
    });
  return all;
}

audit::owned_outputs merge_under_test::answer() const {
  auto const& shape = slots_[out].shape;
  std::int64_t const rows = shape[1] * shape[2];
  audit::owned_outputs all;
  all.o = audit::owned_tensor::compact(lse_type(), {shape[0], rows, 1, shape[3]});
  if (slots_[out_lse].present) all.lse = audit::owned_tensor::compact(lse_type(), {shape[0], rows, 1});
  std::size_t number = 0, row_number = 0;
  each_row([&](std::array<std::int64_t, 4> at) {
    if (all.lse) audit::store(*all.lse, row_number++, number_at(out_lse, at));
    for (; at[3] < shape[3]; ++at[3]) audit::store(*all.o, number++, number_at(out, at));
  });
  return all;
}

}  // namespace attest::fuzz
