// The gradients that the kernel gives for a problem that a test wrote down.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "fast/backward.hpp"
#include "tests/fast/case.hpp"

namespace attest::tests {

/// A problem with dO, and memory for the gradients of its tensors.
template <class T>
struct written_gradients {
  owned<T> d_o, o, dq, dk, dv, dbias, dsink;
  owned<problem::lse_element<T>> lse;
  owned<float> dbias_f32, dsink_f32;

  bool same_bits_as(written_gradients const& other) const {
    auto const same = [](auto const& a, auto const& b) {
      return a.values.size() == b.values.size() &&
             (a.values.empty() ||
              std::memcmp(a.values.data(), b.values.data(), a.values.size() * sizeof(a.values.front())) == 0);
    };
    return same(dq, other.dq) && same(dk, other.dk) && same(dv, other.dv) && same(dbias, other.dbias) &&
           same(dsink, other.dsink) && same(dbias_f32, other.dbias_f32) && same(dsink_f32, other.dsink_f32);
  }
};

/// A tensor as a view of rank 4, in its own shape.
template <class X>
problem::view<X> whole_view(owned<std::remove_const_t<X>>& of, int last_axes = 0) {
  if (of.is_absent()) return {};
  problem::view<X> view;
  view.data = of.values.data(), view.present = true;
  std::array<std::int64_t, 4> shape{1, 1, 1, 1}, stride{0, 0, 0, 0};
  auto const& [rank, own_shape, own_stride] = of.layout;
  for (int axis = 0; axis < rank; ++axis) {
    auto const to = static_cast<std::size_t>(4 - last_axes - rank + axis), from = static_cast<std::size_t>(axis);
    shape[to] = own_shape[from], stride[to] = own_stride[from];
  }
  view.shape = shape, view.stride = {stride[0], stride[1], stride[2]};
  return view;
}

/// dO of normal numbers, and the forward pass's own O and LSE (without dropout, which it does not do). Between rows lie
/// `gap` numbers, and some more between rows of dO and of each gradient.
template <class T>
written_gradients<T> forward_of(written<T> const& asked, std::uint64_t seed, std::int64_t gap = 0) {
  written<T> without = asked;
  without.keep = {}, without.dropout = 0;
  auto const instance = without.instance();
  auto const& s = instance.size();
  written_gradients<T> made;
  T const canary = element_from<T>(-77);
  made.o = owned<T>::shaped({s.b, s.hq, s.n, s.dv}, gap, written<T>::nan());
  made.lse = owned<problem::lse_element<T>>::shaped({s.b, s.hq, s.n}, gap);
  made.d_o = owned<T>::shaped({s.b, s.hq, s.n, s.dv}, gap > 0 ? gap + 1 : 0, written<T>::nan());
  made.dq = owned<T>::shaped({s.b, s.hq, s.n, s.d}, gap > 0 ? gap + 2 : 0, canary);
  made.dk = owned<T>::shaped({s.b, s.hk, s.m, s.d}, gap > 0 ? gap + 3 : 0, canary);
  made.dv = owned<T>::shaped({s.b, s.hk, s.m, s.dv}, gap > 0 ? gap + 4 : 0, canary);
  made.dbias = asked.bias, made.dsink = asked.sink, made.dbias_f32 = asked.bias_f32, made.dsink_f32 = asked.sink_f32;
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  made.d_o.each([&](T& x, auto...) { x = element_from<T>(normal(random)); });
  problem::output_tensors<T> tensors{made.o.out(), made.lse.out(), {}};
  auto const outputs = problem::outputs<T>::make(instance, tensors);
  if (!outputs) FAIL(outputs.why().message());
  if (auto const done = fast::attention(instance, outputs.value(), {.threads = 1}); !done) FAIL(done.why().message());
  return made;
}

/// Fills in the gradients by the kernel.
template <class T>
void differentiate(written<T> const& asked, written_gradients<T>& at, fast::options const& how = {.threads = 1}) {
  using L = problem::lse_element<T>;
  auto const instance = asked.instance();
  fast::backward_inputs<T> given{whole_view<T const>(at.d_o), whole_view<T const>(at.o),
                                 whole_view<L const>(at.lse, 1)};
  fast::gradients<T> wanted;
  wanted.dq = whole_view<T>(at.dq), wanted.dk = whole_view<T>(at.dk), wanted.dv = whole_view<T>(at.dv);
  wanted.dbias = whole_view<T>(at.dbias), wanted.dbias_f32 = whole_view<float>(at.dbias_f32);
  wanted.dsink = whole_view<T>(at.dsink, 2), wanted.dsink_f32 = whole_view<float>(at.dsink_f32, 2);
  auto const done = fast::attention_backward(instance, given, wanted, how);
  if (!done) FAIL(done.why().message());
}

}  // namespace attest::tests
