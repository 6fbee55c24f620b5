// problem/: every rule of docs/semantics.md about shapes, strides, broadcasts and values; errors say where and why.
#include <array>
#include <limits>

#include "problem/dlpack.hpp"
#include "problem/instance.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/written.hpp"

using namespace attest;
using problem::error_code;
using problem::layout;
using tests::owned;

namespace {

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

/// q, k, v of any shapes, all with the same data pointer: validation reads shapes and strides only.
problem::arguments<float> shaped(layout const& q, layout const& k, layout const& v) {
  static float const somewhere = 0;
  problem::arguments<float> unchecked;
  unchecked.q = {&somewhere, q}, unchecked.k = {&somewhere, k}, unchecked.v = {&somewhere, v};
  return unchecked;
}
problem::arguments<float> ordinary() {
  return shaped(layout::compact({2, 4, 3, 5}), layout::compact({2, 2, 7, 5}), layout::compact({2, 2, 7, 6}));
}

void refused(problem::arguments<float> const& unchecked, error_code code, std::string_view argument,
             std::string_view says) {
  auto const checked = problem::instance<float>::make(unchecked);
  REQUIRE_FALSE(checked.has_value());
  INFO(checked.why().message());
  CHECK(checked.why().code == code);
  CHECK(checked.why().argument == argument);
  CHECK(checked.why().reason.find(says) != std::string::npos);
}

}  // namespace

TEST_CASE("ranks 2, 3 and 4 lift to [b, h, n, d]", "[unit]") {
  auto const size = [](layout const& q, layout const& k, layout const& v) {
    return problem::instance<float>::make(shaped(q, k, v)).value().size();
  };
  using problem::sizes;
  CHECK(size(layout::compact({3, 5}), layout::compact({7, 5}), layout::compact({7, 6})) == sizes{1, 1, 1, 3, 7, 5, 6});
  CHECK(size(layout::compact({2, 3, 5}), layout::compact({2, 7, 5}), layout::compact({2, 7, 6})) ==
        sizes{2, 1, 1, 3, 7, 5, 6});
  CHECK(size(layout::compact({2, 4, 3, 5}), layout::compact({2, 2, 7, 5}), layout::compact({2, 2, 7, 6})) ==
        sizes{2, 4, 2, 3, 7, 5, 6});
}

TEST_CASE("rank 3 is a batch, not a stack of heads", "[unit]") {
  owned<float> q({2, 1, 1}, {1, 2}), k({2, 1, 1}, {3, 4}), v({2, 1, 1}, {5, 6});
  problem::arguments<float> unchecked;
  unchecked.q = q.in(), unchecked.k = k.in(), unchecked.v = v.in();
  auto const instance = problem::instance<float>::make(unchecked).value();
  CHECK(instance.rank() == 3);
  CHECK(instance.q()(1, 0, 0, 0) == 2);
  CHECK(instance.k()(1, 0, 0, 0) == 4);
}

TEST_CASE("outer strides may leave gaps or repeat, and are honoured", "[unit]") {
  std::array<float, 16> memory{};
  for (std::size_t n = 0; n < memory.size(); ++n) memory[n] = static_cast<float>(n);
  problem::arguments<float> unchecked;
  unchecked.q = {memory.data(), {2, {2, 2}, {5, 1}}};
  unchecked.k = {memory.data(), {2, {3, 2}, {0, 1}}};  // three equal keys in the memory of one
  unchecked.v = {memory.data(), {2, {3, 1}, {4, 7}}};  // the stride of an axis of size 1 means nothing
  auto const instance = problem::instance<float>::make(unchecked).value();
  CHECK(instance.q()(0, 0, 1, 1) == 6);
  CHECK(instance.k()(0, 0, 2, 1) == 1);
  CHECK(instance.v()(0, 0, 2, 0) == 8);
}

TEST_CASE("shapes that do not fit are refused by name", "[unit]") {
  auto const keys = [](std::initializer_list<std::int64_t> shape) {
    auto unchecked = ordinary();
    unchecked.k.layout = layout::compact(shape);
    return unchecked;
  };
  auto const values = [](std::initializer_list<std::int64_t> shape) {
    auto unchecked = ordinary();
    unchecked.v.layout = layout::compact(shape);
    return unchecked;
  };
  auto const one_axis = layout::compact({5});
  refused(shaped(one_axis, one_axis, one_axis), error_code::bad_shape, "q", "rank is 1");
  auto five_axes = ordinary();
  five_axes.q.layout.rank = 5;
  refused(five_axes, error_code::bad_shape, "q", "rank is 5");
  refused(keys({}), error_code::bad_shape, "k", "rank is 0");
  refused(keys({7, 5}), error_code::bad_shape, "k", "q has rank 4");
  refused(values({7, 5}), error_code::bad_shape, "v", "q has rank 4");
  refused(keys({3, 2, 7, 5}), error_code::bad_shape, "k", "batch size is 3, q has 2");
  refused(values({1, 2, 7, 6}), error_code::bad_shape, "v", "batch size is 1, q has 2");
  refused(values({2, 4, 7, 6}), error_code::bad_shape, "v", "heads is 4, k has 2");
  refused(keys({2, 2, 7, 4}), error_code::bad_shape, "k", "dimension d is 4, q has 5");
  refused(values({2, 2, 8, 6}), error_code::bad_shape, "v", "keys m is 8, k has 7");
}

TEST_CASE("query heads must share key heads evenly", "[unit]") {
  auto const heads = [](std::int64_t hq, std::int64_t hk) {
    return shaped(layout::compact({1, hq, 3, 5}), layout::compact({1, hk, 7, 5}), layout::compact({1, hk, 7, 6}));
  };
  refused(heads(3, 2), error_code::bad_shape, "q", "3 heads cannot share the 2 heads of k");
  refused(heads(2, 4), error_code::bad_shape, "q", "evenly");
  refused(heads(2, 0), error_code::bad_shape, "q", "the 0 heads of k");
  CHECK(problem::instance<float>::make(heads(6, 3)).has_value());
  CHECK(problem::instance<float>::make(heads(0, 0)).has_value());
  CHECK(problem::instance<float>::make(heads(0, 3)).has_value());
}

TEST_CASE("negative sizes and strides, and a last stride that is not 1, are refused", "[unit]") {
  auto unchecked = ordinary();
  unchecked.k.layout.shape[2] = -1;
  refused(unchecked, error_code::bad_shape, "k", "size -1 of axis 2 is negative");
  unchecked = ordinary();
  unchecked.v.layout.stride[0] = -3;
  refused(unchecked, error_code::bad_stride, "v", "stride -3 of axis 0 is negative");
  unchecked = ordinary();
  unchecked.q.layout.stride[3] = 2;
  refused(unchecked, error_code::bad_stride, "q", "the last axis has stride 2, expected 1");
}

TEST_CASE("sizes and offsets that pass 2^63 bytes are errors, not wrapped numbers", "[unit]") {
  std::int64_t const half = std::int64_t{1} << 32;
  refused(shaped(layout::compact({half, half}), layout::compact({1, half}), layout::compact({1, 1})),
          error_code::size_overflow, "q", "pass 2^63 bytes");
  auto unchecked = shaped(layout::compact({2, 1}), layout::compact({2, 1}), layout::compact({2, 1}));
  unchecked.v.layout.stride[0] = largest;
  refused(unchecked, error_code::size_overflow, "v", "pass 2^63 bytes");
  // An empty tensor with sizes whose product would overflow: still an error, since m = 0 hides nothing else.
  refused(shaped(layout::compact({half, half, 0, 1}), layout::compact({half, half, 0, 1}),
                 layout::compact({half, half, 0, 1})),
          error_code::size_overflow, "q", "pass 2^63 bytes");
}

TEST_CASE("outputs have sizes that no input bounds, and they overflow too", "[unit]") {
  std::int64_t const many = std::int64_t{1} << 40;
  auto outputs_only = shaped(layout::compact({many, 0}), layout::compact({0, 0}), layout::compact({0, many}));
  outputs_only.scale = 1;
  refused(outputs_only, error_code::size_overflow, "q", "of the output passes 2^63 bytes");
  auto weights_only = shaped(layout::compact({many, 0}), layout::compact({many, 0}), layout::compact({many, 0}));
  weights_only.scale = 1;
  refused(weights_only, error_code::size_overflow, "q", "of the weights passes 2^63 bytes");
}

TEST_CASE("data may be NULL only where a size is 0", "[unit]") {
  auto unchecked = ordinary();
  unchecked.v.data = nullptr;
  refused(unchecked, error_code::missing, "v", "no data for shape [2, 2, 7, 6]");
  unchecked = shaped(layout::compact({3, 5}), layout::compact({0, 5}), layout::compact({0, 6}));
  unchecked.k.data = nullptr, unchecked.v.data = nullptr;
  CHECK(problem::instance<float>::make(unchecked).has_value());
  unchecked = ordinary();
  unchecked.mask = problem::tensor<std::uint8_t const>{nullptr, layout::compact({7})};
  refused(unchecked, error_code::missing, "mask", "no data for shape [7]");
}

TEST_CASE("mask and bias align at the trailing end and broadcast over b, h and n", "[unit]") {
  std::vector<std::uint8_t> memory(2 * 4 * 3 * 7);
  for (std::size_t n = 0; n < memory.size(); ++n) memory[n] = static_cast<std::uint8_t>(n);
  auto const at = [&](layout const& where, int b, int h, int i, int j) -> int {
    auto unchecked = ordinary();
    unchecked.mask = problem::tensor<std::uint8_t const>{memory.data(), where};
    return problem::instance<float>::make(unchecked).value().mask()(b, h, i, j);
  };
  CHECK(at(layout::compact({7}), 1, 3, 2, 6) == 6);
  CHECK(at(layout::compact({3, 7}), 1, 3, 2, 6) == 2 * 7 + 6);
  CHECK(at(layout::compact({4, 3, 7}), 1, 3, 2, 6) == (3 * 3 + 2) * 7 + 6);
  CHECK(at(layout::compact({2, 1, 1, 7}), 1, 3, 2, 6) == 7 + 6);
  CHECK(at(layout::compact({1, 4, 1, 7}), 1, 3, 2, 6) == 3 * 7 + 6);
  CHECK(at(layout::compact({2, 4, 3, 7}), 1, 3, 2, 6) == static_cast<std::uint8_t>(((4 + 3) * 3 + 2) * 7 + 6));
}

TEST_CASE("in rank 3 the leading axis of a mask is the batch", "[unit]") {
  std::vector<std::uint8_t> const memory{1, 2, 3, 4};
  auto unchecked = shaped(layout::compact({2, 1, 5}), layout::compact({2, 2, 5}), layout::compact({2, 2, 5}));
  unchecked.mask = problem::tensor<std::uint8_t const>{memory.data(), layout::compact({2, 1, 2})};
  CHECK(problem::instance<float>::make(unchecked).value().mask()(1, 0, 0, 1) == 4);
}

TEST_CASE("a mask or bias that does not broadcast is refused", "[unit]") {
  float const zero = 0;
  std::uint8_t const one = 1;
  auto const with_mask = [&](layout const& where) {
    auto unchecked = ordinary();
    unchecked.mask = problem::tensor<std::uint8_t const>{&one, where};
    return unchecked;
  };
  refused(with_mask(layout::compact({1})), error_code::bad_shape, "mask", "axis 0 has size 1, expected 7");
  refused(with_mask(layout::compact({2, 7})), error_code::bad_shape, "mask", "axis 0 has size 2, expected 1 or 3");
  refused(with_mask(layout::compact({2, 1, 7})), error_code::bad_shape, "mask", "expected 1 or 4");
  refused(with_mask(layout::compact({4, 1, 1, 7})), error_code::bad_shape, "mask", "expected 1 or 2");
  auto three = shaped(layout::compact({2, 3, 5}), layout::compact({2, 7, 5}), layout::compact({2, 7, 6}));
  three.bias = problem::tensor<float const>{&zero, layout::compact({2, 1, 3, 7})};
  refused(three, error_code::bad_shape, "bias", "rank is 4, the weights have rank 3");
  auto twice = ordinary();
  twice.bias = problem::tensor<float const>{&zero, layout::compact({7})};
  twice.bias_f32 = twice.bias;
  refused(twice, error_code::bad_value, "bias", "given twice");
}

TEST_CASE("scale, softcap and band are checked by value", "[unit]") {
  using range = std::numeric_limits<double>;
  for (double const bad : {range::quiet_NaN(), range::infinity(), -range::infinity()}) {
    auto unchecked = ordinary();
    unchecked.scale = bad;
    refused(unchecked, error_code::bad_value, "scale", "finite");
    unchecked = ordinary();
    unchecked.softcap = bad;
    refused(unchecked, error_code::bad_value, "softcap", "finite");
  }
  auto unchecked = ordinary();
  unchecked.softcap = -1;
  refused(unchecked, error_code::bad_value, "softcap", "positive");
  unchecked = ordinary();
  unchecked.band.left = -2;
  refused(unchecked, error_code::bad_value, "left", "is -2, expected -1 (unbounded) or more");
  unchecked = ordinary();
  unchecked.band.right = std::numeric_limits<std::int64_t>::min();
  refused(unchecked, error_code::bad_value, "right", "expected -1");
  for (double const honoured : {0.0, -0.0, -2.5, range::denorm_min(), range::max()}) {
    unchecked = ordinary();
    unchecked.scale = honoured;
    CHECK(*problem::instance<float>::make(unchecked).value().scale() == honoured);
  }
  CHECK_FALSE(problem::instance<float>::make(ordinary()).value().scale().has_value());
}

TEST_CASE("d = 0 needs an explicit scale", "[unit]") {
  auto unchecked = shaped(layout::compact({3, 0}), layout::compact({7, 0}), layout::compact({7, 6}));
  refused(unchecked, error_code::missing, "scale", "d = 0");
  unchecked.scale = 1;
  CHECK(problem::instance<float>::make(unchecked).has_value());
}

TEST_CASE("outputs must have the shapes of the problem", "[unit]") {
  auto const problem = problem::instance<double>::make([] {
                         static double const somewhere = 0;
                         problem::arguments<double> a;
                         a.q = {&somewhere, layout::compact({2, 3, 5})};
                         a.k = {&somewhere, layout::compact({2, 7, 5})};
                         a.v = {&somewhere, layout::compact({2, 7, 6})};
                         return a;
                       }())
                           .value();
  owned<double> o({2, 3, 6}), lse({2, 3}), weights({2, 3, 7});
  problem::output_tensors<double> tensors{.o = o.out(), .lse = lse.out(), .weights = weights.out()};
  auto const outputs = problem::outputs<double>::make(problem, tensors).value();
  CHECK(outputs.lse.row(1, 0, 2) == lse.values.data() + 5);
  CHECK(outputs.weights.row(1, 0, 2) == weights.values.data() + 5 * 7);

  auto const fault = [&](auto&& change) {
    auto bad = tensors;
    change(bad);
    return problem::outputs<double>::make(problem, bad).why();
  };
  CHECK(fault([](auto& g) { g.o.layout = layout::compact({2, 3, 7}); }).message() ==
        "out: shape is [2, 3, 7], expected [2, 3, 6]");
  CHECK(fault([](auto& g) { g.lse->layout = layout::compact({2, 3, 1}); }).argument == "lse");
  CHECK(fault([](auto& g) { g.weights->layout = layout::compact({3, 7}); }).argument == "weights");
  CHECK(fault([](auto& g) { g.o.data = nullptr; }).code == error_code::missing);
  CHECK(fault([](auto& g) { g.o.layout.stride[2] = 2; }).code == error_code::bad_stride);
}

TEST_CASE("validation of erased tensors checks element types and alignment", "[unit]") {
  alignas(8) std::array<char, 512> memory{};
  auto const tensor = [&](problem::element_type type, std::initializer_list<std::int64_t> shape) {
    return problem::erased_tensor{memory.data(), type, layout::compact(shape)};
  };
  using enum problem::element_type;
  problem::erased_arguments const good{{}, tensor(bf16, {3, 5}), tensor(bf16, {7, 5}), tensor(bf16, {7, 6}),
                                       {}, tensor(f32, {7})};
  auto const instance = problem::make_instance(good).value();
  CHECK(std::get<problem::instance<problem::bf16>>(instance).bias_f32().present);

  auto const fault = [&](auto&& change) {
    auto bad = good;
    change(bad);
    return problem::make_instance(bad).why();
  };
  CHECK(fault([](auto& a) { a.v.type = f16; }).message() == "v: element type is f16, expected bf16");
  CHECK(fault([](auto& a) { a.q.type = u8; }).argument == "q");
  CHECK(fault([](auto& a) { a.bias->type = f64; }).message() == "bias: element type is f64, expected bf16");
  CHECK(fault([&](auto& a) { a.mask = tensor(f32, {7}); }).message() == "mask: element type is f32, expected u8");
  CHECK(fault([&](auto& a) { a.k.data = memory.data() + 1; }).reason == "data is not aligned to its element size");
  CHECK(fault([](auto& a) { a.k.data = nullptr; }).code == error_code::missing);

  auto const& problem = std::get<problem::instance<problem::bf16>>(instance);
  problem::erased_outputs out{.o = tensor(bf16, {3, 6}), .lse = tensor(f32, {3}), .weights = {}};
  CHECK(problem::make_outputs(problem, out).has_value());
  out.lse->type = f64;
  CHECK(problem::make_outputs(problem, out).why().argument == "lse");
}

TEST_CASE("a call of the C interface is unpacked, or refused by name", "[unit]") {
  alignas(8) std::array<float, 16> memory{};
  std::array<std::int64_t, 4> shape{1, 1, 2, 2}, stride{4, 4, 2, 1};
  DLTensor good{memory.data(), {kDLCPU, 0}, 4, {kDLFloat, 32, 1}, shape.data(), stride.data(), 0};
  DLTensor lse = good;
  lse.ndim = 3;
  attest_call call{};
  call.scale = std::numeric_limits<double>::quiet_NaN();
  call.left = call.right = -1, call.diagonal = 5;
  call.q = call.k = call.v = &good;
  call.out = &good, call.lse = &lse;
  auto const unpacked = problem::unpack(call).value();
  CHECK_FALSE(unpacked.arguments.scale.has_value());
  CHECK_FALSE(unpacked.arguments.mask.has_value());
  CHECK(unpacked.arguments.band == problem::band{5, -1, -1});
  CHECK(unpacked.outputs.lse->layout.rank == 3);

  auto const fault = [&](auto&& change) {
    DLTensor bad = good;
    change(bad);
    attest_call wrong = call;
    wrong.k = &bad;
    return problem::unpack(wrong).why();
  };
  CHECK(fault([](DLTensor& t) { t.ndim = 3; }).message() == "k: ndim is 3, expected 4");
  CHECK(fault([](DLTensor& t) { t.dtype.lanes = 4; }).message() == "k: lanes must be 1");
  CHECK(fault([](DLTensor& t) { t.dtype.bits = 8; }).code == error_code::bad_type);
  CHECK(fault([](DLTensor& t) { t.dtype = {kDLInt, 64, 1}; }).code == error_code::bad_type);
  CHECK(fault([](DLTensor& t) { t.device.device_type = kDLCUDA; }).message() == "k: is not in CPU memory");
  CHECK(fault([](DLTensor& t) { t.strides = nullptr; }).code == error_code::missing);
  CHECK(fault([](DLTensor& t) { t.shape = nullptr; }).code == error_code::missing);
  attest_call without = call;
  without.v = nullptr;
  CHECK(problem::unpack(without).why().message() == "v: is NULL");
  without = call, without.out = nullptr;
  CHECK(problem::unpack(without).why().argument == "out");
  DLTensor further = good;
  further.byte_offset = 8, further.dtype = {kDLBfloat, 16, 1};
  without = call, without.q = &further;
  CHECK(problem::unpack(without).value().arguments.q.data == memory.data() + 2);
  CHECK(problem::unpack(without).value().arguments.q.type == problem::element_type::bf16);
}

namespace {

constexpr std::array<float, 4> two_by_two{1, 2, 3, 4};
constexpr bool validates_at_compile_time() {
  problem::arguments<float> unchecked;
  unchecked.q = unchecked.k = unchecked.v = {two_by_two.data(), layout::compact({2, 2})};
  auto const checked = problem::instance<float>::make(unchecked);
  return checked.has_value() && checked.value().k()(0, 0, 1, 0) == 3;
}
static_assert(validates_at_compile_time(), "validation works in constant evaluation");
static_assert(problem::checks::multiply_add(largest, 1, 0) == largest && !problem::checks::multiply_add(largest, 1, 1),
              "2^63 - 1 fits, 2^63 does not");

}  // namespace
