// What attest reference and attest solve answer to a problem, and outputs at the ends of their bounds.
#pragma once

#include <cmath>
#include <limits>
#include <random>

#include <unistd.h>

#include "audit/judge/by_law.hpp"
#include "audit/oracle/reference.hpp"
#include "audit/support/files.hpp"
#include "audit/tensors/elements.hpp"
#include "tests/support/catch.hpp"

namespace attest::audit {

namespace fs = std::filesystem;
using problem::element_type;

inline constexpr double infinity = std::numeric_limits<double>::infinity(),
                        quiet = std::numeric_limits<double>::quiet_NaN();

/// One row of a type: q [1, 1, 1, d], k [1, 1, m, d], v [1, 1, m, dv], from the numbers in their order.
inline problem_draft row_of(element_type type, std::vector<double> const& q, std::vector<double> const& k,
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
inline problem_draft drawn(element_type type, std::mt19937_64& random) {
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

inline answered read_answers(std::vector<std::byte> const& file, std::int64_t undecided) {
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

inline answered referenced_by(owned_problem const& problem, contract const& claim, asked_for const& how = {}) {
  return with_file(problem, how.order, [&](fs::path const& path) {
    auto const made = run_reference({.inputs = path, .claim = &claim, .round = how.round, .quick = how.quick});
    REQUIRE(made.has_value());
    return read_answers(made.value().file, made.value().undecided);
  });
}

inline owned_problem made(problem_draft draft) { return owned_problem::of_valid(std::move(draft)); }

/// The number of a type furthest from 0, or next further, in the direction of `sign`, that is within `bound` of x, or
/// the next one, which is not. x is known to half an ulp of a double.
inline double moved(element_type type, double x, double bound, double sign, bool inside) {
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

/// Judges outputs at the ends of what the file allows, and beyond; `seen` counts elements.
inline void ends_are_judged_so(owned_problem const& problem, contract const& claim, std::mt19937_64& random,
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

}  // namespace attest::audit
