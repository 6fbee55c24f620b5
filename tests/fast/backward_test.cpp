// The gradients of the kernel beside the definition in long double, each within the bound of its own counts.
#include <random>

#include "tests/fast/gradient_reference.hpp"

namespace attest::tests::backward_test {
using tests::bounded;
using tests::owned;
using tests::real;
using tests::written;

namespace {

/// The largest error over its bound.
struct worst {
  real ratio = 0;
  void add(real got, bounded const& exact) {
    real const error = std::fabs(got - exact.x) * (1 - 0x1p-8L);
    if (!(error <= exact.bound)) ratio = std::max(ratio, exact.bound > 0 ? error / exact.bound : real(1e9));
    else if (exact.bound > 0) ratio = std::max(ratio, error / exact.bound);
  }
};

template <class T>
real number(T const& x) {
  return static_cast<real>(audit::number(x));
}

/// Half a unit of a narrow gradient.
template <class T>
bounded stored(bounded exact, problem::gradient_model const& by) {
  exact.bound = exact.bound * (1 + static_cast<real>(by.u_grad)) + static_cast<real>(by.u_grad) * std::fabs(exact.x) +
                static_cast<real>(by.omega_grad);
  return exact;
}

/// A broadcast gradient and its bound: the sum over the axes in which `of` has size 1.
template <class T, class X>
worst bias_ratio(tests::dense_reference<T> const& exact, problem::sizes const& s, owned<X>& of, real u,
                 problem::gradient_model const& by) {
  auto const view = tests::whole_view<X>(of);
  std::vector<bounded> sums(static_cast<std::size_t>(view.shape[0] * view.shape[1] * view.shape[2] * view.shape[3]));
  std::vector<real> sizes(sums.size()), terms(sums.size());
  auto const at = [&](std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) {
    return static_cast<std::size_t>(
        (((view.shape[0] == 1 ? 0 : b) * view.shape[1] + (view.shape[1] == 1 ? 0 : h)) * view.shape[2] +
         (view.shape[2] == 1 ? 0 : i)) *
            view.shape[3] +
        j);
  };
  for (std::int64_t b = 0; b < s.b; ++b)
    for (std::int64_t h = 0; h < s.hq; ++h)
      for (std::int64_t i = 0; i < s.n; ++i)
        for (std::int64_t j = 0; j < s.m; ++j) {
          bounded const& dS = exact.all().ds[exact.place(s.hq, s.n, s.m, b, h, i, j)];
          std::size_t const to = at(b, h, i, j);
          sums[to].x += dS.x, sums[to].bound += dS.bound, sizes[to] += std::fabs(dS.x), terms[to] += 1;
        }
  worst ratio;
  for (std::int64_t b = 0; b < view.shape[0]; ++b)
    for (std::int64_t h = 0; h < view.shape[1]; ++h)
      for (std::int64_t i = 0; i < view.shape[2]; ++i)
        for (std::int64_t j = 0; j < view.shape[3]; ++j) {
          bounded sum = sums[at(b, h, i, j)];
          real const rounded = tests::gamma(terms[at(b, h, i, j)], u);
          sum.bound = sum.bound * (1 + rounded) + rounded * sizes[at(b, h, i, j)];
          // An f32 bias beside f64 has its gradient rounded to f32; beside bf16 and f16 it is not rounded again.
          if constexpr (std::is_same_v<X, T>) sum = stored<X>(sum, by);
          else if constexpr (std::is_same_v<T, double>)
            sum.bound += 0x1p-24L * (std::fabs(sum.x) + sum.bound) + 0x1p-126L;
          ratio.add(number(view(b, h, i, j)), sum);
        }
  return ratio;
}

/// The largest error over its bound of all gradients of a problem. With dropout O is the definition's, rounded.
template <class T>
real ratio_of(written<T> const& asked, std::uint64_t seed, std::int64_t gap = 0,
              fast::options const& how = {.threads = 1}) {
  auto at = tests::forward_of(asked, seed, gap);
  auto const instance = asked.instance();
  auto const& s = instance.size();
  if (instance.keep()) {
    tests::dense_reference<T> const once(asked, at);
    at.o.each([&](T& x, auto b, auto h, auto i, auto e) {
      x = tests::element_from<T>(static_cast<double>(once.all().o[once.place(s.hq, s.n, s.dv, b, h, i, e)]));
    });
  }
  tests::dense_reference<T> const exact(asked, at);
  tests::differentiate(asked, at, how);
  auto const by = fast::backward_model<T>(instance);
  real const u = fast::model<T>(instance).format.u;
  real largest = 0;
  auto const compare = [&](char const* name, owned<T>& got, std::vector<bounded> const& all, std::int64_t heads,
                           auto&& rows_of) {
    worst ratio;
    got.each([&](T& x, auto b, auto h, auto i, auto t) {
      if (i < rows_of(b))
        ratio.add(number(x),
                  stored<T>(all[exact.place(heads, got.layout.shape[2], got.layout.shape[3], b, h, i, t)], by));
      else if (number(x) != -77) ratio.ratio = 1e9;
    });
    UNSCOPED_INFO(name << " " << static_cast<double>(ratio.ratio));
    largest = std::max(largest, ratio.ratio);
  };
  auto const queries = [&](std::int64_t b) { return instance.queries(b); };
  auto const keys = [&](std::int64_t b) { return instance.keys(b); };
  compare("dq", at.dq, exact.all().dq, s.hq, queries);
  compare("dk", at.dk, exact.all().dk, s.hk, keys), compare("dv", at.dv, exact.all().dv, s.hk, keys);
  auto const extra = [&](char const* name, worst const& ratio) {
    UNSCOPED_INFO(name << " " << static_cast<double>(ratio.ratio));
    largest = std::max(largest, ratio.ratio);
  };
  if (!at.dbias.is_absent()) extra("dbias", bias_ratio<T>(exact, s, at.dbias, u, by));
  if (!at.dbias_f32.is_absent()) extra("dbias_f32", bias_ratio<T>(exact, s, at.dbias_f32, u, by));
  auto const sinks = [&](auto& of) {
    worst ratio;
    std::int64_t const entries = of.layout.rank == 2 ? of.layout.shape[0] : 1;
    for (std::int64_t e = 0; e < entries; ++e)
      for (std::int64_t h = 0; h < s.hq; ++h) {
        bounded sum;
        for (std::int64_t b = entries == 1 ? 0 : e; b < (entries == 1 ? s.b : e + 1); ++b) {
          bounded const& one = exact.all().dsink[exact.place(s.hq, 1, 1, b, h, 0, 0)];
          sum.x += one.x, sum.bound += one.bound;
        }
        ratio.add(number(of.values[static_cast<std::size_t>(e * s.hq + h)]), stored<T>(sum, by));
      }
    extra("dsink", ratio);
  };
  if (!at.dsink.is_absent()) sinks(at.dsink);
  if (!at.dsink_f32.is_absent()) sinks(at.dsink_f32);
  return largest;
}

/// A problem with features that the bits of `features` choose.
template <class T>
written<T> featured(problem::sizes const& s, unsigned features, std::uint64_t seed, std::int64_t gap = 0) {
  written<T> asked(s, seed, gap);
  std::mt19937_64 random(seed + 1);
  std::normal_distribution<double> normal;
  auto const has = [&](int bit) { return (features >> bit & 1) != 0; };
  if (has(0)) asked.band.right = static_cast<std::int64_t>(random() % 20);
  if (has(1)) asked.band.left = static_cast<std::int64_t>(random() % 60), asked.band.diagonal = 5;
  if (has(2)) {
    asked.mask = owned<std::uint8_t>::shaped({s.b, 1, s.n, s.m});
    asked.mask.each([&](std::uint8_t& x, auto, auto, auto i, auto) { x = i % 7 != 3 && random() % 3 != 0; });
  }
  if (has(3)) {
    asked.bias =
        owned<T>::shaped({random() % 2 == 0 ? 1 : s.b, random() % 2 == 0 ? 1 : s.hq, random() % 2 == 0 ? 1 : s.n, s.m});
    asked.bias.each([&](T& x, auto...) { x = tests::element_from<T>(normal(random)); });
  } else if (has(4)) {
    asked.bias_f32 = owned<float>::shaped(
        {random() % 2 == 0 ? 1 : s.b, random() % 2 == 0 ? 1 : s.hq, random() % 2 == 0 ? 1 : s.n, s.m});
    asked.bias_f32.each([&](float& x, auto...) { x = static_cast<float>(normal(random)); });
    if (std::is_same_v<T, float>) asked.bias_f32 = {};
  }
  if (has(5)) asked.softcap = 2;
  if (has(6)) {
    asked.sink = random() % 2 == 0 ? owned<T>::shaped({s.hq}) : owned<T>::shaped({s.b, s.hq});
    asked.sink.each([&](T& x, auto...) { x = tests::element_from<T>(normal(random)); });
  }
  if (has(7)) {
    asked.block_q = 10, asked.block_k = 30;
    asked.block_mask = owned<std::uint8_t>::shaped({s.b, s.hq, (s.n + 9) / 10, (s.m + 29) / 30});
    asked.block_mask.each([&](std::uint8_t& x, auto...) { x = random() % 2; });
  }
  if (has(8)) {
    for (std::int64_t e = 0; e < s.b; ++e) {
      asked.q_lengths.values.push_back(static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(s.n + 1)));
      asked.k_lengths.values.push_back(static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(s.m + 1)));
    }
    asked.align = 1;
  }
  if (has(9)) {
    asked.keep = owned<std::uint8_t>::shaped({1, s.hq, s.n, s.m});
    asked.keep.each([&](std::uint8_t& x, auto...) { x = random() % 4 != 0; });
    asked.dropout = 0.25;
  }
  if (has(10)) asked.scale = -0.7;
  return asked;
}
constexpr unsigned features = 11;

constexpr problem::sizes several_sizes[]{
    {1, 1, 1, 1, 1, 1, 1}, {2, 4, 2, 37, 150, 17, 9}, {1, 2, 1, 150, 131, 64, 64}, {2, 3, 3, 29, 40, 5, 33}};

/// Each feature alone, and none, at a size.
template <class T>
void is_bounded(problem::sizes const& s, unsigned bit) {
  unsigned const chosen = bit == features ? 0 : 1u << bit;
  INFO("feature " << bit << ", n = " << s.n);
  CHECK(ratio_of(featured<T>(s, chosen, 7 + bit), 3) <= 1);
}

}  // namespace

// Each size and each feature meets each instruction set, but not both together.
TEMPLATE_TEST_CASE("gradients are within the bound of the kernel's own counts", "[unit]", float, double, problem::bf16,
                   problem::f16) {
  auto const sets = fast::simd_targets();
  std::size_t at = 0;
  for (problem::sizes const& s : several_sizes) {
    for (unsigned bit = 0; bit <= features; ++bit) {
      tests::simd_target const set(sets[(at + bit) % sets.size()]);
      is_bounded<TestType>(s, bit);
    }
    ++at;
  }
}

TEMPLATE_TEST_CASE("gradients are within that bound, every size and feature on every instruction set", "[nightly]",
                   float, double, problem::bf16, problem::f16) {
  tests::simd_target const set(GENERATE(from_range(fast::simd_targets())));
  for (problem::sizes const& s : several_sizes)
    for (unsigned bit = 0; bit <= features; ++bit) is_bounded<TestType>(s, bit);
}

TEMPLATE_TEST_CASE("gradients of any features together", "[property]", float, double, problem::bf16, problem::f16) {
  tests::property("sizes, strides, threads, sets of features", [] {
    auto const draw = [](std::int64_t below) { return *rc::gen::inRange<std::int64_t>(0, below); };
    std::int64_t const hk = 1 + draw(3), group = 1 + draw(3);
    problem::sizes const s{1 + draw(3), hk * group, hk, draw(70), draw(200), draw(40), draw(40)};
    auto const asked = featured<TestType>(s, static_cast<unsigned>(draw(1 << features)),
                                          static_cast<std::uint64_t>(draw(1 << 30)), draw(2) * 3);
    real const ratio = ratio_of(asked, 5, draw(2) * 5, {.threads = static_cast<int>(1 + draw(3))});
    if (!(ratio <= 1)) RC_LOG() << "error over bound: " << static_cast<double>(ratio);
    RC_ASSERT(ratio <= 1);
  });
}

}  // namespace attest::tests::backward_test
