// Random recipes for RapidCheck, with a bias to edges; they shrink to plain ones.
#pragma once

#include <rapidcheck.h>

#include "tests/support/problem_recipe.hpp"

namespace rc {

template <>
struct Arbitrary<attest::tests::recipe> {
  using recipe = attest::tests::recipe;
  static Gen<recipe> arbitrary() {
    // Sizes with a bias to edges: 0, 1, primes, around the kernel's blocks.
    auto const size = [](int most) {
      return gen::oneOf(gen::inRange<std::int64_t>(1, most), gen::element<std::int64_t>(1, 2, 3, 5, 7, 13, 17));
    };
    auto const keys = gen::weightedOneOf<std::int64_t>(
        {{6, gen::inRange<std::int64_t>(0, 40)}, {1, gen::element<std::int64_t>(63, 64, 65, 127, 128, 129, 191, 193)}});
    auto const edge =
        gen::weightedOneOf<std::int64_t>({{4, gen::just<std::int64_t>(-1)}, {3, gen::inRange<std::int64_t>(0, 12)}});
    using attest::problem::element_type;
    auto const type =
        gen::element(element_type::f32, element_type::f32, element_type::f64, element_type::bf16, element_type::f16);
    return gen::build<recipe>(
        gen::set(&recipe::seed, gen::inRange<std::uint64_t>(0, 1'000'000)), gen::set(&recipe::type, type),
        gen::set(&recipe::b, gen::inRange<std::int64_t>(1, 3)),
        gen::set(&recipe::groups, gen::inRange<std::int64_t>(1, 3)),
        gen::set(&recipe::hk, gen::inRange<std::int64_t>(1, 3)), gen::set(&recipe::n, size(9)),
        gen::set(&recipe::m, keys), gen::set(&recipe::d, size(12)), gen::set(&recipe::dv, size(12)),
        gen::set(&recipe::scores, gen::map(gen::inRange(0, attest::tests::score_regimes),
                                           [](int x) { return static_cast<attest::tests::score_regime>(x); })),
        gen::set(&recipe::values, gen::map(gen::inRange(0, attest::tests::value_regimes),
                                           [](int x) { return static_cast<attest::tests::value_regime>(x); })),
        gen::set(&recipe::mask, gen::map(gen::inRange(0, attest::tests::mask_regimes),
                                         [](int x) { return static_cast<attest::tests::mask_regime>(x); })),
        gen::set(&recipe::bias), gen::set(&recipe::bias_minus_infinity),
        gen::set(&recipe::diagonal, gen::inRange<std::int64_t>(-6, 7)), gen::set(&recipe::left, edge),
        gen::set(&recipe::right, edge), gen::set(&recipe::scale, gen::inRange(0, 5)),
        gen::set(&recipe::softcap, gen::weightedElement<int>({{5, 0}, {1, 1}, {1, 2}, {1, 3}})),
        gen::set(&recipe::gap, gen::weightedElement<std::int64_t>({{4, 0}, {1, 1}, {1, 7}})));
  }
};

}  // namespace rc

namespace attest::tests {

/// The recipe with entries of different lengths, packed or paged, sinks and block masks, drawn too. Inside a property.
inline recipe with_entries(recipe r) {
  using rc::gen::inRange;
  r.entries = static_cast<entry_regime>(*inRange(0, entry_regimes));
  r.page = *inRange<std::int64_t>(1, 20);
  r.align = *inRange(0, 2) != 0;
  r.sink = static_cast<sink_regime>(*inRange(0, sink_regimes));
  r.block_q = *rc::gen::element<std::int64_t>(0, 0, 1, 3, 8), r.block_k = *rc::gen::element<std::int64_t>(1, 5, 16, 64);
  return r;
}

}  // namespace attest::tests
