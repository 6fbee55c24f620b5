// Recorded gradients: two keys of equal weight, so that every gradient is known.
#include <array>
#include <map>
#include <numbers>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "audit/files/safetensors.hpp"
#include "audit/report/verdict_facts.hpp"
#include "audit/session/run_verify.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/scratch_folder.hpp"

namespace attest::tests::verify_backward_test {
namespace {

using namespace audit;

/// One tensor of a file.
struct numbers_of {
  std::vector<float> values;
  std::vector<std::int64_t> shape;
};
using tensors_of = std::map<std::string, numbers_of>;

/// All scores are 0, so that π = 1/2. W = (1, 0), Δ = 1/2, dS = (1/4, −1/4), σ = 1/4.
tensors_of right_pass() {
  return {{"q", {{0, 1}, {1, 1, 1, 2}}},
          {"k", {{1, 0, -1, 0}, {1, 1, 2, 2}}},
          {"v", {{1, 0}, {1, 1, 2, 1}}},
          {"bias", {{0, 0}, {1, 1, 1, 2}}},
          {"do", {{1}, {1, 1, 1, 1}}},
          {"o", {{0.5}, {1, 1, 1, 1}}},
          {"lse", {{std::numbers::ln2_v<float>}, {1, 1, 1}}},
          {"dq", {{0.125, 0}, {1, 1, 1, 2}}},
          {"dk", {{0, 0.0625, 0, -0.0625}, {1, 1, 2, 2}}},
          {"dv", {{0.5, 0.5}, {1, 1, 2, 1}}},
          {"dbias", {{0.25, -0.25}, {1, 1, 1, 2}}}};
}

void write(std::filesystem::path const& path, tensors_of const& tensors) {
  safetensor_map file;
  for (auto const& [name, tensor] : tensors)
    file["x." + name] = {"F32", tensor.shape, std::as_bytes(std::span(tensor.values))};
  REQUIRE(!write_safetensors(path, file, {{"scale", "0.25"}}));
}

report verified(tensors_of const& tensors, tensors_of const* second = nullptr) {
  scratch_folder const folder("verify-backward");
  verify_options options;
  options.inputs = folder.path / "inputs.safetensors", options.findings.clear();
  write(options.inputs, tensors);
  if (second) {
    options.outputs = folder.path / "outputs.safetensors";
    write(*options.outputs, *second);
  }
  auto done = run_verify(options);
  if (!done) FAIL(done.why().message());
  return std::move(done).value();
}

/// The output and the sentence of the first finding, after `change`.
std::pair<std::string, std::string> first_fault(void (*change)(tensors_of&)) {
  tensors_of pass = right_pass();
  change(pass);
  report const found = verified(pass);
  CHECK(found.verdict == verdict::refuted);
  if (found.findings.empty()) return {};
  return {found.findings.front().what.output, found.findings.front().what.sentence};
}

}  // namespace

TEST_CASE("gradients beside an LSE without an O count a forward pass of the contract", "[unit]") {
  tensors_of pass = right_pass();
  pass.erase("o");
  CHECK(verified(pass).verdict == verdict::certified);
  pass["dq"].values[0] = 0.126F;
  CHECK(verified(pass).verdict == verdict::refuted);
}

TEST_CASE("gradients without a do say what is missing", "[unit]") {
  auto const found = first_fault([](tensors_of& pass) { pass.erase("do"); });
  CHECK_THAT(found.second, Catch::Contains("is a gradient, and the file has no do"));
}

TEST_CASE("recorded gradients are certified with the O and LSE that they were formed from", "[unit]") {
  report const found = verified(right_pass());
  CHECK(found.verdict == verdict::certified);
  CHECK(found.checks.front().sum.judged() == 12);
}

TEST_CASE("a wrong element of any gradient refutes, and is named", "[unit]") {
  CHECK(first_fault([](tensors_of& pass) { pass["dq"].values[0] += 1e-5f; }).first == "dq");
  CHECK(first_fault([](tensors_of& pass) { pass["dk"].values[1] = 1e-5f; }).first == "dk");
  CHECK(first_fault([](tensors_of& pass) { pass["dv"].values[1] -= 1e-5f; }).first == "dv");
  CHECK(first_fault([](tensors_of& pass) { pass["dbias"].values[0] += 1e-5f; }).first == "dbias");
  CHECK(first_fault([](tensors_of& pass) { pass["o"].values[0] += 1e-5f; }).first == "o");
  CHECK(first_fault([](tensors_of& pass) { pass["dv"].values[0] = HUGE_VALF; }).first == "dv");
}

TEST_CASE("the errors of the O that was handed over count, and no others", "[unit]") {
  tensors_of pass = right_pass();
  pass["o"].values[0] = 0.75;  // a backward pass with this O has Δ = 3/4, dS = (1/8, −3/8)
  pass["dbias"].values = {0.125, -0.375}, pass["dk"].values = {0, 0.03125, 0, -0.09375};
  report const found = verified(pass);
  REQUIRE(!found.findings.empty());
  for (finding const& each : found.findings) CHECK(each.what.output == "o");
}

TEST_CASE("a gradient that fits one mistake as a whole says so", "[unit]") {
  CHECK(first_fault([](tensors_of& pass) {
          pass["dq"].values[0] = 0.5;
        }).second.ends_with("fits one mistake: dQ is not multiplied by the scale"));
  CHECK(first_fault([](tensors_of& pass) {
          pass["dbias"].values = {0.5, 0};
        }).second.ends_with("fits one mistake: dS is P*dP, without delta"));
}

TEST_CASE("recorded gradients have a cause, from the O and LSE beside them", "[unit]") {
  tensors_of pass = right_pass();
  pass["dq"].values[0] = 0.5;
  report const found = verified(pass);
  REQUIRE(found.cause);
  REQUIRE(!found.cause->mistakes.empty());
  CHECK(found.cause->mistakes.front().name == "dq-unscaled");
  CHECK(found.cause->recorded);
}

TEST_CASE("without an LSE, the bound is that of a forward pass of the same contract", "[unit]") {
  tensors_of pass = right_pass();
  pass.erase("lse"), pass.erase("o");
  CHECK(verified(pass).verdict == verdict::certified);
  pass["dq"].values[0] += 1e-4f;
  CHECK(verified(pass).verdict == verdict::refuted);
}

TEST_CASE("gradients may stand in a second file; what it lacks is not answered", "[unit]") {
  tensors_of inputs = right_pass(), outputs;
  for (char const* const gradient : {"dq", "dk", "dv", "dbias"}) {
    outputs[gradient] = inputs[gradient];
    inputs.erase(gradient);
  }
  report const both = verified(inputs, &outputs);
  CHECK(both.verdict == verdict::certified);
  CHECK(both.checks.front().sum.judged() == 10);  // O and LSE were handed over, and are no answers
  CHECK(verified(inputs).verdict == verdict::undecided);
}

TEST_CASE("one kernel may form dQ, and another dK and dV: any gradient is an answer", "[unit]") {
  tensors_of pass = right_pass();
  pass.erase("dq"), pass.erase("dbias");
  report const certified = verified(pass);
  CHECK(certified.verdict == verdict::certified);
  CHECK(facts_of(certified).not_returned == std::vector<std::string>{"weights", "dq", "dbias", "dsink"});
  pass["dv"].values[0] += 1e-5f;
  CHECK(verified(pass).verdict == verdict::refuted);
  pass.erase("dk"), pass.erase("dv");
  report const silent = verified(pass);
  CHECK(silent.verdict == verdict::undecided);
  CHECK(silent.undecided_because.find("has no dq or dk or dv or dbias or dsink") != std::string::npos);
}

TEST_CASE("a gradient of another shape, or of no input, cannot be judged", "[unit]") {
  auto const sentence = [](void (*change)(tensors_of&)) { return first_fault(change).second; };
  CHECK(sentence([](tensors_of& pass) {
          pass["dk"].shape = {1, 2, 1, 2};
        }).find("shape is [1, 2, 1, 2], and k has [1, 1, 2, 2]") != std::string::npos);
  CHECK(sentence([](tensors_of& pass) { pass["dsink"] = {{0}, {1}}; }).find("there is no sink") != std::string::npos);
}

}  // namespace attest::tests::verify_backward_test
