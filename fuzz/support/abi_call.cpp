#include "fuzz/support/abi_call.hpp"

#include <bit>
#include <limits>
#include <optional>

namespace attest::fuzz {
namespace {

__extension__ using wide = __int128;

constexpr std::size_t canary = 64;

constexpr std::array<char const*, places.size()> names{"q", "k", "v", "mask", "bias", "out", "lse", "weights"};

std::size_t bytes_of(DLDataType type) { return type.bits / 8u; }

bool is_float(DLDataType type) {
  return (type.code == kDLFloat && (type.bits == 16 || type.bits == 32 || type.bits == 64)) ||
         (type.code == kDLBfloat && type.bits == 16);
}

bool same(DLDataType a, DLDataType b) { return a.code == b.code && a.bits == b.bits; }

}  // namespace

std::int64_t call_under_test::number() {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  constexpr std::array<std::int64_t, 16> numbers{0, 1, 2, 3, 5, 16, 17, -1, -2, most, most / 2, std::int64_t{1} << 32,
                                                 std::int64_t{1} << 61, std::numeric_limits<std::int64_t>::min(), 64, 7};
  return numbers[static_cast<std::size_t>(below(16))];
}

/// A sound call: sizes, one of four types, which optional tensors there are, gaps between rows.
void call_under_test::make() {
  std::int64_t const b = below(3), hk = 1 + below(2), hq = hk * (1 + below(3)), n = below(6), m = below(20), d = below(9), dv = below(9);
  constexpr std::array<DLDataType, 4> types{{{kDLFloat, 32, 1}, {kDLFloat, 64, 1}, {kDLBfloat, 16, 1}, {kDLFloat, 16, 1}}};
  DLDataType const type = types[static_cast<std::size_t>(below(4))], byte_type{kDLUInt, 8, 1};
  DLDataType const lse = type.bits == 64 ? type : types[0];
  std::uint8_t const there = byte(), broadcast = byte(), gap = byte();
  std::uint8_t const seed = byte();
  auto const lay = [&](place p, DLDataType of, std::array<std::int64_t, 4> shape, bool present) {
    slot& s = slot_of(p);
    int const rank = p == place::lse ? 3 : 4;
    s.present = present;
    std::int64_t step = 1;
    for (int axis = rank - 1; axis >= 0; --axis) {
      auto const a = static_cast<std::size_t>(axis);
      s.shape[a] = shape[a], s.strides[a] = step;
      step *= std::max<std::int64_t>(shape[a], 1);
      if (axis == rank - 1) step += gap % 4;
    }
    s.tensor = {nullptr, {kDLCPU, 0}, rank, of, nullptr, nullptr, 0};
    s.memory.assign(2 * canary + static_cast<std::size_t>(step) * bytes_of(of), std::byte{0xff});
    s.at = canary;
    if (is_output(p)) return;
    // Small numbers in every type: the exponent stays near that of 1, the fraction and the sign are the seed's.
    for (std::size_t at = canary; at + canary < s.memory.size(); ++at) s.memory[at] = static_cast<std::byte>((at * 37 + seed) & 0x3f);
  };
  lay(place::q, type, {b, hq, n, d}, true);
  lay(place::k, type, {b, hk, m, d}, true);
  lay(place::v, type, {b, hk, m, dv}, true);
  auto const or_one = [&](int bit, std::int64_t size) { return broadcast >> bit & 1 ? 1 : size; };
  lay(place::mask, byte_type, {or_one(0, b), or_one(1, hq), or_one(2, n), m}, there & 1);
  lay(place::bias, there & 16 ? types[0] : type, {or_one(3, b), or_one(4, hq), or_one(5, n), m}, there & 2);
  lay(place::out, type, {b, hq, n, dv}, true);
  lay(place::lse, lse, {b, hq, n, 1}, there & 4);
  lay(place::weights, type, {b, hq, n, m}, there & 8);
  call.abi_version = ATTEST_KERNEL_ABI;
  call.threads = static_cast<std::int32_t>(below(3));
  call.scale = there & 32 || d == 0 ? 0.5 : std::numeric_limits<double>::quiet_NaN();
  call.softcap = there & 64 ? 30 : 0;
  call.left = call.right = -1;
  if (there & 128) call.diagonal = below(9) - 4, call.left = below(5) - 1, call.right = below(5) - 1;
}

/// One field becomes something else.
void call_under_test::wreck() {
  slot& s = slot_of(static_cast<place>(below(places.size())));
  auto const axis = [&] { return static_cast<std::size_t>(below(4)); };
  double const doubles[] = {0, -0.0, -1, 1e300, -1e300, std::numeric_limits<double>::infinity(), 1e-310,
                            std::numeric_limits<double>::quiet_NaN()};
  switch (below(20)) {
    case 0: s.tensor.ndim = static_cast<std::int32_t>(number()); break;
    case 1: case 2: s.shape[axis()] = number(); break;
    case 3: case 4: s.strides[axis()] = number(); break;
    case 5: s.tensor.dtype.code = byte(); break;
    case 6: s.tensor.dtype.bits = byte(); break;
    case 7: s.tensor.dtype.lanes = static_cast<std::uint16_t>(below(3)); break;
    case 8: s.tensor.device.device_type = static_cast<DLDeviceType>(below(20)); break;
    case 9: s.has_data = false; break;
    case 10: s.has_shape = false; break;
    case 11: s.has_strides = false; break;
    case 12: s.present = !s.present; break;
    case 13: s.tensor.byte_offset = static_cast<std::uint64_t>(below(40)); break;
    case 14: s.alias = true; break;
    case 15: call.abi_version = byte(); break;
    case 16: call.threads = static_cast<std::int32_t>(number()); break;
    case 17: call.scale = doubles[below(8)]; break;
    case 18: call.softcap = doubles[below(8)]; break;
    default: std::int64_t* const band[] = {&call.diagonal, &call.left, &call.right}; *band[below(3)] = number();
  }
}

/// The descriptors point into this object's own memory.
void call_under_test::point() {
  for (place const p : places) {
    slot& s = slot_of(p);
    slot& into = s.alias ? slot_of(place::q) : s;  // an output over Q, an input that is Q
    s.tensor.data = s.has_data ? into.memory.data() + into.at : nullptr;
    s.tensor.shape = s.has_shape ? s.shape.data() : nullptr;
    s.tensor.strides = s.has_strides ? s.strides.data() : nullptr;
  }
  auto const at = [&](place p) { return slot_of(p).present ? &slot_of(p).tensor : nullptr; };
  call.q = at(place::q), call.k = at(place::k), call.v = at(place::v), call.mask = at(place::mask), call.bias = at(place::bias);
  call.out = at(place::out), call.lse = at(place::lse), call.weights = at(place::weights);
}

bool call_under_test::inside_memory() const {
  for (place const p : places) {
    slot const& s = slot_of(p);
    if (!s.present || !s.has_shape || !s.has_strides || !s.has_data) continue;
    if (s.alias && (is_output(p) || !same(s.tensor.dtype, slot_of(place::q).tensor.dtype))) return false;
    std::int32_t const rank = p == place::lse ? 3 : 4;
    if (s.tensor.ndim != rank) continue;  // must be refused
    wide last = 0;
    bool empty = false, refused = false;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(rank); ++axis) {
      refused = refused || s.shape[axis] < 0 || s.strides[axis] < 0;
      empty = empty || s.shape[axis] == 0;
      last += static_cast<wide>(s.shape[axis] > 0 ? s.shape[axis] - 1 : 0) * s.strides[axis];
    }
    if (refused || empty) continue;
    slot const& into = s.alias ? slot_of(place::q) : s;
    wide const end = (last + 1) * static_cast<wide>(std::max<std::size_t>(bytes_of(s.tensor.dtype), 1)) +
                         static_cast<wide>(s.tensor.byte_offset);
    if (end > static_cast<wide>(into.memory.size() - into.at)) return false;
    // Strides that make elements of one output meet.
    if (is_output(p) && well_formed())
      for (std::size_t axis = 0; axis + 1 < static_cast<std::size_t>(rank); ++axis)
        if (s.shape[axis] > 1 && s.strides[axis] < s.strides[axis + 1] * std::max<std::int64_t>(s.shape[axis + 1], 1)) return false;
  }
  return true;
}

bool call_under_test::well_formed() const {
  if (call.abi_version != ATTEST_KERNEL_ABI || call.threads < 0) return false;
  if (call.left < -1 || call.right < -1 || std::isinf(call.scale)) return false;
  if (!(call.softcap >= 0) || std::isinf(call.softcap)) return false;
  slot const &q = slot_of(place::q), &k = slot_of(place::k), &v = slot_of(place::v);
  for (place const p : places) {
    slot const& s = slot_of(p);
    if (!s.present && (p <= place::v || p == place::out)) return false;
    if (!s.present) continue;
    std::int32_t const rank = p == place::lse ? 3 : 4;
    if (s.tensor.device.device_type != kDLCPU || s.tensor.ndim != rank || !s.has_shape || !s.has_strides) return false;
    DLDataType const type = s.tensor.dtype, expected = q.tensor.dtype;
    if (type.lanes != 1) return false;
    bool const f32 = type.code == kDLFloat && type.bits == 32;
    if (p == place::mask ? !(type.code == kDLUInt && type.bits == 8)
        : p == place::lse ? !(type.code == kDLFloat && type.bits == (expected.code == kDLFloat && expected.bits == 64 ? 64 : 32))
        : p == place::bias ? !(is_float(type) && (f32 || same(type, expected)))
                           : !(is_float(type) && same(type, expected)))
      return false;
    wide elements = 1, last = 0;
    bool empty = false;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(rank); ++axis) {
      std::int64_t const size = s.shape[axis], stride = s.strides[axis];
      if (size < 0 || stride < 0) return false;
      empty = empty || size == 0;
      elements *= std::max<std::int64_t>(size, 1), last += static_cast<wide>(size > 0 ? size - 1 : 0) * stride;
      constexpr wide most = std::numeric_limits<std::int64_t>::max();
      if (elements * static_cast<wide>(bytes_of(type)) > most || (last + 1) * static_cast<wide>(bytes_of(type)) > most) return false;
    }
    auto const end = static_cast<std::size_t>(rank) - 1;
    if (s.shape[end] > 1 && s.strides[end] != 1) return false;
    if (!empty && !s.has_data) return false;
    if (s.has_data && (reinterpret_cast<std::uintptr_t>(s.tensor.data) + s.tensor.byte_offset) % bytes_of(type) != 0) return false;
  }
  std::int64_t const b = q.shape[0], hq = q.shape[1], n = q.shape[2], d = q.shape[3], hk = k.shape[1], m = k.shape[2], dv = v.shape[3];
  auto const is = [&](place p, std::array<std::int64_t, 4> const& wanted, bool broadcasts = false) {
    slot const& s = slot_of(p);
    if (!s.present) return true;
    for (std::size_t axis = 0; axis < (p == place::lse ? 3u : 4u); ++axis)
      if (s.shape[axis] != wanted[axis] && !(broadcasts && axis < 3 && s.shape[axis] == 1)) return false;
    return true;
  };
  // Outputs have sizes that no input has.
  for (std::int64_t const last : {m, dv}) {
    wide elements = 8;
    for (std::int64_t const size : {b, hq, n, last}) {
      elements *= std::max<std::int64_t>(size, 1);
      if (elements > std::numeric_limits<std::int64_t>::max()) return false;
    }
  }
  return is(place::k, {b, hk, m, d}) && is(place::v, {b, hk, m, dv}) && (hk == 0 ? hq == 0 : hq % hk == 0) &&
         is(place::mask, {b, hq, n, m}, true) && is(place::bias, {b, hq, n, m}, true) && is(place::out, {b, hq, n, dv}) &&
         is(place::lse, {b, hq, n, 0}) && is(place::weights, {b, hq, n, m}) && !(d == 0 && std::isnan(call.scale));
}

bool call_under_test::affordable() const {
  auto const &q = slot_of(place::q).shape, &v = slot_of(place::v).shape;
  double work = static_cast<double>(q[3]) + static_cast<double>(v[3]) + 1;
  for (std::int64_t const size : {q[0], q[1], q[2], v[2]}) work *= static_cast<double>(std::max<std::int64_t>(size, 1));
  return work <= 0x1p24;
}

std::ostream& operator<<(std::ostream& out, call_under_test const& tested) {
  out << "version " << tested.call.abi_version << ", threads " << tested.call.threads << ", scale " << tested.call.scale
      << ", softcap " << tested.call.softcap << ", band " << tested.call.diagonal << ' ' << tested.call.left << ' '
      << tested.call.right << '\n';
  for (place const p : places) {
    auto const& s = tested.slot_of(p);
    if (!s.present) continue;
    out << names[static_cast<std::size_t>(p)] << ": ndim " << s.tensor.ndim << ", type " << int(s.tensor.dtype.code) << '/'
        << int(s.tensor.dtype.bits) << '/' << s.tensor.dtype.lanes << ", device " << s.tensor.device.device_type << ", shape";
    for (std::size_t axis = 0; axis < 4; ++axis) out << ' ' << s.shape[axis] << '(' << s.strides[axis] << ')';
    out << ", offset " << s.tensor.byte_offset << (s.has_data ? "" : ", no data") << (s.has_shape ? "" : ", no shape")
        << (s.has_strides ? "" : ", no strides") << (s.alias ? ", over q" : "") << '\n';
  }
  return out;
}

}  // namespace attest::fuzz
