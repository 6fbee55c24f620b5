// Accuracy: sizes, score gaps, large scores, value ranges, scales.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "audit/cases/random.hpp"

namespace attest::audit {
namespace {

void add_accuracy(case_list& to) {
  struct shape {
    problem::sizes s;
    bool in_quick;
  };
  for (auto const& [s, in_quick] :
       {shape{{1, 1, 1, 8, 8, 8, 8}, true}, shape{{2, 2, 2, 33, 33, 64, 64}, true},
        shape{{1, 2, 2, 64, 64, 80, 80}, false}, shape{{1, 1, 1, 130, 130, 128, 128}, false},
        // variants: n != m, dv != d
        shape{{1, 1, 1, 5, 7, 16, 16}, true}, shape{{2, 2, 2, 16, 24, 16, 8}, true},
        shape{{1, 2, 2, 33, 65, 64, 64}, true}, shape{{1, 1, 1, 3, 300, 128, 64}, false},
        shape{{1, 1, 1, 128, 96, 32, 48}, false}, shape{{1, 2, 2, 64, 257, 64, 64}, false},
        shape{{1, 1, 1, 1, 1000, 64, 64}, false}}) {
    if (to.options().quick && !in_quick) continue;
    for (double const spread : {0.25, 1.0, 4.0}) {
      std::string const name = fmt::format("{}x{}x{}x{}-d{}-dv{}-spread{}", s.b, s.hq, s.n, s.m, s.d, s.dv, spread);
      auto random = to.random("accuracy", name);
      to.add("accuracy", name, gaussian(s, to.type(), random, spread));
    }
  }
}

constexpr double ln2 = 0.6931471805599453;
constexpr std::array gaps{0.0,   1e-6,  0.0625,    0.5,       ln2,   1.0,   2.5,   5.0,  9.7,
                          16.0,  17.5,  40.0,      24 * ln2,  60.0,  80.0,  86.9,  87.2, 88.0,
                          103.0, 104.0, 149 * ln2, 150 * ln2, 200.0, 500.0, 707.0, 745.0};

/// A column of V that distinguishes weights: one far key with the value 1; values that differ in the last bit; opposite
/// signs; Gaussian.
double telling_value(std::int64_t j, std::int64_t c, double epsilon, random_stream& random) {
  return c == 0   ? (j == 0 ? 0.0 : 1.0)
         : c == 1 ? (j == 0 ? 1.0 : 1 + epsilon)
         : c == 2 ? (j % 2 ? -1.0 : 1.0)
                  : random.normal();
}

/// The gaps as the rows of plain problems: q_i = gap_i and k = (0, −1, −1.25, …) in one dimension, 0 in the others.
void add_sharp_squares(case_list& to) {
  for (std::int64_t const d : {8, 64})
    for (std::size_t first = 0; first < gaps.size(); first += 8) {
      std::string const name = fmt::format("square-from-gap{:.6g}-d{}", gaps[first], d);
      auto random = to.random("sharp", name);
      auto const rows = static_cast<std::int64_t>(std::min<std::size_t>(8, gaps.size() - first));
      problem_draft draft = blank({1, 1, 1, rows, rows, d, d}, to.type());
      draft.scale = 1;
      fill(draft.q, [&](auto, auto, auto i, auto t) { return t == 0 ? gaps[first + static_cast<std::size_t>(i)] : 0; });
      fill(draft.k,
           [](auto, auto, auto j, auto t) { return t != 0 || j == 0 ? 0.0 : -1 - 0.25 * static_cast<double>(j - 1); });
      fill(draft.v, [&](auto, auto, auto j, auto c) { return telling_value(j, c, to.limits().epsilon, random); });
      to.add("sharp", name, std::move(draft));
    }
}

/// q = 1, k = (0, −gap, …): the weights are about e^(−gap), and O shows the full error of each.
void add_sharp(case_list& to) {
  add_sharp_squares(to);
  for (double const gap : gaps) {
    for (std::int64_t const keys : {2, 3, 8}) {
      std::string const name = fmt::format("gap{:.6g}-keys{}", gap, keys);
      auto random = to.random("sharp", name);
      problem_draft draft = blank({1, 1, 1, 1, keys, 1, 4}, to.type());
      draft.scale = 1;
      store(draft.q, 0, 1);
      fill(draft.k,
           [&](auto, auto, auto j, auto) { return j == 0 ? 0.0 : -gap * (1 + 0.25 * static_cast<double>(j - 1)); });
      fill(draft.v, [&](auto, auto, auto j, auto c) { return telling_value(j, c, to.limits().epsilon, random); });
      to.add("sharp", name, std::move(draft));
    }
  }
  // docs/bound.md, section 11: inputs that reach the bound.
  problem_draft worst = blank({1, 1, 1, 1, 2000, 1, 1}, to.type());
  worst.scale = 1;
  store(worst.q, 0, 1);
  fill(worst.k, [](auto, auto, auto j, auto) { return j == 0 ? 0.0 : -0x1.0a2b22p+4; });
  fill(worst.v, [](auto, auto, auto j, auto) { return j == 0 ? 1.0 : 0x1.ffffap-1; });
  to.add("sharp", "stagnating-sum", std::move(worst));
}

/// Scores as large as `size`, along the keys in this pattern; each query has its own share of it.
problem_draft large_scores(case_list& to, problem::sizes const& s, std::string_view pattern, double size,
                           random_stream& random) {
  problem_draft draft = blank(s, to.type());
  draft.scale = 1;
  double const root = std::sqrt(size);
  fill(draft.q, [&](auto, auto, auto i, auto) { return root * (1 - static_cast<double>(i) / 64); });
  fill(draft.k, [&](auto, auto, auto j, auto) {
    double const at = static_cast<double>(j) / static_cast<double>(s.m);
    double const r = pattern == "equal"          ? 1
                     : pattern == "rising"       ? at
                     : pattern == "falling"      ? -at
                     : pattern == "one-dominant" ? (j == s.m / 2 ? 1.0 : 0.5)
                     : pattern == "negative"     ? -1 - at
                                                 : 2 * random.uniform() - 1;
    return root * r / static_cast<double>(s.d);
  });
  fill(draft.v, [&](auto...) { return random.normal(); });
  return draft;
}

void add_large_scores(case_list& to) {
  bool const quick = to.options().quick;
  problem::sizes const square{1, 1, 1, quick ? 8 : 40, quick ? 8 : 40, 8, 8}, odd{1, 1, 1, 2, quick ? 9 : 70, 2, 3};
  for (double const size : {1e2, 1e4, 1e8, 1e15, 1e30}) {
    if (size > to.limits().largest / 16) continue;
    for (std::string_view const pattern : {"equal", "rising", "falling", "one-dominant", "random", "negative"}) {
      std::string const name = fmt::format("{}-{:g}", pattern, size);
      auto random = to.random("large-scores", name);
      to.add("large-scores", name, large_scores(to, square, pattern, size, random));
      if (pattern == "rising" || pattern == "random")
        to.add("large-scores", name + named_sizes(odd), large_scores(to, odd, pattern, size, random));
    }
  }
  // Cancellation in q·k: its first two products are huge and opposite.
  for (double const size : {1e3, 1e6}) {
    if (size * size > to.limits().largest / 16) continue;
    auto random = to.random("large-scores", fmt::format("cancel-{:g}", size));
    problem_draft draft = gaussian({1, 1, 1, 16, 16, 8, 8}, to.type(), random);
    fill(draft.q, [&](auto, auto, auto, auto t) { return t < 2 ? size : random.normal(); });
    fill(draft.k, [&](auto, auto, auto, auto t) { return t == 0 ? size : t == 1 ? -size : random.normal(); });
    to.add("large-scores", fmt::format("cancel-{:g}", size), std::move(draft));
  }
}

void add_value_range(case_list& to) {
  auto const limits = to.limits();
  problem::sizes const s{1, 1, 1, 32, 32, 8, 8}, odd{1, 1, 1, 4, 33, 8, 4};
  auto const with_values = [&](std::string const& name, auto&& value) {
    auto random = to.random("value-range", name);
    for (problem::sizes const& size : {s, odd}) {
      problem_draft draft = gaussian(size, to.type(), random);
      fill(draft.v, [&](auto, auto, auto j, auto c) { return value(random, j, c); });
      to.add("value-range", size == s ? name : name + named_sizes(odd), std::move(draft));
    }
  };
  with_values("offset", [&](random_stream& r, auto, auto) { return 1 / limits.epsilon / 64 + r.normal(); });
  with_values("alternating", [&](random_stream&, auto j, auto) { return j % 2 ? -1e3 : 1e3; });
  with_values("constant", [](random_stream&, auto, auto c) { return 0.1 * static_cast<double>(c + 1); });
  with_values("one-hot", [](random_stream&, auto j, auto c) { return j == 4 * c ? 1.0 : 0.0; });
  with_values("near-overflow", [&](random_stream& r, auto, auto) {
    return limits.largest / 8 / static_cast<double>(odd.m) * (2 * r.uniform() - 1);
  });
  with_values("subnormal",
              [&](random_stream& r, auto, auto) { return limits.smallest * std::floor(r.uniform() * 100); });
  auto random = to.random("value-range", "all-subnormal");
  problem_draft tiny = gaussian(s, to.type(), random);
  for (owned_tensor* t : {&tiny.q, &tiny.k, &tiny.v})
    fill(*t, [&](auto...) { return limits.smallest * std::floor(200 * random.uniform() - 100); });
  to.add("value-range", "all-subnormal", std::move(tiny));
}

void add_scales(case_list& to) {
  struct named {
    std::string name;
    std::optional<double> scale;
  };
  problem::sizes const square{1, 2, 2, 16, 16, 64, 64}, odd{1, 2, 2, 5, 19, 6, 5};
  for (auto const& [name, scale] :
       {named{"default", {}}, named{"zero", 0.0}, named{"negative", -0.5}, named{"one", 1.0}, named{"tiny", 0x1p-20},
        named{"large", 16.0}, named{"large-negative", -16.0}, named{"not-a-power", 0.375}}) {
    auto random = to.random("scale", name);
    for (problem::sizes const& s : {square, odd}) {
      problem_draft draft = gaussian(s, to.type(), random);
      draft.scale = scale;
      to.add("scale", s == square ? name : name + named_sizes(odd), std::move(draft));
    }
  }
}

/// Every band, mask, bias and sink beside a scale that is negative, 0, small or large: a stand-in for −∞ that is
/// multiplied by the scale, or a maximum taken before it, shows.
void add_scales_beside(case_list& to) {
  for (double const scale : {-0.5, 0.0, 1e-4, 64.0})
    for (feature const beside :
         {feature::causal, feature::window, feature::mask, feature::padding, feature::bias, feature::alibi,
          feature::hiding_bias, feature::softcap, feature::sink, feature::lengths}) {
      std::string const name = fmt::format("{:g}-beside-{}", scale, row_of(beside).name);
      auto random = to.random("scale", name);
      call_form form{.size = {2, 2, 2, 19, 19, 16, 16}, .length = 7};
      form.options.add(feature::scale), form.options.add(beside);
      form.scale = scale;
      to.add("scale", name, draft_of(form, to.type(), random));
    }
}

}  // namespace

void add_numbers(case_list& to) {
  add_accuracy(to);
  add_sharp(to);
  add_large_scores(to);
  add_value_range(to);
  add_scales(to);
  add_scales_beside(to);
}

}  // namespace attest::audit
