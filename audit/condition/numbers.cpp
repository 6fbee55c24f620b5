// The numbers and the memory of a form, and sets of numbers.
#include <algorithm>
#include <bit>
#include <cmath>
#include <tuple>

#include <fmt/format.h>

#include "audit/condition/clause.hpp"

namespace attest::audit {
namespace {

constexpr bool of_band(feature_row const& row) { return row.group == feature_group::band; }
constexpr bool of_mask(feature_row const& row) { return row.group == feature_group::mask; }
constexpr bool of_cap(feature_row const& row) { return row.number == &call_form::cap; }

constexpr std::array<number_row, number_count> rows{{
    {form_number::b, "b", 1, 1, 512},
    {form_number::heads, "heads", 1, 1, 512},
    {form_number::group, "heads a kv head", 1, 1, 64},
    {form_number::n, "n", 8, 1, 16384},
    {form_number::m, "m", 8, 1, 16384},
    {form_number::d, "d", 8, 1, 576},
    {form_number::dv, "dv", 8, 1, 576},
    {form_number::threads, "threads", 0, 0, 64},
    {form_number::kv_heads, "kv heads", 1, 1, 512},
    {form_number::left, "left", 0, 0, 8192, of_band},
    {form_number::cap, "softcap", static_cast<std::int64_t>(usual_cap), 1, 1024, of_cap},
    {form_number::mask_byte, "mask byte", 1, 1, 255, of_mask},
    {form_number::diagonal, "diagonal", 0, -4096, 4096, of_band},
}};

bool power_of_two(std::int64_t x) noexcept { return x > 0 && std::has_single_bit(static_cast<std::uint64_t>(x)); }

}  // namespace

number_row const& row_of(form_number of) noexcept { return rows[static_cast<std::size_t>(of)]; }

std::int64_t value_of(call_form const& form, form_number of) noexcept {
  problem::sizes const& s = form.size;
  switch (of) {
    case form_number::b: return s.b;
    case form_number::heads: return s.hq;
    case form_number::group: return s.hk > 0 ? s.hq / s.hk : 1;
    case form_number::n: return s.n;
    case form_number::m: return s.m;
    case form_number::d: return s.d;
    case form_number::dv: return s.dv;
    case form_number::threads: return form.threads;
    case form_number::kv_heads: return s.hk;
    case form_number::left: return band_of(form).left;
    case form_number::cap:
      if (!form.options.has(feature::softcap)) return 0;
      return static_cast<std::int64_t>(std::round(std::clamp(form.cap.value_or(usual_cap), 0.0, 0x1p40)));
    case form_number::mask_byte: return form.mask_byte;
    case form_number::diagonal: return band_of(form).diagonal;
  }
  return 0;
}

std::optional<call_form> with(call_form form, form_number of, std::int64_t value) {
  problem::sizes& s = form.size;
  std::int64_t const group = std::max<std::int64_t>(value_of(form, form_number::group), 1);
  if (value < row_of(of).lowest) return std::nullopt;
  switch (of) {
    case form_number::b: s.b = value; break;
    case form_number::heads:
      if (value % group != 0) return std::nullopt;
      s.hq = value, s.hk = value / group;
      break;
    case form_number::group: s.hq = s.hk * value; break;
    case form_number::n: s.n = value; break;
    case form_number::m:
      s.m = value;
      if (value_of(form, form_number::left) < 0) form.length = std::min(form.length, value);
      break;
    case form_number::d: s.d = value; break;
    case form_number::dv: s.dv = value; break;
    case form_number::threads: form.threads = static_cast<std::int32_t>(value); break;
    case form_number::kv_heads: s.hk = value, s.hq = value * group; break;
    case form_number::left:
      if (value_of(form, form_number::left) < 0) return std::nullopt;
      form.length = form.options.has(feature::window) ? value + 1 : value;
      break;
    case form_number::cap:
      if (!form.options.has(feature::softcap)) return std::nullopt;
      form.cap = static_cast<double>(value);
      break;
    case form_number::mask_byte:
      if (!has_any(form, feature_group::mask) || value > 255) return std::nullopt;
      form.mask_byte = static_cast<std::uint8_t>(value);
      break;
    case form_number::diagonal:
      if (!has_any(form, feature_group::band)) return std::nullopt;
      form.diagonal = value;
      break;
  }
  return form;
}

std::int64_t reach_of(call_form const& form) {
  problem::sizes const& s = form.size;
  std::int64_t farthest = 0;
  for (auto const& [which, heads, length, width] :
       {std::tuple{call_tensor::q, s.hq, s.n, s.d}, std::tuple{call_tensor::k, s.hk, s.m, s.d},
        std::tuple{call_tensor::v, s.hk, s.m, s.dv}, std::tuple{call_tensor::o, s.hq, s.n, s.dv}}) {
    auto const lies = formed(problem::layout::compact({s.b, heads, length, width}), which, form.memory);
    std::int64_t last = 0;
    for (std::size_t axis = 0; lies && axis < 4; ++axis) last += (lies->shape[axis] - 1) * lies->stride[axis];
    farthest = std::max(farthest, last);
  }
  return farthest;
}

call_form without(call_form form, memory_trait trait) {
  memory_form& memory = form.memory;
  switch (trait) {
    case memory_trait::v_in_k: memory.v_in_k = false; break;
    case memory_trait::stride_0_batch: memory.shared_batch = false; break;
    case memory_trait::stride_0_heads: memory.shared_heads = false; break;
    case memory_trait::stride_0: memory.shared_batch = memory.shared_heads = false; break;
    case memory_trait::overlap: memory.overlap = 0; break;
    case memory_trait::heads_inside: memory.heads_inside = false; break;
    case memory_trait::byte_offset: memory.unaligned = false; break;
    case memory_trait::gaps: memory.row_gap = 0; break;
    case memory_trait::o_apart: memory.row_gap = 0, memory.heads_inside = false; break;
    case memory_trait::reach: memory.far_batch = memory.far_head = memory.far_row = 0; break;
  }
  return form;
}

std::optional<form_number> partner_of(form_number of) noexcept {
  switch (of) {
    case form_number::b: return form_number::heads;
    case form_number::heads: return form_number::b;
    case form_number::n: return form_number::m;
    case form_number::m: return form_number::n;
    case form_number::d: return form_number::dv;
    case form_number::dv: return form_number::d;
    default: return std::nullopt;
  }
}

bool number_set::has(std::int64_t x) const noexcept {
  return !(low && x < *low) && !(high && x > *high) && !(modulus > 0 && x % modulus != residue) &&
         !(not_multiple_of > 0 && x % not_multiple_of == 0) && !(powers_of_two && !power_of_two(x)) &&
         !(no_powers_of_two && power_of_two(x));
}

bool number_set::interval() const noexcept {
  return modulus == 0 && not_multiple_of == 0 && !powers_of_two && !no_powers_of_two;
}

bool number_set::everything() const noexcept { return !low && !high && interval(); }

std::vector<std::string> number_set::text(std::string const& name) const {
  std::vector<std::string> all;
  if (low && high) {
    if (*low == *high) return {fmt::format("{} = {}", name, *low)};
    all.push_back(fmt::format("{} from {} to {}", name, *low, *high));
  } else if (low) {
    all.push_back(fmt::format("{} > {}", name, *low - 1));
  } else if (high) {
    all.push_back(fmt::format("{} < {}", name, *high + 1));
  }
  if (modulus > 0)
    all.push_back(residue == 0 ? fmt::format("{} is a multiple of {}", name, modulus)
                               : fmt::format("{} ≡ {} mod {}", name, residue, modulus));
  if (not_multiple_of > 0) all.push_back(fmt::format("{} is not a multiple of {}", name, not_multiple_of));
  if (powers_of_two) all.push_back(fmt::format("{} is a power of two", name));
  if (no_powers_of_two) all.push_back(fmt::format("{} is not a power of two", name));
  return all;
}

}  // namespace attest::audit
