// Merges of partial results: their files, their problem, and the presets that judge them. (merge_bound_test: what these
// allow.)
#include <cmath>
#include <deque>
#include <limits>
#include <string>
#include <vector>

#include "audit/cases/default_contract.hpp"
#include "audit/files/problem_file.hpp"
#include "audit/judge/judge_outputs.hpp"
#include "audit/tensors/elements.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::merge_file_test {
namespace {

using namespace audit;
using problem::element_type;
constexpr double infinity = std::numeric_limits<double>::infinity();

/// A file in memory, put together tensor by tensor from numbers.
struct file_builder {
  safetensors_file file{};
  std::deque<owned_tensor> owned{};

  file_builder& add(std::string const& name, element_type type, std::vector<std::int64_t> const& shape,
                    std::vector<double> const& numbers) {
    owned_tensor& made = owned.emplace_back(owned_tensor{type, {}, {}});
    made.bytes.resize(numbers.size() * problem::size_of(type));
    for (std::size_t at = 0; at < numbers.size(); ++at) store(made, at, numbers[at]);
    file.tensors[name] = {std::string(problem::row_of(type).dtype), shape, made.bytes};
    return *this;
  }
  std::string refusal() const {
    auto const read = problem_file_of(file);
    return read ? "accepted" : read.why().message();
  }
};

/// Two parts [1, 2, 3, 1] of numbers; the first is unread in row (1, 2).
constexpr double empty = -infinity;
std::vector<double> const o_parts{1, 2, 3, 4, 5, std::nan(""), 10, 20, 30, 40, 50, 60},
    lse_parts{0, 0, 0, 1, 0, empty, 0, 0, 0, 0, 1, 2};

file_builder two_parts(element_type type = element_type::f32) {
  element_type const lse = type == element_type::f64 ? type : element_type::f32;
  file_builder builder;
  builder.add("x.o_parts", type, {2, 1, 2, 3, 1}, o_parts).add("x.lse_parts", lse, {2, 1, 2, 3}, lse_parts);
  return builder;
}

double at(owned_tensor const& tensor, std::size_t n) { return load(tensor, n); }

}  // namespace

TEST_CASE("the parts of a merge are a problem of attention", "[unit]") {
  auto const builder = two_parts();
  auto const read = problem_file_of(builder.file);
  REQUIRE(read);
  owned_problem const& merge = read.value().problems.at(0).problem;
  CHECK(merge.size().hq == 6);
  CHECK(merge.size().m == 2);
  CHECK(merge.size().dv == 1);
  CHECK(merged_rows(merge) == std::vector<std::int64_t>{1, 2, 3});
  CHECK(at(*merge.draft().bias, 2 * 5) == empty);
  CHECK(at(*merge.draft().bias, 2 * 5 + 1) == 2);
  REQUIRE(merge.draft().mask);
  CHECK(at(*merge.draft().mask, 2 * 5) == 0);
  CHECK(at(*merge.draft().mask, 2 * 5 + 1) == 1);
  CHECK(default_contract(merge).name == "merge-f32");
}

TEST_CASE("parts in one tensor each are the same merge, in any rank", "[unit]") {
  std::vector<double> const o0(o_parts.begin(), o_parts.begin() + 6), o1(o_parts.begin() + 6, o_parts.end()),
      l0(lse_parts.begin(), lse_parts.begin() + 6), l1(lse_parts.begin() + 6, lse_parts.end());
  file_builder builder;
  builder.add("x.o_part_0", element_type::f32, {2, 3, 1}, o0).add("x.o_part_1", element_type::f32, {2, 3, 1}, o1);
  builder.add("x.lse_part_0", element_type::f32, {2, 3}, l0).add("x.lse_part_1", element_type::f32, {2, 3}, l1);
  auto const apart = problem_file_of(builder.file);
  auto const block_file = two_parts();
  auto const block = problem_file_of(block_file.file);
  REQUIRE(apart);
  owned_problem const &one = apart.value().problems.at(0).problem, &other = block.value().problems.at(0).problem;
  CHECK(one.draft().v.bytes == other.draft().v.bytes);
  CHECK(one.draft().bias->bytes == other.draft().bias->bytes);
  CHECK(merged_rows(one) == std::vector<std::int64_t>{2, 3});
}

TEST_CASE("an answer is judged, and a wrong one is refuted", "[unit]") {
  double const e = std::exp(1.0);
  std::vector<double> o{5.5, 11, 16.5, (4 * e + 40) / (e + 1), (5 + 50 * e) / (e + 1), 60},
      lse{std::log(2.0), std::log(2.0), std::log(2.0), std::log1p(e), std::log1p(e), 2};
  for (bool const wrong : {false, true}) {
    if (wrong) o[3] *= 1.0001;
    auto builder = two_parts();
    builder.add("x.o", element_type::f32, {1, 2, 3, 1}, o).add("x.lse", element_type::f32, {1, 2, 3}, lse);
    auto const read = problem_file_of(builder.file);
    REQUIRE(read);
    problem_file_entry const& entry = read.value().problems.at(0);
    REQUIRE(entry.unusable.empty());
    auto const found = judge(entry.problem.instance(), entry.outputs, default_contract(entry.problem));
    CHECK(found.failed == (wrong ? 1 : 0));
    CHECK(found.judged() == 12);
    // A written merge reads back as the same merge with the same answer.
    auto const bytes = problem_file_bytes({&entry, 1});
    REQUIRE(bytes);
    auto const file = parse_safetensors(bytes.value());
    auto const again = problem_file_of(file.value());
    REQUIRE(again);
    problem_file_entry const& copy = again.value().problems.at(0);
    CHECK(copy.problem.draft().bias->bytes == entry.problem.draft().bias->bytes);
    CHECK(copy.problem.draft().merge == entry.problem.draft().merge);
    CHECK(same_bits(copy.outputs, entry.outputs));
  }
}

TEST_CASE("the answer may be narrower or wider than the parts where a contract says so", "[unit]") {
  std::vector<double> const o{5.5, 11, 16.5, 1, 1, 60};
  auto const claim_of = [&](element_type parts, element_type answer) {
    auto builder = two_parts(parts);
    builder.add("x.o", answer, {1, 2, 3, 1}, o);
    auto const read = problem_file_of(builder.file);
    if (!read) return read.why().message();
    auto const second = two_parts(parts);  // the same from a second file
    auto const joined = with_outputs(problem_file_of(second.file).value(), builder.file);
    REQUIRE(joined);
    auto const &one = read.value().problems.at(0), &two = joined.value().problems.at(0);
    CHECK(one.outputs.o.has_value() == one.unusable.empty());
    CHECK(two.outputs.o.has_value() == two.unusable.empty());
    if (!one.unusable.empty()) {
      REQUIRE(two.unusable.size() == 1);
      CHECK(one.unusable[0].says == two.unusable[0].says);
      return one.unusable[0].role + ' ' + one.unusable[0].says;
    }
    CHECK(default_contract(joined.value().problems.at(0).problem).name ==
          default_contract(read.value().problems.at(0).problem).name);
    return default_contract(read.value().problems.at(0).problem).name;
  };
  using enum element_type;
  CHECK(claim_of(f32, f32) == "merge-f32");
  CHECK(claim_of(f64, f64) == "merge-f64");
  CHECK(claim_of(bf16, bf16) == "merge-bf16");
  CHECK(claim_of(f16, f16) == "merge-f16");
  CHECK(claim_of(bf16, f32) == "merge-f32");
  CHECK(claim_of(f16, f32) == "merge-f32");
  CHECK(claim_of(f32, bf16) == "merge-f32-bf16");
  CHECK(claim_of(f32, f16) == "merge-f32-f16");
  // No contract is about these, and what is wrong with the answer is no error of the file.
  CHECK(claim_of(f64, f32) ==
        "o is f32 and the parts are f64: there is no contract for that; the answer of a merge has the type of its "
        "parts, "
        "or one of the two is f32 and the other has 16 bits");
  for (auto const& [parts, answer] : {std::pair(f32, f64), {bf16, f64}, {bf16, f16}, {f16, bf16}})
    CHECK(claim_of(parts, answer).starts_with("o is "));
}

TEST_CASE("groups that are no merge are refused with the tensor", "[unit]") {
  using enum element_type;
  CHECK(two_parts().add("x.q", f32, {1}, {1}).refusal() ==
        "x.q: stands beside parts: a group is attention, with q, k and v, or a merge, with parts");
  CHECK(two_parts().add("x.bias", f32, {1}, {1}).refusal() ==
        "x.bias: stands beside parts: a merge takes the O and the LSE of its parts, and nothing else");
  CHECK(file_builder{}.add("o_parts", f32, {0, 2, 4}, {}).add("lse_parts", f32, {0, 2}, {}).refusal() ==
        "o_parts: merge needs at least one part");
  auto const part = [](file_builder& to, int n, std::int64_t dv, element_type type = f32) {
    to.add("o_part_" + std::to_string(n), type, {1, dv}, std::vector<double>(static_cast<std::size_t>(dv)));
    to.add("lse_part_" + std::to_string(n), f32, {1}, {0});
  };
  file_builder other;
  part(other, 0, 128), part(other, 1, 128), part(other, 2, 64);
  CHECK(other.refusal() == "o_part_2: part 2 has dv = 64, part 0 has 128");
  part(other, 2, 128, bf16);
  CHECK(other.refusal() == "o_part_2: dtype is BF16, part 0 has F32");
  other.file.tensors.erase("o_part_1");
  CHECK(other.refusal() == "o_part_1: is missing beside 'o_part_2'");
  for (std::string const name : {"o_part_01", "o_part_-1", "o_part_99999999999999999999", "o_part_", "lse_part_x"}) {
    file_builder misnamed;
    part(misnamed, 0, 4), misnamed.add(name, f32, {1, 4}, {1, 2, 3, 4});
    std::string const word = name.substr(0, name.rfind('_') + 1);
    CHECK(misnamed.refusal() ==
          name + ": is no part: they are " + word + "0, " + word + "1, … without a sign or leading zeros");
  }
  CHECK(file_builder{}
            .add("o_parts", bf16, {1, 2, 4}, std::vector<double>(8))
            .add("lse_parts", bf16, {1, 2}, {0, 0})
            .refusal() == "lse_parts: dtype is BF16, expected F32 beside parts of BF16");
  CHECK(file_builder{}.add("o_parts", f32, {1, 2, 4}, std::vector<double>(8)).refusal() ==
        "lse_parts: is missing beside 'o_parts'");
  CHECK(file_builder{}
            .add("o_parts", f32, {1, 2, 4}, std::vector<double>(8))
            .add("lse_parts", f32, {1, 3}, {0, 0, 0})
            .refusal() == "lse_parts: shape is [1, 3], expected [1, 2]");
  CHECK(file_builder{}
            .add("o_parts", f32, {4, 4}, std::vector<double>(16))
            .add("lse_parts", f32, {4}, {0, 0, 0, 0})
            .refusal() == "o_parts: rank is 2, expected 3, 4 or 5: [S, b, hq, n, dv]");
  auto unusable = two_parts();
  unusable.add("x.o", f32, {6, 1}, {1, 2, 3, 4, 5, 6});
  auto const read = problem_file_of(unusable.file);
  REQUIRE(read);
  CHECK(read.value().problems.at(0).unusable.at(0).says == "shape is [6, 1], expected [1, 2, 3, 1]");
}

TEST_CASE("merges are judged as the claim says that parts are merged", "[unit]") {
  auto const of = [](char const* claim) { return contract_of_merges(*find_contract(claim)).name; };
  CHECK(of("f32") == "merge-f32");
  CHECK(of("f32-blocked") == "merge-f32");
  CHECK(of("f32-any") == "merge-f32-ring");
  CHECK(of("f32-ring") == "merge-f32-ring");
  CHECK(of("f32-split") == "merge-f32-split");
  CHECK(of("f32-ring-sigmoid") == "merge-f32-sigmoid");
  CHECK(of("bf16") == "merge-bf16");
  auto const read = problem_file_of(two_parts().file);
  REQUIRE(read);
  owned_problem const& merge = read.value().problems.at(0).problem;
  CHECK(contract_under(*find_contract("f32-split"), merge).name == "merge-f32-split");
  CHECK(contract_under(*find_contract("merge-f32-ring"), merge).name == "merge-f32-ring");
  contract own = *find_contract("bf16");
  own.fixed.merge = problem::split_merge::lse_normalised;
  CHECK(contract_of_merges(own).name == "merge-bf16-split");
  CHECK(contract_of_merges(*find_contract("f32-ring"), element_type::f16).name == "merge-f32-f16-ring");
}

}  // namespace attest::tests::merge_file_test
