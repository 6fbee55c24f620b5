// attest reference: its bounds are those by which outputs are judged.
#include "audit/oracle/reference.hpp"

#include <cmath>
#include <limits>
#include <random>

#include <unistd.h>

#include "audit/judge/by_law.hpp"
#include "audit/oracle/solve.hpp"
#include "audit/support/files.hpp"
#include "audit/tensors/elements.hpp"
#include "tests/support/catch.hpp"

namespace attest::audit {
namespace {

namespace fs = std::filesystem;
using problem::element_type;

constexpr double infinity = std::numeric_limits<double>::infinity(), quiet = std::numeric_limits<double>::quiet_NaN();

/// One row of a type: q [1, 1, 1, d], k [1, 1, m, d], v [1, 1, m, dv], from the numbers in their order.
problem_draft row_of(element_type type, std::vector<double> const& q, std::vector<double> const& k,
                     std::vector<double> const& v) {
  auto const d = std::ssize(q), m = std::ssize(k) / d;
  problem_draft draft;
  draft.q = owned_tensor::compact(type, {1, 1, 1, d}), draft.k = owned_tensor::compact(type, {1, 1, m, d});
  draft.v = owned_tensor::compact(type, {1, 1, m, std::ssize(v) / m});
  auto const write = [](owned_tensor& t, std::vector<double> const& numbers) {
    for (std::size_t at = 0; at < numbers.size(); ++at) store(t, at, numbers[at]);
  };
  write(draft.q, q), write(draft.k, k), write(draft.v, v);
  return draft;
}

/// A problem of any shape: grouped heads, masks that hide whole rows, biases of −∞, bands, softcap, scores small and
/// large.
problem_draft drawn(element_type type, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  auto const upto = [&](std::int64_t most) {
    return 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most));
  };
  auto const one_in = [&](std::uint64_t so_many) { return random() % so_many == 0; };
  std::int64_t const b = upto(2), hk = upto(2), hq = hk * upto(2), n = upto(6), m = upto(12), d = upto(6), dv = upto(4);
  problem_draft draft;
  draft.q = owned_tensor::compact(type, {b, hq, n, d}), draft.k = owned_tensor::compact(type, {b, hk, m, d});
  draft.v = owned_tensor::compact(type, {b, hk, m, dv});
  double const spread = one_in(3) ? 8 : 1, center = one_in(4) ? 3 : 0;
  fill(draft.q, [&](auto...) { return spread * normal(random); });
  fill(draft.k, [&](auto...) { return normal(random); });
  fill(draft.v, [&](auto...) { return center + normal(random); });
  if (one_in(2)) {
    draft.mask = owned_tensor::compact(element_type::u8, {b, 1, n, m});
    fill(*draft.mask, [&](auto, auto, std::int64_t i, auto) { return i > 0 && !one_in(3) ? 1. : 0.; });
  }
  if (one_in(2)) {
    draft.bias = owned_tensor::compact(one_in(2) ? type : element_type::f32, {b, hq, n, m});
    fill(*draft.bias, [&](auto...) { return one_in(4) ? -infinity : normal(random); });
  }
  if (one_in(3)) draft.band.right = 0, draft.band.diagonal = m - n;
  if (one_in(4)) draft.softcap = 5;
  if (one_in(4)) draft.scale = -0.75;
  return draft;
}

/// The contents of a file of `reference` or `solve` for the problem without a prefix, as doubles.
struct answered {
  std::map<std::string, std::vector<double>> of;
  safetensor_map tensors;
  std::shared_ptr<std::vector<std::byte>> bytes;
  std::int64_t undecided = 0;
};

answered read_answers(std::vector<std::byte> const& file, std::int64_t undecided) {
  answered all;
  all.bytes = std::make_shared<std::vector<std::byte>>(file), all.undecided = undecided;
  all.tensors = parse_safetensors(*all.bytes).value().tensors;
  for (auto const& [name, tensor] : all.tensors) {
    element_type const type = tensor.dtype == "F64"    ? element_type::f64
                              : tensor.dtype == "F32"  ? element_type::f32
                              : tensor.dtype == "BF16" ? element_type::bf16
                                                       : element_type::f16;
    std::size_t const elements = tensor.bytes.size() / problem::size_of(type);
    owned_tensor t = owned_tensor::compact(type, {static_cast<std::int64_t>(elements)});
    std::ranges::copy(tensor.bytes, t.bytes.data());
    for (std::size_t at = 0; at < elements; ++at) all.of[name].push_back(load(t, at));
  }
  return all;
}

/// f(the path of a file with this problem).
template <class F>
auto with_file(owned_problem const& problem, axis_order order, F&& f) {
  fs::path const path =
      fs::temp_directory_path() / ("attest_reference_test_" + std::to_string(::getpid()) + ".safetensors");
  std::vector<problem_file_entry> const entries{{"", problem, {}, {}, order}};
  REQUIRE_FALSE(write_file(path, problem_file_bytes(entries).value()).has_value());
  auto result = f(path);
  fs::remove(path);
  return result;
}

struct asked_for {
  std::optional<element_type> round{};
  bool quick = false;
  axis_order order = axis_order::bhnd;
};

answered referenced_by(owned_problem const& problem, contract const& claim, asked_for const& how = {}) {
  return with_file(problem, how.order, [&](fs::path const& path) {
    auto const made = run_reference({.inputs = path, .claim = &claim, .round = how.round, .quick = how.quick});
    REQUIRE(made.has_value());
    return read_answers(made.value().file, made.value().undecided);
  });
}

answered solved_by(owned_problem const& problem, element_type round, axis_order order = axis_order::bhnd) {
  return with_file(problem, order, [&](fs::path const& path) {
    solve_options options;
    options.inputs = path, options.round = round;
    auto const made = run_solve(options);
    REQUIRE(made.has_value());
    return read_answers(made.value().file, made.value().undecided);
  });
}

owned_problem made(problem_draft draft) { return owned_problem::of_valid(std::move(draft)); }

/// The number of a type furthest from 0, or next further, in the direction of `sign`, that is within `bound` of x, or
/// the next one, which is not. x is known to half an ulp of a double.
double moved(element_type type, double x, double bound, double sign, bool inside) {
  problem::binary_format const format = problem::row_of(type).format;
  double const slack = std::abs(x) * 0x1p-52 + 0x1p-1074;
  double at = rounded_to(x + sign * bound, format);
  auto const next = [&](double from, double way) {
    std::uint64_t const bits = pattern_of(from, format), size = bits & (format.sign_bit() - 1);
    if (size == 0) return way * number_of(1, format);
    bool const grows = (from > 0) == (way > 0);
    return number_of(grows ? bits + 1 : bits - 1, format);
  };
  // x and `at` are near each other; in long double their difference is exact, except for the slack.
  auto const off = [&](double to) { return std::abs(static_cast<long double>(to) - static_cast<long double>(x)); };
  if (inside)
    while (off(at) + slack > bound && (at - x) * sign > 0) at = next(at, -sign);
  else
    while (off(at) - slack <= bound) at = next(at, sign);
  return at;
}

/// The outputs of the file, each finite one with a bound moved to the last number inside its bound, or to the first
/// outside where outside() says so.
struct moved_outputs {
  owned_outputs outputs;
  std::int64_t inside = 0, outside = 0, by_rule = 0, open = 0;
};

template <class Outside>
moved_outputs move_outputs(owned_problem const& problem, answered const& exact, answered const& bounds,
                           std::mt19937_64& random, Outside&& outside) {
  problem::sizes const& s = problem.size();
  moved_outputs result;
  result.outputs.o = owned_tensor::compact(problem.type(), {s.b, s.hq, s.n, s.dv});
  result.outputs.lse = owned_tensor::compact(problem::row_of(problem.type()).lse, {s.b, s.hq, s.n});
  for (auto* const tensor : {&*result.outputs.o, &*result.outputs.lse}) {
    std::string const name = tensor == &*result.outputs.o ? "o" : "lse";
    std::vector<double> const &truth = exact.of.at(name), &bound = bounds.of.at(name + ".bound");
    for (std::size_t at = 0; at < truth.size(); ++at) {
      double got = bounds.of.at(name)[at];
      if (bound[at] == infinity) ++result.open;
      else if (!(bound[at] > 0)) ++result.by_rule;
      else {
        bool const leaves = outside();
        ++(leaves ? result.outside : result.inside);
        got = moved(tensor->type, truth[at], bound[at], random() % 2 == 0 ? 1 : -1, !leaves);
      }
      store(*tensor, at, got);
    }
  }
  return result;
}

contract with_conventions(char const* preset, conventions const& how) {
  contract claim = *find_contract(preset);
  claim.name = "test", claim.conventions = how;
  return claim;
}

/// Judges outputs at the ends of what the file allows, and beyond; `seen` counts elements.
void ends_are_judged_so(owned_problem const& problem, contract const& claim, std::mt19937_64& random,
                        moved_outputs& seen) {
  answered const bounds = referenced_by(problem, claim);
  answered const exact = referenced_by(problem, claim, {.round = element_type::f64});
  CHECK(bounds.undecided == 0);
  auto const inside = move_outputs(problem, exact, bounds, random, [] { return false; });
  judgement const accepted = judge_by_law(problem, inside.outputs, claim);
  for (violation const& wrong : accepted.violations) UNSCOPED_INFO(wrong.sentence);
  CHECK(accepted.failed == 0);
  CHECK(accepted.judged_by_bound() == inside.inside);
  CHECK(accepted.not_judged() == inside.open);
  for (std::uint64_t const one_in : {std::uint64_t{1}, std::uint64_t{3}}) {
    auto const mixed = move_outputs(problem, exact, bounds, random, [&] { return random() % one_in == 0; });
    judgement const refuted = judge_by_law(problem, mixed.outputs, claim);
    CHECK(refuted.failed == mixed.outside);
    seen.inside += mixed.inside, seen.outside += mixed.outside, seen.by_rule += mixed.by_rule, seen.open += mixed.open;
  }
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

TEST_CASE("what a contract says of queries that see no key is in the file, with its bound", "[property]") {
  using row = conventions::row;
  using log = conventions::log;
  std::mt19937_64 random(23);
  for (row const empty : {row::zero, row::nan, row::mean, row::unmasked, row::nan_unless_no_keys})
    for (log const empty_lse : {log::minus_infinity, log::zero, log::plus_infinity}) {
      moved_outputs seen;
      contract const claim = with_conventions("f32", {.empty_row = empty, .empty_lse = empty_lse});
      for (int n = 0; n < 12; ++n) {
        problem_draft draft = drawn(element_type::f32, random);
        problem::layout const& q = draft.q.layout;
        draft.mask =
            owned_tensor::compact(element_type::u8, {q.shape[0], q.shape[1], q.shape[2], draft.k.layout.shape[2]});
        fill(*draft.mask, [&](auto, auto, std::int64_t i, auto) { return i % 2 == 0 ? 0. : 1.; });
        INFO(static_cast<int>(empty) << ' ' << static_cast<int>(empty_lse) << ", problem " << n);
        ends_are_judged_so(made(std::move(draft)), claim, random, seen);
      }
      CHECK(seen.outside > 50);
    }
  auto const hidden = [](std::vector<double> const& values) {
    problem_draft draft = row_of(element_type::f32, {1}, {0, 0}, values);
    draft.mask = owned_tensor::compact(element_type::u8, {1, 1, 1, 2});
    return made(std::move(draft));
  };
  auto const says = [&](row empty, log empty_lse) {
    return referenced_by(hidden({1, 4}), with_conventions("f32", {.empty_row = empty, .empty_lse = empty_lse})).of;
  };
  auto zero = says(row::zero, log::minus_infinity);
  CHECK((zero["o"][0] == 0 && zero["o.bound"][0] == 0 && zero["lse"][0] == -infinity && zero["lse.bound"][0] == 0));
  auto mean = says(row::mean, log::zero);
  CHECK((mean["o"][0] == 2.5 && mean["o.bound"][0] > 0 && mean["o.bound"][0] < 0.01));
  CHECK((mean["lse"][0] == 0 && mean["lse.bound"][0] == 0));
  auto none = says(row::nan, log::minus_infinity);
  CHECK((std::isnan(none["o"][0]) && none["o.bound"][0] == 0 && none["lse"][0] == -infinity));
  auto whole = says(row::unmasked, log::zero);
  CHECK((whole["o"][0] == 2.5 && whole["lse"][0] == static_cast<double>(static_cast<float>(std::log(2.0)))));
  CHECK(whole["lse.bound"][0] > 0);
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

TEST_CASE("a value that a rule asks for has the bound 0, one that is only not finite NaN, one left open +inf",
          "[unit]") {
  auto const f32 = *find_contract("f32");
  auto const says = [&](problem_draft draft, contract const& claim) {
    return referenced_by(made(std::move(draft)), claim).of;
  };
  auto values = says(row_of(element_type::f32, {1}, {0, 1}, {quiet, 1, infinity, 2, 3, 4}), f32);
  CHECK((std::isnan(values["o"][0]) && values["o.bound"][0] == 0));
  CHECK((std::isfinite(values["o"][1]) && values["o.bound"][1] > 0 && values["o.bound"][1] < 1));
  CHECK((std::isnan(values["o"][2]) && std::isnan(values["o.bound"][2])));
  CHECK((values["lse.bound"][0] > 0 && values["lse.bound"][0] < 1));
  auto rows = says(row_of(element_type::f32, {1}, {0, infinity}, {1, 2}), f32);  // a score of +∞
  CHECK((std::isnan(rows["o"][0]) && rows["o.bound"][0] == 0));
  CHECK((std::isnan(rows["lse"][0]) && std::isnan(rows["lse.bound"][0])));
  auto nan_row = says(row_of(element_type::f32, {quiet}, {0, 1}, {1, 2}), f32);
  CHECK((std::isnan(nan_row["lse"][0]) && nan_row["lse.bound"][0] == 0));
  problem_draft lost = row_of(element_type::f32, {1}, {0, 1}, {infinity, 2});  // ∞ at a key whose score is −∞
  lost.bias = owned_tensor::compact(element_type::f32, {1, 1, 1, 2});
  store(*lost.bias, 0, -infinity);
  auto left_open = says(lost, f32);
  CHECK((std::isnan(left_open["o"][0]) && left_open["o.bound"][0] == infinity && left_open["lse.bound"][0] < 1));
  auto outside = says(row_of(element_type::f32, {1e30, 1e30}, {1e30, 0, 0, 0}, {1, 2}), f32);  // no score of a float
  CHECK((outside["o.bound"][0] == infinity && outside["lse.bound"][0] == infinity));

  contract const unspecified = with_conventions("f32", {.nan = conventions::invalid::unspecified});
  auto free_values = says(row_of(element_type::f32, {1}, {0, 1}, {quiet, 1, infinity, 2, 3, 4}), unspecified);
  CHECK((free_values["o.bound"][0] == infinity && free_values["o.bound"][1] < 1 &&
         free_values["o.bound"][2] == infinity));
  auto free_row = says(row_of(element_type::f32, {quiet}, {0, 1}, {1, 2}), unspecified);
  CHECK((free_row["o.bound"][0] == infinity && free_row["lse.bound"][0] == infinity));

  problem_draft hiding = row_of(element_type::f32, {1}, {0, quiet}, {1, 2});
  hiding.mask = owned_tensor::compact(element_type::u8, {1, 1, 1, 2});
  store(*hiding.mask, 0, 1);
  auto never_read = says(hiding, f32);
  CHECK((never_read["o"][0] == 1 && never_read["o.bound"][0] < 1));
  auto finite_alone = says(hiding, with_conventions("f32", {.masked_values = conventions::masked::must_be_finite}));
  CHECK((finite_alone["o"][0] == 1 && finite_alone["o.bound"][0] == infinity &&
         finite_alone["lse.bound"][0] == infinity));
}

TEST_CASE("outputs of a kernel whose weights are known, or that Clause H limits, are never right beyond the bound",
          "[property]") {
  // Here more may be allowed on one side of the exact value than on the other: the file has the larger side.
  for (auto const& [type, preset, spread] : {std::tuple(element_type::bf16, "bf16-ordered", 1.),
                                             {element_type::f16, "f16-ieee-ordered", 1.},
                                             {element_type::f32, "f32", 3e4}}) {
    std::mt19937_64 random(37);
    contract const& claim = *find_contract(preset);
    std::int64_t outside = 0;
    for (int n = 0; n < 40; ++n) {
      problem_draft draft = drawn(type, random);
      draft.softcap = 0;
      for (std::size_t at = 0; at < draft.q.bytes.size() / problem::size_of(type); ++at)
        store(draft.q, at, spread * load(draft.q, at));
      auto const problem = made(std::move(draft));
      INFO(preset << ", problem " << n);
      answered const bounds = referenced_by(problem, claim);
      answered const exact = referenced_by(problem, claim, {.round = element_type::f64});
      auto const beyond = move_outputs(problem, exact, bounds, random, [] { return true; });
      judgement const refuted = judge_by_law(problem, beyond.outputs, claim);
      CHECK(refuted.failed >= beyond.outside);
      CHECK(refuted.not_judged() == beyond.open);
      outside += beyond.outside;
    }
    CHECK(outside > 300);
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
}  // namespace attest::audit
