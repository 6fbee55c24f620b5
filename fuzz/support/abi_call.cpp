// How a call is made of bytes, wrecked and asked. abi_rules.cpp has the rules for its answer.
#include "fuzz/support/abi_call.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace attest::fuzz {
namespace {

constexpr std::array<char const*, places.size()> names{
    "q",    "k",         "v",         "mask",      "bias",      "out",         "lse",        "weights",
    "sink", "q_lengths", "k_lengths", "q_offsets", "k_offsets", "block_table", "block_mask", "keep"};

constexpr DLDataType byte_type{kDLUInt, 8, 1}, whole_type{kDLInt, 32, 1};

}  // namespace

/// Sizes, and which of the features there are.
struct call_under_test::form {
  std::int64_t b = 0, hk = 1, hq = 1, n = 0, m = 0, d = 0, dv = 0;
  DLDataType type{};
  std::uint8_t there = 0, broadcast = 0, gap = 0, seed = 0;
  // Of version 2.
  bool second = false;
  std::int64_t queries = 0, keys = 0;  ///< 0 dense, 1 lengths, 2 packed, 3 packed and lengths; keys also 4 paged
  std::uint8_t more = 0, rest = 0;
  std::int64_t block_q = 1, block_k = 1, page = 1, pages = 0, width = 0;
  std::int64_t q_total = 0, k_total = 0;  ///< rows of packed tensors

  bool packs_queries() const { return second && queries >= 2; }
  bool packs_keys() const { return second && (keys == 2 || keys == 3); }
  bool pages_keys() const { return second && keys == 4; }
  std::int64_t or_one(int bit, std::int64_t size) const { return broadcast >> bit & 1 ? 1 : size; }
};

/// The bytes of every call; the bytes of fields of version 2 follow them. Sets the numbers of the call.
call_under_test::form call_under_test::read_form() {
  form f;
  std::uint8_t const entries = byte();
  f.hk = 1 + below(2), f.hq = f.hk * (1 + below(3)), f.n = below(6), f.m = below(20), f.d = below(9), f.dv = below(9);
  std::uint8_t const kind = byte();  // the type; 4: fields of version 2, 8: which a call of version 1 must not look at
  f.type = floating_types[kind % 4];
  bool const fields = kind & 4;
  f.second = fields && !(kind & 8);
  f.b = entries % (fields ? 5 : 3);
  f.there = byte(), f.broadcast = byte(), f.gap = byte();
  f.seed = byte();
  call.abi_version = f.second ? ATTEST_KERNEL_ABI_2 : ATTEST_KERNEL_ABI;
  call.threads = static_cast<std::int32_t>(below(3));
  call.scale = f.there & 32 || f.d == 0 ? 0.5 : std::numeric_limits<double>::quiet_NaN();
  call.softcap = f.there & 64 ? 30 : 0;
  call.left = call.right = -1;
  if (f.there & 128) call.diagonal = below(9) - 4, call.left = below(5) - 1, call.right = below(5) - 1;
  f.width = f.m;
  if (!fields) return f;
  std::int64_t const sides = below(20);
  f.queries = sides % 4, f.keys = sides / 4;
  f.more = byte(), f.rest = byte();
  std::int64_t const blocks = byte(), pool = byte();
  f.block_q = 1 + blocks % 4, f.block_k = 1 + blocks / 4 % 8;
  f.page = 1 + pool % 4, f.pages = pool / 4 % 8, f.width = (f.m + f.page - 1) / f.page + pool / 32 % 2;
  seed_draws(byte());
  if (f.more & 16 || f.rest & 8) {
    call.block_q = static_cast<std::int32_t>(f.block_q);
    call.block_k = static_cast<std::int32_t>(f.block_k);
  }
  call.align = f.rest & 1;
  call.dropout = f.more & 128 && f.rest & 2 ? 0.25 : 0;
  return f;
}

/// Room for a tensor, row-major with gaps between rows, filled with small numbers.
void call_under_test::lay(form const& chosen, place p, DLDataType type, std::vector<std::int64_t> const& shape,
                          bool present) {
  slot& s = slot_of(p);
  s.present = present;
  std::int64_t step = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    s.shape[axis] = shape[axis], s.strides[axis] = step;
    step *= std::max<std::int64_t>(shape[axis], 1);
    if (axis + 1 == shape.size()) step += chosen.gap % 4;
  }
  s.tensor = {nullptr, {kDLCPU, 0}, static_cast<std::int32_t>(shape.size()), type, nullptr, nullptr, 0};
  s.memory.assign(2 * canary + static_cast<std::size_t>(step) * (type.bits / 8u), std::byte{0xff});
  s.at = canary;
  if (is_output(p)) return;
  // Small numbers in every type: the exponent stays near the exponent of 1, the fraction and the sign are the seed's.
  for (std::size_t at = canary; at + canary < s.memory.size(); ++at)
    s.memory[at] = static_cast<std::byte>((at * 37 + chosen.seed) & 0x3f);
}

/// The contents of a tensor of whole numbers, row after row.
void call_under_test::fill(place p, std::vector<std::int32_t> const& numbers) {
  slot& s = slot_of(p);
  std::int64_t const columns = s.tensor.ndim == 2 ? s.shape[1] : s.shape[0];
  for (std::size_t at = 0; at < numbers.size(); ++at) {
    auto const number = static_cast<std::int64_t>(at);
    std::int64_t const element = s.tensor.ndim == 2 ? number / columns * s.strides[0] + number % columns : number;
    std::memcpy(s.memory.data() + s.at + 4 * element, &numbers[at], 4);
  }
}

/// Lengths, offsets and the table, present or not, how many rows packed tensors have, and the longest entry of those.
void call_under_test::lay_entries(form& f) {
  auto const side = [&](place offsets, place lengths, std::int64_t& room, bool packed, bool lengths_given,
                        bool offsets_given) {
    std::vector<std::int32_t> starts{0}, used;
    std::int64_t longest = 0;
    for (std::int64_t e = 0; e < f.b; ++e) {
      std::int64_t const span = draw(room + 1);
      longest = std::max(longest, span);
      starts.push_back(static_cast<std::int32_t>(starts.back() + span));
      used.push_back(static_cast<std::int32_t>(draw((packed ? span : room) + 1)));
    }
    lay(f, lengths, whole_type, {f.b}, lengths_given);
    fill(lengths, used);
    lay(f, offsets, whole_type, {f.b + 1}, offsets_given);
    fill(offsets, starts);
    if (packed) room = longest;
    return std::pair(starts.back() + draw(3), used);
  };
  f.q_total =
      side(place::q_offsets, place::q_lengths, f.n, f.packs_queries(), f.queries % 2 == 1, f.queries >= 2).first;
  std::int64_t key_room = !f.pages_keys() ? f.m : f.pages == 0 ? 0 : f.width * f.page;
  bool const has_lengths = f.keys % 2 == 1 || f.keys == 4, has_offsets = f.keys == 2 || f.keys == 3;
  auto const [total, used] =
      side(place::k_offsets, place::k_lengths, key_room, f.packs_keys(), has_lengths, has_offsets);
  f.k_total = total;
  if (f.packs_keys()) f.m = key_room;
  std::vector<std::int32_t> table;
  for (std::int64_t e = 0; e < f.b; ++e)
    for (std::int64_t at = 0; at < f.width; ++at) {
      bool const needed = f.pages > 0 && at * f.page < used[static_cast<std::size_t>(e)];
      table.push_back(static_cast<std::int32_t>(needed ? draw(f.pages) : draw(256) - 128));
    }
  lay(f, place::block_table, whole_type, {f.b, f.width}, f.keys == 4);
  fill(place::block_table, table);
}

/// A sound call: sizes, one of four types, which optional tensors there are, gaps between rows.
void call_under_test::make() {
  form f = read_form();
  lay_entries(f);
  std::int64_t const m = f.pages_keys() ? f.width * f.page : f.m, q_first = f.packs_queries() ? 1 : f.b,
                     q_rows = f.packs_queries() ? f.q_total : f.n,
                     k_first = f.packs_keys()   ? 1
                               : f.pages_keys() ? f.pages
                                                : f.b,
                     k_rows = f.packs_keys()   ? f.k_total
                              : f.pages_keys() ? f.page
                                               : f.m;
  bool const has_pairs = !f.packs_queries() && !f.packs_keys();  // masks and weights have no shape over packed rows
  DLDataType const lse = f.type.bits == 64 ? f.type : floating_types[0];
  auto const& there = f.there;
  lay(f, place::q, f.type, {q_first, f.hq, q_rows, f.d}, true);
  lay(f, place::k, f.type, {k_first, f.hk, k_rows, f.d}, true);
  lay(f, place::v, f.type, {k_first, f.hk, k_rows, f.dv}, true);
  lay(f, place::mask, byte_type, {f.or_one(0, f.b), f.or_one(1, f.hq), f.or_one(2, f.n), m}, there & 1 && has_pairs);
  lay(f, place::bias, there & 16 ? floating_types[0] : f.type,
      {f.or_one(3, f.b), f.or_one(4, f.hq), f.or_one(5, f.n), m}, there & 2 && has_pairs);
  lay(f, place::out, f.type, {q_first, f.hq, q_rows, f.dv}, true);
  lay(f, place::lse, lse, {q_first, f.hq, q_rows}, there & 4);
  lay(f, place::weights, f.type, {f.b, f.hq, f.n, m}, there & 8 && has_pairs);
  if (f.packs_queries() && f.rest & 4) slot_of(place::lse).strides = {1, 1, f.hq, 1, 1};  // heads beside each other
  std::vector<std::int64_t> sinks{f.hq};
  if (!(f.more & 2)) sinks.insert(sinks.begin(), f.more & 4 ? 1 : f.b);
  lay(f, place::sink, f.more & 8 ? floating_types[0] : f.type, sinks, f.more & 1);
  std::int64_t const q_blocks = (f.n + f.block_q - 1) / f.block_q, k_blocks = (m + f.block_k - 1) / f.block_k;
  lay(f, place::block_mask, byte_type, {f.more & 32 ? 1 : f.b, f.more & 64 ? 1 : f.hq, q_blocks, k_blocks},
      f.more & 16 && has_pairs);
  for (std::byte& set : slot_of(place::block_mask).memory)
    if (draw(3) == 0) set = {};
  lay(f, place::keep, byte_type, {f.or_one(0, f.b), f.or_one(1, f.hq), f.or_one(2, f.n), m}, f.more & 128 && has_pairs);
  if (!slot_of(place::keep).present && f.second) call.dropout = 0;
}

/// One of the first elements, of the size of a whole number, becomes something else.
template <class Change>
void call_under_test::wreck_contents(slot& s, Change change) {
  std::byte* const at = s.memory.data() + s.at + 4 * below(8);
  std::uint32_t content = 0;
  std::memcpy(&content, at, sizeof(content));
  content = change(content);
  std::memcpy(at, &content, sizeof(content));
}

/// One field becomes something else.
void call_under_test::wreck() {
  slot& s = slot_of(static_cast<place>(below(places.size())));
  double const doubles[] = {0,      -0.0,
                            -1,     1e300,
                            -1e300, std::numeric_limits<double>::infinity(),
                            1e-310, std::numeric_limits<double>::quiet_NaN()};
  std::int64_t* const band[] = {&call.diagonal, &call.left, &call.right};
  std::int64_t const what = below(28);
  if (what < described_tensor::kinds_of_wrecks) return s.wreck(what, *this);
  switch (what) {
    case 14: s.alias = true; break;
    case 15: call.abi_version = byte(); break;
    case 16: call.threads = static_cast<std::int32_t>(number()); break;
    case 17: call.scale = doubles[below(8)]; break;
    case 18: call.softcap = doubles[below(8)]; break;
    case 19: *band[below(3)] = number(); break;
    case 20:
    case 21: wreck_contents(s, [&](std::uint32_t) { return static_cast<std::uint32_t>(number()); }); break;
    case 22: wreck_contents(s, [](std::uint32_t was) { return was + 1; }); break;
    case 23: wreck_contents(s, [](std::uint32_t was) { return was - 1; }); break;
    default: wreck_number();
  }
}

/// One of the numbers behind `weights` becomes something else.
void call_under_test::wreck_number() {
  double const dropouts[] = {
      0, -0.0, -1, 0.5, 1, std::numeric_limits<double>::infinity(), 1e-310, std::numeric_limits<double>::quiet_NaN()};
  std::int32_t* const numbers[] = {&call.block_q, &call.block_k, &call.align, &call.reserved};
  switch (std::int64_t const which = below(6)) {
    case 4: call.dropout = dropouts[below(8)]; break;
    case 5: scaled_[static_cast<std::size_t>(below(3))] = true; break;
    default: *numbers[which] = static_cast<std::int32_t>(number());
  }
}

/// The descriptors point into this object's own memory.
void call_under_test::point() {
  for (place const p : places) slot_of(p).point(slot_of(owner_of(p)));  // an output over Q, an input that is Q
  auto const at = [&](place p) { return slot_of(p).present ? &slot_of(p).tensor : nullptr; };
  call.q = at(place::q), call.k = at(place::k), call.v = at(place::v), call.mask = at(place::mask),
  call.bias = at(place::bias);
  call.out = at(place::out), call.lse = at(place::lse), call.weights = at(place::weights);
  call.sink = at(place::sink), call.q_lengths = at(place::q_lengths), call.k_lengths = at(place::k_lengths);
  call.q_offsets = at(place::q_offsets), call.k_offsets = at(place::k_offsets),
  call.block_table = at(place::block_table);
  call.block_mask = at(place::block_mask), call.keep = at(place::keep);
  DLTensor const** const scales[] = {&call.q_scale, &call.k_scale, &call.v_scale};
  for (std::size_t which = 0; which < 3; ++which) *scales[which] = scaled_[which] ? &slot_of(place::q).tensor : nullptr;
}

attest_status call_under_test::ask() {
  constexpr std::size_t first_bytes = offsetof(attest_call, sink);
  std::array<std::byte, sizeof(call)> all;
  std::memcpy(all.data(), &call, sizeof(call));
  bool const short_call =
      call.abi_version == ATTEST_KERNEL_ABI &&
      std::all_of(all.begin() + first_bytes, all.end(), [](std::byte b) { return b == std::byte{}; });
  if (!short_call) return attest_attention(&call);
  std::vector<std::byte> const ends(all.begin(), all.begin() + first_bytes);
  return attest_attention(reinterpret_cast<attest_call const*>(ends.data()));
}

bool call_under_test::same_descriptors(call_under_test const& other) const {
  return std::ranges::all_of(places, [&](place p) { return slot_of(p).same_descriptor(other.slot_of(p)); });
}

void call_under_test::spoil(bytes_of_places const& used) {
  for (place const p : places) {
    auto const& keep = used[static_cast<std::size_t>(p)];
    std::vector<std::byte>& memory = slot_of(p).memory;
    for (std::size_t at = 0; at < memory.size(); ++at)
      if (is_output(p)) memory[at] = std::byte{0x5a};
      else if (!keep[at]) memory[at] = std::byte{0xff};  // NaN, true or −1
  }
  if (is_version_2()) return;
  constexpr std::size_t first_bytes = offsetof(attest_call, sink);
  std::memset(reinterpret_cast<std::byte*>(&call) + first_bytes, 0, sizeof(call) - first_bytes);
}

std::ostream& operator<<(std::ostream& out, call_under_test const& tested) {
  auto const& call = tested.call;
  out << "version " << call.abi_version << ", threads " << call.threads << ", scale " << call.scale << ", softcap "
      << call.softcap << ", band " << call.diagonal << ' ' << call.left << ' ' << call.right << ", dropout "
      << call.dropout << ", blocks " << call.block_q << ' ' << call.block_k << ", align " << call.align << ", reserved "
      << call.reserved << '\n';
  for (std::size_t which = 0; which < 3; ++which)
    if (tested.scaled_[which]) out << "qkv"[which] << "_scale\n";
  for (place const p : places) {
    auto const& s = tested.slot_of(p);
    if (!s.present) continue;
    out << names[static_cast<std::size_t>(p)] << ": ndim " << s.tensor.ndim << ", type " << int(s.tensor.dtype.code)
        << '/' << int(s.tensor.dtype.bits) << '/' << s.tensor.dtype.lanes << ", device " << s.tensor.device.device_type
        << ", shape";
    for (std::size_t axis = 0; axis < 4; ++axis) out << ' ' << s.shape[axis] << '(' << s.strides[axis] << ')';
    out << ", offset " << s.tensor.byte_offset << (s.has_data ? "" : ", no data") << (s.has_shape ? "" : ", no shape")
        << (s.has_strides ? "" : ", no strides") << (s.alias ? ", over q" : "");
    if (is_whole_numbers(p)) {
      out << ", memory";
      for (std::size_t at = s.at; at + canary + 4 <= s.memory.size(); at += 4) {
        std::int32_t number = 0;
        std::memcpy(&number, s.memory.data() + at, 4);
        out << ' ' << number;
      }
    }
    out << '\n';
  }
  return out;
}

}  // namespace attest::fuzz
