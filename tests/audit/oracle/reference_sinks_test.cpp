// The file of `attest reference` for sinks, and for merges, under the conventions of a contract.
#include <cmath>
#include <limits>
#include <random>

#include <unistd.h>

#include "audit/judge/row_law.hpp"
#include "audit/oracle/reference.hpp"
#include "audit/oracle/solve.hpp"
#include "audit/support/files.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/merge_form.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/problem_recipe.hpp"
#include "tests/support/scratch_folder.hpp"

namespace attest::audit::reference_sinks_test {
namespace {

namespace fs = std::filesystem;
using problem::element_type;
using reference::infinity;

/// The numbers of each tensor.
std::map<std::string, std::vector<double>> numbers_of(std::vector<std::byte> const& bytes) {
  std::map<std::string, std::vector<double>> of;
  auto const file = parse_safetensors(bytes);
  for (auto const& [name, tensor] : file.value().tensors) {
    element_type const type = tensor.dtype == "F64" ? element_type::f64 : element_type::f32;
    std::size_t const count = tensor.bytes.size() / problem::size_of(type);
    owned_tensor numbers = owned_tensor::compact(type, {static_cast<std::int64_t>(count)});
    std::ranges::copy(tensor.bytes, numbers.bytes.data());
    for (std::size_t at = 0; at < count; ++at) of[name].push_back(load(numbers, at));
  }
  return of;
}

/// The numbers of the file for one query, two keys with the score 0 and the values 1 and 4, and a sink.
std::map<std::string, std::vector<double>> says(double sink, conventions const& how) {
  problem_draft draft;
  draft.q = owned_tensor::compact(element_type::f32, {1, 1, 1, 1});
  draft.k = draft.v = owned_tensor::compact(element_type::f32, {1, 1, 2, 1});
  draft.sink = owned_tensor::compact(element_type::f32, {1});
  store(draft.q, 0, 1), store(draft.v, 0, 1), store(draft.v, 1, 4), store(*draft.sink, 0, sink);
  fs::path const path = fs::temp_directory_path() / ("attest_reference_sinks_" + std::to_string(::getpid()));
  std::vector<problem_file_entry> const entries{{"", owned_problem::of_valid(std::move(draft)), {}, {}}};
  REQUIRE_FALSE(write_file(path, problem_file_bytes(entries).value()).has_value());
  contract claim = *find_contract("f32");
  claim.name = "test", claim.conventions = how;
  auto const made = run_reference({.inputs = path, .claim = &claim});
  fs::remove(path);
  REQUIRE(made);
  return numbers_of(made.value().file);
}

TEST_CASE("nothing is demanded of rows that belong to no query but what padding_rows says", "[unit]") {
  tests::recipe r;
  r.n = 3, r.m = 2, r.dv = 2;
  problem_draft draft = tests::make_problem(r);
  draft.q_lengths = owned_tensor::compact(element_type::i32, {1});
  store(*draft.q_lengths, 0, 2);
  std::vector<problem_file_entry> const entries{{"", owned_problem::of_valid(std::move(draft)), {}, {}}};
  tests::scratch_folder const folder("padding");
  fs::path const path = folder.path / "short.safetensors";
  REQUIRE_FALSE(write_file(path, problem_file_bytes(entries).value()).has_value());
  contract claim = *find_contract("f32");
  auto const bounds = [&](conventions const& how) {
    claim.conventions = how;
    auto const made = run_reference({.inputs = path, .claim = &claim});
    REQUIRE(made.has_value());
    auto numbers = numbers_of(made.value().file);
    CHECK((numbers["o.bound"][3] > 0 && numbers["o.bound"][3] < 1));  // of the last query
    CHECK(numbers["o.bound"][4] == numbers["o.bound"][5]);
    return std::array{numbers["o.bound"][4], numbers["lse.bound"][2]};
  };
  CHECK(bounds({}) == std::array{infinity, infinity});
  CHECK(bounds({.padding_rows = conventions::padding::kept}) == std::array{infinity, infinity});
  CHECK(bounds({.padding_rows = conventions::padding::zero}) == std::array{0.0, infinity});
}

TEST_CASE("the reference of a merge under a contract whose LSE is in base 2 has powers of two as weights", "[unit]") {
  merge_parts parts{.parts = 3, .b = 1, .hq = 1, .n = 1, .dv = 1};
  owned_tensor o = owned_tensor::compact(element_type::f32, {3}), lse = o;
  for (std::size_t s = 0; s < 3; ++s) store(o, s, static_cast<double>(s + 1)), store(lse, s, s == 2 ? 1 : 0);
  parts.o = o.bytes, parts.lse = lse.bytes;
  std::vector<problem_file_entry> const entries{
      {"", owned_problem::of_valid(merge_draft(parts, element_type::f32)), {}, {}}};
  tests::scratch_folder const folder("merge-base");
  fs::path const path = folder.path / "merge.safetensors";
  REQUIRE_FALSE(write_file(path, problem_file_bytes(entries).value()).has_value());
  contract claim = *find_contract("merge-f32");
  auto const numbers = [&](std::optional<element_type> round) {
    auto const made = run_reference({.inputs = path, .claim = &claim, .round = round});
    REQUIRE(made.has_value());
    return numbers_of(made.value().file);
  };
  CHECK(numbers({})["o"][0] != 2.25);
  double const natural_bound = numbers({})["lse.bound"][0];
  claim.conventions.lse_base = problem::log_base::two;
  for (auto const round : {std::optional<element_type>(), std::optional(element_type::f64)}) {
    auto in_base_2 = numbers(round);
    CHECK(in_base_2["o"][0] == 2.25);  // (1 + 2 + 2·3)/4
    CHECK(in_base_2["lse"][0] == 2);
    CHECK((in_base_2["lse.bound"][0] > 0 && in_base_2["lse.bound"][0] < 4 * natural_bound));
  }
}

TEST_CASE("the file has what a contract says of sinks, with its bound", "[unit]") {
  conventions const excluded{.lse_sink = conventions::log_of_sink::excluded},
      limit{.sink_inf = conventions::infinite_sink::limit};
  auto const nearest = [](double x) { return static_cast<double>(static_cast<float>(x)); };
  auto with = says(0, {}), without = says(0, excluded);
  CHECK(with["lse"][0] == nearest(std::log(3.0)));
  CHECK(without["lse"][0] == nearest(std::log(2.0)));
  CHECK((without["lse.bound"][0] > 0 && without["lse.bound"][0] < 1e-4));
  CHECK((without["o"] == with["o"] && without["o.bound"] == with["o.bound"]));
  auto plain = says(infinity, {}), taken = says(infinity, limit);
  CHECK((std::isnan(plain["o"][0]) && plain["o.bound"][0] == 0));
  CHECK((taken["o"][0] == 0 && taken["o.bound"][0] == 0 && taken["lse"][0] == infinity && taken["lse.bound"][0] == 0));
  CHECK(says(infinity, excluded)["lse"][0] == nearest(std::log(2.0)));
  CHECK(says(0, limit) == with);
  conventions const base_2{.lse_base = problem::log_base::two},
      base_2_of_keys{.lse_sink = conventions::log_of_sink::excluded, .lse_base = problem::log_base::two};
  auto two = says(0, base_2);
  CHECK(two["lse"][0] == nearest(std::log2(3.0)));
  CHECK((two["lse.bound"][0] > 1.44 * with["lse.bound"][0] && two["lse.bound"][0] < 1e-4));
  CHECK((two["o"] == with["o"] && two["o.bound"] == with["o.bound"]));
  CHECK(says(0, base_2_of_keys)["lse"][0] == 1);
}

}  // namespace
}  // namespace attest::audit::reference_sinks_test
