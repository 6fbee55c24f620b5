// Outputs, erased tensors and calls of the C interface: unpacked, or refused by name.
#include <array>
#include <limits>

#include "problem/dlpack.hpp"
#include "problem/instance.hpp"
#include "tests/problem/shaped.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/written.hpp"

namespace attest::tests::call_validation_test {
using problem::error_code;
using problem::layout;

TEST_CASE("outputs have sizes that no input bounds, and they overflow too", "[unit]") {
  std::int64_t const many = std::int64_t{1} << 40;
  auto outputs_only = shaped(layout::compact({many, 0}), layout::compact({0, 0}), layout::compact({0, many}));
  outputs_only.scale = 1;
  refused(outputs_only, error_code::size_overflow, "q", "of the output passes 2^63 bytes");
  auto weights_only = shaped(layout::compact({many, 0}), layout::compact({many, 0}), layout::compact({many, 0}));
  weights_only.scale = 1;
  refused(weights_only, error_code::size_overflow, "q", "of the weights passes 2^63 bytes");
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

}  // namespace attest::tests::call_validation_test
