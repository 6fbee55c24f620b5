// attest reference, solve and explain beside a dO: gradients, their bounds, and what is said where they cannot be had.
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "audit/cases/families/backward.hpp"
#include "audit/cases/random.hpp"
#include "audit/cause/near_gradient.hpp"
#include "audit/judge/by_law.hpp"
#include "audit/oracle/explain.hpp"
#include "audit/oracle/reference.hpp"
#include "audit/oracle/solve.hpp"
#include "audit/support/files.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/entry_forms.hpp"
#include "audit/tensors/gradient_form.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/scratch_folder.hpp"

namespace attest::tests::oracle_gradients_test {
namespace {

using namespace audit;
using problem::element_type;

/// A small backward pass with grouped heads, a mask with an empty row, a shared bias and a sink.
owned_problem small_pass(element_type type, std::function<void(problem_draft&)> const& change = [](auto&) {}) {
  random_stream random(3, "gradients of the oracle");
  problem_draft draft;
  draft.q = owned_tensor::compact(type, {2, 4, 3, 4}), draft.k = owned_tensor::compact(type, {2, 2, 5, 4});
  draft.v = owned_tensor::compact(type, {2, 2, 5, 3});
  draft.mask = owned_tensor::compact(element_type::u8, {1, 1, 3, 5});
  draft.bias = owned_tensor::compact(type, {1, 4, 1, 5}), draft.sink = owned_tensor::compact(type, {4});
  for (owned_tensor* t : {&draft.q, &draft.k, &draft.v, &*draft.bias})
    fill(*t, [&](auto...) { return random.normal(); });
  fill(*draft.mask, [](auto, auto, auto i, auto j) { return i != 1 && (i + j) % 4 != 0 ? 1.0 : 0.0; });
  auto const forward = owned_problem::of_valid(std::move(draft));
  problem_draft pass = differentiated({.check = "", .name = "pass", .problem = forward}, 1).problem.draft();
  change(pass);
  return owned_problem::of_valid(std::move(pass));
}

struct file_of {
  scratch_folder folder{"gradients"};
  std::filesystem::path path = folder.path / "pass.safetensors";
  explicit file_of(owned_problem const& problem, owned_outputs const& outputs = {},
                   axis_order order = axis_order::bhnd) {
    std::vector<problem_file_entry> const entries{{"x", problem, outputs, {}, order}};
    REQUIRE_FALSE(write_file(path, problem_file_bytes(entries).value()).has_value());
  }
};

struct read_tensor {
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::vector<double> values;
};

std::map<std::string, read_tensor> read(std::vector<std::byte> const& file) {
  std::map<std::string, read_tensor> all;
  auto const parsed = parse_safetensors(file);
  for (auto const& [name, from] : parsed.value().tensors) {
    element_type const type = from.dtype == "F64"    ? element_type::f64
                              : from.dtype == "F32"  ? element_type::f32
                              : from.dtype == "BF16" ? element_type::bf16
                                                     : element_type::f16;
    std::size_t const count = from.bytes.size() / problem::size_of(type);
    owned_tensor t = owned_tensor::compact(type, {static_cast<std::int64_t>(count)});
    std::memcpy(t.bytes.data(), from.bytes.data(), from.bytes.size());
    read_tensor& into = all[name];
    into.dtype = from.dtype, into.shape = from.shape;
    for (std::size_t at = 0; at < count; ++at) into.values.push_back(load(t, at));
  }
  return all;
}

std::map<std::string, read_tensor> referenced_by(std::filesystem::path const& path, contract const* claim = nullptr) {
  auto const made = run_reference({.inputs = path, .claim = claim});
  if (!made) FAIL(made.why().message());
  CHECK(made.value().undecided == 0);
  return read(made.value().file);
}

problem::result<solution> solved_of(std::filesystem::path const& path, std::optional<int> digits = {}) {
  solve_options options;
  options.inputs = path, options.digits = digits;
  return run_solve(options);
}

problem::result<std::string> explained(std::filesystem::path const& path, std::string gradient,
                                       std::array<std::int64_t, 3> row = {}) {
  explain_options options;
  options.inputs = path, options.row = row, options.gradient = std::move(gradient);
  return run_explain(options);
}

constexpr output_kind kinds[]{output_kind::dq, output_kind::dk, output_kind::dv, output_kind::dbias,
                              output_kind::dsink};

/// f(kind, index, offset) of every element.
template <class F>
void each_element(owned_problem const& problem, F&& f) {
  for (output_kind const kind : kinds) {
    gradient_places const places(problem, kind);
    auto const& [b_size, h_size, rows, columns] = places.shape();
    for (std::int64_t b = 0; b < b_size; ++b)
      for (std::int64_t h = 0; h < h_size; ++h)
        for (std::int64_t i = 0; i < rows; ++i)
          for (std::int64_t x = 0; x < columns; ++x)
            f(kind, std::array{b, h, i, x}, places.row(b, h, i) + static_cast<std::size_t>(x));
  }
}

}  // namespace

TEST_CASE("reference writes every gradient, rounded, with the bound by which it is judged", "[unit]") {
  for (element_type const type : {element_type::f32, element_type::bf16}) {
    owned_problem const problem = small_pass(type);
    contract const& claim = default_contract(type);
    auto const tensors = referenced_by(file_of(problem).path);
    owned_outputs right;
    for (output_kind const kind : kinds) right.of(kind) = zero_gradient(problem, kind);
    double const u = problem::formats::power_of_two(-problem::row_of(type).format.fraction_bits - 1);
    each_element(problem, [&](output_kind kind, auto const& at, std::size_t offset) {
      std::string const name = std::string("x.") + name_of(kind);
      double const value = tensors.at(name).values[offset];
      double const near = near_gradient({problem, {}, claim}, kind, at);
      CHECK(std::abs(value - near) <= u * std::abs(near) + 1e-15);
      store(*right.of(kind), offset, value);
    });
    CHECK(judge_by_law(problem, right, claim).failed == 0);
    each_element(problem, [&](output_kind kind, auto const&, std::size_t offset) {
      std::string const name = std::string("x.") + name_of(kind);
      double const bound = tensors.at(name + ".bound").values[offset], value = tensors.at(name).values[offset];
      CAPTURE(name, offset);
      REQUIRE(std::isfinite(bound));
      owned_outputs off = right;
      store(*off.of(kind), offset, value + 1.1 * bound + 4 * u * std::abs(value) + 1e-30);
      if (offset % 7 == 0) CHECK(judge_by_law(problem, off, claim).failed == 1);
    });
  }
}

TEST_CASE("gradients have the axis order of the file, and their bound counts its o and lse", "[unit]") {
  owned_problem const problem = small_pass(element_type::f32);
  auto const plain = referenced_by(file_of(problem).path);
  auto const inside_out = referenced_by(file_of(problem, {}, axis_order::bnhd).path);
  CHECK(plain.at("x.dq").shape == std::vector<std::int64_t>{2, 4, 3, 4});
  CHECK(inside_out.at("x.dq").shape == std::vector<std::int64_t>{2, 3, 4, 4});
  for (std::size_t b = 0; b < 2; ++b)
    for (std::size_t h = 0; h < 4; ++h)
      for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t t = 0; t < 4; ++t)
          CHECK(plain.at("x.dq").values[((b * 4 + h) * 3 + i) * 4 + t] ==
                inside_out.at("x.dq").values[((b * 3 + i) * 4 + h) * 4 + t]);
  // A right O and LSE beside it make the bound smaller: their actual errors count.
  owned_outputs forward = zero_outputs(problem);
  auto const& o = plain.at("x.o").values;
  for (std::size_t at = 0; at < o.size(); ++at) store(*forward.o, at, o[at]);
  for (std::size_t at = 0; at < plain.at("x.lse").values.size(); ++at)
    store(*forward.lse, at, plain.at("x.lse").values[at]);
  auto const recorded = referenced_by(file_of(problem, forward).path);
  CHECK(recorded.at("x.dq").values == plain.at("x.dq").values);
  CHECK(recorded.at("x.dq.bound").values[0] < plain.at("x.dq.bound").values[0]);
}

TEST_CASE("solve encloses gradients, and prints their digits", "[unit]") {
  owned_problem const problem = small_pass(element_type::f32);
  file_of const file(problem);
  auto const solved = solved_of(file.path);
  REQUIRE(solved.has_value());
  auto const tensors = read(solved.value().file);
  each_element(problem, [&](output_kind kind, auto const& at, std::size_t offset) {
    std::string const name = std::string("x.") + name_of(kind);
    double const near = near_gradient({problem, {}, default_contract(element_type::f32)}, kind, at);
    CHECK(tensors.at(name + ".lower").values[offset] <= near + 1e-12);
    CHECK(tensors.at(name + ".upper").values[offset] >= near - 1e-12);
  });
  auto const digits = solved_of(file.path, 12);
  REQUIRE(digits.has_value());
  CHECK(digits.value().undecided == 0);
  CHECK(digits.value().text.find("x.dk[1, 1, 4, 3] ") != std::string::npos);
  CHECK(digits.value().text.find("x.dsink[3] ") != std::string::npos);
  CHECK(solved_of(file.path, 1000).why().message().find("the most for gradients") != std::string::npos);
}

TEST_CASE("explain shows the terms of a row of a gradient, its elements, and the parts of their bound", "[unit]") {
  owned_problem const problem = small_pass(element_type::f32);
  owned_outputs outputs;
  outputs.dk = zero_gradient(problem, output_kind::dk);
  file_of const file(problem, outputs);
  for (char const* const gradient : {"dq", "dk", "dv", "dbias", "dsink"}) {
    auto const text = explained(file.path, gradient);
    CAPTURE(gradient);
    REQUIRE(text.has_value());
    CHECK(text.value().find("dS sums") == std::string::npos);
    CHECK(text.value().find("would be smaller without") != std::string::npos);
  }
  auto const wrong = explained(file.path, "dk", {1, 1, 4});
  REQUIRE(wrong.has_value());
  CHECK(wrong.value().find("OUTSIDE") != std::string::npos);
}

TEST_CASE("what is no gradient, or no row of one, is an error with its name", "[unit]") {
  auto const message = [](owned_problem const& problem, std::array<std::int64_t, 3> row, std::string gradient) {
    auto const text = explained(file_of(problem).path, std::move(gradient), row);
    return text ? "" : text.why().message();
  };
  owned_problem const pass = small_pass(element_type::f32);
  problem_draft forward = pass.draft();
  forward.d_out.reset(), forward.of = &problem::attention;
  CHECK(message(owned_problem::of_valid(forward), {}, "dq").find("has no 'x.do', the upstream gradient") !=
        std::string::npos);
  owned_problem const unbiased = small_pass(element_type::f32, [](problem_draft& p) { p.bias.reset(); });
  CHECK(message(unbiased, {}, "dbias").find("the problem has no bias") != std::string::npos);
  CHECK(message(pass, {0, 2, 0}, "dk").find("asks for number 2 of 2 heads of dk") != std::string::npos);
  CHECK(message(pass, {0, 0, 5}, "dv").find("asks for number 5 of 5 rows of dv") != std::string::npos);
  CHECK(message(pass, {}, "o").find("is none of dq, dk, dv, dbias and dsink") != std::string::npos);
}

TEST_CASE("a NaN in dO makes what depends on it NaN, and nothing else", "[unit]") {
  owned_problem const pass = small_pass(element_type::f32, [](problem_draft& p) {
    store(*p.d_out, 0, std::numeric_limits<double>::quiet_NaN());  // entry 0, head 0, query 0
  });
  file_of const file(pass);
  auto const tensors = referenced_by(file.path);
  CHECK(std::isnan(tensors.at("x.dq").values[0]));
  CHECK(tensors.at("x.dq.bound").values[0] == 0);
  CHECK_FALSE(std::isnan(tensors.at("x.dq").values[8]));   // query 2
  CHECK_FALSE(std::isnan(tensors.at("x.dk").values[60]));  // entry 1
  CHECK(std::isnan(tensors.at("x.dk").values[4]));         // key 1, which query 0 sees
  auto const text = explained(file.path, "dq");
  REQUIRE(text.has_value());
  CHECK(text.value().find("nan") != std::string::npos);
}

TEST_CASE("a dO of another shape is refused by name", "[unit]") {
  scratch_folder const folder("gradients");
  std::filesystem::path const path = folder.path / "pass.safetensors";
  std::vector<float> const zeros(64);
  safetensor_map tensors;
  for (char const* const name : {"q", "k", "v"})
    tensors[name] = {"F32", {1, 1, 2, 4}, std::as_bytes(std::span(zeros).first(8))};
  tensors["do"] = {"F32", {1, 1, 3, 4}, std::as_bytes(std::span(zeros).first(12))};
  REQUIRE_FALSE(write_safetensors(path, tensors, {}));
  CHECK(run_reference({.inputs = path}).why().message().find("do") != std::string::npos);
  CHECK(solved_of(path).why().message().find("do") != std::string::npos);
  CHECK(explained(path, "dq").why().message().find("do") != std::string::npos);
}

}  // namespace attest::tests::oracle_gradients_test
