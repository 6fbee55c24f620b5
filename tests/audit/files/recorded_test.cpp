// Problem files: problems and outputs recorded in safetensors files.
#include <algorithm>
#include <deque>
#include <string>
#include <tuple>
#include <vector>

#include "audit/files/problem_file.hpp"
#include "tests/audit/files/file_builder.hpp"
#include "tests/support/property.hpp"

namespace attest::tests::recorded_test {
namespace {

using namespace attest::audit;
namespace problem = attest::problem;
using problem::element_type;

}  // namespace

TEST_CASE("tensors with one prefix are one problem", "[unit]") {
  auto builder = with_problem();
  for (auto const* prefix : {"layer1.", "a.b."}) {
    auto const other = with_problem(prefix);
    for (auto const& [name, tensor] : other.file.tensors) builder.add(name, tensor.dtype, tensor.shape);
  }
  builder.add("layer1.o", "F32", {2, 5}).add("layer1.lse", "F32", {2}).add("layer1.weights", "F32", {2, 3});
  builder.add("layer1.mask", "BOOL", {1, 3}).add("a.b.mask", "U8", {2, 3}).add("a.b.bias", "F32", {3});
  builder.add("dense.weights", "F32", {7}).add(".q", "F32", {1}).add("ids", "I64", {4});
  auto const read = problem_file_of(builder.file);
  REQUIRE(read);
  auto const& problems = read.value().problems;
  REQUIRE(problems.size() == 3);
  CHECK(problems[0].prefix.empty());
  CHECK(problems[1].prefix == "a.b");
  CHECK(problems[1].problem.draft().mask->type == element_type::u8);
  CHECK(problems[1].problem.draft().bias);
  CHECK(problems[2].prefix == "layer1");
  CHECK(problems[2].problem.draft().mask);
  CHECK(problems[2].outputs.o);
  CHECK(problems[2].outputs.lse);
  CHECK(problems[2].outputs.weights);
  CHECK(!problems[0].outputs.o);
  CHECK(!problems[0].problem.draft().scale);
  auto ignored = read.value().ignored;
  std::ranges::sort(ignored);
  CHECK(ignored == std::vector<std::string>{".q", "dense.weights", "ids"});
}

TEST_CASE("a recorded file of a framework is a set of problems", "[unit]") {
  auto const file = read_safetensors(ATTEST_TEST_DATA "/minilm_attention.safetensors");
  REQUIRE(file);
  auto const read = problem_file_of(file.value());
  REQUIRE(read);
  REQUIRE(read.value().problems.size() == 2);
  CHECK(read.value().problems[1].prefix == "layer5");
  CHECK(read.value().problems[1].outputs.o);
  CHECK(read.value().ignored.empty());
}

TEST_CASE("a missing tensor is named", "[unit]") {
  auto builder = with_problem("layer0.");
  builder.file.tensors.erase("layer0.q");
  CHECK(refusal(builder) == "layer0.q: is missing beside 'layer0.k', 'layer0.v'");
  CHECK(refusal(file_builder{}) == "the file has no tensors, expected q, k, v or PREFIX.q, PREFIX.k, PREFIX.v");
  file_builder other;
  other.add("encoder.bias", "F32", {3}).add("ids", "I64", {1});
  CHECK(refusal(other) ==
        "the file has no tensors q, k, v or PREFIX.q, PREFIX.k, PREFIX.v; it has 'ids', 'encoder.bias'");
}

TEST_CASE("element types are checked, and a floating mask points to bias", "[unit]") {
  CHECK(
      refusal(with_problem("x.").add("x.mask", "F32", {2, 3})) ==
      "x.mask: dtype is F32, but a mask is BOOL or U8 (non-zero = attend); if its values are added to the scores, name "
      "the tensor 'x.bias'");
  CHECK(refusal(with_problem().add("mask", "I64", {2, 3})) ==
        "mask: dtype is I64, expected BOOL or U8 (non-zero = attend)");
  CHECK(refusal(with_problem().add("k", "I32", {3, 4})) == "k: dtype is I32, expected F32, F64, F16 or BF16");
  CHECK(refusal(with_problem("x.").add("x.k", "F64", {3, 4})) == "x.k: element type is f64, expected f32");
  CHECK(refusal(with_problem().add("bias", "BOOL", {3})) == "bias: dtype is BOOL, expected F32, F64, F16 or BF16");
}

TEST_CASE("shapes that do not fit are errors with the file's names", "[unit]") {
  CHECK(refusal(with_problem("x.").add("x.k", "F32", {3, 5})) == "x.k: head dimension d is 5, q has 4");
  CHECK(refusal(with_problem("x.").add("x.q", "F32", {1, 1, 1, 2, 4})) == "x.q: rank is 5, expected 2, 3 or 4");
  CHECK(refusal(with_problem("x.").add("x.mask", "BOOL", {})) == "x.mask: rank is 0, expected 2, 3 or 4");
  file_builder huge;  // nothing to read, but rows that no byte of the file stands for
  huge.add("q", "F32", {std::int64_t{1} << 40, 0}).add("k", "F32", {0, 0}).add("v", "F32", {0, std::int64_t{1} << 40});
  CHECK(refusal(huge.key("scale", "1").add("lse", "F32", {0})) ==
        "q: shape is [1099511627776, 0]: a tensor without elements has at most 1048576 rows");
}

TEST_CASE("an output of a wrong shape or type is left out, and the rest of the file is read", "[unit]") {
  auto const left_out = [](std::string const& role, std::string const& dtype, std::vector<std::int64_t> const& shape) {
    auto const other = with_problem("y.").add("y.o", "F32", {2, 5});
    auto builder = with_problem("x.").add("x." + role, dtype, shape);
    for (auto const& [name, tensor] : other.file.tensors) builder.add(name, tensor.dtype, tensor.shape);
    auto const read = problem_file_of(builder.file);
    REQUIRE(read);
    auto const& [x, y] = std::tie(read.value().problems.at(0), read.value().problems.at(1));
    CHECK(x.outputs.empty());
    CHECK(y.outputs.o);
    CHECK(y.unusable.empty());
    REQUIRE(x.unusable.size() == 1);
    CHECK(x.unusable[0].role == role);
    return x.unusable[0].says;
  };
  CHECK(left_out("o", "F32", {2, 4}) == "shape is [2, 4], expected [2, 5]");
  CHECK(left_out("o", "I64", {2, 5}) == "dtype is I64, expected F32, F64, F16 or BF16");
  CHECK(left_out("o", "F64", {2, 5}) ==
        "element type is f64, expected f32; o has the type of its inputs: store it in F32");
  CHECK(left_out("o", "F32", {}) == "rank is 0, expected 2, 3 or 4");
  CHECK(left_out("lse", "F32", {3}) == "shape is [3], expected [2]");
  CHECK(left_out("lse", "F64", {2}) == "element type is f64, expected f32");
  CHECK(left_out("weights", "F32", {2, 2}) == "shape is [2, 2], expected [2, 3]");
}

TEST_CASE("metadata that are nearly parameters are listed as ignored", "[unit]") {
  auto builder =
      with_problem("x.").key("scale", "0.5").key("x.right", "0").key("source", "a model").key("attest.seed", "1");
  builder.key("x.attest.status", "hung").key("is_causal", "true").key("x.scal", "1").key("y.scale", "1");
  auto const read = problem_file_of(builder.file);
  REQUIRE(read);
  CHECK(read.value().ignored == std::vector<std::string>{"metadata 'is_causal', which is 'right: 0' here: --causal "
                                                         "top-left or --causal bottom-right",
                                                         "metadata 'x.scal', did you mean 'scale'?",
                                                         "metadata 'y.scale', of which there is no problem"});
}

TEST_CASE("parameters come from flags, then PREFIX.key, then key", "[unit]") {
  auto builder = with_problem("x.").key("scale", "0x1.8p-2").key("x.softcap", "30").key("softcap", "garbage");
  builder.key("diagonal", "-1").key("left", "default").key("right", "2");
  auto read = problem_file_of(builder.file);
  REQUIRE(read);
  auto const& draft = read.value().problems[0].problem.draft();
  CHECK(draft.scale == 0.375);
  CHECK(draft.softcap == 30);
  CHECK(draft.band == problem::band{-1, -1, 2});
  CHECK(read.value().notes.empty());

  auto const flagged = problem_file_of(builder.file, {{"scale", "default"}, {"diagonal", "7"}, {"left", "0"}});
  REQUIRE(flagged);
  CHECK(!flagged.value().problems[0].problem.draft().scale);
  CHECK(flagged.value().problems[0].problem.draft().band == problem::band{7, 0, 2});
  REQUIRE(flagged.value().notes.size() == 3);
  CHECK(flagged.value().notes[0] == "--scale default overrides 'scale' = '0x1.8p-2' of the file's metadata");
}

TEST_CASE("garbage in a parameter names its key or flag", "[unit]") {
  std::string const finite = "expected a finite decimal number or hex float (such as 0.125 or 0x1p-3) or 'default'";
  for (std::string const text : {"", " 1", "1 ", "nan", "inf", "1e999", "0x", "--1", "0x-1", "1,5", "one"})
    CHECK(refusal(with_problem("x.").key("x.scale", text)) == "x.scale: is '" + text + "', " + finite);
  for (std::string const text : {"1e-400", "-0x1p-2000"})
    CHECK(refusal(with_problem().key("scale", text)) == "scale: is '" + text + "', which is 0 as a double, " + finite);
  CHECK(refusal(with_problem("x.").key("scale", "\x1b")) == "scale: is '\\x1b', " + finite);
  CHECK(refusal(with_problem(), {{"scale", "abc"}}) == "--scale: is 'abc', " + finite);
  CHECK(refusal(with_problem().key("left", "1.5")) == "left: is '1.5', expected a whole number or 'default'");
  CHECK(refusal(with_problem().key("right", "9223372036854775808")) ==
        "right: is '9223372036854775808', expected a whole number or 'default'");
  CHECK(refusal(with_problem("x.").key("left", "-2")) == "x.left: is -2, expected -1 (unbounded) or more");
  CHECK(refusal(with_problem().key("softcap", "-1")) == "softcap: must be finite and positive, or 0 for none");
}

TEST_CASE("outputs may come in a second file", "[unit]") {
  auto inputs = with_problem("x.").add("x.o", "F32", {2, 5});
  file_builder outputs;
  outputs.add("x.o", "F32", {2, 5}).add("x.lse", "F32", {2}).add("x.q", "F32", {9}).add("y.o", "F32", {1});
  outputs.owned->front().assign(40, std::byte{2});
  outputs.file.tensors.at("x.o").bytes = outputs.owned->front();
  inputs.add("x.lse", "F32", {7})
      .add("z.weights", "F32", {1})
      .add("m.o_parts", "F32", {1, 2, 3})
      .add("m.o", "F32", {2, 3});
  inputs.add("m.lse_parts", "F32", {1, 2}).key("x.attest.status", "hung").key("z.attest.status", "hung");
  auto const dropped = drop_outputs(inputs.file);
  CHECK((dropped.outputs == 3 && dropped.statuses == 1));
  CHECK(inputs.file.tensors.contains("z.weights"));  // of no problem
  CHECK(inputs.file.metadata == safetensors_metadata{{"z.attest.status", "hung"}});
  for (char const* const part : {"m.o_parts", "m.lse_parts", "z.weights"}) inputs.file.tensors.erase(part);
  inputs.file.metadata.clear();
  auto const merged = with_outputs(problem_file_of(inputs.file).value(), outputs.file);
  REQUIRE(merged);
  auto const& only = merged.value().problems.at(0);
  CHECK(only.outputs.o->bytes == std::vector<std::byte>(40, std::byte{2}));
  CHECK(only.outputs.lse);
  CHECK(merged.value().ignored == std::vector<std::string>{"x.q", "y.o"});

  file_builder wrong;
  wrong.add("x.o", "F32", {5, 2});
  auto const left_out = with_outputs(problem_file_of(inputs.file).value(), wrong.file);
  REQUIRE(left_out);
  CHECK(!left_out.value().problems.at(0).outputs.o);
  REQUIRE(left_out.value().problems.at(0).unusable.size() == 1);
  CHECK(left_out.value().problems.at(0).unusable[0].says == "shape is [5, 2], expected [2, 5]");

  file_builder said;
  said.key("x.attest.status", "hung").key("y.attest.status", "hung").key("x.attest.check", "masks");
  auto const told = with_outputs(problem_file_of(inputs.file).value(), said.file);
  REQUIRE(told);
  CHECK(told.value().metadata == safetensors_metadata{{"x.attest.status", "hung"}});
  CHECK(told.value().ignored == std::vector<std::string>{"y.attest.status"});
}

}  // namespace attest::tests::recorded_test
