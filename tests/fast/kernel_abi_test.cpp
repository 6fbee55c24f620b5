// The shared library behind <attest/kernel.h>: what it answers, and what it must leave alone.
#include <attest/kernel.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "tests/support/catch.hpp"

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

}  // namespace

TEST_CASE("the kernel answers through the C interface", "[unit]") {
  tiny_call tiny;
  REQUIRE(attest_attention(&tiny.call) == ATTEST_OK);
  CHECK(tiny.out[0] == 4);
  CHECK(std::string(attest_kernel_name()).find("attest") != std::string::npos);
}

TEST_CASE("what the kernel does not support it says, outputs untouched", "[unit]") {
  tiny_call version;
  version.call.abi_version = ATTEST_KERNEL_ABI_2 + 1;
  CHECK(version.answer_untouched() == ATTEST_UNSUPPORTED);
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
    CHECK(lse == Approx(0.69314718f));
  }
}

TEST_CASE("a malformed call fails, outputs untouched", "[unit]") {
  CHECK(attest_attention(nullptr) == ATTEST_FAILED);
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
