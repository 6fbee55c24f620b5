// Facts about a kernel that O alone can show: its weights, if V is the identity; the keys that it reads, if Q = 0.
#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "audit/cases/probe.hpp"
#include "audit/cases/random.hpp"

namespace attest::audit {
namespace {

/// V := columns first … first + count − 1 of the identity.
owned_problem with_identity(problem_draft draft, std::int64_t first, std::int64_t count) {
  auto const& shape = draft.v.layout.shape;
  draft.v = owned_tensor::compact(draft.v.type, {shape[0], shape[1], shape[2], count});
  fill(draft.v, [&](auto, auto, auto j, auto c) { return j == first + c ? 1.0 : 0.0; });
  return owned_problem::of_valid(std::move(draft));
}

void add_weights(case_list& to) {
  auto const through_v = [&](std::string const& name, problem_draft draft, std::int64_t chunk) {
    std::int64_t const m = draft.k.layout.shape[2];
    audit_case& added = to.add("weights-through-v", name, with_identity(draft, 0, std::min(chunk, m)));
    added.reads = reading::weights;
    for (std::int64_t first = chunk; first < m; first += chunk)
      added.further.push_back({.is = relation::weight_columns,
                               .problem = with_identity(draft, first, std::min(chunk, m - first)),
                               .says = fmt::format("weights of keys from {} on", first),
                               .at = {first, 0, 0}});
  };
  problem::sizes const s{1, 2, 2, 16, 16, 8, 8}, odd{1, 2, 1, 5, 21, 8, 8};
  auto random = to.random("weights-through-v", "plain");
  through_v("plain", gaussian(s, to.type(), random), 8);
  through_v("plain-d64", gaussian({1, 1, 1, 64, 64, 64, 64}, to.type(), random), 64);
  through_v("grouped-n5-m21", gaussian(odd, to.type(), random), 8);
  through_v("one-column-at-a-time", gaussian({1, 1, 1, 3, 6, 4, 1}, to.type(), random), 1);
  through_v("sharp-scores", gaussian(s, to.type(), random, 6), 8);
  problem_draft masked = gaussian(s, to.type(), random);
  add_mask(masked, 1, 1, s.n, s.m, [&](auto, auto, auto i, auto j) { return j == i || random.below(2) != 0; });
  through_v("masked", masked, 8);
  problem_draft causal = gaussian({1, 1, 1, 16, 16, 8, 8}, to.type(), random);
  causal.band = {0, -1, 0};
  through_v("causal", causal, 8);
  problem_draft biased = gaussian(s, to.type(), random);
  add_bias(biased, 1, 1, s.n, s.m, [&](auto...) { return 3 * random.normal(); });
  through_v("bias", biased, 8);
}

void add_visibility_probe(case_list& to) {
  auto const probe = [&](std::string const& name, std::int64_t n, std::int64_t m, auto&& change,
                         std::int64_t key_heads = 2) {
    // As many columns as dimensions: columns without a digit are 0.
    std::int64_t const d = (probe::columns(to.type(), m) + 7) / 8 * 8;
    problem_draft draft = blank({1, 2, key_heads, n, m, d, d}, to.type());
    std::int64_t const digits = probe::digits(to.type());
    fill(draft.k, [](auto, auto, auto j, auto t) { return static_cast<double>((j * 5 + t) % 7) - 3; });
    fill(draft.v, [&](auto, auto, auto j, auto c) {
      return j / digits == c ? std::ldexp(1.0, static_cast<int>(j % digits)) : 0.0;
    });
    change(draft);
    to.add("visibility-probe", name, std::move(draft)).reads = reading::visibility;
  };
  auto const banded = [&](std::string const& name, std::int64_t n, std::int64_t m, problem::band const& band) {
    probe(name, n, m, [&](problem_draft& p) { p.band = band; });
  };
  probe("all", 3, 32, [](problem_draft&) {});
  probe("all-square", 32, 32, [](problem_draft&) {});
  probe("all-grouped", 3, 32, [](problem_draft&) {}, 1);
  banded("causal-square", 16, 16, {0, -1, 0});
  banded("causal-top-left", 8, 24, {0, -1, 0});
  banded("causal-bottom-right", 8, 24, {16, -1, 0});
  banded("causal-more-queries", 24, 8, {-16, -1, 0});
  banded("window", 24, 24, {0, 3, 0});
  banded("window-both-sides", 24, 24, {0, 2, 5});
  banded("long-window", 40, 80, {40, 33, 0});
  auto random = to.random("visibility-probe", "mask");
  probe("mask", 6, 45, [&](problem_draft& p) {
    add_mask(p, 1, 2, 6, 45, [&](auto, auto, auto, auto j) { return j == 2 || random.below(2) != 0; });
  });
  probe("mask-and-band", 12, 30, [&](problem_draft& p) {
    p.band = {18, 10, 0};
    add_mask(p, 1, 1, 12, 30, [&](auto, auto, auto i, auto j) { return j == i + 18 || random.below(3) != 0; });
  });
  probe("minus-infinity-bias", 6, 33, [&](problem_draft& p) {
    add_bias(p, 1, 1, 6, 33, [&](auto, auto, auto, auto j) { return j == 0 || random.below(2) ? 0.0 : -HUGE_VAL; });
  });
}

}  // namespace

void add_probes(case_list& to) {
  add_weights(to);
  add_visibility_probe(to);
}

}  // namespace attest::audit
