// Lengths, offsets, pages, sinks, block masks and dropout: validation, and where each row lies.
#include <array>
#include <string>
#include <vector>

#include "problem/instance.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::call_entries_test {
namespace {

using problem::arguments;
using problem::instance;
using problem::layout;
using numbers = std::vector<std::int32_t>;

problem::tensor<std::int32_t const> list_of(numbers const& of) {
  return {of.data(), layout::compact({static_cast<std::int64_t>(of.size())})};
}

/// Memory that holds the number of each element, for tensors of any shape.
struct memory {
  std::vector<float> values = [] {
    std::vector<float> of(1 << 14);
    for (std::size_t at = 0; at < of.size(); ++at) of[at] = static_cast<float>(at);
    return of;
  }();
  problem::tensor<float const> tensor(std::initializer_list<std::int64_t> shape) const {
    return {values.data(), layout::compact(shape)};
  }
};

std::string refusal(arguments<float> const& of) {
  auto const made = instance<float>::make(of);
  return made ? "" : made.why().message();
}

}  // namespace

TEST_CASE("lengths say how many rows of its slot an entry has", "[unit]") {
  memory const all;
  arguments<float> of;
  of.q = all.tensor({2, 2, 5, 4}), of.k = of.v = all.tensor({2, 1, 7, 4});
  numbers const queries{5, 0};
  numbers keys{3, 7};
  of.q_lengths = list_of(queries), of.k_lengths = list_of(keys);
  auto const p = instance<float>::make(of).value();
  CHECK((p.queries(0) == 5 && p.queries(1) == 0 && p.keys(0) == 3 && p.keys(1) == 7));
  CHECK(p.size() == problem::sizes{2, 2, 1, 5, 7, 4, 4});
  CHECK_FALSE(p.entries().are_dense());
  keys[1] = 8;
  CHECK(refusal(of) == "k_lengths: [1] is 8, but entry 1 has room for 7 keys");
  keys = {-1, 2};
  CHECK(refusal(of) == "k_lengths: [0] is -1, but entry 0 has room for 7 keys");
  numbers const three{1, 1, 1};
  of.k_lengths = list_of(three);
  CHECK(refusal(of) == "k_lengths: shape is [3], expected [2], one number an entry");
}

TEST_CASE("alignment at the end follows the lengths of each entry", "[unit]") {
  memory const all;
  arguments<float> of;
  of.q = all.tensor({2, 1, 4, 4}), of.k = of.v = all.tensor({2, 1, 9, 4});
  numbers const queries{4, 2}, keys{9, 5};
  of.q_lengths = list_of(queries), of.k_lengths = list_of(keys);
  of.band = {-1, -1, 0}, of.align = 1;
  auto const p = instance<float>::make(of).value();
  CHECK(p.band(0).diagonal == 4);
  CHECK(p.band(1).diagonal == 2);
  of.align = 2;
  CHECK(refusal(of) == "align: is 2: it must be 0 or 1");
}

TEST_CASE("offsets pack entries, and must rise within the tensor", "[unit]") {
  memory const all;
  arguments<float> of;
  of.q = all.tensor({1, 2, 10, 4}), of.k = of.v = all.tensor({1, 1, 12, 4});
  numbers queries{0, 3, 3, 9}, keys{0, 4, 10, 12};
  of.q_offsets = list_of(queries), of.k_offsets = list_of(keys);
  auto const p = instance<float>::make(of).value();
  CHECK(p.size() == problem::sizes{3, 2, 1, 6, 6, 4, 4});
  CHECK((p.queries(0) == 3 && p.queries(1) == 0 && p.queries(2) == 6 && p.keys(1) == 6));
  CHECK(p.q()(2, 1, 5, 3) == 10 * 4 + 8 * 4 + 3);
  CHECK(p.k()(1, 0, 2, 1) == (4 + 2) * 4 + 1);
  queries[2] = 2;
  CHECK(refusal(of) == "q_offsets: [2] = 2 follows [1] = 3: offsets must rise from 0 to at most 10, the rows of q");
  queries = {1, 3, 3, 9};
  CHECK(refusal(of) == "q_offsets: [0] = 1: offsets must rise from 0 to at most 10, the rows of q");
  queries = {0, 3, 3, 11};
  CHECK(refusal(of) == "q_offsets: [3] = 11: offsets must rise from 0 to at most 10, the rows of q");
  queries = {0, 3, 3, 9}, keys = {0, 4, 12};
  of.k_offsets = list_of(keys);
  CHECK(refusal(of) == "q_offsets: the queries have 3 entries, the keys 2");
}

TEST_CASE("packed rows have no masks, biases and weights", "[unit]") {
  memory const all;
  std::vector<std::uint8_t> const bytes(1000, 1);
  arguments<float> of;
  of.q = all.tensor({1, 2, 6, 4}), of.k = of.v = all.tensor({1, 1, 6, 4});
  numbers const offsets{0, 2, 6};
  of.q_offsets = of.k_offsets = list_of(offsets);
  of.mask = problem::tensor<std::uint8_t const>{bytes.data(), layout::compact({1, 1, 4, 4})};
  CHECK(refusal(of) == "mask: has no shape over packed rows; use lengths, the band, or the dense layout");
  of.mask.reset();
  auto const p = instance<float>::make(of).value();
  std::vector<float> o(2 * 6 * 4), lse(2 * 6), weights(2 * 2 * 4 * 4);
  problem::output_tensors<float> to{{o.data(), layout::compact({1, 2, 6, 4})}, {}, {}};
  // An LSE [rows, heads] is one of [1, heads, rows] with other strides.
  to.lse = problem::tensor<float>{lse.data(), layout{3, {1, 2, 6}, {12, 1, 2}}};
  auto const out = problem::outputs<float>::make(p, to);
  REQUIRE(out.has_value());
  CHECK(&out.value().o(1, 1, 3, 0) == o.data() + (6 + 5) * 4);
  CHECK(&out.value().lse(1, 1, 3, 0) == lse.data() + 1 + 5 * 2);
  to.weights = problem::tensor<float>{weights.data(), layout::compact({2, 2, 4, 4})};
  CHECK(problem::outputs<float>::make(p, to).why().argument == "weights");
}

TEST_CASE("a table maps keys to pages, and only needed columns are looked at", "[unit]") {
  memory const all;
  arguments<float> of;
  of.q = all.tensor({2, 2, 1, 4}), of.k = of.v = all.tensor({5, 1, 3, 4});  // 5 pages of 3 keys
  numbers table{4, 0, -1, 2, 2147483647, -7}, lengths{6, 2};
  of.block_table = problem::tensor<std::int32_t const>{table.data(), layout::compact({2, 3})};
  CHECK(refusal(of) == "block_table: needs k_lengths");
  of.k_lengths = list_of(lengths);
  auto const p = instance<float>::make(of).value();
  CHECK(p.size() == problem::sizes{2, 2, 1, 1, 9, 4, 4});
  CHECK(p.k()(0, 0, 1, 2) == (4 * 3 + 1) * 4 + 2);
  CHECK(p.k()(0, 0, 5, 0) == (0 * 3 + 2) * 4);
  CHECK(p.v()(1, 0, 1, 3) == (2 * 3 + 1) * 4 + 3);
  CHECK_FALSE(p.k().has_row_stride());
  lengths[1] = 4;
  CHECK(refusal(of) ==
        "block_table: [1][1] = 2147483647 is needed (entry 1 has 4 keys of 3 a page), but there are 5 pages");
  lengths[1] = 10;
  CHECK(refusal(of) == "k_lengths: [1] is 10, but entry 1 has room for 9 keys (3 table columns of 3)");
  numbers const offsets{0, 1, 2};
  of.k_offsets = list_of(offsets);
  CHECK(refusal(of) == "block_table: it and k_offsets exclude each other");
}

TEST_CASE("sinks, block masks and dropout have shapes and companions", "[unit]") {
  memory const all;
  std::vector<std::uint8_t> const bytes(1000, 1);
  arguments<float> of;
  of.q = all.tensor({2, 4, 5, 4}), of.k = of.v = all.tensor({2, 2, 9, 4});
  of.sink = all.tensor({4});
  CHECK(instance<float>::make(of).value().sink()(1, 3, 0, 0) == 3);
  of.sink = all.tensor({2, 4});
  CHECK(instance<float>::make(of).value().sink()(1, 3, 0, 0) == 7);
  of.sink = all.tensor({1, 4});
  CHECK(instance<float>::make(of).value().sink()(1, 3, 0, 0) == 3);
  of.sink = all.tensor({2});
  CHECK(refusal(of) == "sink: shape is [2]; 4 query heads need [4] or [b or 1, 4]");
  of.sink.reset();
  of.block_mask = problem::tensor<std::uint8_t const>{bytes.data(), layout::compact({1, 4, 3, 3})};
  CHECK(refusal(of) == "block_mask: needs block_q and block_k of at least 1");
  of.block_q = 2, of.block_k = 4;
  CHECK(refusal(of).empty());
  of.block_k = 3;
  CHECK(refusal(of).empty());
  of.block_k = 2;
  CHECK(refusal(of) == "block_mask: shape [1, 4, 3, 3] does not broadcast: axis 3 has size 3, expected 5");
  of.block_mask.reset(), of.block_q = of.block_k = 0;
  of.dropout = 0.5;
  CHECK(refusal(of) == "keep: is missing beside a dropout above 0: it says which weights are kept");
  of.keep = problem::tensor<std::uint8_t const>{bytes.data(), layout::compact({1, 1, 5, 9})};
  CHECK(refusal(of).empty());
  of.dropout = 1;
  CHECK(refusal(of) == "dropout: must lie in [0, 1)");
}

TEST_CASE("entries may be empty, all of them, or none", "[unit]") {
  memory const all;
  arguments<float> of;
  of.q = all.tensor({1, 2, 0, 4}), of.k = of.v = all.tensor({0, 1, 3, 4});
  numbers const offsets{0}, none{};
  of.q_offsets = list_of(offsets);
  of.block_table = problem::tensor<std::int32_t const>{none.data(), layout::compact({0, 2})};
  of.k_lengths = list_of(none);
  auto const p = instance<float>::make(of);
  REQUIRE(p.has_value());
  CHECK(p.value().size() == problem::sizes{0, 2, 1, 0, 6, 4, 4});
  numbers const empty{0, 0, 0}, zero{0, 0}, no_page{-1, -1, -1, -1};
  of.q_offsets = list_of(empty);
  of.block_table = problem::tensor<std::int32_t const>{no_page.data(), layout::compact({2, 2})};
  of.k_lengths = list_of(zero);
  CHECK(refusal(of).empty());
}

}  // namespace attest::tests::call_entries_test
