// Packed and paged problems beside the same problem in slots: rows, outputs, files.
#include "audit/tensors/entry_forms.hpp"

#include <cstring>

#include "audit/cases/arranged.hpp"
#include "audit/cases/random.hpp"
#include "audit/files/problem_file.hpp"
#include "audit/judge/judge_outputs.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::entry_forms_test {
namespace {

using namespace audit;

/// Three entries of 4, 0 and 2 queries and 9, 3 and 0 keys.
problem_draft three_entries(random_stream& random) {
  problem_draft draft = gaussian({3, 4, 2, 4, 9, 8, 6}, problem::element_type::f32, random);
  set_lengths(draft, {4, 0, 2}, {9, 3, 0});
  return draft;
}

enum class way { packed, paged, packed_and_paged };

owned_problem arranged(way how) {
  random_stream random(7, "arranged");
  problem_draft draft = three_entries(random);
  if (how != way::paged) pack_queries(draft, 2);
  if (how == way::packed) pack_keys(draft, 1);
  else page_keys(draft, {.page = 4, .more_columns = 2, .more_pages = 1}, random);
  return owned_problem::of_valid(std::move(draft));
}

bool same_bytes(owned_tensor const& a, owned_tensor const& b) { return compact_bytes(a) == compact_bytes(b); }

}  // namespace

TEST_CASE("the rows of an entry are the same packed, paged and in its slot", "[unit]") {
  random_stream random(7, "arranged");
  owned_problem const slots = owned_problem::of_valid(three_entries(random));
  auto const& expected = std::get<problem::instance<float>>(slots.instance());
  for (way const how : {way::packed, way::paged, way::packed_and_paged}) {
    owned_problem const other = arranged(how);
    auto const& p = std::get<problem::instance<float>>(other.instance());
    for (std::int64_t b = 0; b < 3; ++b) {
      REQUIRE((p.queries(b) == expected.queries(b) && p.keys(b) == expected.keys(b)));
      for (std::int64_t h = 0; h < 4; ++h)
        for (std::int64_t i = 0; i < p.queries(b); ++i)
          CHECK(std::memcmp(p.q().row(b, h, i), expected.q().row(b, h, i), 8 * sizeof(float)) == 0);
      for (std::int64_t h = 0; h < 2; ++h)
        for (std::int64_t j = 0; j < p.keys(b); ++j) {
          CHECK(std::memcmp(p.k().row(b, h, j), expected.k().row(b, h, j), 8 * sizeof(float)) == 0);
          CHECK(std::memcmp(p.v().row(b, h, j), expected.v().row(b, h, j), 6 * sizeof(float)) == 0);
        }
    }
    problem_draft const again = in_slots(other);
    CHECK(owned_problem::make(again).has_value());
    CHECK_FALSE((again.q_offsets || again.k_offsets || again.block_table));
  }
}

TEST_CASE("outputs of zeros have the rows of the problem, and may be put in slots", "[unit]") {
  for (way const how : {way::packed, way::paged, way::packed_and_paged}) {
    owned_problem const problem = arranged(how);
    std::size_t const rows = problem.draft().q_offsets ? 4 * 8 : 3 * 4 * 4;
    owned_outputs const zeros = zero_outputs(problem);
    REQUIRE((zeros.o && zeros.lse && !zeros.weights));
    CHECK(zeros.o->bytes.size() == rows * 6 * sizeof(float));
    CHECK(zeros.lse->bytes.size() == rows * sizeof(float));
    CHECK(in_slots(problem, zeros).o->bytes == std::vector<std::byte>(3 * 4 * 4 * 6 * sizeof(float)));
  }
}

TEST_CASE("what belongs to no query of an output is cleared", "[unit]") {
  for (way const how : {way::packed, way::paged}) {
    owned_problem const problem = arranged(how);
    bool const packed = problem.draft().q_offsets.has_value();
    auto o = packed ? owned_tensor::compact(problem::element_type::f32, {1, 4, 8, 6})
                    : owned_tensor::compact(problem::element_type::f32, {3, 4, 4, 6});
    fill(o, [](auto...) { return 1.0; });
    owned_tensor before = o;
    auto const last = static_cast<std::size_t>(o.bytes.size() / sizeof(float) - 1);
    CHECK(clear_padding(problem, before).not_zero.count == (packed ? 4 * 2 : 4 * 6));
    CHECK(clear_padding(problem, before).not_zero.count == 0);
    before = o, store(before, last, 5);  // of no query
    padding_found const found = clear_padding(problem, o, before.bytes);
    CHECK(found.changed == padding_found::rows{1, static_cast<std::int64_t>(last / 6)});
    CHECK(clear_padding(problem, o, o.bytes).changed.count == 0);
    double sum = 0;
    for (std::size_t at = 0; at < o.bytes.size() / sizeof(float); ++at) sum += load(o, at);
    CHECK(sum == 4 * 6 * (4 + 0 + 2));
    CHECK(queries_of(problem) == 6);
    for (std::int64_t i = 0; i < 2; ++i) CHECK(load(o, output_row(problem, 2, 3, i) * 6) == 1);
  }
}

TEST_CASE("files keep packed and paged problems, in every order of axes", "[unit]") {
  for (way const how : {way::packed, way::paged, way::packed_and_paged})
    for (axis_order const order : {axis_order::bhnd, axis_order::bnhd, axis_order::thd})
      for (pool_order const pools : {pool_order::hnd, pool_order::nhd}) {
        problem_file_entry entry{.prefix = "layer0", .problem = arranged(how), .order = order, .pools = pools};
        bool const packed = entry.problem.draft().q_offsets.has_value();
        entry.outputs.o = packed ? owned_tensor::compact(problem::element_type::f32, {1, 4, 8, 6})
                                 : owned_tensor::compact(problem::element_type::f32, {3, 4, 4, 6});
        entry.outputs.lse = packed ? owned_tensor::compact(problem::element_type::f32, {1, 4, 8})
                                   : owned_tensor::compact(problem::element_type::f32, {3, 4, 4});
        double next = 0;
        for (auto* output : {&*entry.outputs.o, &*entry.outputs.lse}) {
          for (std::size_t at = 0; at < output->bytes.size() / sizeof(float); ++at) store(*output, at, ++next);
          clear_padding(entry.problem, *output);
        }
        auto const bytes = problem_file_bytes({&entry, 1});
        REQUIRE(bytes.has_value());
        auto const file = parse_safetensors(bytes.value());
        REQUIRE(file.has_value());
        auto const read = problem_file_of(file.value());
        REQUIRE(read.has_value());
        problem_file_entry const& again = read.value().problems.front();
        CHECK(again.unusable.empty());
        CHECK((again.order == order));
        for (auto const tensor : {&problem_draft::q, &problem_draft::k, &problem_draft::v})
          CHECK(same_bytes(again.problem.draft().*tensor, entry.problem.draft().*tensor));
        REQUIRE(again.outputs.o.has_value());
        REQUIRE(again.outputs.lse.has_value());
        CHECK(same_bytes(*again.outputs.o, *entry.outputs.o));
        CHECK(same_bytes(*again.outputs.lse, *entry.outputs.lse));
      }
}

}  // namespace attest::tests::entry_forms_test
