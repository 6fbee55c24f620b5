// Recorded merges are judged under the contract that is named as an audit judges merges under the kernel's claim.
#include <array>
#include <cmath>
#include <span>
#include <string>

#include "audit/files/safetensors.hpp"
#include "audit/oracle/reference.hpp"
#include "audit/session/run_verify.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/scratch_folder.hpp"

namespace attest::tests::verify_merge_test {
namespace {

using namespace audit;

/// The merge of two parts with LSE 10000.125 and 10000, and its answer.
struct recorded_merge {
  std::array<float, 2> o;
  float answer;
};

/// FlashAttention-2's combine: weights exp(LSE_s − LSE), whose LSE is rounded to 2⁻¹⁰, so that they do not sum to 1.
recorded_merge undivided_combine() {
  auto const sum = static_cast<float>(10000 + std::log(std::exp(0.125) + 1));
  return {{1, 1}, std::exp(10000.125f - sum) + std::exp(10000 - sum)};
}

problem::result<report> verify_under(contract const* claim, recorded_merge const& merge = undivided_combine()) {
  scratch_folder const folder("verify-merge");
  auto const path = folder.path / "merge.safetensors";
  std::array<float, 2> const lse{10000.125f, 10000};
  REQUIRE(!write_safetensors(path, {{"x.o_parts", {"F32", {2, 1, 1, 1, 1}, std::as_bytes(std::span(merge.o))}},
                                    {"x.lse_parts", {"F32", {2, 1, 1, 1}, std::as_bytes(std::span(lse))}},
                                    {"x.o", {"F32", {1, 1, 1, 1}, std::as_bytes(std::span(&merge.answer, 1))}}}));
  verify_options options;
  options.inputs = path, options.claim = claim, options.findings.clear();
  return run_verify(options);
}

verdict verdict_under(char const* claim, recorded_merge const& merge = undivided_combine()) {
  auto const done = verify_under(claim == nullptr ? nullptr : find_contract(claim), merge);
  if (!done) FAIL(done.why().message());
  return done.value().verdict;
}

}  // namespace

TEST_CASE("a recorded merge is judged in the form of merges that the named contract claims", "[unit]") {
  CHECK(verdict_under(nullptr) == verdict::refuted);
  CHECK(verdict_under("merge-f32") == verdict::refuted);
  CHECK(verdict_under("merge-f32-split") == verdict::certified);
  CHECK(verdict_under("f32") == verdict::refuted);
  CHECK(verdict_under("f32-split") == verdict::certified);
  auto const split = verify_under(find_contract("f32-split"));
  REQUIRE(split);
  CHECK(split.value().contract == "f32-split");
  std::string notes;
  for (observation const& note : split.value().observations) notes += note.sentence + '\n';
  CHECK(notes.find("merges are judged under merge-f32-split") != std::string::npos);
}

TEST_CASE("the roundings of scores that a contract about attention allows are none of a merge", "[unit]") {
  // Scores of 10⁴ may be off by 10⁴·u and more; the LSE of parts are given.
  auto const right = static_cast<float>(1 / (1 + std::exp(0.125))), wrong = right + 1e-5f;
  CHECK(verdict_under("f32", {{0, 1}, right}) == verdict::certified);
  CHECK(verdict_under("f32", {{0, 1}, wrong}) == verdict::refuted);
}

TEST_CASE("a contract of logarithms to the base 2 judges merges of such LSEs", "[unit]") {
  auto const natural = static_cast<float>(1 / (1 + std::exp(0.125))),
             in_base_2 = static_cast<float>(1 / (1 + std::exp2(0.125)));
  auto const verdict_in_base_2 = [](char const* name, float answer) {
    contract claim = *find_contract(name);
    claim.conventions.lse_base = problem::log_base::two;
    auto const done = verify_under(&claim, {{0, 1}, answer});
    if (!done) FAIL(done.why().message());
    return done.value().verdict;
  };
  for (char const* name : {"f32", "f32-split", "merge-f32", "merge-f32-ring"}) {
    CAPTURE(name);
    CHECK(verdict_in_base_2(name, in_base_2) == verdict::certified);
    CHECK(verdict_in_base_2(name, natural) == verdict::refuted);
    CHECK(verdict_under(name, {{0, 1}, in_base_2}) == verdict::refuted);
  }
}

TEST_CASE("a contract of another type judges no recorded merge", "[unit]") {
  auto const done = verify_under(find_contract("bf16"));
  REQUIRE(!done);
  CHECK(done.why().message().find("element type is f32, the contract bf16 is about bf16") != std::string::npos);
}

TEST_CASE("an output of another type is named as the cause, and no access to memory is", "[unit]") {
  scratch_folder const folder("verify-type");
  auto const path = folder.path / "attention.safetensors";
  std::array<float, 2> const row{1, 2};
  std::array<double, 2> const o{1, 2};
  safetensor_map tensors;
  for (char const* const name : {"q", "k", "v"}) tensors[name] = {"F32", {1, 1, 1, 2}, std::as_bytes(std::span(row))};
  tensors["o"] = {"F64", {1, 1, 1, 2}, std::as_bytes(std::span(o))};
  REQUIRE(!write_safetensors(path, tensors));
  verify_options verified;
  verified.inputs = path, verified.findings.clear();
  auto const done = run_verify(verified);
  REQUIRE(done);
  CHECK(done.value().verdict == verdict::refuted);
  REQUIRE(done.value().cause);
  REQUIRE(done.value().cause->mistakes.size() == 1);
  CHECK(done.value().cause->mistakes.front().name == "outputs-unusable");
}

TEST_CASE("a contract about merges judges no attention", "[unit]") {
  scratch_folder const folder("verify-merge");
  auto const path = folder.path / "attention.safetensors";
  std::array<float, 2> const row{1, 2};
  safetensor_map tensors;
  for (char const* const name : {"q", "k", "v", "o"})
    tensors[name] = {"F32", {1, 1, 1, 2}, std::as_bytes(std::span(row))};
  REQUIRE(!write_safetensors(path, tensors));
  char const* const why = "merge-f32 is about merges of partial results, and this is attention";
  verify_options verified;
  verified.inputs = path, verified.claim = find_contract("merge-f32"), verified.findings.clear();
  auto const done = run_verify(verified);
  REQUIRE(!done);
  CHECK(done.why().message().find(why) != std::string::npos);
  verified.claim = find_contract("f32");
  CHECK(run_verify(verified).value().verdict == verdict::certified);

  reference_options asked;
  asked.inputs = path, asked.claim = find_contract("merge-f32");
  auto const referenced = run_reference(asked);
  REQUIRE(!referenced);
  CHECK(referenced.why().message().find(why) != std::string::npos);
}

}  // namespace attest::tests::verify_merge_test
