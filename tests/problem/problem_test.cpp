// problem/: every rule of docs/semantics.md about shapes, strides, broadcasts and values; errors say where and why.
#include <array>
#include <limits>

#include "problem/dlpack.hpp"
#include "problem/instance.hpp"
#include "tests/problem/shaped.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/written.hpp"

namespace attest::tests::problem_test {
using problem::error_code;
using problem::layout;

namespace {

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

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

}  // namespace attest::tests::problem_test
