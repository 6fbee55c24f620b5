// An entry has the bits that it has alone, wherever its rows lie and whatever lies next to them. Memory that belongs to
// no entry is not read.
#include "fast/plan.hpp"
#include "tests/fast/case.hpp"
#include "tests/fast/entry_case.hpp"
#include "tests/support/guarded_bytes.hpp"

using namespace attest;
using tests::entry_case;
using tests::entry_form;
using tests::row_form;

namespace {

template <class E>
entry_case<E> drawn_entries(std::int64_t largest_n, std::int64_t largest_m) {
  auto const in = [](std::int64_t low, std::int64_t high) { return *rc::gen::inRange<std::int64_t>(low, high + 1); };
  entry_case<E> drawn;
  drawn.hk = in(1, 2), drawn.hq = drawn.hk * in(1, 3);
  drawn.d = *rc::gen::element<std::int64_t>(1, 5, 16, 64), drawn.dv = *rc::gen::element<std::int64_t>(1, 7, 32, 64);
  std::int64_t const count = in(1, 4);
  for (std::int64_t e = 0; e < count; ++e)
    drawn.add(in(0, 2) == 0 ? in(0, 2) : in(0, largest_n), in(0, 4) == 0 ? in(0, 1) : in(0, largest_m),
              *rc::gen::arbitrary<std::uint32_t>());
  if (in(0, 1) != 0) drawn.band = {in(-20, 60), in(-1, 90), in(-1, 90)};
  drawn.align = in(0, 1);
  if (in(0, 2) == 0) drawn.softcap = 5;
  if (in(0, 1) != 0)
    for (std::int64_t h = 0; h < drawn.hq; ++h)
      drawn.sink.push_back(drawn.number(static_cast<double>(in(-40, 40)) / 8));
  return drawn;
}

/// Alone each entry is a dense problem whose diagonal is given outright.
template <class E>
std::vector<tests::entry_answer<E>> each_alone(entry_case<E> const& all) {
  std::vector<tests::entry_answer<E>> answers;
  for (std::size_t e = 0; e < all.entries.size(); ++e) {
    entry_case<E> own = all;
    own.align = 0;
    if (all.align != 0) own.band.diagonal += all.entries[e].m - all.entries[e].n;
    answers.push_back(own.alone(e));
  }
  return answers;
}

}  // namespace

TEMPLATE_TEST_CASE("an entry has the same bits dense, packed, paged, in a longer slot and alone",
                   "[property][differential]", float, double, problem::bf16, problem::f16) {
  tests::simd_target const set(GENERATE(from_range(fast::simd_targets())));
  tests::property("all forms of queries and keys", [] {
    auto const drawn = drawn_entries<TestType>(70, 300);
    auto const truth = each_alone(drawn);
    for (row_form const queries : {row_form::dense, row_form::packed})
      for (row_form const keys : {row_form::dense, row_form::packed, row_form::paged}) {
        entry_form form{queries, keys};
        form.page = *rc::gen::element<std::int64_t>(1, 3, 7, 16, 32, 48, 64, 128, 256);
        form.longer = *rc::gen::element<std::int64_t>(0, 0, 1, 40);
        form.order = *rc::gen::arbitrary<std::uint32_t>();
        form.heads_inside = *rc::gen::arbitrary<bool>();
        RC_ASSERT(drawn.run(form, *rc::gen::element(1, 2, 5)) == truth);
      }
  });
}

TEMPLATE_TEST_CASE("decoding reads pages in place, with the bits of dense keys", "[unit][differential]", float, double,
                   problem::bf16) {
  tests::simd_target const set(GENERATE(from_range(fast::simd_targets())));
  for (std::int64_t const queries : {1, 8, 30}) {
    entry_case<TestType> decoding;
    decoding.hk = 2, decoding.hq = 2, decoding.d = 64, decoding.dv = 128;
    for (std::int64_t const m : {1, 127, 129, 1000}) decoding.add(queries, m, static_cast<std::uint64_t>(m));
    auto const truth = each_alone(decoding);
    for (std::int64_t const page : {1, 5, 16, 24, 64, 100, 128, 2048})
      CHECK(decoding.run({row_form::packed, row_form::paged, page}) == truth);
  }
}

TEMPLATE_TEST_CASE("splits that are tasks of their own follow the keys of each entry", "[unit][differential]", float,
                   double) {
  tests::simd_target const set(GENERATE(from_range(fast::simd_targets())));
  std::int64_t const split = fast::blocking_of<TestType>.split;
  entry_case<TestType> problem;
  problem.d = 16, problem.dv = 16;
  problem.add(1, 3 * split + 5, 1), problem.add(2, 40, 2), problem.add(1, 0, 3), problem.add(1, split, 4);
  problem.sink = {TestType(1.5)};
  auto const truth = each_alone(problem);
  for (int const threads : {1, 2, 8})
    for (row_form const keys : {row_form::dense, row_form::packed, row_form::paged})
      CHECK(problem.run({row_form::packed, keys, 64, 9}, threads) == truth);
}

TEST_CASE("a page may serve several entries, and one entry twice", "[unit]") {
  std::int64_t const page = 16, d = 4;
  entry_case<float> source;
  source.d = d, source.dv = d;
  source.add(3, 48, 1);
  auto const& from = source.entries[0];
  std::vector<std::int32_t> const table{0, 1, 2, 2, 1, -1}, lengths{48, 20};
  problem::arguments<float> given;
  std::vector<float> q = from.q, out(2 * 3 * 4), lone(3 * 4);
  q.insert(q.end(), from.q.begin(), from.q.end());
  using problem::layout;
  given.q = {q.data(), layout::compact({2, 1, 3, d})};
  given.k = {from.k.data(), layout::compact({3, 1, page, d})},
  given.v = {from.v.data(), layout::compact({3, 1, page, d})};
  given.block_table = problem::tensor<std::int32_t const>{table.data(), layout::compact({2, 3})};
  given.k_lengths = problem::tensor<std::int32_t const>{lengths.data(), layout::compact({2})};
  auto const instance = problem::instance<float>::make(given);
  REQUIRE(instance);
  auto const outputs =
      problem::outputs<float>::make(instance.value(), {{out.data(), layout::compact({2, 1, 3, d})}, {}, {}});
  REQUIRE(fast::attention(instance.value(), outputs.value()));
  CHECK(std::vector<float>(out.begin(), out.begin() + 12) == source.alone(0).o);
  entry_case<float> second = source;
  auto& keys = second.entries[0];
  keys.m = 20, keys.k.clear(), keys.v.clear();
  for (std::int64_t j = 0; j < 20; ++j)
    for (std::int64_t t = 0; t < d; ++t) {
      auto const at = static_cast<std::size_t>(((j < 16 ? 32 : 16) + j % 16) * d + t);
      keys.k.push_back(from.k[at]), keys.v.push_back(from.v[at]);
    }
  CHECK(std::vector<float>(out.begin() + 12, out.end()) == second.alone(0).o);
}

TEST_CASE("nothing behind the last key and the last query is touched", "[unit]") {
  tests::simd_target const set(GENERATE(from_range(fast::simd_targets())));
  // Pools, tables, lists and outputs end where memory ends; the last page has rows that no key is mapped to.
  for (std::int64_t const m : {1, 15, 31, 200})
    for (std::int64_t const d : {1, 16, 33}) {
      std::int64_t const page = 16, pages = (m + page - 1) / page;
      entry_case<float> source;
      source.d = source.dv = d;
      source.add(2, m, 5);
      auto const& from = source.entries[0];
      auto const numbers = [&](std::vector<float> const& values) {
        auto memory = std::make_unique<tests::guarded_bytes>(values.size() * sizeof(float));
        std::memcpy(memory->data(), values.data(), values.size() * sizeof(float));
        return memory;
      };
      auto const q = numbers(from.q), k = numbers(from.k), v = numbers(from.v),
                 out = numbers(std::vector<float>(static_cast<std::size_t>(2 * d)));
      tests::guarded_bytes table(static_cast<std::size_t>(pages) * 4), lengths(4);
      for (std::int64_t at = 0; at < pages; ++at)
        reinterpret_cast<std::int32_t*>(table.data())[at] = static_cast<std::int32_t>(at);
      *reinterpret_cast<std::int32_t*>(lengths.data()) = static_cast<std::int32_t>(m);
      auto const at = [](auto const& memory) { return reinterpret_cast<float*>(memory->data()); };
      problem::arguments<float> given;
      using problem::layout;
      given.q = {at(q), layout::compact({1, 1, 2, d})};
      // The pool is as long as its keys: the inaccessible page follows them.
      given.k = {at(k), layout::compact({pages, 1, page, d})}, given.v = {at(v), layout::compact({pages, 1, page, d})};
      given.block_table = problem::tensor<std::int32_t const>{reinterpret_cast<std::int32_t*>(table.data()),
                                                              layout::compact({1, pages})};
      given.k_lengths =
          problem::tensor<std::int32_t const>{reinterpret_cast<std::int32_t*>(lengths.data()), layout::compact({1})};
      auto const instance = problem::instance<float>::make(given);
      REQUIRE(instance);
      auto const outputs =
          problem::outputs<float>::make(instance.value(), {{at(out), layout::compact({1, 1, 2, d})}, {}, {}});
      REQUIRE(fast::attention(instance.value(), outputs.value()));
      CHECK(std::memcmp(at(out), source.alone(0).o.data(), static_cast<std::size_t>(2 * d) * sizeof(float)) == 0);
      CHECK((out->canary_lives() && q->canary_lives()));
    }
}

TEST_CASE("a plan has tasks for the queries that there are", "[unit]") {
  entry_case<float> problem;
  problem.hk = 2, problem.hq = 4, problem.d = problem.dv = 64;
  problem.add(0, 10, 1), problem.add(3000, 20, 2), problem.add(1, 20, 3);
  std::vector<std::int32_t> const lengths{0, 3000, 1};
  problem::arguments<float> given;
  std::vector<float> q(1), k(1), v(1);
  using problem::layout;
  given.q = {q.data(), {4, {3, 4, 3000, 64}, {0, 0, 0, 1}}};
  given.k = {k.data(), {4, {3, 2, 20, 64}, {0, 0, 0, 1}}}, given.v = {v.data(), {4, {3, 2, 20, 64}, {0, 0, 0, 1}}};
  given.q_lengths = problem::tensor<std::int32_t const>{lengths.data(), layout::compact({3})};
  auto const instance = problem::instance<float>::make(given);
  REQUIRE(instance);
  fast::plan const how = fast::plan_of(instance.value(), false, 1);
  CHECK(how.rows == 6000);
  REQUIRE(how.ends.size() == 3);
  CHECK((how.ends[0] == 0 && how.ends[1] == 2 * how.blocks && how.ends[2] == 2 * how.blocks + 2));
  CHECK(how.tasks == how.ends[2]);
}

TEST_CASE("dropout is refused, outputs untouched", "[unit]") {
  tests::owned_case<float> problem({1, 1, 1, 2, 3, 4, 5}, 1);
  problem::arguments<float> given;
  given.q = problem.q.in(), given.k = problem.k.in(), given.v = problem.v.in();
  std::vector<std::uint8_t> const keep(6, 1);
  given.keep = problem::tensor<std::uint8_t const>{keep.data(), problem::layout::compact({1, 1, 2, 3})};
  auto const instance = problem::instance<float>::make(given);
  REQUIRE(instance);
  tests::owned<float> o({1, 1, 2, 5}, -7.0f);
  auto const outputs = problem::outputs<float>::make(instance.value(), {o.out(), {}, {}});
  auto const done = fast::attention(instance.value(), outputs.value());
  REQUIRE(!done);
  CHECK(done.why().code == problem::error_code::unsupported);
  CHECK(std::all_of(o.values.begin(), o.values.end(), [](float x) { return x == -7; }));
}
