// attest solve --digits: wider enclosures where narrow ones leave a decimal open.
#include "audit/oracle/solve.hpp"

#include <filesystem>

#include <unistd.h>

#include "tests/support/catch.hpp"

namespace attest::tests::solve_test {
namespace {

namespace fs = std::filesystem;

struct tensor {
  std::vector<std::int64_t> shape;
  std::vector<float> values;
};

/// The text of `solve --digits` for one query, or the error.
problem::result<audit::solution> digits_of(tensor const& q, tensor const& k, tensor const& v, int digits) {
  fs::path const path =
      fs::temp_directory_path() / ("attest_solve_test_" + std::to_string(::getpid()) + ".safetensors");
  audit::safetensor_map map;
  auto const add = [&](std::string const& name, tensor const& x) {
    map[name] = {"F32", x.shape, std::as_bytes(std::span(x.values))};
  };
  add("q", q), add("k", k), add("v", v);
  REQUIRE_FALSE(audit::write_safetensors(path, map).has_value());
  audit::solve_options options;
  options.inputs = path, options.digits = digits;
  auto solved = audit::run_solve(options);
  fs::remove(path);
  return solved;
}
bool has(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

/// o = tanh(δ/2) with δ = −2^(−20)·q: the rest after the two values cancel.
tensor const two_keys{{2, 1}, {1, 1 + 0x1p-20f}}, opposite{{2, 1}, {1, -1}};

}  // namespace

TEST_CASE("an output that cancels to 2^-141 has its digits at a wider width", "[unit]") {
  auto const solved = digits_of({{1, 1}, {0x1p-120f}}, two_keys, opposite, 20);
  REQUIRE(solved.has_value());
  INFO(solved.value().text);
  CHECK(has(solved.value().text, "o[0, 0] -3.5873240686715317016e-43\n"));  // −2^−141, less a relative 2^−283
  CHECK(solved.value().undecided == 0);
}

TEST_CASE("hundreds of digits are those of the exact value", "[unit]") {
  // weights 1/(1 + e^±1): o = −tanh(1/2).
  auto const solved = digits_of({{1, 1}, {1}}, {{2, 1}, {0, 1}}, opposite, 300);
  REQUIRE(solved.has_value());
  INFO(solved.value().text);
  CHECK(has(solved.value().text, "o[0, 0] -4.62117157260009758502318483643672548730289280330113"));
  CHECK(solved.value().undecided == 0);
  CHECK(digits_of({{1, 1}, {1}}, {{2, 1}, {0, 1}}, opposite, audit::largest_digits).value().undecided == 0);
}

TEST_CASE("a tie between two decimals stays undecided, and more digits than any width shows are refused", "[unit]") {
  auto const tie = digits_of({{1, 1}, {0}}, {{1, 1}, {0}}, {{1, 1}, {0.125f}}, 2);
  REQUIRE(tie.has_value());
  CHECK(has(tie.value().text, "o[0, 0] undecided\n"));
  CHECK(has(tie.value().text, "lse[0] 0\n"));
  CHECK(tie.value().undecided == 1);
  for (int const wrong : {0, -1, audit::largest_digits + 1}) {
    auto const refused = digits_of({{1, 1}, {0}}, {{1, 1}, {0}}, {{1, 1}, {1}}, wrong);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.why().argument == "--digits");
    CHECK(has(refused.why().message(), "4096 bits"));
  }
}

}  // namespace attest::tests::solve_test
