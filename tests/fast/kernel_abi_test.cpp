// The shared library behind <attest/builtin.h>: its answers, and the memory that it must leave alone.
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <string>

#include <attest/builtin.h>

#include "fast/algorithm/model.hpp"
#include "tests/support/bound_check.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/guarded_bytes.hpp"

namespace attest::tests::kernel_abi_test {
namespace {

/// One query, two keys at equal scores, d = dv = 1: O = (3 + 5)/2.
struct tiny_call {
  std::array<float, 1> q{0}, out{-7};
  std::array<float, 2> k{1, 2}, v{3, 5};
  std::array<std::int64_t, 4> one{1, 1, 1, 1}, two{1, 1, 2, 1}, row{1, 1, 1, 1}, rows{2, 2, 1, 1};
  DLTensor Q = tensor(q.data(), one, row), K = tensor(k.data(), two, rows), V = tensor(v.data(), two, rows),
           O = tensor(out.data(), one, row);
  attest_call call{};

  tiny_call() {
    call.abi_version = ATTEST_KERNEL_ABI;
    call.q = &Q, call.k = &K, call.v = &V, call.out = &O;
    call.scale = std::numeric_limits<double>::quiet_NaN();
    call.left = call.right = -1;
  }
  tiny_call(tiny_call const&) = delete;

  static DLTensor tensor(float* data, std::array<std::int64_t, 4>& shape, std::array<std::int64_t, 4>& stride) {
    DLTensor result{};
    result.data = data, result.device = {kDLCPU, 0}, result.ndim = 4, result.dtype = {kDLFloat, 32, 1};
    result.shape = shape.data(), result.strides = stride.data();
    return result;
  }

  attest_status answer_untouched() {
    auto const status = attest_attention(&call);
    CHECK(out[0] == -7);
    return status;
  }
};

/// Is x the LSE of two keys with this score, within the bound of the kernel's model?
bool is_lse_of_two(float score, float x) {
  namespace tests = attest::tests;
  tests::written<float> row = tests::with_scores({score, score}, {3, 5});
  row.scale = 1;
  tests::bound_check<float> const check(row);
  auto const model = attest::fast::model(row.instance());
  REQUIRE(check.bound(model).log_sum_exp().by == attest::reference::judged_by::theorem);
  return check.judge(model, {.o = {}, .lse = static_cast<double>(x)}).lse <= 1;
}

}  // namespace

TEST_CASE("the kernel answers through the C interface", "[unit]") {
  tiny_call tiny;
  REQUIRE(attest_attention(&tiny.call) == ATTEST_OK);
  CHECK(tiny.out[0] == 4);
  CHECK(std::string(attest_kernel_name()).find("attest") != std::string::npos);
  attest_release_memory();
  tiny.out[0] = -7;
  REQUIRE(attest_attention(&tiny.call) == ATTEST_OK);
  CHECK(tiny.out[0] == 4);
}

TEST_CASE("what the kernel does not support it says, outputs untouched", "[unit]") {
  tiny_call version;
  version.call.abi_version = ATTEST_KERNEL_ABI_2 + 1;
  CHECK(version.answer_untouched() == ATTEST_UNSUPPORTED);
}

TEST_CASE("a call of version 2 is answered, and one of version 1 ends at its last field", "[unit]") {
  // A sink of 0 and two keys of score 0: Z = 3.
  tiny_call sunk;
  sunk.v = {3, 6};
  float t = 0;
  std::array<std::int64_t, 4> one{1, 1, 1, 1};
  DLTensor sink = tiny_call::tensor(&t, one, one);
  sink.ndim = 1;
  sunk.call.abi_version = ATTEST_KERNEL_ABI_2, sunk.call.sink = &sink;
  REQUIRE(attest_attention(&sunk.call) == ATTEST_OK);
  CHECK(sunk.out[0] == 3);
  // The same call, of version 1: the fields behind `weights` are not there, whatever they hold.
  tiny_call first;
  constexpr std::size_t size = offsetof(attest_call, sink);
  attest::tests::guarded_bytes memory(size);
  std::memcpy(memory.data(), &first.call, size);
  REQUIRE(attest_attention(reinterpret_cast<attest_call const*>(memory.data())) == ATTEST_OK);
  CHECK(first.out[0] == 4);
}

TEST_CASE("dropout is unsupported, and what is reserved must be 0", "[unit]") {
  tiny_call dropped;
  std::array<std::uint8_t, 2> kept{1, 1};
  std::array<std::int64_t, 4> shape{1, 1, 1, 2}, stride{2, 2, 2, 1};
  DLTensor keep = tiny_call::tensor(nullptr, shape, stride);
  keep.data = kept.data(), keep.dtype = {kDLUInt, 8, 1};
  dropped.call.abi_version = ATTEST_KERNEL_ABI_2, dropped.call.keep = &keep, dropped.call.dropout = 0.5;
  CHECK(dropped.answer_untouched() == ATTEST_UNSUPPORTED);
  tiny_call reserved;
  reserved.call.abi_version = ATTEST_KERNEL_ABI_2, reserved.call.reserved = 1;
  CHECK(reserved.answer_untouched() == ATTEST_FAILED);
  reserved.call.abi_version = ATTEST_KERNEL_ABI;  // then there is no such field
  CHECK(attest_attention(&reserved.call) == ATTEST_OK);
}

TEST_CASE("partial results are merged through the C interface", "[unit]") {
  if (sizeof(void*) == 8)
    CHECK((offsetof(attest_call, d_out) == 224 && sizeof(attest_call) == 272 && sizeof(attest_merge_call) == 48));
  float o0 = 3, o1 = 5, unread = std::numeric_limits<float>::quiet_NaN(), out = -7, out_lse = -7;
  float l0 = 1, l1 = 1, empty = -std::numeric_limits<float>::infinity();
  std::array<std::int64_t, 4> one{1, 1, 1, 1};
  auto const tensor = [&](float& x, int rank) {
    DLTensor made = tiny_call::tensor(&x, one, one);
    made.ndim = rank;
    return made;
  };
  DLTensor const O[]{tensor(o0, 4), tensor(unread, 4), tensor(o1, 4)},
      L[]{tensor(l0, 3), tensor(empty, 3), tensor(l1, 3)};
  DLTensor const *os[]{&O[0], &O[1], &O[2]}, *lses[]{&L[0], &L[1], &L[2]};
  DLTensor to = tensor(out, 4), to_lse = tensor(out_lse, 3);
  attest_merge_call call{};
  call.abi_version = ATTEST_KERNEL_ABI_2, call.parts = 3, call.o = os, call.lse = lses, call.out = &to,
  call.out_lse = &to_lse;
  REQUIRE(attest_merge(&call) == ATTEST_OK);
  CHECK((out == 4 && is_lse_of_two(1, out_lse)));
  call.out_lse = nullptr, out_lse = -7;
  REQUIRE(attest_merge(&call) == ATTEST_OK);
  CHECK(out_lse == -7);
  std::uint16_t half = 0;
  to.data = &half, to.dtype = {kDLBfloat, 16, 1};
  REQUIRE(attest_merge(&call) == ATTEST_OK);
  CHECK(half == 0x4080);

  to = tensor(out, 4), out = -7;
  auto const refused = [&](auto&& change) {
    attest_merge_call wrong = call;
    change(wrong);
    attest_status const status = attest_merge(&wrong);
    CHECK(out == -7);
    return status;
  };
  CHECK(refused([](auto& c) { c.abi_version = ATTEST_KERNEL_ABI_2 + 1; }) == ATTEST_UNSUPPORTED);
  CHECK(refused([](auto& c) { c.abi_version = ATTEST_KERNEL_ABI; }) == ATTEST_UNSUPPORTED);
  CHECK(refused([](auto& c) { c.reserved = 1; }) == ATTEST_FAILED);
  CHECK(refused([](auto& c) { c.parts = 0; }) == ATTEST_FAILED);
  CHECK(refused([](auto& c) { c.threads = -1; }) == ATTEST_FAILED);
  CHECK(refused([](auto& c) { c.o = nullptr; }) == ATTEST_FAILED);
  CHECK(refused([](auto& c) { c.out = nullptr; }) == ATTEST_FAILED);
  CHECK(attest_merge(nullptr) == ATTEST_FAILED);
  std::array<std::int64_t, 4> two{1, 1, 1, 2};
  DLTensor wide = O[1];
  wide.shape = two.data(), os[1] = &wide;
  CHECK(refused([](auto&) {}) == ATTEST_FAILED);
}

TEST_CASE("softcap, bf16 and f16 are answered", "[unit]") {
  tiny_call capped;
  capped.call.softcap = 30;
  REQUIRE(attest_attention(&capped.call) == ATTEST_OK);
  CHECK(capped.out[0] == 4);
  struct storage {
    DLDataType type;
    std::uint16_t one, three, five, four;
  };
  for (storage const& as : {storage{{kDLBfloat, 16, 1}, 0x3f80, 0x4040, 0x40a0, 0x4080},
                            storage{{kDLFloat, 16, 1}, 0x3c00, 0x4200, 0x4500, 0x4400}}) {
    tiny_call half;
    std::array<std::uint16_t, 2> k{as.one, as.three}, v{as.three, as.five};
    std::uint16_t q = 0, out = 0x1234;
    half.Q.data = &q, half.K.data = k.data(), half.V.data = v.data(), half.O.data = &out;
    for (auto* tensor : {&half.Q, &half.K, &half.V, &half.O}) tensor->dtype = as.type;
    float lse = -7;
    std::array<std::int64_t, 3> one{1, 1, 1};
    DLTensor L{};
    L.data = &lse, L.device = {kDLCPU, 0}, L.ndim = 3, L.dtype = {kDLFloat, 32, 1}, L.shape = L.strides = one.data();
    half.call.lse = &L;
    REQUIRE(attest_attention(&half.call) == ATTEST_OK);
    CHECK(out == as.four);
    CHECK(is_lse_of_two(0, lse));
    for (auto* const by : {attest_attention_bf16_dot, attest_attention_bf16_tiles}) {
      out = 0x1234, lse = -7;
      attest_status const status = by(&half.call);
      bool const answers = as.type.code == kDLBfloat && status == ATTEST_OK;
      CHECK(status == (answers ? ATTEST_OK : ATTEST_UNSUPPORTED));
      CHECK(out == (answers ? as.four : 0x1234));
      CHECK((answers ? is_lse_of_two(0, lse) : lse == -7));
    }
  }
}

TEST_CASE("a malformed call fails, outputs untouched", "[unit]") {
  CHECK(attest_attention(nullptr) == ATTEST_FAILED);
  CHECK(attest_attention_bf16_dot(nullptr) == ATTEST_FAILED);
  CHECK(attest_attention_bf16_tiles(nullptr) == ATTEST_FAILED);
  tiny_call missing;
  missing.call.v = nullptr;
  CHECK(missing.answer_untouched() == ATTEST_FAILED);
  tiny_call uneven;
  uneven.two[2] = 3, uneven.V.shape = uneven.one.data();
  CHECK(uneven.answer_untouched() == ATTEST_FAILED);
  tiny_call band;
  band.call.left = -2;
  CHECK(band.answer_untouched() == ATTEST_FAILED);
  tiny_call threads;
  threads.call.threads = -1;
  CHECK(threads.answer_untouched() == ATTEST_FAILED);
}

}  // namespace attest::tests::kernel_abi_test
