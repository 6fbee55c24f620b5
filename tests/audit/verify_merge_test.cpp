// Recorded merges are judged under the contract that is named as an audit judges merges under the kernel's claim.
#include <array>
#include <cmath>
#include <fstream>
#include <string>

#include "audit/session/run_verify.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/scratch_folder.hpp"

namespace attest::tests {
namespace {

using namespace audit;

/// A file with the merge of two parts with LSE 10000.125 and 10000, and its answer.
std::string merge_file(std::array<float, 2> const& o, float answer) {
  float const lse[2]{10000.125f, 10000};
  std::string header =
      R"({"x.o_parts":{"dtype":"F32","shape":[2,1,1,1,1],"data_offsets":[0,8]},)"
      R"("x.lse_parts":{"dtype":"F32","shape":[2,1,1,1],"data_offsets":[8,16]},)"
      R"("x.o":{"dtype":"F32","shape":[1,1,1,1],"data_offsets":[16,20]}})";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  std::uint64_t const size = header.size();
  std::string file(reinterpret_cast<char const*>(&size), sizeof size);
  file += header;
  auto const append = [&](auto const& numbers) { file.append(reinterpret_cast<char const*>(&numbers), sizeof numbers); };
  append(o), append(lse), append(answer);
  return file;
}

/// FlashAttention-2's combine: weights exp(LSE_s − LSE), whose LSE is rounded to 2⁻¹⁰, so that they do not sum to 1.
std::string undivided_combine() {
  auto const sum = static_cast<float>(10000 + std::log(std::exp(0.125) + 1));
  return merge_file({1, 1}, std::exp(10000.125f - sum) + std::exp(10000 - sum));
}

struct verified {
  verdict said{};
  std::string contract, notes;
};

verified verify_under(contract const* claim, std::string const& file = undivided_combine()) {
  scratch_folder const folder("verify-merge");
  auto const path = folder.path / "merge.safetensors";
  std::ofstream(path, std::ios::binary) << file;
  verify_options options;
  options.inputs = path, options.claim = claim, options.findings.clear();
  auto const done = run_verify(options);
  if (!done) FAIL(done.why().message());
  verified found{done.value().verdict, done.value().contract, ""};
  for (std::string const& note : done.value().observations) found.notes += note + '\n';
  return found;
}

}  // namespace

TEST_CASE("a recorded merge is judged in the form of merges that the named contract claims", "[unit]") {
  CHECK(verify_under(nullptr).said == verdict::refuted);
  CHECK(verify_under(find_contract("merge-f32")).said == verdict::refuted);
  CHECK(verify_under(find_contract("merge-f32-split")).said == verdict::certified);
  verified const raw = verify_under(find_contract("f32")), split = verify_under(find_contract("f32-split"));
  CHECK(raw.said == verdict::refuted);
  CHECK(split.said == verdict::certified);
  CHECK(split.contract == "f32-split");
  CHECK(split.notes.find("merges are judged under merge-f32-split") != std::string::npos);
}

TEST_CASE("the roundings of scores that a contract about attention allows are none of a merge", "[unit]") {
  // Scores of 10⁴ may be off by 10⁴·u and more; the LSE of parts are given.
  auto const right = static_cast<float>(1 / (1 + std::exp(0.125))), wrong = right + 1e-5f;
  CHECK(verify_under(find_contract("f32"), merge_file({0, 1}, right)).said == verdict::certified);
  CHECK(verify_under(find_contract("f32"), merge_file({0, 1}, wrong)).said == verdict::refuted);
}

TEST_CASE("a contract of another type, or of logarithms to the base 2, judges no recorded merge", "[unit]") {
  scratch_folder const folder("verify-merge-refused");
  auto const path = folder.path / "merge.safetensors";
  std::ofstream(path, std::ios::binary) << undivided_combine();
  auto const refusal = [&](contract const& claim) {
    verify_options options;
    options.inputs = path, options.claim = &claim, options.findings.clear();
    auto const done = run_verify(options);
    return done ? "accepted" : done.why().message();
  };
  CHECK(refusal(*find_contract("bf16")).find("element type is f32, the contract bf16 is about bf16") != std::string::npos);
  contract base_2 = *find_contract("f32-split");
  base_2.conventions.lse_base = problem::log_base::two;
  CHECK(refusal(base_2).find("lse_base: 2") != std::string::npos);
}

}  // namespace attest::tests
