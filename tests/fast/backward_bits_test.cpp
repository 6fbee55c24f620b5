// The bits of gradients: what they depend on, and what they do not; and the numbers that must be exact.
#include <algorithm>
#include <random>
#include <vector>

#include "tests/fast/gradient_bits.hpp"
#include "tests/fast/gradient_reference.hpp"

namespace attest::tests::backward_bits_test {
namespace {

template <class X>
bool same_bits(X const& a, X const& b) {
  return std::memcmp(&a, &b, sizeof(X)) == 0;
}

}  // namespace

TEMPLATE_TEST_CASE("threads and the planned cache leave every bit of gradients as it is", "[unit]", float, double,
                   problem::bf16) {
  tests::simd_target const set(GENERATE(from_range(fast::simd_targets())));
  // One kv head for several threads is cut into blocks; four are not.
  for (problem::sizes const& s :
       {problem::sizes{1, 2, 1, 290, 300, 20, 12}, problem::sizes{2, 4, 2, 150, 330, 20, 12}}) {
    auto const asked = busy<TestType>(s, 11);
    auto const alone = gradients_of(asked);
    for (int const threads : {0, 2, 3}) CHECK(gradients_of(asked, {.threads = threads}).same_bits_as(alone));
    for (std::int64_t const cache : {1, 90 << 10, 4 << 20})
      CHECK(gradients_of(asked, {.threads = 1, .cache = cache}).same_bits_as(alone));
  }
}

TEMPLATE_TEST_CASE("gradients have the same bits on AVX2 and AVX-512", "[unit]", float, double, problem::f16) {
  auto const sets = fast::simd_targets();
  auto const has = [&](std::string_view name) { return std::find(sets.begin(), sets.end(), name) != sets.end(); };
  if (!has("AVX2") || !has("AVX3")) return;
  auto const with = [](written<TestType> const& asked, std::string_view name) {
    tests::simd_target const set(name);
    return gradients_of(asked);
  };
  for (std::int64_t const d : {1, 5, 64, 67})
    for (std::int64_t const m : {1, 13, 130, 300}) {
      auto const asked = busy<TestType>({1, 2, 1, 131, m, d, d + 2}, static_cast<std::uint64_t>(d * m));
      CHECK(with(asked, "AVX2").same_bits_as(with(asked, "AVX3")));
    }
}

TEMPLATE_TEST_CASE("an entry has the gradients that it has alone", "[property]", float, problem::bf16) {
  using T = TestType;
  tests::property("slots, packed rows, pages", [] {
    auto const draw = [](std::int64_t below) { return *rc::gen::inRange<std::int64_t>(0, below); };
    std::int64_t const entries = 1 + draw(3), hk = 1 + draw(2), hq = hk * (1 + draw(2)), d = 1 + draw(20),
                       dv = 1 + draw(20), page = 1 + draw(40);
    std::vector<written<T>> parts;
    std::vector<written_gradients<T>> alone;
    std::vector<std::int32_t> n{0}, m{0}, lengths;
    for (std::int64_t e = 0; e < entries; ++e) {
      problem::sizes const s{1, hq, hk, 1 + draw(150), 1 + draw(150), d, dv};
      auto& part = parts.emplace_back(s, static_cast<std::uint64_t>(draw(1 << 20)));
      part.band = {2, 50, 9}, part.align = true;
      alone.push_back(gradients_of(part));
      n.push_back(n.back() + static_cast<std::int32_t>(s.n)), m.push_back(m.back() + static_cast<std::int32_t>(s.m));
      lengths.push_back(static_cast<std::int32_t>(s.m));
    }
    bool const paged = draw(2) == 1;
    std::int64_t const rows = n.back(), keys = m.back(), width = (*std::ranges::max_element(lengths) + page - 1) / page,
                       slot = width * page;
    written<T> all;
    all.q = owned<T>::shaped({1, hq, rows, d});
    // Pages lie in the pool in the opposite order.
    std::int64_t const pool = paged ? entries * width : 1, inside = paged ? page : keys;
    all.k = owned<T>::shaped({pool, hk, inside, d}, 0, written<T>::nan());
    all.v = owned<T>::shaped({pool, hk, inside, dv}, 0, written<T>::nan());
    written_gradients<T> at;
    at.d_o = at.o = owned<T>::shaped({1, hq, rows, dv}), at.dq = owned<T>::shaped({1, hq, rows, d});
    at.lse = owned<problem::lse_element<T>>::shaped({1, hq, rows});
    at.dk = owned<T>::shaped({paged ? entries : 1, hk, paged ? slot : keys, d});
    at.dv = owned<T>::shaped({paged ? entries : 1, hk, paged ? slot : keys, dv});
    std::vector<std::int32_t> table;
    for (std::int64_t k = 0; k < entries * width; ++k)
      table.push_back(static_cast<std::int32_t>(entries * width - 1 - k));
    for (std::size_t e = 0; e < parts.size(); ++e) {
      parts[e].q.each([&](T& x, auto, auto h, auto i, auto t) { all.q.at(0, h, n[e] + i, t) = x; });
      alone[e].o.each([&](T& x, auto, auto h, auto i, auto c) { at.o.at(0, h, n[e] + i, c) = x; });
      alone[e].d_o.each([&](T& x, auto, auto h, auto i, auto c) { at.d_o.at(0, h, n[e] + i, c) = x; });
      alone[e].lse.each([&](auto& x, auto, auto h, auto i, auto) { at.lse.at(0, h, n[e] + i) = x; });
      auto const place = [&](owned<T>& of, auto h, std::int64_t j, auto t) -> T& {
        if (!paged) return of.at(0, h, m[e] + j, t);
        return of.at(table[e * static_cast<std::size_t>(width) + static_cast<std::size_t>(j / page)], h, j % page, t);
      };
      parts[e].k.each([&](T& x, auto, auto h, auto j, auto t) { place(all.k, h, j, t) = x; });
      parts[e].v.each([&](T& x, auto, auto h, auto j, auto t) { place(all.v, h, j, t) = x; });
    }
    auto arguments = all.arguments();
    arguments.band = {2, 50, 9}, arguments.align = true;
    auto const list = [](std::vector<std::int32_t> const& of) {
      return problem::tensor<std::int32_t const>{of.data(), problem::layout::compact({std::ssize(of)})};
    };
    arguments.q_offsets = list(n);
    if (!paged) arguments.k_offsets = list(m);
    else
      arguments.k_lengths = list(lengths),
      arguments.block_table = {table.data(), problem::layout::compact({entries, width})};
    auto const made = problem::instance<T>::make(arguments);
    if (!made) FAIL(made.why().message());
    problem::instance<T> const& instance = made.value();
    auto const of_queries = [&](auto view) { return view.map = instance.entries().queries.map, view; };
    auto const of_keys = [&](auto view) {
      if (!paged) view.map = instance.entries().keys.map;
      return view;
    };
    using L = problem::lse_element<T>;
    fast::gradients<T> wanted;
    wanted.dq = of_queries(tests::whole_view<T>(at.dq));
    wanted.dk = of_keys(tests::whole_view<T>(at.dk)), wanted.dv = of_keys(tests::whole_view<T>(at.dv));
    auto const done = fast::attention_backward(
        instance,
        {of_queries(tests::whole_view<T const>(at.d_o)), of_queries(tests::whole_view<T const>(at.o)),
         of_queries(tests::whole_view<L const>(at.lse, 1))},
        wanted, {.threads = static_cast<int>(1 + draw(3))});
    if (!done) FAIL(done.why().message());
    for (std::size_t e = 0; e < parts.size(); ++e) {
      auto const b = paged ? static_cast<std::int64_t>(e) : 0, first = paged ? 0 : std::int64_t{m[e]};
      alone[e].dq.each(
          [&](T& x, auto, auto h, auto i, auto t) { RC_ASSERT(same_bits(x, at.dq.at(0, h, n[e] + i, t))); });
      alone[e].dk.each(
          [&](T& x, auto, auto h, auto j, auto t) { RC_ASSERT(same_bits(x, at.dk.at(b, h, first + j, t))); });
      alone[e].dv.each(
          [&](T& x, auto, auto h, auto j, auto t) { RC_ASSERT(same_bits(x, at.dv.at(b, h, first + j, t))); });
    }
  });
}

TEMPLATE_TEST_CASE("nothing at an invisible pair reaches a gradient", "[property]", float, double, problem::bf16) {
  tests::simd_target const set(GENERATE(from_range(fast::simd_targets())));
  using T = TestType;
  tests::property("poison in K, V, Q, dO and O where no pair, or only some pairs, see it", [] {
    problem::sizes const s{1, 2, 1, *rc::gen::inRange<std::int64_t>(1, 180), *rc::gen::inRange<std::int64_t>(1, 180),
                           5, 3};
    auto asked = busy<T>(s, *rc::gen::arbitrary<std::uint32_t>());
    std::mt19937_64 random(*rc::gen::arbitrary<std::uint32_t>());
    // Some keys are seen by one half of the queries alone, some by none.
    asked.mask.each([&](std::uint8_t& x, auto, auto, auto i, auto j) {
      if (j % 5 == 1) x = x != 0 && i % 2 == 0;
      if (j % 5 == 2) x = 0;
    });
    auto clean = tests::forward_of(asked, 5);
    auto got = clean;
    tests::differentiate(asked, clean);
    auto const instance = asked.instance();
    auto const sees = [&](std::int64_t h, std::int64_t i, std::int64_t j) {
      return tests::is_visible(instance, 0, h, i, j);
    };
    T const poison = tests::element_from<T>(*rc::gen::element(std::nan(""), HUGE_VAL, -HUGE_VAL, 3e38));
    std::vector<bool> bad_row(static_cast<std::size_t>(s.hq * s.n)), bad_key(static_cast<std::size_t>(s.m));
    auto const row = [&](std::int64_t h, std::int64_t i) { return static_cast<std::size_t>(h * s.n + i); };
    bool const only_hidden = *rc::gen::arbitrary<bool>();
    for (std::int64_t j = 0; j < s.m; ++j) {
      if (j % 5 != 2 && (only_hidden || j % 5 != 1)) continue;
      for (std::int64_t t = 0; t < s.d; ++t) asked.k.at(0, 0, j, t) = poison;
      for (std::int64_t c = 0; c < s.dv; ++c) asked.v.at(0, 0, j, c) = poison;
    }
    // A row with a poisoned key, and a row that sees no key, have poison of their own.
    for (std::int64_t h = 0; h < s.hq; ++h)
      for (std::int64_t i = 0; i < s.n; ++i) {
        bool empty = true, touched = false;
        for (std::int64_t j = 0; j < s.m; ++j)
          if (sees(h, i, j)) empty = false, touched = touched || (!only_hidden && j % 5 == 1);
        bad_row[row(h, i)] = touched;
        if (!empty && !touched) continue;
        for (std::int64_t t = 0; t < s.d; ++t) asked.q.at(0, h, i, t) = poison;
        for (std::int64_t c = 0; c < s.dv; ++c) got.d_o.at(0, h, i, c) = got.o.at(0, h, i, c) = poison;
        if (empty) got.lse.at(0, h, i) = random() % 2 == 0 ? HUGE_VALF : -HUGE_VALF;
      }
    for (std::int64_t h = 0; h < s.hq; ++h)
      for (std::int64_t i = 0; i < s.n; ++i)
        for (std::int64_t j = 0; j < s.m; ++j)
          if (bad_row[row(h, i)] && sees(h, i, j)) bad_key[static_cast<std::size_t>(j)] = true;
    tests::differentiate(asked, got);
    for (std::int64_t h = 0; h < s.hq; ++h)
      for (std::int64_t i = 0; i < s.n; ++i)
        for (std::int64_t t = 0; t < s.d && !bad_row[row(h, i)]; ++t)
          RC_ASSERT(same_bits(got.dq.at(0, h, i, t), clean.dq.at(0, h, i, t)));
    for (std::int64_t h = 0; h < s.hq && only_hidden; ++h)
      RC_ASSERT(
          same_bits(got.dsink.values[static_cast<std::size_t>(h)], clean.dsink.values[static_cast<std::size_t>(h)]));
    for (std::int64_t j = 0; j < s.m; ++j) {
      if (bad_key[static_cast<std::size_t>(j)]) continue;
      for (std::int64_t t = 0; t < s.d; ++t) RC_ASSERT(same_bits(got.dk.at(0, 0, j, t), clean.dk.at(0, 0, j, t)));
      for (std::int64_t c = 0; c < s.dv; ++c) RC_ASSERT(same_bits(got.dv.at(0, 0, j, c), clean.dv.at(0, 0, j, c)));
      for (std::int64_t h = 0; h < s.hq; ++h)
        RC_ASSERT(same_bits(got.dbias.at(0, h, 0, j), clean.dbias.at(0, h, 0, j)));
    }
  });
}

}  // namespace attest::tests::backward_bits_test
