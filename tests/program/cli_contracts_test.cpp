// Contracts as users name them, and conventions that they accept.
#include <string>

#include "tests/program/recorded_answers.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::cli_contracts_test {
namespace {

/// The lse of every answer is a logarithm to the base 2.
constexpr char in_base_2[] = R"(for name in list(t):
    if not name.endswith(".lse"): continue
    dtype, shape, x = t[name]
    numbers = struct.unpack("<%df" % (len(x) // 4), x)
    t[name] = [dtype, shape, struct.pack("<%df" % len(numbers), *[y * 1.4426950408889634 for y in numbers])])";

TEST_CASE("a ready contract is named by its file, anywhere", "[unit]") {
  record("--draws 0 --only scale", "");
  for (std::string const name : {"pytorch-cpu-flash-f32", "pytorch-cpu-math-f32", "onnxruntime-cpu-f32"}) {
    json const found = verified("--contract " + name);
    INFO(name << found["findings"].dump(1));
    CHECK(found["verdict"] == "certified");
    CHECK(found["contract"] == name);
    CHECK(has(attest("list contracts").out, name + " "));
  }
  check_refused("", {{"verify inputs.safetensors outputs.safetensors --contract pytorch-cpu-flash-f33",
                      "no contract is called 'pytorch-cpu-flash-f33', did you mean 'pytorch-cpu-flash-f32'?"}});
}

TEST_CASE("a contract may be written where it is named", "[unit]") {
  record("--draws 0 --only scale", in_base_2);
  auto const contract = [](std::string const& text) {
    json const found = verified("--contract '" + text + "'");
    CHECK(found["verdict"] == "certified");
    return found["contract"].get<std::string>();
  };
  CHECK(contract(R"({"from": "f32", "conventions": {"lse_base": "2"}})") == "f32+lse_base=2");
  CHECK(contract(R"({"from": "f32", "name": "mine", "conventions": {"lse_base": "2"}})") == "mine");
  CHECK(contract(R"({"from": "f32", "model": {"eps": 0.001}, "conventions": {"lse_base": "2"}})") == "written");
  CHECK(contract(R"({"from": "pytorch-cpu-math-f32", "conventions": {"lse_base": "2"}})") ==
        "pytorch-cpu-math-f32+lse_base=2");
  CHECK(contract("f32+lse_base=2") == "f32+lse_base=2");
  CHECK(contract("f32+empty_lse=+inf+lse_base=2") == "f32+empty_lse=+inf+lse_base=2");
  check_refused("audit --contract ", {{"'{\"from\": \"f3\"}'", "--contract: from: no contract is called 'f3', did you"},
                                      {"'{\"from\"'", "--contract: is not JSON"},
                                      {"f32+lse_base=3", "'3' is no word of lse_base, expected lse_base=e or"}});
}

TEST_CASE("a report whose failures are one convention ends with the words that accept it", "[unit]") {
  record("--draws 0 --only scale,sharp", in_base_2);
  std::string const verify = "verify inputs.safetensors outputs.safetensors --findings ''";
  outcome const screen = shell(ATTEST_PROGRAM " " + verify);
  CHECK(screen.status == 1);
  CHECK(screen.out.ends_with("if meant       --accept lse_base=2\n"));
  CHECK(has(attest(verify).out, "if that is meant: --accept lse_base=2\n"));
  json const found = report(verify);
  CHECK(found["cause"]["accept"] == json{"lse_base=2"});
  json const accepted = report(verify + " --contract f32 --accept lse_base=2");
  CHECK(accepted["verdict"] == "certified");
  CHECK(accepted["contract"] == "f32+lse_base=2");
  CHECK(report(verify + " --accept lse_base=2")["contract"] == "f32+lse_base=2");
  // A wrong LSE in base 2 is wrong, and its reproducer accepts what the run accepted.
  record("--draws 0 --only scale",
         std::string(in_base_2) + "\n    t[name][2] = t[name][2][:-4] + struct.pack(\"<f\", 9)");
  json const wrong = report(verify + " --contract f32 --accept lse_base:2");
  REQUIRE(wrong["verdict"] == "refuted");
  CHECK(wrong["cause"]["accept"].empty());
  json const again = report(wrong["findings"][0]["reproducer"].get<std::string>().substr(7));
  CHECK(again["findings"][0]["sentence"] == wrong["findings"][0]["sentence"]);
}

TEST_CASE("an audit takes the convention that its report names", "[unit]") {
  struct named {
    std::string kernel, check, convention;
  };
  for (auto const& [wrong, check, convention] :
       {named{kernel("nan_empty_row"), "empty-rows", "empty_row=nan"},
        named{zoo_kernel("zero_times_masked_value"), "poison", "masked_values=must_be_finite"}}) {
    std::string const audit = "audit --quick --draws 0 --seed 1 --findings '' --only " + check + wrong;
    json const found = report(audit);
    REQUIRE(found["verdict"] == "refuted");
    INFO(found["cause"].dump(1));
    REQUIRE(found["cause"]["accept"].size() == 1);
    std::string const word = found["cause"]["accept"][0];
    CHECK(word == convention);
    CHECK(report(audit + " --accept " + word)["verdict"] == "certified");
  }
}

TEST_CASE("what is no convention is named, with what there is", "[unit]") {
  check_refused("audit ", {{"--accept lse_bas=2", "there is no convention 'lse_bas', did you mean 'lse_base'?"},
                           {"--accept lse_base=7", "'7' is no word of lse_base, expected lse_base=e or lse_base=2"},
                           {"--accept 2", "there is no convention '2'"}});
  check_refused("", {{"verify nothing --accept lse_base=2", "--contract is missing, such as --contract f32"}});
}

}  // namespace
}  // namespace attest::tests::cli_contracts_test
