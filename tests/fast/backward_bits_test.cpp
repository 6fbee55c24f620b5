// The bits of gradients: what they depend on, and what they do not; and the numbers that must be exact.
#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include "tests/fast/gradient_reference.hpp"

using namespace attest;
using tests::bounded;
using tests::owned;
using tests::real;
using tests::written;
using tests::written_gradients;

namespace {

/// A band, a mask with empty rows, a broadcast bias, sinks and perhaps a softcap.
template <class T>
written<T> busy(problem::sizes const& s, std::uint64_t seed) {
  written<T> asked(s, seed);
  std::mt19937_64 random(seed + 1);
  asked.band = {static_cast<std::int64_t>(random() % 40), -1, static_cast<std::int64_t>(random() % 60)};
  asked.mask = owned<std::uint8_t>::shaped({s.b, 1, s.n, s.m});
  asked.mask.each([&](std::uint8_t& x, auto, auto, auto i, auto) { x = i % 11 != 5 && random() % 5 != 0; });
  asked.bias = owned<T>::shaped({1, s.hq, 1, s.m});
  asked.bias.each([&](T& x, auto...) { x = tests::element_from<T>(static_cast<double>(random() % 1000) / 300); });
  asked.sink = owned<T>::shaped({s.hq});
  asked.sink.each([&](T& x, auto...) { x = tests::element_from<T>(static_cast<double>(random() % 5)); });
  if (seed % 2 == 0) asked.softcap = 4;
  return asked;
}

template <class T>
written_gradients<T> gradients_of(written<T> const& asked, fast::options const& how = {.threads = 1}) {
  auto at = tests::forward_of(asked, 5);
  tests::differentiate(asked, at, how);
  return at;
}

template <class X>
bool same_bits(X const& a, X const& b) {
  return std::memcmp(&a, &b, sizeof(X)) == 0;
}

template <class T>
bool all_zero(owned<T> const& of) {
  return std::ranges::all_of(of.values, [](T const& x) { return audit::number(x) == 0; });
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
