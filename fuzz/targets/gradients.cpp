// The gradients of the built-in kernel beside the oracle of gradients: every element is inside the kernel's own bound.
//
// Bytes → a valid problem, a dO drawn from them → O, LSE and gradients of the built-in kernel on an instruction set and
// a number of threads of the input's choice. An element that the oracle refutes is a crash: beside exact gradients, and
// as a function of the O and LSE that were handed over.
#include "reference/gradient/gradients.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <variant>
#include <vector>

#include "audit/tensors/elements.hpp"
#include "audit/tensors/owned_problem.hpp"
#include "fast/algorithm/backward_model.hpp"
#include "fast/algorithm/model.hpp"
#include "fast/backward.hpp"
#include "fast/simd/operations.hpp"
#include "fuzz/support/problem_bytes.hpp"

using namespace attest;
using reference::gradient_mode;

namespace {

/// Numbers of one tensor, row-major. `missing`: what the kernel has not written.
template <class T>
struct numbers {
  std::vector<T> values;
  std::array<std::int64_t, 4> shape{};

  numbers() = default;
  numbers(std::array<std::int64_t, 4> const& of, T missing) : shape(of) {
    values.assign(static_cast<std::size_t>(of[0] * of[1] * of[2] * of[3]), missing);
  }
  template <class X>
  problem::view<X> view() {
    return {values.data(), shape, {shape[1] * shape[2] * shape[3], shape[2] * shape[3], shape[3]}, true, {}};
  }
  double at(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t t) const {
    return audit::number(values[static_cast<std::size_t>(((b * shape[1] + h) * shape[2] + i) * shape[3] + t)]);
  }
};

/// `place`: the row and the number in it.
void judge(char const* name, std::array<std::int64_t, 4> const& place, reference::gradient_element const& element,
           double got) {
  if (reference::verdict_on(element, got) != reference::gradient_verdict::refuted) return;
  auto const [b, h, i, x] = place;
  std::fprintf(stderr, "%s (%ld, %ld, %ld, %ld) is %a, expected [%a, %a] to %a (kind %d)\n", name, static_cast<long>(b),
               static_cast<long>(h), static_cast<long>(i), static_cast<long>(x), got, element.lower, element.upper,
               element.bound, static_cast<int>(element.kind));
  std::abort();
}

/// dO: normal numbers, some of them 0 or 2^−k, in one call of sixteen a NaN.
template <class T>
void draw(numbers<T>& d_o, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  for (T& x : d_o.values) {
    auto const form = random() % 16;
    x = audit::nearest_element<T>(form == 0   ? 0
                                  : form == 1 ? std::ldexp(1.0, -static_cast<int>(random() % 40))
                                              : normal(random));
  }
  if (seed % 16 == 0 && !d_o.values.empty())
    d_o.values[random() % d_o.values.size()] = audit::nearest_element<T>(std::nan(""));
}

/// The largest |x| of a tensor, without NaN; of finite numbers alone, if `finite`.
template <class T>
double largest(problem::instance<T> const& p, problem::view<T const> const& of, bool keys, bool finite) {
  double most = 0;
  for (std::int64_t b = 0; b < p.size().b; ++b)
    for (std::int64_t h = 0; h < of.shape[1]; ++h)
      for (std::int64_t i = 0; i < (keys ? p.keys(b) : p.queries(b)); ++i)
        for (std::int64_t t = 0; t < of.shape[3]; ++t)
          if (double const x = std::fabs(audit::number(of(b, h, i, t))); !finite || x < HUGE_VAL)
            most = std::fmax(most, x);
  return most;
}

/// Can the kernel form every score and every dO·v, even at keys of weight 0, such as keys with a bias of −∞? Where it
/// cannot, 0·∞ is NaN, while the oracle still asks 0 of such keys. (An infinite v or dO it does not ask there.)
template <class T>
bool forms_all_products(problem::instance<T> const& p, problem::view<T const> const& d_o) {
  double const limit = std::is_same_v<T, double> ? 0x1p1000 : 0x1p120;
  double const scale = std::fmax(1, p.scale() ? std::fabs(*p.scale()) : 1) * static_cast<double>(p.size().d);
  double const scores = scale * largest(p, p.q(), false, false) * largest(p, p.k(), true, false),
               values = static_cast<double>(p.size().dv) * largest(p, p.v(), true, true) * largest(p, d_o, false, true);
  return scores < limit && values < limit;
}

template <class T>
void ask(problem::instance<T> const& p, std::uint64_t seed, int threads) {
  using L = problem::lse_element<T>;
  auto const& s = p.size();
  T const missing = audit::nearest_element<T>(12345);
  numbers<T> o({s.b, s.hq, s.n, s.dv}, missing), d_o = o, dq({s.b, s.hq, s.n, s.d}, missing),
                                                 dk({s.b, s.hk, s.m, s.d}, missing),
                                                 dv({s.b, s.hk, s.m, s.dv}, missing), dbias, dsink;
  numbers<L> lse({s.b, s.hq, s.n, 1}, L(12345));
  numbers<float> dbias_f32, dsink_f32;
  draw(d_o, seed);
  if (!forms_all_products(p, d_o.template view<T const>())) return;
  problem::outputs<T> outputs;
  outputs.o = o.template view<T>(), outputs.lse = lse.template view<L>();
  if (!fast::attention(p, outputs, {.threads = 1})) std::abort();
  reference::gradient_inputs<T> const given{
      .d_o = d_o.template view<T const>(), .o = o.template view<T const>(), .lse = lse.template view<L const>()};
  for (auto const mode : {gradient_mode::own, gradient_mode::local}) {
    auto made = reference::gradient_source<T>::make(p, given, fast::model<T>(p), fast::backward_model<T>(p), mode);
    if (!made) return;  // the machine tier cannot enclose the problem
    auto source = std::move(made).value();
    fast::gradients<T> wanted;
    wanted.dq = dq.template view<T>(), wanted.dk = dk.template view<T>(), wanted.dv = dv.template view<T>();
    auto const bias_shape = source.dbias().shape, sink_shape = source.dsink().shape;
    if (p.bias()) dbias = {bias_shape, missing}, wanted.dbias = dbias.template view<T>();
    if (p.bias_f32()) dbias_f32 = {bias_shape, 12345}, wanted.dbias_f32 = dbias_f32.view<float>();
    if (p.sink()) dsink = {sink_shape, missing}, wanted.dsink = dsink.template view<T>();
    if (p.sink_f32()) dsink_f32 = {sink_shape, 12345}, wanted.dsink_f32 = dsink_f32.view<float>();
    if (!fast::attention_backward(p, {given.d_o, given.o, given.lse}, wanted, {.threads = threads})) std::abort();
    constexpr char const* names[]{"dq", "dk", "dv"};
    for (std::int64_t b = 0; b < s.b; ++b)
      for (std::int64_t g = 0; g < s.hk; ++g)
        source.group(b, g).each([&](reference::gradient_index const& at, reference::gradient_element const& element) {
          auto const& got = at.which == reference::gradient::dq ? dq : at.which == reference::gradient::dk ? dk : dv;
          judge(names[static_cast<std::size_t>(at.which)], {at.b, at.h, at.i, at.x}, element,
                got.at(at.b, at.h, at.i, at.x));
        });
    auto const all = [](char const* name, reference::shared_gradient const& exact, auto const& got) {
      for (std::size_t at = 0; at < got.values.size(); ++at)
        judge(name, {0, 0, 0, static_cast<std::int64_t>(at)}, exact.element[at], audit::number(got.values[at]));
    };
    all("dbias", source.dbias(), dbias), all("dsink", source.dsink(), dsink);
    // An f32 bias or sink beside f64 has its gradient rounded to f32, which the model does not say.
    if (!std::is_same_v<T, double>) all("dbias", source.dbias(), dbias_f32), all("dsink", source.dsink(), dsink_f32);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  // The forward pass has no dropout.
  fuzz::decoded const in = fuzz::decode({data, size}, {.drops = false});
  static auto const sets = fast::simd_targets();
  if (!fast::use_simd_target(sets[in.header[fuzz::choice] % sets.size()])) std::abort();
  auto const instance = problem::make_instance(in.problem.arguments());
  if (!instance) std::abort();
  std::uint64_t const seed = in.header[fuzz::seed] + 256u * in.header[fuzz::seed_high];
  int const threads = 1 + static_cast<int>(in.header[fuzz::choice] / sets.size() % 2);
  std::visit([&](auto const& p) { ask(p, seed, threads); }, instance.value());
  return 0;
}
