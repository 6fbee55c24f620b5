// The small functions of the reference against MPFR: what MPFR finds lies in every ball.
#include <cstdint>
#include <string>
#include <vector>

#include "reference/real/tanh.hpp"
#include "reference/textbook/cosine.hpp"
#include "reference/textbook/distribution_entropy.hpp"
#include "reference/textbook/softmax.hpp"
#include "tests/support/mp.hpp"
#include "tests/support/property.hpp"

namespace attest::tests::functions_mpfr_test {
using namespace attest::reference;
using tests::contains;
using tests::middle;
using tests::real;

namespace {

template <unsigned W>
ball<W> drawn(std::int64_t from, std::int64_t to) {
  return ball<W>(*rc::gen::inRange<std::int64_t>(-1'000'000'000, 1'000'000'001))
      .scaled_by_power_of_two(*rc::gen::inRange<std::int64_t>(from, to));
}

template <unsigned W>
void tanh_and_root() {
  tests::property("tanh, expm1 and square root, W = " + std::to_string(W), [] {
    auto const x = drawn<W>(-300, -22);
    RC_ASSERT(contains(tanh(x), tanh(middle(x))));
    auto const y = drawn<W>(-300, -26);
    RC_ASSERT(contains(expm1(y), expm1(middle(y))));
    auto const size = absolute(x);
    RC_ASSERT(contains(square_root(size), sqrt(middle(size))));
  });
}

}  // namespace

TEST_CASE("tanh, expm1 and square roots contain MPFR's", "[property]") {
  tanh_and_root<64>();
  tanh_and_root<128>();
  tanh_and_root<192>();
}

TEST_CASE("softmax and entropy contain MPFR's", "[property]") {
  tests::property("softmax and entropy", [] {
    std::vector<ball<128>> x;
    std::vector<real> weights;
    real sum, entropy_there;
    for (int n = 0; n < 4; ++n) {
      x.push_back(drawn<128>(-60, -24));
      weights.push_back(exp(middle(x.back())));
      sum = sum + weights.back();
    }
    auto const p = softmax(x);
    for (std::size_t n = 0; n < p.size(); ++n) {
      real const weight = weights[n] / sum;
      RC_ASSERT(contains(p[n], weight));
      entropy_there = entropy_there - weight * log(weight);
    }
    RC_ASSERT(contains(entropy(p), entropy_there));
  });
}

TEST_CASE("cosines contain MPFR's", "[property]") {
  tests::property("cosine", [] {
    std::vector<ball<128>> q, k;
    real qk, qq, kk;
    for (int n = 0; n < 3; ++n) {
      q.push_back(drawn<128>(-40, 10)), k.push_back(drawn<128>(-40, 10));
      real const a = middle(q.back()), b = middle(k.back());
      qk = qk + a * b, qq = qq + a * a, kk = kk + b * b;
    }
    RC_PRE(qq.sign() > 0 && kk.sign() > 0);
    RC_ASSERT(contains(cosine(q, k), qk / sqrt(qq * kk)));
  });
}

}  // namespace attest::tests::functions_mpfr_test
