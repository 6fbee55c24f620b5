// attest reference: its bounds are those by which outputs are judged.
#include "audit/oracle/reference.hpp"

#include <random>

#include <unistd.h>

#include "audit/oracle/solve.hpp"
#include "audit/tensors/elements.hpp"
#include "tests/audit/oracle/referenced.hpp"
#include "tests/support/catch.hpp"

namespace attest::audit::reference_test {
namespace {

namespace fs = std::filesystem;
using problem::element_type;

answered solved_by(owned_problem const& problem, element_type round, axis_order order = axis_order::bhnd) {
  return with_file(problem, order, [&](fs::path const& path) {
    solve_options options;
    options.inputs = path, options.round = round;
    auto const made = run_solve(options);
    REQUIRE(made.has_value());
    return read_answers(made.value().file, made.value().undecided);
  });
}

TEST_CASE("outputs at the end of their bounds are accepted, and the next numbers are refuted", "[property]") {
  for (auto const& [type, presets] : {std::pair(element_type::f32, std::vector{"f32", "f32-any", "f32-ordered"}),
                                      {element_type::f64, {"f64", "f64-blocked"}},
                                      {element_type::bf16, {"bf16", "bf16-ieee"}},
                                      {element_type::f16, {"f16", "f16-ftz"}}}) {
    std::mt19937_64 random(17);
    moved_outputs seen;
    for (int n = 0; n < 60; ++n) {
      auto const problem = made(drawn(type, random));
      INFO(problem::name_of(type) << ", problem " << n);
      ends_are_judged_so(problem, *find_contract(presets[random() % presets.size()]), random, seen);
    }
    INFO(problem::name_of(type));
    CHECK(seen.inside > 500);
    CHECK(seen.outside > 500);
    CHECK(seen.by_rule > 200);
  }
}

TEST_CASE("o and lse are those of solve --round, in every rank and axis order", "[unit]") {
  std::mt19937_64 random(29);
  for (element_type const type : {element_type::f32, element_type::f64, element_type::bf16, element_type::f16})
    for (axis_order const order : {axis_order::bhnd, axis_order::bnhd})
      for (int n = 0; n < 6; ++n) {
        auto const problem = made(drawn(type, random));
        answered const made_here = referenced_by(problem, default_contract(type), {.order = order});
        answered const solved = solved_by(problem, type, order);
        answered const logs = solved_by(problem, problem::row_of(type).lse, order);
        auto const same = [](safetensor const& a, safetensor const& b) {
          return a.dtype == b.dtype && a.shape == b.shape && std::ranges::equal(a.bytes, b.bytes);
        };
        CHECK(same(made_here.tensors.at("o"), solved.tensors.at("o")));
        CHECK(same(made_here.tensors.at("lse"), logs.tensors.at("lse")));
        CHECK(made_here.tensors.at("o.bound").shape == solved.tensors.at("o").shape);
        CHECK(made_here.tensors.at("lse.bound").shape == solved.tensors.at("lse").shape);
        CHECK(made_here.tensors.at("o.bound").dtype == "F64");
        CHECK(made_here.tensors.size() == 4);
      }
  // The heads inside: the same numbers at other places.
  auto const problem = made(drawn(element_type::f32, random));
  problem::sizes const& s = problem.size();
  auto const outer = referenced_by(problem, *find_contract("f32")).of,
             inner = referenced_by(problem, *find_contract("f32"), {.order = axis_order::bnhd}).of;
  for (std::int64_t at = 0; at < s.b * s.hq * s.n * s.dv; ++at) {
    std::int64_t const c = at % s.dv, i = at / s.dv % s.n, h = at / s.dv / s.n % s.hq, b = at / s.dv / s.n / s.hq;
    auto const to = static_cast<std::size_t>(((b * s.n + i) * s.hq + h) * s.dv + c);
    CHECK(outer.at("o.bound")[static_cast<std::size_t>(at)] == inner.at("o.bound")[to]);
  }
}

TEST_CASE("the bounds of the machine tier alone are those of both, but for their last digits", "[unit]") {
  std::mt19937_64 random(31);
  for (element_type const type : {element_type::f32, element_type::f64, element_type::bf16, element_type::f16})
    for (int n = 0; n < 20; ++n) {
      auto const problem = made(drawn(type, random));
      auto const both = referenced_by(problem, default_contract(type)).of;
      auto const quick = referenced_by(problem, default_contract(type), {.quick = true}).of;
      for (std::string const name : {"o.bound", "lse.bound"})
        for (std::size_t at = 0; at < both.at(name).size(); ++at) {
          double const wide = both.at(name)[at], narrow = quick.at(name)[at];
          CHECK((narrow == wide || (narrow < wide && narrow > wide * (1 - 1e-6))));
        }
    }
}

TEST_CASE("a contract for another type is refused by name, and so is what is no problem", "[unit]") {
  auto const problem = made(row_of(element_type::f32, {1}, {0, 1}, {1, 2}));
  auto const refused = with_file(problem, axis_order::bhnd, [](fs::path const& path) {
    return run_reference({.inputs = path, .claim = find_contract("bf16")}).why();
  });
  CHECK(refused.argument == "--contract");
  CHECK(refused.message() == "--contract: bf16 is about bf16, q of the file is f32");
  CHECK_FALSE(run_reference({.inputs = "/nowhere/x"}).has_value());
  // Without a contract it is the preset of the type.
  auto const plain = with_file(problem, axis_order::bhnd,
                               [](fs::path const& path) { return run_reference({.inputs = path}).value().file; });
  CHECK(read_answers(plain, 0).of == referenced_by(problem, *find_contract("f32")).of);
}

}  // namespace
}  // namespace attest::audit::reference_test
