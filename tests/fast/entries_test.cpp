// An entry has the bits that it has alone, wherever its rows lie and whatever lies next to them. Memory that belongs to
// no entry is not read.
#include "tests/fast/entries.hpp"

#include "fast/plan.hpp"
#include "tests/fast/case.hpp"
#include "tests/support/guarded_bytes.hpp"

namespace attest::tests::entries_test {
using tests::entry_form;
using tests::entry_set;
using tests::row_form;

namespace {

entry_set of_type(problem::element_type type) {
  entry_set made;
  made.type = type;
  return made;
}

entry_set drawn_entries(problem::element_type type, std::int64_t largest_n, std::int64_t largest_m) {
  auto const in = [](std::int64_t low, std::int64_t high) { return *rc::gen::inRange<std::int64_t>(low, high + 1); };
  entry_set drawn = of_type(type);
  drawn.hk = in(1, 2), drawn.hq = drawn.hk * in(1, 3);
  drawn.d = *rc::gen::element<std::int64_t>(1, 5, 16, 64), drawn.dv = *rc::gen::element<std::int64_t>(1, 7, 32, 64);
  std::int64_t const count = in(1, 4);
  for (std::int64_t e = 0; e < count; ++e)
    drawn.add(in(0, 2) == 0 ? in(0, 2) : in(0, largest_n), in(0, 4) == 0 ? in(0, 1) : in(0, largest_m),
              *rc::gen::arbitrary<std::uint32_t>());
  if (in(0, 1) != 0) drawn.band = {in(-20, 60), in(-1, 90), in(-1, 90)};
  drawn.align = in(0, 1);
  if (in(0, 2) == 0) drawn.softcap = 5;
  if (in(0, 1) != 0) {
    drawn.sink = audit::owned_tensor::compact(type, {drawn.hq});
    for (std::int64_t h = 0; h < drawn.hq; ++h)
      audit::store(*drawn.sink, static_cast<std::size_t>(h), static_cast<double>(in(-40, 40)) / 8);
  }
  return drawn;
}

}  // namespace

TEMPLATE_TEST_CASE("an entry has the same bits dense, packed, paged, in a longer slot and alone",
                   "[property][differential]", float, double, problem::bf16, problem::f16) {
  tests::simd_target const set(GENERATE(from_range(fast::simd_targets())));
  tests::property("all forms of queries and keys", [] {
    auto const drawn = drawn_entries(problem::type_of<TestType>, 70, 300);
    auto const truth = drawn.answers();
    for (row_form const queries : {row_form::slots, row_form::packed})
      for (row_form const keys : {row_form::slots, row_form::packed, row_form::paged}) {
        entry_form form{queries, keys};
        form.page = *rc::gen::element<std::int64_t>(1, 3, 7, 16, 32, 48, 64, 128, 256);
        form.longer = *rc::gen::element<std::int64_t>(0, 0, 1, 40);
        form.order = *rc::gen::arbitrary<std::uint32_t>();
        form.heads_inside = *rc::gen::arbitrary<bool>();
        RC_ASSERT(drawn.answers(form, *rc::gen::element(1, 2, 5)) == truth);
      }
  });
}

TEMPLATE_TEST_CASE("decoding reads pages in place, with the bits of dense keys", "[unit][differential]", float, double,
                   problem::bf16) {
  tests::simd_target const set(GENERATE(from_range(fast::simd_targets())));
  for (std::int64_t const queries : {1, 8, 30}) {
    entry_set decoding = of_type(problem::type_of<TestType>);
    decoding.hk = 2, decoding.hq = 2, decoding.d = 64, decoding.dv = 128;
    for (std::int64_t const m : {1, 127, 129, 1000}) decoding.add(queries, m, static_cast<std::uint64_t>(m));
    auto const truth = decoding.answers();
    for (std::int64_t const page : {1, 5, 16, 24, 64, 100, 128, 2048})
      CHECK(decoding.answers({row_form::packed, row_form::paged, page}) == truth);
  }
}

TEMPLATE_TEST_CASE("splits that are tasks of their own follow the keys of each entry", "[unit][differential]", float,
                   double) {
  tests::simd_target const set(GENERATE(from_range(fast::simd_targets())));
  std::int64_t const split = fast::blocking_of<TestType>.split;
  entry_set problem = of_type(problem::type_of<TestType>);
  problem.d = 16, problem.dv = 16;
  problem.add(1, 3 * split + 5, 1), problem.add(2, 40, 2), problem.add(1, 0, 3), problem.add(1, split, 4);
  problem.sink = audit::owned_tensor::compact(problem.type, {1});
  audit::store(*problem.sink, 0, 1.5);
  auto const truth = problem.answers();
  for (int const threads : {1, 2, 8})
    for (row_form const keys : {row_form::slots, row_form::packed, row_form::paged})
      CHECK(problem.answers({row_form::packed, keys, 64, 9}, threads) == truth);
}

TEST_CASE("a page may serve several entries, and one entry twice", "[unit]") {
  entry_set source;
  source.d = source.dv = 4;
  source.add(3, 48, 1);
  audit::problem_draft const from = source.alone(0);
  auto const list = [](std::initializer_list<std::int32_t> numbers, std::initializer_list<std::int64_t> shape) {
    auto made = audit::owned_tensor::compact(problem::element_type::i32, shape);
    std::ranges::copy(numbers, made.as<std::int32_t>());
    return made;
  };
  audit::problem_draft call = from;  // pages of 16 keys
  call.q = audit::owned_tensor::compact(call.q.type, {2, 1, 3, 4});
  audit::fill(call.q,
              [&](auto, auto h, auto i, auto t) { return audit::load(from.q, audit::offset_of(from.q, 0, h, i, t)); });
  call.k.layout = call.v.layout = problem::layout::compact({3, 1, 16, 4});
  call.block_table = list({0, 1, 2, 2, 1, -1}, {2, 3}), call.k_lengths = list({48, 20}, {2});
  entry_set second = source;
  for (auto const tensor : {&audit::problem_draft::k, &audit::problem_draft::v}) {
    auto& keys = second.entries[0].*tensor;
    keys = audit::owned_tensor::compact(keys.type, {1, 1, 20, 4});
    audit::fill(keys, [&](auto, auto, auto j, auto t) {
      auto const& all = from.*tensor;
      return audit::load(all, audit::offset_of(all, 0, 0, (j < 16 ? 32 : 16) + j % 16, t));
    });
  }
  CHECK(tests::answers_to(call) == std::vector{source.answer(0), second.answer(0)});
}

TEST_CASE("nothing behind the last key and the last query is touched", "[unit]") {
  tests::simd_target const set(GENERATE(from_range(fast::simd_targets())));
  // Pools, tables, lists and outputs end where memory ends; the last page has rows that no key is mapped to.
  for (std::int64_t const m : {1, 15, 31, 200})
    for (std::int64_t const d : {1, 16, 33}) {
      std::int64_t const page = 16, pages = (m + page - 1) / page;
      entry_set source;
      source.d = source.dv = d;
      source.add(2, m, 5);
      auto const& from = source.entries[0];
      auto const guarded = [&](std::vector<std::byte> const& bytes) {
        auto memory = std::make_unique<tests::guarded_bytes>(bytes.size());
        std::memcpy(memory->data(), bytes.data(), bytes.size());
        return memory;
      };
      auto const expected = source.answer(0).o;
      auto const q = guarded(from.q.bytes), k = guarded(from.k.bytes), v = guarded(from.v.bytes),
                 out = guarded(std::vector<std::byte>(expected.size()));
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
      CHECK(std::memcmp(out->data(), expected.data(), expected.size()) == 0);
      CHECK((out->canary_lives() && q->canary_lives()));
    }
}

TEST_CASE("a plan has tasks for the queries that there are", "[unit]") {
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
  tests::written<float> problem({1, 1, 1, 2, 3, 4, 5}, 1);
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

}  // namespace attest::tests::entries_test
