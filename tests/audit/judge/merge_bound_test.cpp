// No honest merge of partial results is outside the bound of its preset (docs/bound.md, section 11).
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "audit/cases/default_contract.hpp"
#include "audit/judge/by_law.hpp"
#include "audit/judge/judge_outputs.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/merge_form.hpp"
#include "fast/merge.hpp"
#include "tests/audit/judge/float_merges.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::merge_bound_test {
namespace {

using namespace audit;
using problem::element_type;
/// The answer of fast::merge to a merge of parts of E.
template <class E>
owned_outputs merged_by_builtin(merge_parts const& parts) {
  using L = problem::lse_element<E>;
  std::int64_t const rows = parts.b * parts.hq * parts.n;
  struct described {
    E const* o;
    L const* lse;
    std::int64_t rows, dv;
  } const from{reinterpret_cast<E const*>(parts.o.data()), reinterpret_cast<L const*>(parts.lse.data()), rows,
               parts.dv};
  fast::merge_parts<E> const given{
      parts.parts, &from, [](void const* of, std::int64_t s) noexcept {
        auto const& all = *static_cast<described const*>(of);
        return fast::merge_part<E>{all.o + s * all.rows * all.dv, {0, all.dv, 0}, all.lse + s * all.rows, {0, 1, 0}};
      }};
  element_type const type = problem::type_of<E>;
  owned_outputs answer{owned_tensor::compact(type, {1, rows, 1, parts.dv}),
                       owned_tensor::compact(problem::row_of(type).lse, {1, rows, 1}),
                       {}};
  fast::merge_outputs<E, E> to;
  to.o = {answer.o->as<E>(), {1, rows, 1, parts.dv}, {rows * parts.dv, parts.dv, parts.dv}, true, {}};
  to.lse = {answer.lse->as<L>(), {1, rows, 1, 1}, {rows, 1, 1}, true, {}};
  fast::merge(given, to, {.threads = 1});
  return answer;
}

/// How the LSE of the parts lie: equal, 1e-7 apart, 88 and 95 apart, 1e4 below first, or normal with a spread.
double lse_of_part(int kind, std::int64_t s, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  switch (kind) {
    case 0: return 3;
    case 1: return 3 + 1e-7 * static_cast<double>(s % 5);
    case 2: return s % 2 == 0 ? 0 : -88;
    case 3: return s % 2 == 0 ? -95 : 0;
    case 4: return s == 0 ? -1e4 : normal(random);
    case 5: return s % 3 == 1 ? empty : normal(random);
    default: return (kind == 6 ? 1 : 30) * normal(random);
  }
}

template <class Kernel>
owned_outputs merged_by(Kernel const& kernel, merge_parts const& parts, std::mt19937_64& random) {
  std::int64_t const rows = parts.hq;
  auto const dv = static_cast<std::size_t>(parts.dv), count = static_cast<std::size_t>(parts.parts);
  owned_outputs answer{owned_tensor::compact(element_type::f32, {1, rows, 1, parts.dv}),
                       owned_tensor::compact(element_type::f32, {1, rows, 1}),
                       {}};
  std::vector<float> o(count * dv), lse(count);
  for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row) {
    for (std::size_t s = 0; s < count; ++s) {
      std::size_t const at = s * static_cast<std::size_t>(rows) + row;
      std::memcpy(&lse[s], parts.lse.data() + at * sizeof(float), sizeof(float));
      std::memcpy(&o[s * dv], parts.o.data() + at * dv * sizeof(float), dv * sizeof(float));
    }
    kernel.row(lse, o, dv, answer.o->as<float>() + row * dv, answer.lse->as<float>()[row], random);
  }
  return answer;
}

/// The contract, with O in bf16 between two merges.
contract with_narrow_states(contract claim) {
  claim.fixed.u_state = 0x1p-8, claim.fixed.omega_state = 0x1p-134, claim.fixed.state_limit = 0x1.ffp127;
  return claim;
}

/// No element of an answer is outside the bound of its contract, and every one is judged.
void check_answer(owned_problem const& merge, owned_outputs const& answer, std::string const& which,
                  contract const& claim) {
  auto const found = judge_by_law(merge, answer, claim);
  INFO(which << ": " << found.max_error_in_bounds << " bounds");
  CHECK(found.failed == 0);
  CHECK(found.not_judged() == 0);
  if (std::getenv("ATTEST_SHOW")) std::fprintf(stderr, "%s: %.3g\n", which.c_str(), found.max_error_in_bounds);
}

/// Judges the merges of so many rows of each form of parts, whose LSE are in this base.
template <class E>
void attack(std::int64_t parts, std::int64_t rows, problem::log_base base = problem::log_base::e) {
  std::mt19937_64 random(static_cast<std::uint64_t>(parts) * 8 + sizeof(E));
  std::normal_distribution<double> normal;
  for (int kind = 0; kind < 8; ++kind) {
    element_type const type = problem::type_of<E>;
    merge_parts made{.parts = parts, .b = 1, .hq = rows, .n = 1, .dv = 3, .type = type, .base = base};
    owned_tensor o{type, {}, {}}, lse{problem::row_of(type).lse, {}, {}};
    o.bytes.resize(static_cast<std::size_t>(parts * rows * made.dv) * problem::size_of(o.type));
    lse.bytes.resize(static_cast<std::size_t>(parts * rows) * problem::size_of(lse.type));
    for (std::int64_t s = 0; s < parts; ++s)
      for (std::int64_t row = 0; row < rows; ++row) {
        auto const at = static_cast<std::size_t>(s * rows + row);
        double const score = lse_of_part(kind, s, random);
        store(lse, at, score);
        bool const unread = score == empty;
        // Digits, one part alone, and numbers of any sign.
        store(o, 3 * at, unread ? std::nan("") : 1 + static_cast<double>(s % 7));
        store(o, 3 * at + 1, unread ? std::nan("") : s == row % parts ? 1 : 0);
        store(o, 3 * at + 2, unread ? std::nan("") : normal(random) * (row % 2 == 0 ? 1 : 1000));
      }
    made.o = o.bytes, made.lse = lse.bytes;
    std::string const which = std::string(problem::name_of(type)) +
                              (base == problem::log_base::two ? " in base 2, " : ", ") + std::to_string(parts) +
                              " parts, form " + std::to_string(kind);
    owned_problem const merge = owned_problem::of_valid(merge_draft(made, type));
    auto const preset = [&](char const* name) {
      contract claim = *find_contract(name);
      claim.conventions.lse_base = base;
      return claim;
    };
    contract const claim = preset(default_contract(merge).name.c_str());
    bool const in_base_2 = base == problem::log_base::two;
    if (!in_base_2) check_answer(merge, merged_by_builtin<E>(made), which + ", built-in", claim);
    if constexpr (std::is_same_v<E, float>) {
      using enum lse_merge::form;
      float_merge const numbers{
          .falling = false, .online = false, .by_exp2 = in_base_2, .weights_first = false, .in_base_2 = in_base_2};
      contract undivided_levels = preset("merge-f32-split");
      undivided_levels.fixed.merge_levels = static_cast<int>(parts);
      check_answer(merge, merged_by(lse_merge{undivided, false, numbers}, made, random), which + ", undivided",
                   preset("merge-f32-split"));
      check_answer(merge, merged_by(lse_merge{chain, false, numbers}, made, random), which + ", pairs",
                   preset("merge-f32-ring"));
      check_answer(merge, merged_by(lse_merge{tree, false, numbers}, made, random), which + ", a tree",
                   preset("merge-f32-ring"));
      if (parts <= 64)  // beyond, H4 has no bound for so many states
        for (auto const how : {chain, tree})
          check_answer(merge, merged_by(lse_merge{how, true, numbers}, made, random),
                       which + (how == tree ? ", a tree in bf16" : ", pairs in bf16"),
                       with_narrow_states(preset("merge-f32-ring")));
      if (parts <= 257)  // beyond, H4 has no bound for so many levels
        check_answer(merge, merged_by(lse_merge{undivided_chain, false, numbers}, made, random),
                     which + ", undivided pairs", undivided_levels);
      contract two_sigmoids = preset("merge-f32-sigmoid");
      two_sigmoids.fixed.merge = problem::split_merge::sigmoid;
      if (parts <= 257)  // beyond, the LSE of so many merges has no bound
        for (bool const narrow : {false, true})
          for (auto const how : {sigmoid_chain, sigmoid_tree, two_sigmoids_chain, two_sigmoids_tree}) {
            lse_merge const form{how, narrow, numbers};
            // Beyond, H4 has no bound for so many states, nor for so many differences of 10⁴.
            if (parts > 64 && (narrow || (kind == 4 && form.one_sigmoid()))) continue;
            contract const under = form.two_sigmoids() ? two_sigmoids : preset("merge-f32-sigmoid");
            check_answer(merge, merged_by(form, made, random),
                         which + (form.two_sigmoids() ? ", two sigmoids" : ", a sigmoid") +
                             (form.in_a_tree() ? " in a tree" : "") + (narrow ? " in bf16" : ""),
                         narrow ? with_narrow_states(under) : under);
          }
      for (unsigned way = 0; way < 16; ++way)
        check_answer(merge,
                     merged_by(float_merge{(way & 1) != 0, (way & 2) != 0, (way & 4) != 0,
                                           (way & 8) != 0 && (way & 2) == 0, in_base_2},
                               made, random),
                     which + ", way " + std::to_string(way), claim);
    }
  }
}

}  // namespace

TEST_CASE("a combine without a division is refuted by merge-f32 and certified by merge-f32-split", "[unit]") {
  // The LSE of 1e4 is rounded to 2^-10: the weights sum to 1 only so far.
  merge_parts made{.parts = 2, .b = 1, .hq = 1, .n = 1, .dv = 1, .type = element_type::f32};
  owned_tensor o = owned_tensor::compact(element_type::f32, {2}), lse = o;
  store(o, 0, 1), store(o, 1, 1), store(lse, 0, 10000.125), store(lse, 1, 10000);
  made.o = o.bytes, made.lse = lse.bytes;
  owned_problem const merge = owned_problem::of_valid(merge_draft(made, element_type::f32));
  std::mt19937_64 random(1);
  owned_outputs const answer = merged_by(lse_merge{lse_merge::form::undivided}, made, random);
  auto const failed = [&](char const* claim) { return judge(merge.instance(), answer, *find_contract(claim)).failed; };
  CHECK(failed("merge-f32") == 1);
  CHECK(failed("merge-f32-split") == 0);
}

TEST_CASE("O that is rounded between merges is refuted by the preset of rings and certified by a contract that says so",
          "[unit]") {
  merge_parts made{.parts = 3, .b = 1, .hq = 1, .n = 1, .dv = 1, .type = element_type::f32};
  owned_tensor o = owned_tensor::compact(element_type::f32, {3}), lse = o;
  store(o, 0, 1), store(o, 1, 1.0078125), store(o, 2, 3);
  made.o = o.bytes, made.lse = lse.bytes;
  owned_problem const merge = owned_problem::of_valid(merge_draft(made, element_type::f32));
  std::mt19937_64 random(1);
  owned_outputs const answer = merged_by(lse_merge{lse_merge::form::chain, true}, made, random);
  auto const failed = [&](contract const& claim) { return judge(merge.instance(), answer, claim).failed; };
  CHECK(failed(*find_contract("merge-f32-ring")) == 1);
  CHECK(failed(with_narrow_states(*find_contract("merge-f32-ring"))) == 0);
  // If the claim of an attention kernel says that it keeps O in this way, its merges are judged under the same claim.
  contract ring = *find_contract("f32-ring");
  ring.fixed.u_state = 0x1p-8, ring.fixed.omega_state = 0x1p-134;
  CHECK(failed(contract_of_merges(ring)) == 0);
}

TEST_CASE("no honest merge is outside the bound of merges of its type", "[property]") {
  for (auto const& [parts, rows] : {std::pair{1, 40}, {2, 400}, {3, 400}, {64, 40}, {257, 12}, {4096, 2}}) {
    attack<float>(parts, rows);
    attack<float>(parts, rows, problem::log_base::two);
    attack<double>(parts, rows);
    attack<problem::bf16>(parts, rows);
    attack<problem::f16>(parts, rows);
  }
}

}  // namespace attest::tests::merge_bound_test
