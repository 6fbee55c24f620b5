// The element types of tensors, one row of a table for each. This file states their storage formats only. Converting a
// stored pattern to a number is arithmetic, which reference/real/element.hpp and fast/algorithm/storage.hpp implement
// separately, from the formats stated here.
//
// A new type is a struct for its bits, an enumerator of element_type, a type of `elements` and a row of element_table,
// at the same index of each. docs/extending.md lists what else it needs.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "problem/type_list.hpp"

namespace attest::problem {

/// bfloat16: 1 sign, 8 exponent, 7 fraction bits (the upper half of an f32).
struct bf16 {
  std::uint16_t bits = 0;
  friend constexpr bool operator==(bf16, bf16) noexcept = default;
};

/// IEEE 754 binary16: 1 sign, 5 exponent, 10 fraction bits.
struct f16 {
  std::uint16_t bits = 0;
  friend constexpr bool operator==(f16, f16) noexcept = default;
};

enum class element_type : std::uint8_t { f32, f64, bf16, f16, u8, i32 };
using elements = type_list<float, double, bf16, f16, std::uint8_t, std::int32_t>;

/// A binary interchange format of IEEE 754: from the top one sign bit, the exponent, the fraction. The patterns below
/// have sign bit 0; as integers they increase with the value that they represent.
struct binary_format {
  int exponent_bits = 0, fraction_bits = 0;

  constexpr int bits() const noexcept { return 1 + exponent_bits + fraction_bits; }
  constexpr int bias() const noexcept { return (1 << (exponent_bits - 1)) - 1; }
  /// Exponents of the smallest subnormal, the smallest normal, and the first power of two above every finite value.
  constexpr int smallest() const noexcept { return smallest_normal() - fraction_bits; }
  constexpr int smallest_normal() const noexcept { return 1 - bias(); }
  constexpr int above_largest() const noexcept { return bias() + 1; }

  constexpr std::uint64_t sign_bit() const noexcept { return std::uint64_t{1} << (exponent_bits + fraction_bits); }
  constexpr std::uint64_t fraction_mask() const noexcept { return (std::uint64_t{1} << fraction_bits) - 1; }
  /// Patterns above infinity are NaNs; those with quiet_bit are quiet NaNs.
  constexpr std::uint64_t infinity() const noexcept { return sign_bit() - 1 - fraction_mask(); }
  constexpr std::uint64_t quiet_bit() const noexcept { return std::uint64_t{1} << (fraction_bits - 1); }
  constexpr std::uint64_t largest_finite() const noexcept { return infinity() - 1; }

  friend constexpr bool operator==(binary_format const&, binary_format const&) noexcept = default;
};

/// DLDataType::code.
enum class dlpack_code : std::uint8_t { signed_integer = 0, unsigned_integer = 1, floating = 2, bfloat = 4 };

struct element_row {
  element_type type;
  std::string_view name;
  std::size_t bytes;
  binary_format format;    ///< {} for u8, the type of masks, and i32, the type of lengths, offsets and tables
  element_type lse;        ///< the type of the LSE of outputs of this type
  std::string_view dtype;  ///< the name in a safetensors header
  dlpack_code dlpack;      ///< the type code in DLPack, with 8·bytes bits

  constexpr bool is_floating() const noexcept { return format != binary_format{}; }
};

inline constexpr std::array element_table{
    element_row{element_type::f32, "f32", 4, {8, 23}, element_type::f32, "F32", dlpack_code::floating},
    element_row{element_type::f64, "f64", 8, {11, 52}, element_type::f64, "F64", dlpack_code::floating},
    element_row{element_type::bf16, "bf16", 2, {8, 7}, element_type::f32, "BF16", dlpack_code::bfloat},
    element_row{element_type::f16, "f16", 2, {5, 10}, element_type::f32, "F16", dlpack_code::floating},
    element_row{element_type::u8, "u8", 1, {}, element_type::f32, "U8", dlpack_code::unsigned_integer},
    element_row{element_type::i32, "i32", 4, {}, element_type::f32, "I32", dlpack_code::signed_integer},
};

/// The row of a type. Requires  an enumerator of element_type
constexpr element_row const& row_of(element_type type) noexcept {
  return element_table[static_cast<std::size_t>(type)];
}

constexpr std::string_view name_of(element_type type) noexcept { return row_of(type).name; }
constexpr std::size_t size_of(element_type type) noexcept { return row_of(type).bytes; }

template <class T>
inline constexpr element_type type_of = [] {
  static_assert(index_in<T, elements> < elements::size, "not a tensor element type");
  return static_cast<element_type>(index_in<T, elements>);
}();

/// The C++ type of a row.
template <element_type type>
using element = type_at<static_cast<std::size_t>(type), elements>;

namespace detail {

template <class T>
constexpr bool stores_numbers() noexcept {
  constexpr std::size_t at = index_in<T, elements>;
  if constexpr (at < elements::size) return element_table[at].is_floating();
  else return false;
}
template <class T>
struct is_floating : std::bool_constant<stores_numbers<T>()> {};

template <class... T>
constexpr std::array<element_row, sizeof...(T)> rows_of(type_list<T...>) noexcept {
  return {row_of(type_of<T>)...};
}

template <std::size_t bytes>
struct unsigned_of;
template <>
struct unsigned_of<1> {
  using type = std::uint8_t;
};
template <>
struct unsigned_of<2> {
  using type = std::uint16_t;
};
template <>
struct unsigned_of<4> {
  using type = std::uint32_t;
};
template <>
struct unsigned_of<8> {
  using type = std::uint64_t;
};

}  // namespace detail

/// T is one of the types that Q, K, V and O may have.
template <class T>
concept floating_element = detail::is_floating<T>::value;
using floating_elements = filtered_list<detail::is_floating, elements>;
inline constexpr std::array floating_rows = detail::rows_of(floating_elements{});

template <floating_element T>
inline constexpr binary_format format_of = row_of(type_of<T>).format;

/// The unsigned integer of T's size, for std::bit_cast to and from T.
template <class T>
using bits_of = typename detail::unsigned_of<sizeof(T)>::type;

/// The type of the LSE of outputs of type T.
template <floating_element T>
using lse_element = element<row_of(type_of<T>).lse>;

/// Calls f(std::type_identity<T>()) for the T of `type`, among the types of the list.
/// Requires  `type` in the list (any other value selects the last type of the list)
template <class F, class T, class... Rest>
constexpr decltype(auto) with_type(element_type type, type_list<T, Rest...>, F&& f) {
  if constexpr (sizeof...(Rest) > 0)
    if (type != type_of<T>) return with_type(type, type_list<Rest...>{}, static_cast<F&&>(f));
  return f(std::type_identity<T>{});
}
/// The same, among all element types.
template <class F>
constexpr decltype(auto) with_type(element_type type, F&& f) {
  return with_type(type, elements{}, static_cast<F&&>(f));
}

namespace detail {

/// Enumerator, type and row of every element type have the same index, and the row describes the type.
template <class... T>
constexpr bool agree(type_list<T...>) noexcept {
  return sizeof...(T) == element_table.size() &&
         ((row_of(type_of<T>).type == type_of<T> && row_of(type_of<T>).bytes == sizeof(T) &&
           (!row_of(type_of<T>).is_floating() ||
            row_of(type_of<T>).format.bits() == 8 * static_cast<int>(sizeof(T)))) &&
          ...);
}
static_assert(agree(elements{}), "element_type, elements and element_table disagree");

}  // namespace detail
}  // namespace attest::problem
