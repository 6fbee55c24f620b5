// The shared library behind <attest/kernel.h>: what it answers, and what it must leave alone.
#include <attest/kernel.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "tests/catch.hpp"

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
    DLTensor made{};
    made.data = data, made.device = {kDLCPU, 0}, made.ndim = 4, made.dtype = {kDLFloat, 32, 1};
    made.shape = shape.data(), made.strides = stride.data();
    return made;
  }

  attest_status answer_untouched() {
    auto const status = attest_attention(&call);
    CHECK(out[0] == -7);
    return status;
  }
};

}  // namespace

TEST_CASE("the kernel answers through the C interface", "[unit]") {
  tiny_call made;
  REQUIRE(attest_attention(&made.call) == ATTEST_OK);
  CHECK(made.out[0] == 4);
  CHECK(std::string(attest_kernel_name()).find("attest") != std::string::npos);
}

TEST_CASE("what the kernel does not support it says, outputs untouched", "[unit]") {
  tiny_call version;
  version.call.abi_version = ATTEST_KERNEL_ABI + 1;
  CHECK(version.answer_untouched() == ATTEST_UNSUPPORTED);
  tiny_call capped;
  capped.call.softcap = 30;
  CHECK(capped.answer_untouched() == ATTEST_UNSUPPORTED);
  for (DLDataType const type : {DLDataType{kDLBfloat, 16, 1}, DLDataType{kDLFloat, 16, 1}}) {
    tiny_call half;
    for (auto* tensor : {&half.Q, &half.K, &half.V, &half.O}) tensor->dtype = type;
    CHECK(half.answer_untouched() == ATTEST_UNSUPPORTED);
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
