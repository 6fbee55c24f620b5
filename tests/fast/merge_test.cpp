// fast::merge: the rules of docs/semantics.md, the bits of a single part, and the errors that its model declares.
#include "fast/merge.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "fast/algorithm/model.hpp"
#include "fast/algorithm/storage.hpp"
#include "fast/simd/operations.hpp"
#include "tests/support/property.hpp"

namespace attest::tests::merge_test {
namespace {

template <class E>
using lse_of = problem::lse_element<E>;

template <class E>
E number(double x) {
  if constexpr (fast::is_narrow<E>) return fast::narrowed<E>(static_cast<float>(x));
  else return static_cast<E>(x);
}
template <class E>
long double value(E x) {
  if constexpr (fast::is_narrow<E>) return static_cast<long double>(fast::widened(x));
  else return static_cast<long double>(x);
}

/// Parts in one array [s, b, h, n, dv], each with a gap of its own behind its rows.
template <class E>
struct some_parts {
  std::int64_t b = 1, h = 1, n = 1, dv = 1;
  struct part {
    std::int64_t gap = 0;
    std::vector<E> o;
    std::vector<lse_of<E>> lse;  ///< [n, h, b]: other strides than O has
  };
  std::vector<part> parts;

  void add(std::int64_t gap) {
    part& made = parts.emplace_back();
    made.gap = gap;
    made.o.assign(static_cast<std::size_t>(b * h * n * (dv + gap)), number<E>(std::nan("")));
    made.lse.assign(static_cast<std::size_t>(b * h * n), 0);
  }
  E& o(std::size_t s, std::int64_t row, std::int64_t c) {
    return parts[s].o[static_cast<std::size_t>(row * (dv + parts[s].gap) + c)];
  }
  lse_of<E>& lse(std::size_t s, std::int64_t row) {
    std::int64_t const i = row % n, head = row / n % h, batch = row / n / h;
    return parts[s].lse[static_cast<std::size_t>((i * h + head) * b + batch)];
  }

  template <class Out>
  void run(std::vector<Out>& out, std::vector<lse_of<E>>& out_lse, int threads = 1) const {
    fast::merge_parts<E> const given{static_cast<std::int64_t>(parts.size()), this, at};
    out.assign(static_cast<std::size_t>(b * h * n * dv), number<Out>(-77)), out_lse.assign(parts[0].lse.size(), -77);
    fast::merge_outputs<E, Out> outputs;
    outputs.o = {out.data(), {b, h, n, dv}, {h * n * dv, n * dv, dv}, true, {}};
    outputs.lse = {out_lse.data(), {b, h, n, 1}, {h * n, n, 1}, true, {}};
    fast::merge(given, outputs, {.threads = threads});
  }

 private:
  static fast::merge_part<E> at(void const* described, std::int64_t s) noexcept {
    auto const& all = *static_cast<some_parts const*>(described);
    auto const& one = all.parts[static_cast<std::size_t>(s)];
    std::int64_t const row = all.dv + one.gap;
    return {one.o.data(), {all.h * all.n * row, all.n * row, row}, one.lse.data(), {1, all.b, all.h * all.b}};
  }
};

template <class E>
some_parts<E> drawn(std::int64_t count, std::int64_t dv, std::uint32_t seed, double spread) {
  some_parts<E> made{2, 3, 5, dv, {}};
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  for (std::int64_t s = 0; s < count; ++s) {
    made.add(static_cast<std::int64_t>(random() % 3));
    for (std::int64_t row = 0; row < 30; ++row) {
      bool const unread = random() % 5 == 0;
      made.lse(static_cast<std::size_t>(s), row) =
          unread ? -std::numeric_limits<lse_of<E>>::infinity() : static_cast<lse_of<E>>(spread * normal(random));
      for (std::int64_t c = 0; c < dv; ++c)
        made.o(static_cast<std::size_t>(s), row, c) = number<E>(unread ? std::nan("") : normal(random));
    }
  }
  return made;
}

/// |Ô − O| ≤ B·Σ π|O_s| and the LSE to one rounding of what its logarithm allows, B from the roundings that merge_model
/// declares: each meets a term at most once.
template <class E, class Out>
void require_near(some_parts<E> parts, int threads) {
  std::vector<Out> out;
  std::vector<lse_of<E>> lse;
  parts.run(out, lse, threads);
  constexpr auto model = fast::merge_model<E>;
  using T = fast::working<E>;
  long double const u = std::numeric_limits<T>::epsilon() / 2, infinity = std::numeric_limits<long double>::infinity();
  auto const count = static_cast<long double>(parts.parts.size());
  for (std::int64_t row = 0; row < parts.b * parts.h * parts.n; ++row) {
    long double m = -infinity, l = 0, far = 0;
    for (std::size_t s = 0; s < parts.parts.size(); ++s) m = std::max(m, value(parts.lse(s, row)));
    for (std::size_t s = 0; s < parts.parts.size(); ++s) {
      long double const x = value(parts.lse(s, row));
      if (x == -infinity) continue;
      l += std::exp(x - m);
      if (m - x < 90) far = std::max(far, m - x);
    }
    auto const at = static_cast<std::size_t>(row);
    if (m == -infinity) {
      RC_ASSERT(value(lse[at]) == -infinity);
      for (std::int64_t c = 0; c < parts.dv; ++c)
        RC_ASSERT(value(out[static_cast<std::size_t>(row * parts.dv + c)]) == 0);
      continue;
    }
    std::vector<long double> pi;  // 0 for a part that is not read
    for (std::size_t s = 0; s < parts.parts.size(); ++s) pi.push_back(std::exp(value(parts.lse(s, row)) - m) / l);
    long double const weight = model.k_x * u * far + static_cast<long double>(model.eps),
                      path = 2 * weight + (2 * count + model.k_pre + model.k_f) * u;
    RC_ASSERT(std::abs(value(lse[at]) - (m + std::log(l))) <= weight + (count + 8) * u + 2 * u * std::abs(m));
    for (std::int64_t c = 0; c < parts.dv; ++c) {
      long double o = 0, size = 0;
      for (std::size_t s = 0; s < parts.parts.size(); ++s) {
        if (pi[s] == 0) continue;
        long double const x = value(parts.o(s, row, c));
        o += pi[s] * x, size += pi[s] * std::abs(x);
      }
      long double const u_out = static_cast<long double>(
          fast::is_narrow<Out> ? std::ldexp(1.0, -problem::format_of<Out>.fraction_bits - 1)
                               : static_cast<double>(std::numeric_limits<fast::working<Out>>::epsilon()) / 2);
      RC_ASSERT(std::abs(value(out[static_cast<std::size_t>(row * parts.dv + c)]) - o) <=
                1.01L * path * size + u_out * (std::abs(o) + size * path) + std::ldexp(1.0L, -25));
    }
  }
}

struct target {
  explicit target(std::string_view name) { REQUIRE(fast::use_simd_target(name)); }
  ~target() { fast::use_simd_target(""); }
};

}  // namespace

TEMPLATE_TEST_CASE("parts are merged within the roundings that are declared", "[property]", float, double,
                   problem::bf16, problem::f16) {
  target const set(GENERATE(from_range(fast::simd_targets())));
  tests::property("any number of parts, spread, width and output type", [] {
    auto const parts = drawn<TestType>(
        *rc::gen::element<std::int64_t>(1, 2, 3, 17, 130, 300), *rc::gen::element<std::int64_t>(0, 1, 7, 64, 130, 300),
        *rc::gen::arbitrary<std::uint32_t>(), *rc::gen::element(0.0, 1e-7, 1.0, 30.0, 1e4));
    int const threads = *rc::gen::element(1, 2);
    switch (*rc::gen::inRange(0, 4)) {
      case 0: return require_near<TestType, float>(parts, threads);
      case 1: return require_near<TestType, double>(parts, threads);
      case 2: return require_near<TestType, problem::bf16>(parts, threads);
      default: return require_near<TestType, problem::f16>(parts, threads);
    }
  });
}

TEMPLATE_TEST_CASE("one part, or one that is read, is the result bit for bit", "[unit]", float, double, problem::bf16,
                   problem::f16) {
  for (std::size_t const count : {1, 3}) {
    auto parts = drawn<TestType>(static_cast<std::int64_t>(count), 33, 5, 1);
    for (std::int64_t row = 0; row < 30; ++row) {
      for (std::size_t s = 0; s < count; ++s) parts.lse(s, row) = -std::numeric_limits<lse_of<TestType>>::infinity();
      parts.lse(count / 2, row) = static_cast<lse_of<TestType>>(row) / 3;
      for (std::int64_t c = 0; c < 33; ++c)
        parts.o(count / 2, row, c) = number<TestType>(static_cast<double>(c - 10) / 7);
      parts.o(count / 2, row, 0) = number<TestType>(-0.0), parts.o(count / 2, row, 1) = number<TestType>(std::nan(""));
      parts.o(count / 2, row, 2) = number<TestType>(1e-40), parts.o(count / 2, row, 3) = number<TestType>(1e300);
    }
    std::vector<TestType> out;
    std::vector<lse_of<TestType>> lse;
    parts.run(out, lse);
    for (std::int64_t row = 0; row < 30; ++row) {
      CHECK(lse[static_cast<std::size_t>(row)] == parts.lse(count / 2, row));
      CHECK(std::memcmp(&out[static_cast<std::size_t>(row * 33)], &parts.o(count / 2, row, 0), 33 * sizeof(TestType)) ==
            0);
    }
  }
}

TEST_CASE("an output of 16 bits is rounded once, from f64 too", "[unit]") {
  // Rounded to f32 first, each would lie half-way between two numbers of bf16 (f16), and go to the wrong one.
  some_parts<double> parts{1, 1, 1, 2, {}};
  parts.add(0);
  parts.o(0, 0, 0) = 1 + 0x1p-8 + 0x1p-40, parts.o(0, 0, 1) = 1 + 0x1p-8 - 0x1p-40;
  std::vector<problem::bf16> out;
  std::vector<double> lse;
  parts.run(out, lse);
  CHECK((fast::widened(out[0]) == 1 + 0x1p-7f && fast::widened(out[1]) == 1));
  parts.o(0, 0, 0) = 1 + 0x1p-11 + 0x1p-40, parts.o(0, 0, 1) = -(1 + 0x1p-11 - 0x1p-40);
  std::vector<problem::f16> half;
  parts.run(half, lse);
  CHECK((fast::widened(half[0]) == 1 + 0x1p-10f && fast::widened(half[1]) == -1));
}

TEMPLATE_TEST_CASE("all parts empty, NaN and infinities", "[unit]", float, double) {
  using T = TestType;
  constexpr T infinity = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  auto const merged = [](std::vector<T> const& lses, std::vector<T> const& os) {
    some_parts<T> parts{1, 1, 1, 2, {}};
    for (std::size_t s = 0; s < lses.size(); ++s)
      parts.add(0), parts.lse(s, 0) = lses[s], parts.o(s, 0, 0) = os[s], parts.o(s, 0, 1) = 1;
    std::vector<T> out, lse;
    parts.run(out, lse);
    return std::array<T, 3>{out[0], out[1], lse[0]};
  };
  CHECK(merged({-infinity, -infinity}, {nan, 3}) == std::array<T, 3>{0, 0, -infinity});
  CHECK(merged({-infinity}, {nan}) == std::array<T, 3>{0, 0, -infinity});
  for (T const bad : {nan, infinity})
    for (auto const& lses : {std::vector<T>{bad, 1}, {1, bad}, {-infinity, bad}, {bad}})
      for (T const x : merged(lses, {1, 1})) CHECK(std::isnan(x));
  // A NaN in O is that column, even where the weight underflows; ∞ is not finite.
  auto const column = merged({1, -30000}, {1, nan});
  CHECK((std::isnan(column[0]) && column[1] == 1 && column[2] == 1));
  CHECK(!std::isfinite(merged({1, 1}, {1, infinity})[0]));
  // No difference overflows, whichever part is first.
  T const huge = std::numeric_limits<T>::max();
  CHECK(merged({huge, -huge}, {3, 5}) == std::array<T, 3>{3, 1, huge});
  CHECK(merged({-huge, huge}, {3, 5}) == std::array<T, 3>{5, 1, huge});
  CHECK(merged({0, 95}, {3, 5})[0] == 5);
}

TEST_CASE("threads and instruction sets leave every bit as it is", "[unit]") {
  some_parts<float> parts{4, 8, 64, 128, {}};
  std::mt19937_64 random(3);
  std::normal_distribution<float> normal;
  for (std::size_t s = 0; s < 5; ++s) {
    parts.add(0);
    for (auto& x : parts.parts[s].o) x = normal(random);
    for (auto& x : parts.parts[s].lse) x = normal(random);
  }
  std::vector<float> one, many, lse, many_lse;
  parts.run(one, lse, 1);
  for (int const threads : {0, 2}) {
    parts.run(many, many_lse, threads);
    CHECK((many == one && many_lse == lse));
  }
  for (auto const name : fast::simd_targets()) {
    if (name != "AVX2" && name != "AVX3") continue;
    target const set(name);
    parts.run(many, many_lse);
    CHECK((many == one && many_lse == lse));
  }
}

}  // namespace attest::tests::merge_test
