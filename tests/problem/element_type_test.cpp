// problem/element_type.hpp: the table of element types, compared with the machine's and the interfaces' formats.
#include "problem/element_type.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "problem/dlpack.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::element_type_test {
TEST_CASE("element types are named in sentences as their interfaces order them", "[unit]") {
  CHECK(problem::listed(problem::floating_rows, "or") == "f32, f64, bf16 or f16");
  CHECK(problem::listed(problem::ieee_rows_first(), "and", &problem::element_row::dtype) == "F32, F64, F16 and BF16");
  CHECK(problem::unpack("q", nullptr, 4).why().message() == "q: is NULL");
  std::array<std::int64_t, 1> one{1};
  DLTensor integer{};
  integer.device = {kDLCPU, 0}, integer.ndim = 1, integer.dtype = {kDLInt, 64, 1};
  integer.shape = integer.strides = one.data();
  CHECK(problem::unpack("q", &integer, 1).why().message() ==
        "q: type code 0 of 64 bits is not f32, f64, f16, bf16, u8 or i32");
}

namespace {

using problem::element_type, problem::bf16, problem::f16, problem::format_of, problem::type_list;

constexpr bool is_dlpack(element_type type, int code, int bits) {
  DLDataType const dlpack = problem::dlpack_type_of(type);
  return dlpack.code == code && dlpack.bits == bits && dlpack.lanes == 1 && problem::element_type_of(dlpack) == type;
}
static_assert(is_dlpack(element_type::f32, kDLFloat, 32) && is_dlpack(element_type::f64, kDLFloat, 64) &&
              is_dlpack(element_type::bf16, kDLBfloat, 16) && is_dlpack(element_type::f16, kDLFloat, 16) &&
              is_dlpack(element_type::u8, kDLUInt, 8) && is_dlpack(element_type::i32, kDLInt, 32));
static_assert(!problem::element_type_of({kDLInt, 64, 1}) && !problem::element_type_of({kDLFloat, 8, 1}));

template <class T>
constexpr bool is_format_of() {
  using limits = std::numeric_limits<T>;
  constexpr problem::binary_format format = format_of<T>;
  return format.fraction_bits + 1 == limits::digits && format.above_largest() == limits::max_exponent &&
         format.smallest_normal() == limits::min_exponent - 1 &&
         format.smallest() == limits::min_exponent - limits::digits &&
         std::bit_cast<T>(static_cast<problem::bits_of<T>>(format.infinity())) == limits::infinity() &&
         std::bit_cast<T>(static_cast<problem::bits_of<T>>(format.largest_finite())) == limits::max() &&
         format.sign_bit() == std::uint64_t{1} << (8 * sizeof(T) - 1);
}
static_assert(is_format_of<float>() && is_format_of<double>(), "the table has this machine's formats");
static_assert(format_of<f16>.infinity() == 0x7c00 && format_of<f16>.quiet_bit() == 0x200 &&
              format_of<f16>.smallest() == -24);
static_assert(format_of<bf16>.infinity() == 0x7f80 && format_of<bf16>.quiet_bit() == 0x40 &&
              format_of<bf16>.smallest() == -133);

static_assert(std::is_same_v<problem::floating_elements, type_list<float, double, bf16, f16>>);
static_assert(std::is_same_v<problem::lse_element<double>, double> &&
              std::is_same_v<problem::lse_element<float>, float> && std::is_same_v<problem::lse_element<bf16>, float> &&
              std::is_same_v<problem::lse_element<f16>, float>);
static_assert(problem::floating_element<f16> && !problem::floating_element<std::uint8_t> &&
              !problem::floating_element<int>);
static_assert(std::is_same_v<problem::element<element_type::bf16>, bf16> &&
              problem::type_of<std::uint8_t> == element_type::u8);
static_assert(problem::with_type(element_type::f16, []<class T>(std::type_identity<T>) {
                return problem::type_of<T>;
              }) == element_type::f16);

}  // namespace

}  // namespace attest::tests::element_type_test
