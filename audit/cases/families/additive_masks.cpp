// Additive masks: a large negative, finite bias at keys that a caller wants hidden.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "audit/cases/random.hpp"

namespace attest::audit {
namespace {

/// The biases of masks: values that callers write, and larger ones up to 2^123 (log2 e times it is still a float). If
/// the type holds none of them, as f16, half its largest number and the largest.
std::vector<double> mask_values(type_limits const& limits) {
  std::vector<double> values{-1e6, -1e7, -1e9, -1e10, -1e20, -1e30, -0x1p123};
  std::erase_if(values, [&](double value) { return value < -limits.largest; });
  if (values.empty()) values = {-limits.largest / 2, -limits.largest};
  return values;
}

/// Which keys of m are masked.
struct mask_pattern {
  std::string name;
  std::vector<bool> masked;
};

std::vector<mask_pattern> mask_patterns(std::int64_t m, random_stream& random) {
  auto const keys = static_cast<std::size_t>(m);
  auto const drawn = static_cast<std::size_t>(random.below(m));
  std::vector<mask_pattern> patterns{{"one-key", std::vector<bool>(keys)},
                                     {"half", std::vector<bool>(keys)},
                                     {"all-but-one", std::vector<bool>(keys, true)},
                                     {"all-keys", std::vector<bool>(keys, true)}};
  patterns[0].masked[drawn] = true;
  for (std::size_t j = 0; j < keys; ++j) patterns[1].masked[j] = j != drawn && random.below(2) != 0;
  patterns[2].masked[drawn] = false;
  // Whole first blocks of kernels that take 16, 32, 64 or 128 keys at a time.
  for (std::size_t const first : {16u, 32u, 64u, 128u}) {
    if (first >= keys) break;
    mask_pattern& block = patterns.emplace_back(fmt::format("first-{}", first), std::vector<bool>(keys));
    std::fill_n(block.masked.begin(), first, true);
  }
  return patterns;
}

}  // namespace

/// The columns of V: 1 at live keys and −100 at masked ones, so that the smallest weight of a masked key shows; 1
/// everywhere; 1 … 1 + 1/64, a narrow range that no answer may leave; Gaussian, where mean(V) shows.
void add_additive_masks(case_list& to) {
  bool const quick = to.options().quick;
  auto const all = mask_values(to.limits());
  double const usual = all[all.size() / 3];  // -1e9, which callers write most often
  auto const add = [&](std::string_view prefix, problem::sizes const& s, double value) {
    auto drawn = to.random("additive-masks", fmt::format("{}{:g}", prefix, value));
    for (auto const& [pattern, masked] : mask_patterns(s.m, drawn)) {
      std::string const name = fmt::format("{}{}-at{:g}", prefix, pattern, value);
      auto random = to.random("additive-masks", name);
      problem_draft draft = gaussian(s, to.type(), random);
      auto const is_masked = [&](std::int64_t j) { return masked[static_cast<std::size_t>(j)]; };
      fill(draft.v, [&](auto, auto, auto j, auto c) {
        return c == 0   ? (is_masked(j) ? -100.0 : 1.0)
               : c == 1 ? 1.0
               : c == 2 ? 1 + random.uniform() / 64
                        : random.normal();
      });
      add_bias(draft, 1, 1, s.n, s.m, [&](auto, auto, auto, auto j) { return is_masked(j) ? value : 0.0; });
      to.add("additive-masks", name, std::move(draft));
    }
  };
  std::int64_t const size = quick ? 16 : 40;
  add("square-", {1, 1, 1, size, size, 8, 8}, usual);
  if (!quick) add("square-", {1, 1, 1, size, size, 8, 8}, all.back());
  for (double const value : all)
    if (!quick || value == usual) add("", {1, 1, 1, 3, quick ? 24 : 150, 8, 8}, value);
}

}  // namespace attest::audit
