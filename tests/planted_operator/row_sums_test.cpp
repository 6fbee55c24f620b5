// The cases of the planted operator, and its way from a kernel and a file to a verdict. In the product, cases would be
// in audit/cases/families/row_sums.cpp.
#include "tests/planted_operator/row_sums.hpp"

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "audit/files/problem_file.hpp"
#include "audit/isolation/isolated_kernel.hpp"
#include "audit/session/run_verify.hpp"
#include "audit/tensors/elements.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/scratch_folder.hpp"

namespace attest::tests {
namespace {

using namespace audit;
using problem::element_type;

/// Two query heads that share one head of K, 3 queries, `keys` keys, d = 2.
owned_problem row_sums_of(std::int64_t keys) {
  problem_draft draft;
  draft.of = &row_sums;
  draft.q = owned_tensor::compact(element_type::f32, {1, 2, 3, 2});
  draft.k = owned_tensor::compact(element_type::f32, {1, 1, keys, 2});
  for (std::size_t at = 0; at < draft.q.spanned_elements(); ++at)
    store(draft.q, at, 0.75 * std::sin(static_cast<double>(at)));
  for (std::size_t at = 0; at < draft.k.spanned_elements(); ++at)
    store(draft.k, at, 2 * std::cos(3 * static_cast<double>(at)));
  draft.read_no_values();
  return owned_problem::of_valid(std::move(draft));
}

/// The answer of a function of row_sums.c, which runs in a process of its own.
owned_outputs answer_of(char const* symbol, owned_problem const& problem) {
  auto kernel = isolated_kernel::open(ATTEST_TEST_KERNELS "/row_sums.so", symbol, {}, ATTEST_TEST_RUNNER);
  if (!kernel) FAIL(kernel.why().message());
  owned_outputs outputs;
  auto const report = kernel.value().run(problem, {}, outputs);
  if (!report) FAIL(report.why().message());
  INFO(report.value().sentence);
  REQUIRE(report.value().outcome == call_outcome::succeeded);
  CHECK(report.value().broken.empty());
  return outputs;
}

report verified(safetensor_map const& tensors, safetensors_metadata const& metadata = {},
                operator_table table = operators_and_row_sums) {
  scratch_folder const folder("row-sums");
  verify_options options;
  options.inputs = folder.path / "file.safetensors", options.operators = table, options.findings.clear();
  REQUIRE(!write_safetensors(options.inputs, tensors, metadata));
  auto done = run_verify(options);
  if (!done) FAIL(done.why().message());
  return std::move(done).value();
}

std::string notes_of(report const& of) {
  std::string notes;
  for (observation const& note : of.observations) notes += note.sentence + '\n';
  return notes;
}

/// Numbers as a tensor of a file.
struct numbers {
  std::vector<float> values;
  std::vector<std::int64_t> shape;
  safetensor tensor() const { return {"F32", shape, std::as_bytes(std::span(values))}; }
};

/// Four keys with the score 0: L = ln 4, or ln of the number of visible keys.
numbers const q{{0, 0}, {1, 1, 2, 1}}, k{{1, 2, 3, 4}, {1, 1, 4, 1}};
float log_of(double keys) { return static_cast<float>(std::log(keys)); }

}  // namespace

TEST_CASE("the kernel of a planted operator is called without V and O, and answers the LSE alone", "[unit]") {
  owned_outputs const outputs = answer_of(row_sums.symbol, row_sums_of(5));
  CHECK(!outputs.o);
  CHECK(!outputs.weights);
  REQUIRE(outputs.lse);
  CHECK(outputs.lse->layout.rank == 3);
  CHECK(outputs.lse->layout.shape == problem::layout::compact({1, 2, 3}).shape);
}

TEST_CASE("a recorded answer of a planted operator is certified if it is right, else refuted", "[unit]") {
  for (auto const& [symbol, expected] :
       {std::pair{row_sums.symbol, verdict::certified}, std::pair{"row_sums_without_last_key", verdict::refuted}}) {
    owned_problem const problem = row_sums_of(5);
    problem_file_entry const entry{.prefix = "x", .problem = problem, .outputs = answer_of(symbol, problem)};
    auto const bytes = problem_file_bytes(std::span(&entry, 1));
    REQUIRE(bytes);
    auto const file = parse_safetensors(bytes.value());
    REQUIRE(file);
    CHECK(file.value().tensors.contains("x.lse"));
    for (char const* const absent : {"x.v", "x.o", "x.weights"}) CHECK(!file.value().tensors.contains(absent));
    report const found = verified(file.value().tensors, file.value().metadata);
    CHECK(found.verdict == expected);
    if (expected == verdict::certified) {
      CHECK(found.checks.front().sum.judged() == 6);
      continue;
    }
    REQUIRE(!found.findings.empty());
    CHECK(found.findings.front().what.output == "lse");
  }
}

TEST_CASE("the parameters and the mask of attention apply to a planted operator of calls", "[unit]") {
  std::uint8_t const mask[]{1, 0, 1, 1, 1, 1, 1, 0};
  safetensor_map tensors{
      {"q", q.tensor()}, {"k", k.tensor()}, {"mask", {"BOOL", {1, 1, 2, 4}, std::as_bytes(std::span(mask))}}};
  safetensors_metadata const causal{{"right", "1"}, {"scale", "0.5"}};
  numbers const right{{log_of(1), log_of(3)}, {1, 1, 2}}, without_mask{{log_of(2), log_of(3)}, {1, 1, 2}};
  tensors["lse"] = right.tensor();
  CHECK(verified(tensors, causal).verdict == verdict::certified);
  tensors["lse"] = without_mask.tensor();
  CHECK(verified(tensors, causal).verdict == verdict::refuted);
}

TEST_CASE("rows of keys that offsets pack are the rows of a planted operator without V", "[unit]") {
  // Two entries, of one query and one key, and of one query and three keys; [rows, heads, width] and [heads, rows].
  std::int32_t const q_offsets[]{0, 1, 2}, k_offsets[]{0, 1, 4};
  numbers const rows_of_q{{0, 0}, {2, 1, 1}}, rows_of_k{{1, 2, 3, 4}, {4, 1, 1}};
  numbers const right{{log_of(1), log_of(3)}, {1, 2}}, wrong{{log_of(1), log_of(4)}, {1, 2}};
  for (auto const& [lse, expected] : {std::pair{right, verdict::certified}, std::pair{wrong, verdict::refuted}})
    CHECK(verified({{"q", rows_of_q.tensor()},
                    {"k", rows_of_k.tensor()},
                    {"q_offsets", {"I32", {3}, std::as_bytes(std::span(q_offsets))}},
                    {"k_offsets", {"I32", {3}, std::as_bytes(std::span(k_offsets))}},
                    {"lse", lse.tensor()}},
                   {{"attest.layout", "thd"}})
              .verdict == expected);
}

TEST_CASE("an output that a planted operator does not give refutes, and without its own there is no verdict",
          "[unit]") {
  numbers const lse{{log_of(4), log_of(4)}, {1, 1, 2}}, o{{0, 0}, {1, 1, 2, 1}};
  report const without = verified({{"x.q", q.tensor()}, {"x.k", k.tensor()}});
  CHECK(without.verdict == verdict::undecided);
  CHECK(notes_of(without).find("x.lse: there is no recorded output, nothing to judge") != std::string::npos);
  report const beside =
      verified({{"x.q", q.tensor()}, {"x.k", k.tensor()}, {"x.lse", lse.tensor()}, {"x.o", o.tensor()}});
  CHECK(beside.verdict == verdict::refuted);
  REQUIRE(!beside.findings.empty());
  CHECK(beside.findings.front().what.sentence.find("o of x cannot be judged: a call of row sums has no o") !=
        std::string::npos);
}

TEST_CASE("the tensors of a group say which operator it belongs to", "[unit]") {
  safetensor const any{};
  auto const named = [&](std::vector<std::string_view> const& roles, operator_table table) -> std::string_view {
    tensor_group group;
    for (std::string_view const role : roles) group.emplace(role, &any);
    auto const* const of = operator_of(group, table);
    return of ? of->name : "none";
  };
  for (operator_table const table : {operator_table(problem::operators), operator_table(operators_and_row_sums)}) {
    CHECK(named({"q", "k", "v"}, table) == "attention");
    CHECK(named({"v"}, table) == "attention");
    CHECK(named({"q", "bias"}, table) == "attention");
    CHECK(named({"o_parts", "lse_parts"}, table) == "merge");
    CHECK(named({"lse_part_1"}, table) == "merge");
    CHECK(named({"q", "k", "v", "o_part_0"}, table) == "merge");
    CHECK(named({"o", "lse", "bias"}, table) == "none");
  }
  CHECK(named({"q", "k", "lse"}, problem::operators) == "attention");
  CHECK(named({"q", "k", "lse"}, operators_and_row_sums) == "row_sums");
}

TEST_CASE("without its row, a file of the planted operator is attention that lacks V", "[unit]") {
  safetensors_file file;
  file.tensors = {{"x.q", q.tensor()}, {"x.k", k.tensor()}};
  auto const read = problem_file_of(file);
  REQUIRE(!read);
  CHECK(read.why().argument == "x.v");
  CHECK(read.why().reason == "is missing beside 'x.q', 'x.k'");
  CHECK(problem_file_of(file, {}, operators_and_row_sums));
}

}  // namespace attest::tests
