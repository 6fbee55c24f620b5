// What is exact in the gradients of the kernel: zeros, NaN, identities.
#include <algorithm>

#include "tests/fast/gradient_bits.hpp"
#include "tests/fast/gradient_reference.hpp"

namespace attest::tests::backward_special_test {
namespace {

template <class T>
bool all_zero(owned<T> const& of) {
  return std::ranges::all_of(of.values, [](T const& x) { return audit::number(x) == 0; });
}

}  // namespace

TEMPLATE_TEST_CASE("rows without keys, keys without rows and a dO of 0 have gradients of 0", "[unit]", float, double,
                   problem::bf16, problem::f16) {
  using T = TestType;
  auto asked = busy<T>({1, 2, 1, 140, 150, 9, 7}, 3);
  asked.mask.each([](std::uint8_t& x, auto, auto, auto i, auto j) {
    if (i == 12 || j == 17) x = 0;
  });
  auto at = gradients_of(asked);
  for (std::int64_t t = 0; t < 9; ++t) {
    for (std::int64_t h = 0; h < 2; ++h) CHECK(audit::number(at.dq.at(0, h, 12, t)) == 0);
    CHECK(audit::number(at.dk.at(0, 0, 17, t)) == 0);
  }
  for (std::int64_t c = 0; c < 7; ++c) CHECK(audit::number(at.dv.at(0, 0, 17, c)) == 0);
  CHECK(audit::number(at.dbias.at(0, 1, 0, 17)) == 0);
  CHECK(!all_zero(at.dq));
  std::ranges::fill(at.d_o.values, tests::element_from<T>(0));
  tests::differentiate(asked, at);
  CHECK((all_zero(at.dq) && all_zero(at.dk) && all_zero(at.dv) && all_zero(at.dbias) && all_zero(at.dsink)));
}

TEST_CASE("rows whose scores are all minus infinity contribute 0, and an LSE of infinity beside keys makes NaN",
          "[unit]") {
  problem::sizes const s{1, 2, 1, 30, 40, 6, 5};
  written<float> asked(s, 6);
  asked.bias = owned<float>::shaped({1, 2, 30, 40});
  for (std::int64_t j = 0; j < 40; ++j) asked.bias.at(0, 1, 4, j) = -HUGE_VALF;
  auto at = gradients_of(asked);
  CHECK(at.lse.at(0, 1, 4) == -HUGE_VALF);
  for (std::int64_t t = 0; t < 6; ++t) CHECK(at.dq.at(0, 1, 4, t) == 0);
  for (auto const* of : {&at.dq, &at.dk, &at.dv, &at.dbias})
    CHECK(std::ranges::none_of(of->values, [](float x) { return std::isnan(x); }));
  // The same gradients as without the row.
  auto masked = asked;
  masked.mask = owned<std::uint8_t>::shaped({1, 2, 30, 40}, 0, 1);
  for (std::int64_t j = 0; j < 40; ++j) masked.mask.at(0, 1, 4, j) = 0;
  CHECK(gradients_of(masked).same_bits_as(at));
  at.lse.at(0, 0, 7) = HUGE_VALF;
  tests::differentiate(asked, at);
  at.dq.each([](float& x, auto, auto h, auto i, auto) { CHECK(std::isnan(x) == (h == 0 && i == 7)); });
  for (auto const* of : {&at.dk, &at.dv}) CHECK(std::ranges::all_of(of->values, [](float x) { return std::isnan(x); }));
}

TEST_CASE("a bias of minus infinity has a gradient of 0, and no queries or keys leave zeros", "[unit]") {
  auto asked = busy<float>({1, 2, 1, 20, 30, 9, 7}, 4);
  asked.mask = {}, asked.band = {};
  for (std::int64_t h = 0; h < 2; ++h) asked.bias.at(0, h, 0, 3) = -HUGE_VALF;
  auto at = gradients_of(asked);
  for (std::int64_t t = 0; t < 9; ++t) CHECK(at.dk.at(0, 0, 3, t) == 0);
  for (std::int64_t h = 0; h < 2; ++h) CHECK(at.dbias.at(0, h, 0, 3) == 0);
  auto const without_keys = gradients_of(written<float>({1, 2, 1, 20, 0, 9, 7}, 1));
  CHECK(all_zero(without_keys.dq));
  auto const without_queries = gradients_of(written<float>({1, 2, 1, 0, 30, 9, 7}, 1));
  CHECK((all_zero(without_queries.dk) && all_zero(without_queries.dv)));
}

TEMPLATE_TEST_CASE("a NaN at a visible place makes NaN of what it reaches, and of nothing else", "[unit]", float,
                   double, problem::f16) {
  using T = TestType;
  problem::sizes const s{1, 1, 1, 40, 50, 5, 3};
  enum : std::uint8_t { in_q, in_k, in_v, in_dO };
  for (auto const where : {in_q, in_k, in_v, in_dO}) {
    written<T> asked(s, 9);
    asked.band.right = 0;  // query i sees keys 0 … i
    T const nan = written<T>::nan();
    if (where == in_q) asked.q.at(0, 0, 20, 1) = nan;
    if (where == in_k) asked.k.at(0, 0, 20, 1) = nan;
    if (where == in_v) asked.v.at(0, 0, 20, 1) = nan;
    auto at = tests::forward_of(asked, 5);
    if (where == in_dO) at.d_o.at(0, 0, 20, 1) = nan;
    tests::differentiate(asked, at);
    INFO("place " << int{where});
    auto const is_nan = [](T const& x) { return std::isnan(audit::number(x)); };
    bool const one_row = where == in_q || where == in_dO;  // else rows from 20 on, which see all keys up to their own
    auto const row_hit = [&](std::int64_t i) { return one_row ? i == 20 : i >= 20; };
    auto const key_hit = [&](std::int64_t j) { return one_row ? j <= 20 : j < 40; };
    at.dq.each([&](T& x, auto, auto, auto i, auto) { CHECK(is_nan(x) == row_hit(i)); });
    at.dk.each([&](T& x, auto, auto, auto j, auto) { CHECK(is_nan(x) == key_hit(j)); });
    at.dv.each([&](T& x, auto, auto, auto j, auto c) {
      CHECK(is_nan(x) == (where != in_v && key_hit(j) && (where != in_dO || c == 1)));
    });
  }
}

TEMPLATE_TEST_CASE("identities that every gradient obeys", "[property]", float, double) {
  using T = TestType;
  tests::property("without a sink the dS of a row sum to 0, and the dV of all keys to the dO of all rows", [] {
    problem::sizes const s{1, 2, 2, *rc::gen::inRange<std::int64_t>(1, 150), *rc::gen::inRange<std::int64_t>(1, 150),
                           7, 5};
    written<T> asked(s, *rc::gen::arbitrary<std::uint32_t>());
    asked.bias = owned<T>::shaped({1, s.hq, s.n, s.m});
    auto at = tests::forward_of(asked, 5);
    tests::dense_reference<T> const exact(asked, at);
    tests::differentiate(asked, at);
    auto const number = [](T const& x) { return static_cast<real>(audit::number(x)); };
    for (std::int64_t h = 0; h < s.hq; ++h) {
      for (std::int64_t i = 0; i < s.n; ++i) {
        real sum = 0, bound = 0;
        for (std::int64_t j = 0; j < s.m; ++j) {
          sum += number(at.dbias.at(0, h, i, j));
          bound += exact.all().ds[exact.place(s.hq, s.n, s.m, 0, h, i, j)].bound;
        }
        RC_ASSERT(std::fabs(sum) <= bound * (1 + 0x1p-8L));
      }
      for (std::int64_t c = 0; c < s.dv; ++c) {
        real sum = 0, bound = 0;
        for (std::int64_t i = 0; i < s.n; ++i) sum -= number(at.d_o.at(0, h, i, c));
        for (std::int64_t j = 0; j < s.m; ++j) {
          sum += number(at.dv.at(0, h, j, c));
          bound += exact.all().dv[exact.place(s.hk, s.m, s.dv, 0, h, j, c)].bound;
        }
        RC_ASSERT(std::fabs(sum) <= bound * (1 + 0x1p-8L));
      }
    }
  });
}

TEST_CASE("a backward call that cannot be answered says why", "[unit]") {
  written<float> const asked({1, 1, 1, 2, 3, 4, 5}, 1);
  auto at = tests::forward_of(asked, 1);
  auto const instance = asked.instance();
  fast::backward_inputs<float> given{tests::whole_view<float const>(at.d_o), tests::whole_view<float const>(at.o),
                                     tests::whole_view<float const>(at.lse, 1)};
  fast::gradients<float> wanted;
  wanted.dq = tests::whole_view<float>(at.dq);
  auto const why = [&](fast::backward_inputs<float> const& inputs, fast::options const& how) {
    return fast::attention_backward(instance, inputs, wanted, how).why();
  };
  CHECK(why(given, {.threads = -1}).message() == "threads: is -1, expected 0 (the kernel's own choice) or more");
  CHECK(why(given, {.cache = -1}).message() == "cache: is -1, expected 0 (what there is) or more");
  CHECK(why(given, {.bf16_arithmetic = fast::bf16_arithmetic::dot_products}).code == problem::error_code::unsupported);
  CHECK(why({{}, given.o, given.lse}, {}).argument == "do");
  CHECK(why({given.d_o, {}, given.lse}, {}).argument == "o");
  CHECK(why({given.d_o, given.o, {}}, {}).argument == "lse");
  CHECK(std::ranges::all_of(at.dq.values, [](float x) { return x == -77; }));
  fast::release_memory();
  CHECK(fast::attention_backward(instance, given, wanted));
  // The memory of the backward pass alone: S and dS of a block of rows, at least.
  CHECK(fast::release_memory() >= 2 * 128 * 128 * std::int64_t{sizeof(float)});
}

}  // namespace attest::tests::backward_special_test
