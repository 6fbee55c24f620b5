// The rules for a call and its answer: attest/kernel.h and docs/semantics.md, independently of problem/.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "fuzz/support/abi_call.hpp"

namespace attest::fuzz {
namespace {

__extension__ using wide = __int128;

constexpr wide most = std::numeric_limits<std::int64_t>::max();

/// ⌈rows/size⌉
std::int64_t parts(std::int64_t rows, std::int64_t size) { return rows / size + (rows % size != 0); }

/// Do the products of all sizes, in bytes of the largest type, stay below 2⁶³? Sizes of 0 count as 1.
bool is_countable(std::initializer_list<std::int64_t> sizes) {
  wide bytes = 8;
  for (std::int64_t const size : sizes)
    if (bytes *= std::max<std::int64_t>(size, 1); bytes > most) return false;
  return true;
}

}  // namespace

/// The axes that a descriptor there must have.
int call_under_test::rank_of(place p) const {
  switch (p) {
    case place::lse: return 3;
    case place::sink: return slot_of(p).tensor.ndim == 1 ? 1 : 2;
    case place::q_lengths:
    case place::k_lengths:
    case place::q_offsets:
    case place::k_offsets: return 1;
    case place::block_table: return 2;
    default: return 4;
  }
}

/// Element `at` of a tensor of whole numbers, which lies in its memory.
std::int64_t call_under_test::whole(place p, std::int64_t at) const {
  DLTensor const& tensor = slot_of(p).tensor;
  std::int32_t number = 0;
  std::memcpy(&number, static_cast<std::byte const*>(tensor.data) + tensor.byte_offset + 4 * at, sizeof(number));
  return number;
}

std::int64_t call_under_test::entries() const {
  return given(place::q_offsets) ? slot_of(place::q_offsets).shape[0] - 1 : slot_of(place::q).shape[0];
}

std::int64_t call_under_test::query_room(std::int64_t e) const {
  return given(place::q_offsets) ? whole(place::q_offsets, e + 1) - whole(place::q_offsets, e)
                                 : slot_of(place::q).shape[2];
}

std::int64_t call_under_test::key_room(std::int64_t e) const {
  if (given(place::k_offsets)) return whole(place::k_offsets, e + 1) - whole(place::k_offsets, e);
  std::int64_t const rows = slot_of(place::k).shape[2];
  return given(place::block_table) ? slot_of(place::block_table).shape[1] * rows : rows;
}

std::int64_t call_under_test::queries(std::int64_t e) const {
  return given(place::q_lengths) ? whole(place::q_lengths, e) : query_room(e);
}

std::int64_t call_under_test::keys(std::int64_t e) const {
  return given(place::k_lengths) ? whole(place::k_lengths, e) : key_room(e);
}

std::int64_t call_under_test::most_queries() const {
  if (!given(place::q_offsets)) return query_room(0);
  std::int64_t n = 0;
  for (std::int64_t e = 0; e < entries(); ++e) n = std::max(n, query_room(e));
  return n;
}

std::int64_t call_under_test::most_keys() const {
  if (!given(place::k_offsets)) return key_room(0);
  std::int64_t m = 0;
  for (std::int64_t e = 0; e < entries(); ++e) m = std::max(m, key_room(e));
  return m;
}

bool call_under_test::inside_memory() const {
  for (place const p : places) {
    slot const& s = slot_of(p);
    if (!given(p) || !s.is_complete()) continue;
    if (s.alias && (is_output(p) || !same(s.tensor.dtype, slot_of(place::q).tensor.dtype))) return false;
    if (!s.lies_inside(slot_of(owner_of(p)), rank_of(p))) return false;
  }
  if (!well_formed()) return true;
  return std::ranges::none_of(places,
                              [&](place p) { return is_output(p) && given(p) && slot_of(p).meets_itself(rank_of(p)); });
}

bool call_under_test::well_formed() const {
  if (!numbers_are_sound()) return false;
  for (place const p : places) {
    bool const required = p <= place::v || p == place::out;
    if (given(p) ? !is_sound(p) : required) return false;
  }
  return entries_are_sound() && shapes_are_sound();
}

bool call_under_test::numbers_are_sound() const {
  if ((call.abi_version != ATTEST_KERNEL_ABI && !is_version_2()) || call.threads < 0) return false;
  if (call.left < -1 || call.right < -1 || std::isinf(call.scale)) return false;
  if (!(call.softcap >= 0) || std::isinf(call.softcap)) return false;
  if (slot_of(place::q).shape[3] == 0 && std::isnan(call.scale)) return false;
  if (!is_version_2()) return true;
  if (call.reserved != 0 || (call.align != 0 && call.align != 1) || call.block_q < 0 || call.block_k < 0) return false;
  if (!(call.dropout >= 0 && call.dropout < 1) || (call.dropout > 0 && !given(place::keep))) return false;
  if (given(place::block_mask) && (call.block_q == 0 || call.block_k == 0)) return false;
  return !scaled_[0] && !scaled_[1] && !scaled_[2];
}

bool call_under_test::type_is_sound(place p) const {
  DLDataType const type = slot_of(p).tensor.dtype, of_q = slot_of(place::q).tensor.dtype;
  if (type.lanes != 1) return false;
  bool const f32 = type.code == kDLFloat && type.bits == 32;
  switch (p) {
    case place::mask:
    case place::block_mask:
    case place::keep: return type.code == kDLUInt && type.bits == 8;
    case place::lse: return type.code == kDLFloat && type.bits == (of_q.code == kDLFloat && of_q.bits == 64 ? 64 : 32);
    case place::bias:
    case place::sink: return is_float(type) && (f32 || same(type, of_q));
    default: return is_whole_numbers(p) ? type.code == kDLInt && type.bits == 32 : is_float(type) && same(type, of_q);
  }
}

/// The rules for one descriptor on its own.
bool call_under_test::is_sound(place p) const {
  return type_is_sound(p) && slot_of(p).is_sound(rank_of(p), p == place::lse && given(place::q_offsets));
}

/// Offsets rise from 0 to at most the rows of the packed tensor.
bool call_under_test::rises(place offsets, std::int64_t total) const {
  std::int64_t const count = slot_of(offsets).shape[0];
  if (count < 1 || whole(offsets, 0) != 0) return false;
  for (std::int64_t at = 1; at < count; ++at)
    if (whole(offsets, at) < whole(offsets, at - 1)) return false;
  return whole(offsets, count - 1) <= total;
}

/// Offsets, lengths and the table: their values, and which of them go together. Requires descriptors that are sound.
bool call_under_test::entries_are_sound() const {
  slot const &q = slot_of(place::q), &k = slot_of(place::k), &v = slot_of(place::v),
             &table = slot_of(place::block_table);
  bool const paged = given(place::block_table);
  if (given(place::q_offsets) && (q.shape[0] != 1 || !rises(place::q_offsets, q.shape[2]))) return false;
  std::int64_t of_keys = k.shape[0];
  if (given(place::k_offsets)) {
    if (paged || k.shape[0] != 1 || !rises(place::k_offsets, k.shape[2])) return false;
    of_keys = slot_of(place::k_offsets).shape[0] - 1;
  }
  if (paged) {
    wide const room = static_cast<wide>(table.shape[1]) * k.shape[2];
    if (!given(place::k_lengths) || k.shape[2] < 1 || room > most) return false;
    of_keys = table.shape[0];
  }
  std::int64_t const b = entries();
  if (of_keys != b || v.shape[0] != k.shape[0]) return false;
  for (place const p : {place::q_lengths, place::k_lengths}) {
    if (!given(p)) continue;
    if (slot_of(p).shape[0] != b) return false;
    for (std::int64_t e = 0; e < b; ++e)
      if (whole(p, e) < 0 || whole(p, e) > (p == place::q_lengths ? query_room(e) : key_room(e))) return false;
  }
  if (paged)
    for (std::int64_t e = 0; e < b; ++e)
      for (std::int64_t column = 0; column < parts(keys(e), k.shape[2]); ++column)
        if (std::int64_t const page = whole(place::block_table, e * table.strides[0] + column);
            page < 0 || page >= k.shape[0])
          return false;
  return true;
}

/// The sizes of the tensors agree. Requires entries_are_sound().
bool call_under_test::shapes_are_sound() const {
  slot const &q = slot_of(place::q), &k = slot_of(place::k), &v = slot_of(place::v);
  std::int64_t const b = entries(), hq = q.shape[1], hk = k.shape[1], n = most_queries(), m = most_keys(),
                     d = q.shape[3], dv = v.shape[3];
  if (given(place::q_offsets) || given(place::k_offsets))
    for (place const p : {place::mask, place::bias, place::keep, place::block_mask, place::weights})
      if (given(p)) return false;
  // The first `free` axes may have size 1 instead.
  auto const is = [&](place p, std::initializer_list<std::int64_t> wanted, std::size_t free = 0) {
    if (!given(p)) return true;
    std::size_t axis = 0;
    for (std::int64_t const size : wanted) {
      if (slot_of(p).shape[axis] != size && !(axis < free && slot_of(p).shape[axis] == 1)) return false;
      ++axis;
    }
    return true;
  };
  bool const sinks = slot_of(place::sink).tensor.ndim == 1 ? is(place::sink, {hq}) : is(place::sink, {b, hq}, 1);
  // Outputs have sizes that no input has.
  return is_countable({b, hq, n, m}) && is_countable({b, hq, n, dv}) && (hk == 0 ? hq == 0 : hq % hk == 0) &&
         k.shape[3] == d && is(place::v, {k.shape[0], hk, k.shape[2], dv}) && is(place::mask, {b, hq, n, m}, 3) &&
         is(place::bias, {b, hq, n, m}, 3) && is(place::keep, {b, hq, n, m}, 3) && sinks &&
         (!given(place::block_mask) ||
          is(place::block_mask, {b, hq, parts(n, call.block_q), parts(m, call.block_k)}, 2)) &&
         is(place::out, {q.shape[0], hq, q.shape[2], dv}) && is(place::lse, {q.shape[0], hq, q.shape[2]}) &&
         is(place::weights, {b, hq, n, m});
}

bool call_under_test::affordable() const {
  constexpr double limit = 0x1p22;
  auto const &q = slot_of(place::q).shape, &v = slot_of(place::v).shape;
  double const b = static_cast<double>(entries());
  if (b > limit) return false;
  std::int64_t n = 1, m = 1;
  for (std::int64_t e = 0; e < entries(); ++e) n = std::max(n, queries(e)), m = std::max(m, keys(e));
  double work = static_cast<double>(q[3]) + static_cast<double>(v[3]) + 1;
  for (double const size : {b, static_cast<double>(q[1]), static_cast<double>(n), static_cast<double>(m)})
    work *= std::max(size, 1.0);
  return work <= limit;
}

call_under_test::bytes_of_places call_under_test::used_bytes() const {
  bytes_of_places used;
  for (place const p : places) used[static_cast<std::size_t>(p)].resize(slot_of(p).memory.size());
  // The first `count` elements of a row, whose indices count from 0 on an axis that broadcasts.
  auto const use = [&](place p, std::initializer_list<std::int64_t> row, std::int64_t count) {
    slot const& s = slot_of(p);
    if (!given(p) || !s.has_data || count == 0) return;
    std::int64_t first = 0;
    std::size_t axis = 0;
    for (std::int64_t const index : row) first += s.shape[axis] == 1 ? 0 : index * s.strides[axis], ++axis;
    auto const bytes = static_cast<std::ptrdiff_t>(bytes_of(s.tensor.dtype));
    auto const from = used[static_cast<std::size_t>(owner_of(p))].begin() +
                      static_cast<std::ptrdiff_t>(slot_of(owner_of(p)).at + s.tensor.byte_offset) + first * bytes;
    std::fill(from, from + count * bytes, true);
  };
  auto const &q = slot_of(place::q).shape, &k = slot_of(place::k).shape, &v = slot_of(place::v).shape;
  bool const packed_q = given(place::q_offsets), packed_k = given(place::k_offsets), paged = given(place::block_table);
  for (place const p : {place::q_lengths, place::k_lengths, place::q_offsets, place::k_offsets})
    use(p, {}, slot_of(p).shape[0]);
  for (std::int64_t e = 0; e < entries(); ++e) {
    std::int64_t const keys_of = keys(e);
    for (std::int64_t h = 0; h < q[1]; ++h) {
      if (slot_of(place::sink).tensor.ndim == 1) use(place::sink, {h}, 1);
      else use(place::sink, {e, h}, 1);
      for (std::int64_t i = 0; i < queries(e); ++i) {
        std::int64_t const first = packed_q ? 0 : e, row = packed_q ? whole(place::q_offsets, e) + i : i;
        use(place::q, {first, h, row}, q[3]), use(place::out, {first, h, row}, v[3]),
            use(place::lse, {first, h, row}, 1);
        use(place::weights, {e, h, i}, most_keys());
        use(place::mask, {e, h, i}, keys_of), use(place::bias, {e, h, i}, keys_of);
        if (given(place::block_mask)) use(place::block_mask, {e, h, i / call.block_q}, parts(keys_of, call.block_k));
      }
    }
    if (paged) use(place::block_table, {e}, parts(keys_of, k[2]));
    if (q[1] == 0) continue;
    for (std::int64_t h = 0; h < k[1]; ++h)
      for (std::int64_t j = 0; j < keys_of; ++j) {
        std::int64_t const page = paged
                                      ? whole(place::block_table, e * slot_of(place::block_table).strides[0] + j / k[2])
                                  : packed_k ? 0
                                             : e;
        std::int64_t const row = paged ? j % k[2] : packed_k ? whole(place::k_offsets, e) + j : j;
        use(place::k, {page, h, row}, k[3]), use(place::v, {page, h, row}, v[3]);
      }
  }
  return used;
}

std::vector<bool> call_under_test::element_bytes(place output) const {
  slot const& s = slot_of(output);
  return given(output) ? s.element_bytes(rank_of(output)) : std::vector<bool>(s.memory.size());
}

}  // namespace attest::fuzz
