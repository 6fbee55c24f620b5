// What cases promise, from their tensors alone: the plain form of every check, and the values of some checks.
#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string>

#include "audit/cases/case.hpp"
#include "audit/cases/domain/edges.hpp"
#include "audit/cases/families/backward.hpp"
#include "audit/cases/families/plain.hpp"
#include "audit/cases/families/upstream.hpp"
#include "audit/cases/forms/call_form.hpp"
#include "audit/cases/random.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/zoo/kernel.hpp"
#include "tests/audit/cases/made_cases.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/guarded_call.hpp"

namespace attest::tests::cases_test {
namespace {

using audit::audit_case;
using problem::element_type;

/// The numbers of O, LSE and weights, in all calls of a case.
std::int64_t elements(audit_case const& kernel_case) {
  std::int64_t sum = 0;
  for (std::size_t call = 0; call <= kernel_case.further.size(); ++call) {
    problem::sizes const& s = kernel_case.call(call).size();
    sum += s.b * s.hq * s.n * (s.m + s.dv + 1);
  }
  return sum;
}

}  // namespace

TEST_CASE("a problem is plain until one thing about it is not", "[unit]") {
  problem::sizes const plain{2, 4, 4, 16, 16, 8, 8};
  auto const is_plain = [](problem::sizes const& s, auto&& change) {
    audit::problem_draft draft = audit::blank(s, element_type::f32);
    change(draft);
    return audit::is_plain(audit::owned_problem::of_valid(std::move(draft)));
  };
  auto const nothing = [](audit::problem_draft&) {};
  auto const mask = [](audit::problem_draft& p) { audit::add_mask(p, 1, 1, 16, 16, [](auto...) { return true; }); };
  auto const bias = [](audit::problem_draft& p) { audit::add_bias(p, 1, 4, 1, 16, [](auto...) { return 1.0; }); };
  auto const causal = [](audit::problem_draft& p) { p.band = {0, -1, 0}; };
  CHECK(is_plain(plain, nothing));
  CHECK(is_plain({1, 1, 1, 3, 3, 80, 80}, nothing));
  CHECK(is_plain(plain, mask));
  CHECK(is_plain(plain, bias));
  CHECK(is_plain(plain, causal));
  CHECK(is_plain(plain, [](audit::problem_draft& p) { p.scale = 2, p.softcap = 3; }));
  CHECK_FALSE(is_plain({2, 4, 4, 16, 16, 8, 16}, nothing));
  CHECK_FALSE(is_plain({2, 4, 4, 16, 16, 12, 12}, nothing));
  CHECK_FALSE(is_plain({2, 4, 2, 16, 16, 8, 8}, nothing));
  CHECK_FALSE(is_plain({2, 4, 4, 15, 16, 8, 8}, nothing));
  CHECK_FALSE(is_plain(plain, [&](audit::problem_draft& p) { mask(p), bias(p); }));
  CHECK_FALSE(is_plain(plain, [&](audit::problem_draft& p) { mask(p), causal(p); }));
  CHECK_FALSE(is_plain(plain, [&](audit::problem_draft& p) { bias(p), causal(p); }));
  CHECK_FALSE(is_plain(plain, [](audit::problem_draft& p) { p.k.layout.stride[0] = 0; }));
}

TEST_CASE("every check has a plain case", "[unit]") {
  for (element_type const type : all_types)
    for (bool const quick : {false, true}) {
      if (!quick && type != element_type::f32) continue;  // the larger cases differ by type in their numbers alone
      INFO(problem::name_of(type) << (quick ? " with --quick" : ""));
      // The numbers of the first two are fixed by others; the cases of the rest are drawn elsewhere.
      std::set<std::string, std::less<>> has_plain(audit::checks_of_forms.begin(), audit::checks_of_forms.end());
      has_plain.insert({"worked-examples", "real-data", "merge", "domain"});
      for (audit_case const& kernel_case : audit::backward_cases({.type = type, .seed = 9, .quick = quick}))
        if (audit::is_plain(kernel_case.problem)) has_plain.insert(kernel_case.check);
      for (audit_case const& kernel_case : audit::generated_cases({.type = type, .seed = 9, .quick = quick}))
        if (audit::is_plain(kernel_case.problem)) has_plain.insert(kernel_case.check);
      for (audit::check const& check : audit::checks()) {
        INFO(check.name);
        CHECK(has_plain.contains(check.name));
      }
    }
}

TEST_CASE("entries have lengths of keys alone, too, and each feature several blocks of keys", "[unit]") {
  std::set<std::string, std::less<>> of_keys, long_features;
  for (audit_case const& made : audit::generated_cases({.type = element_type::f32, .seed = 9, .quick = true}))
    if (auto const& p = made.problem.draft(); made.check == "lengths" && p.k_lengths && !p.q_lengths)
      of_keys.insert(made.name);
  CHECK(of_keys.size() > 4);
  for (audit::edge_form const& edge : audit::edge_forms({}))
    if (edge.form.size.m > 128 && edge.form.size.m % 16 != 0)
      edge.form.options.each([&](audit::feature one) { long_features.emplace(audit::row_of(one).name); });
  for (char const* const name : {"mask", "bias", "softcap", "window", "dropout", "block-mask", "sink", "lengths"})
    CHECK(long_features.contains(name));
}

TEST_CASE("entries end at the edges of tiles before their slot does, without a band and with --quick", "[unit]") {
  for (char const* const check : {"lengths", "pages"}) {
    std::set<std::int32_t> ends;
    for (audit_case const& made : cases_of(check, "", {.seed = 9, .quick = true})) {
      auto const& p = made.problem.draft();
      if (!p.k_lengths || p.band != problem::band{}) continue;
      for (std::int64_t e = 0; e < p.k_lengths->layout.shape[0]; ++e)
        if (std::int32_t const keys = p.k_lengths->as<std::int32_t>()[e]; keys < made.problem.size().m)
          ends.insert(keys);
    }
    for (std::int32_t const edge : {16, 32, 64, 128, 256}) {
      INFO(check << " " << edge);
      CHECK(ends.contains(edge));
    }
  }
}

TEST_CASE("masks attend by every byte but 0, and broadcast over every subset of their axes, as biases do", "[unit]") {
  auto const form_of = [](audit::owned_tensor const& t) {
    return std::array{t.layout.shape[0] > 1, t.layout.shape[1] > 1, t.layout.shape[2] > 1};
  };
  std::set<std::array<bool, 3>> masks, biases;
  std::set<unsigned> bytes;
  for (audit_case const& kernel_case : cases_of("masks", "", {.seed = 2})) {
    audit::owned_tensor const& mask = *kernel_case.problem.draft().mask;
    masks.insert(form_of(mask));
    for (std::byte const byte : mask.bytes) bytes.insert(std::to_integer<unsigned>(byte));
  }
  for (audit_case const& kernel_case : cases_of("bias", "", {.seed = 2}))
    biases.insert(form_of(*kernel_case.problem.draft().bias));
  CHECK(masks.size() == 8);
  CHECK(biases.size() == 8);
  for (unsigned const byte : {0u, 1u, 2u, 128u, 255u}) CHECK(bytes.contains(byte));
  CHECK(bytes.size() > 200);
}

TEST_CASE("the dear checks stay below half of the others' elements, and a tenth with --quick", "[unit]") {
  for (bool const quick : {false, true})
    for (std::uint64_t const seed : {1u, 2u, 3u}) {
      std::int64_t dear = 0, others = 0;
      for (audit_case const& kernel_case : audit::generated_cases({.seed = seed, .quick = quick}))
        (kernel_case.check == "additive-masks" || kernel_case.check == "every-key" ? dear : others) +=
            elements(kernel_case);
      INFO("seed " << seed << ": " << dear << " beside " << others);
      CHECK(dear > 0);
      CHECK((quick ? 10 : 2) * dear <= others);
    }
}

TEST_CASE("gradients are asked of several entries beside several tiles of queries and of keys", "[unit]") {
  auto const cases = audit::backward_cases({.seed = 1, .quick = true});
  CHECK(std::ranges::any_of(cases, [](audit_case const& made) {
    problem::sizes const& s = made.problem.size();
    return s.b > 1 && s.n > 128 && s.m > 64;
  }));
  CHECK(std::ranges::any_of(cases, [](audit_case const& made) {  // an entry that is neither the first nor the last
    auto const& p = made.problem.draft();
    bool const plain = !p.mask && !p.bias && !p.sink && !p.q_lengths && !p.k_lengths && !p.q_offsets && !p.k_offsets &&
                       !p.block_mask && !p.keep && p.softcap == 0 && !made.name.starts_with("special-values");
    return plain && made.problem.size().b > 2 && made.problem.size().hk > 1 && made.problem.size().m > 1;
  }));
}

TEST_CASE("a dO with one NaN or infinity has it inside, in the smallest call of a domain, too", "[unit]") {
  audit::random_stream random(1, "smallest");
  auto const smallest = audit::owned_problem::of_valid(
      audit::draft_of(audit::call_form{.size = {1, 1, 1, 1, 1, 1, 1}}, problem::element_type::f32, random));
  CHECK(std::isnan(audit::load(audit::d_out_of(smallest, "do-holds-nan", 1), 0)));
  CHECK(std::isinf(audit::load(audit::d_out_of(smallest, "do-holds-infinity", 1), 0)));
}

}  // namespace attest::tests::cases_test
