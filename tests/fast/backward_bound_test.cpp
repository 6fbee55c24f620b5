// The gradients of the kernel under its own claim: the oracle of gradients judges each element by the bound of
// fast::model and fast::backward_model, beside exact values, beside the recorded O and LSE, and as a function of these.
#include <algorithm>

#include "fast/algorithm/backward_model.hpp"
#include "fast/algorithm/model.hpp"
#include "tests/fast/gradient_case.hpp"
#include "tests/reference/gradient/asked.hpp"

namespace attest::tests::backward_bound_test {
using reference::gradient_mode;
using tests::owned;

namespace {

/// The kernel's O, LSE and gradients of a drawn case.
template <class T>
tests::honest_answer answer_to(tests::stored_case<T> const& stored) {
  using L = problem::lse_element<T>;
  auto const& instance = *stored.instance;
  auto const& s = instance.size();
  auto o = owned<T>::shaped({s.b, s.hq, s.n, s.dv}), dq = owned<T>::shaped({s.b, s.hq, s.n, s.d}),
       dk = owned<T>::shaped({s.b, s.hk, s.m, s.d}), dv = owned<T>::shaped({s.b, s.hk, s.m, s.dv});
  auto lse = owned<L>::shaped({s.b, s.hq, s.n});
  auto const outputs = problem::outputs<T>::make(instance, {o.out(), lse.out(), {}});
  if (!outputs) FAIL(outputs.why().message());
  if (auto const done = fast::attention(instance, outputs.value(), {.threads = 1}); !done) FAIL(done.why().message());
  fast::gradients<T> wanted{
      .dq = tests::whole_view<T>(dq), .dk = tests::whole_view<T>(dk), .dv = tests::whole_view<T>(dv)};
  owned<T> dbias, dsink;
  auto const& shape = stored.from.bias_shape;
  if (instance.bias()) dbias = owned<T>::shaped({shape[0], shape[1], shape[2], shape[3]});
  if (instance.sink()) dsink = owned<T>::shaped({s.hq});
  wanted.dbias = tests::whole_view<T>(dbias), wanted.dsink = tests::whole_view<T>(dsink, 2);
  auto const done = fast::attention_backward(
      instance, {stored.inputs().d_o, tests::whole_view<T const>(o), tests::whole_view<L const>(lse, 1)}, wanted,
      {.threads = 1});
  if (!done) FAIL(done.why().message());
  tests::honest_answer got;
  auto const take = [](auto const& from, std::vector<double>& to) {
    for (auto const& x : from.values) to.push_back(audit::number(x));
  };
  take(o, got.o), take(lse, got.lse), take(dq, got.dq), take(dk, got.dk), take(dv, got.dv);
  take(dbias, got.dbias), take(dsink, got.dsink);
  return got;
}

/// Judges drawn cases in every mode, and says how near the worst error comes to its bound.
template <class T>
void judge(std::uint64_t seed, int cases) {
  tests::draw random(seed);
  tests::asked total;
  for (int k = 0; k < cases; ++k) {
    constexpr unsigned dropout = 64;  // the forward pass does not do it
    auto const features = static_cast<unsigned>(random.whole(0, 511)) & ~dropout;
    auto const of = static_cast<tests::family>(random.whole(0, 8));
    auto const drawn = tests::drawn_case<T>(random, of, features, random.chance(0.1) ? 40 : 6);
    tests::stored_case<T> const stored(drawn);
    auto const& instance = *stored.instance;
    auto const got = answer_to(stored);
    for (auto const mode : {gradient_mode::own, gradient_mode::recorded, gradient_mode::local}) {
      tests::asked const found =
          tests::ask(stored, {fast::model<T>(instance), fast::backward_model<T>(instance)}, got, mode);
      CAPTURE(k, features, static_cast<int>(of), static_cast<int>(mode), found.worst);
      CHECK(found.refuted == 0);
      CHECK(found.most() <= 1);
      total.add(found);
    }
  }
  tests::check_most_are_judged(total);
}

}  // namespace

TEST_CASE("f32 gradients are certified under the kernel's own claim", "[property]") { judge<float>(21, 1500); }
TEST_CASE("f64 gradients are certified under the kernel's own claim", "[property]") { judge<double>(22, 500); }
TEST_CASE("bf16 gradients are certified under the kernel's own claim", "[property]") { judge<problem::bf16>(23, 700); }
TEST_CASE("f16 gradients are certified under the kernel's own claim", "[property]") { judge<problem::f16>(24, 700); }

}  // namespace attest::tests::backward_bound_test
