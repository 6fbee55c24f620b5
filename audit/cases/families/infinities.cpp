// NaN and infinities: at masked keys they must have no effect, at visible keys they must.
#include <limits>
#include <string>

#include <fmt/format.h>

#include "audit/cases/random.hpp"

namespace attest::audit {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
double const quiet = std::numeric_limits<double>::quiet_NaN();
std::optional<double> const signalling;  // none: doubles do not keep signalling NaNs; poisoned() stores the bits

/// The problem with `payload` in K, V and bias at every key j with hidden(j). Requires  no query sees such a key
owned_problem poisoned(problem_draft draft, std::optional<double> payload, auto&& hidden) {
  auto const poison = [&](owned_tensor& t, std::size_t at) {
    payload ? store(t, at, *payload) : store_signalling(t, at);
  };
  for (owned_tensor* t : {&draft.k, &draft.v}) {
    auto const& n = t->layout.shape;
    for (std::int64_t b = 0; b < n[0]; ++b)
      for (std::int64_t h = 0; h < n[1]; ++h)
        for (std::int64_t j = 0; j < n[2]; ++j)
          for (std::int64_t c = 0; hidden(j) && c < n[3]; ++c) poison(*t, offset_of(*t, b, h, j, c));
  }
  if (draft.bias)
    for (std::int64_t j = 0; j < draft.k.layout.shape[2]; ++j)
      if (hidden(j)) poison(*draft.bias, offset_of(*draft.bias, 0, 0, 0, j));
  return owned_problem::of_valid(std::move(draft));
}

void add_poison(case_list& to) {
  problem::sizes const s{1, 2, 1, 6, 37, 8, 5};
  struct payload {
    char const* name;
    std::optional<double> value;
  };
  for (auto const& [name, value] : {payload{"nan", quiet}, payload{"inf", infinity}, payload{"minus-inf", -infinity},
                                    payload{"huge", to.limits().largest}, payload{"signalling", signalling}}) {
    auto const add = [&](std::string const& variant, problem_draft const& clean, auto&& hidden) {
      audit_case& added = to.add("poison", fmt::format("{}-{}", variant, name), clean);
      added.must_equal(poisoned(clean, value, hidden),
                       fmt::format("K, V and bias at masked keys hold {} instead of ordinary numbers", name));
    };
    auto random = to.random("poison", name);
    problem_draft masked = gaussian(s, to.type(), random);
    auto const odd = [](std::int64_t j) { return j % 3 == 1 || j > 30; };
    add_mask(masked, 1, 1, s.n, s.m, [&](auto, auto, auto, auto j) { return !odd(j); });
    add_bias(masked, 1, 1, 1, s.m, [&](auto...) { return random.normal(); });
    add("mask", masked, odd);
    problem_draft padded = gaussian(s, to.type(), random);
    auto const tail = [](std::int64_t j) { return j >= 20; };
    add_mask(padded, 1, 1, 1, s.m, [&](auto, auto, auto, auto j) { return !tail(j); });
    add("padding", padded, tail);
    problem_draft banded = gaussian(s, to.type(), random);
    banded.band = {10, 8, 2};  // queries 0 … 5 see keys 2 … 17
    add("band", banded, [](std::int64_t j) { return j < 2 || j > 17; });
    // The same in the plain form: one way of hiding keys at a time, and no bias.
    problem_draft plain = gaussian({1, 2, 2, 40, 40, 8, 8}, to.type(), random);
    add_mask(plain, 1, 1, 40, 40, [&](auto, auto, auto i, auto j) { return !odd(j) && (j == i || j % 4 != i % 4); });
    add("plain-mask", plain, odd);
    add_mask(plain, 1, 1, 1, 40, [&](auto, auto, auto, auto j) { return !tail(j); });
    add("plain-padding", plain, tail);
    plain.mask.reset();
    plain.band = {10, 8, 2};
    add("plain-band", plain, [](std::int64_t j) { return j < 2; });
  }
  // A value that one query sees and its neighbour does not: 0·NaN is NaN in a matrix product.
  auto random = to.random("poison", "causal-neighbour");
  problem_draft causal = gaussian({1, 1, 1, 24, 24, 8, 4}, to.type(), random);
  causal.band = {0, -1, 0};
  fill(causal.v, [&](auto, auto, auto j, auto c) { return j == 11 && c == 2 ? quiet : random.normal(); });
  to.add("poison", "causal-neighbour", std::move(causal));
}

void add_visible(case_list& to) {
  problem::sizes const s{1, 2, 2, 40, 40, 8, 8};
  auto const with = [&](char const* name, auto&& change) {
    auto random = to.random("visible-nan", name);
    problem_draft draft = gaussian(s, to.type(), random);
    change(draft);
    to.add("visible-nan", name, std::move(draft));
  };
  auto const at = [](owned_tensor& t, std::int64_t i, std::int64_t j, double x) {
    store(t, offset_of(t, 0, 1, i, j), x);
  };
  with("nan-in-q", [&](problem_draft& p) { at(p.q, 2, 3, quiet); });
  for (std::int64_t const j : {0, 17, 39})
    with(fmt::format("nan-in-k-{}", j).c_str(), [&](problem_draft& p) { at(p.k, j, 1, quiet); });
  with("nan-in-v", [&](problem_draft& p) { at(p.v, 17, 1, quiet); });
  with("inf-in-v", [&](problem_draft& p) { at(p.v, 5, 1, infinity); });
  with("inf-in-q", [&](problem_draft& p) { at(p.q, 1, 0, infinity); });
  with("inf-in-k", [&](problem_draft& p) { at(p.k, 9, 0, -infinity); });
  with("nan-in-bias", [&](problem_draft& p) {
    add_bias(p, 1, 1, s.n, s.m, [](auto, auto, auto i, auto j) { return i == 3 && j == 20 ? quiet : 0.5; });
  });
  with("plus-inf-in-bias", [&](problem_draft& p) {
    add_bias(p, 1, 1, s.n, s.m, [](auto, auto, auto i, auto j) { return i == 3 && j == 20 ? infinity : 0.5; });
  });
  with("nan-beside-minus-inf-bias", [&](problem_draft& p) {
    add_bias(p, 1, 1, 1, s.m, [](auto, auto, auto, auto j) { return j == 9 ? -infinity : 0.0; });
    at(p.k, 9, 2, quiet);
  });
  // A key of weight 0 is visible all the same: its V is multiplied by 0.
  with("nan-in-v-beside-minus-inf-bias", [&](problem_draft& p) {
    add_bias(p, 1, 1, 1, s.m, [](auto, auto, auto, auto j) { return j == 9 ? -infinity : 0.0; });
    at(p.v, 9, 2, quiet);
  });
  with("nan-in-v-where-the-weight-underflows", [&](problem_draft& p) {
    add_bias(p, 1, 1, 1, s.m, [](auto, auto, auto, auto j) { return j == 9 ? -2000.0 : 0.0; });
    at(p.v, 9, 2, quiet);
  });
  with("nan-in-q-of-an-empty-row", [&](problem_draft& p) {
    add_mask(p, 1, 1, s.n, s.m, [](auto, auto, auto i, auto) { return i != 2; });
    at(p.q, 2, 3, quiet);
  });
}

}  // namespace

void add_infinities(case_list& to) {
  add_poison(to);
  add_visible(to);
}

}  // namespace attest::audit
