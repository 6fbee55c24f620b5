// Random numbers that are the same with every compiler and C library, and problems built from them.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "audit/cases/case.hpp"
#include "audit/tensors/elements.hpp"

namespace attest::audit {

/// SplitMix64 (Steele, Lea, Flood 2014). It uses integers only, so every platform generates the same numbers.
class random_stream {
 public:
  /// A stream of its own for each (seed, name).
  random_stream(std::uint64_t seed, std::string_view name) noexcept : state_(seed) {
    for (char const c : name) state_ = (state_ ^ static_cast<unsigned char>(c)) * 0x100000001b3u;  // FNV-1a
    bits();
  }

  std::uint64_t bits() noexcept {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// Uniform on [0, 1), a multiple of 2⁻⁵³.
  double uniform() noexcept { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  /// Uniform on 0 … n − 1. Requires n > 0.
  std::int64_t below(std::int64_t n) noexcept {
    return static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(n));
  }
  /// Nearer N(0, 1): twelve uniforms minus 6 (mean 0, variance 1, |x| ≤ 6).
  double normal() noexcept {
    double sum = -6;
    for (int n = 0; n < 12; ++n) sum += uniform();
    return sum;
  }
  /// Nearly N(0, 1), in a tenth of the time: the sum of four uniforms on 16 bits each (mean 0, variance 1, |x| < 3.47).
  double nearly_normal() noexcept {
    constexpr double mean = 4 * 65535 / 2.0, sqrt_3 = 0x1.bb67ae8584caap+0;  // a uniform on 2¹⁶ steps varies by 2³²/12
    std::uint64_t const z = bits();
    auto const sum = static_cast<double>((z & 0xffff) + (z >> 16 & 0xffff) + (z >> 32 & 0xffff) + (z >> 48));
    return (sum - mean) * (sqrt_3 / 65536);
  }

 private:
  std::uint64_t state_;
};

/// A problem of these sizes, zeros everywhere, row-major.
inline problem_draft blank(problem::sizes const& s, problem::element_type type) {
  problem_draft draft;
  draft.q = owned_tensor::compact(type, {s.b, s.hq, s.n, s.d});
  draft.k = owned_tensor::compact(type, {s.b, s.hk, s.m, s.d});
  draft.v = owned_tensor::compact(type, {s.b, s.hk, s.m, s.dv});
  if (s.d == 0) draft.scale = 1;
  return draft;
}

/// Sizes as the end of a case's name: "-n4-m9-d6-dv5", with the heads where they are grouped.
inline std::string named_sizes(problem::sizes const& s) {
  return (s.hq == s.hk ? "" : fmt::format("-hq{}-hk{}", s.hq, s.hk)) +
         fmt::format("-n{}-m{}-d{}-dv{}", s.n, s.m, s.d, s.dv);
}

/// Gaussian Q, K, V; `spread` multiplies Q, so that scores have about that standard deviation.
inline problem_draft gaussian(problem::sizes const& s, problem::element_type type, random_stream& random,
                              double spread = 1) {
  problem_draft draft = blank(s, type);
  auto const normal = [&](auto...) { return random.normal(); };
  fill(draft.q, [&](auto...) { return spread * random.normal(); });
  fill(draft.k, normal);
  fill(draft.v, normal);
  return draft;
}

/// Sets a mask of shape [b, h, n, m] (size 1 broadcasts): the query attends where attend(b, h, i, j) is true.
template <class F>
void add_mask(problem_draft& to, std::int64_t b, std::int64_t h, std::int64_t n, std::int64_t m, F&& attend) {
  to.mask = owned_tensor::compact(problem::element_type::u8, {b, h, n, m});
  fill(*to.mask, [&](auto... at) { return attend(at...) ? 1.0 : 0.0; });
}

/// Sets a bias of shape [b, h, n, m] (size 1 broadcasts) with the values bias(b, h, i, j).
template <class F>
void add_bias(problem_draft& to, std::int64_t b, std::int64_t h, std::int64_t n, std::int64_t m, F&& bias) {
  to.bias = owned_tensor::compact(to.q.type, {b, h, n, m});
  fill(*to.bias, std::forward<F>(bias));
}

/// Collects the generated cases.
class case_list {
 public:
  explicit case_list(case_options const& options) : options_(options) {}

  case_options const& options() const noexcept { return options_; }
  problem::element_type type() const noexcept { return options_.type; }
  type_limits limits() const { return limits_of(options_.type); }
  /// The random numbers of one case.
  random_stream random(std::string_view check, std::string_view name) const {
    return {options_.seed, std::string(check) + "/" + std::string(name)};
  }
  audit_case& add(std::string_view check, std::string name, owned_problem problem) {
    return cases_.emplace_back(audit_case{.check = std::string(check),
                                          .name = std::move(name),
                                          .problem = std::move(problem),
                                          .beyond = find_check(check)->reaches_beyond});
  }
  /// Requires a problem that is valid by construction.
  audit_case& add(std::string_view check, std::string name, problem_draft draft) {
    return add(check, std::move(name), owned_problem::of_valid(std::move(draft)));
  }
  std::vector<audit_case> take() { return std::move(cases_); }

 private:
  case_options options_;
  std::vector<audit_case> cases_;
};

// The families of cases, one file each, in the order of the report.
void add_worked_examples(case_list& to);
void add_numbers(case_list& to);
void add_subnormals(case_list& to);
void add_beyond_range(case_list& to);
void add_softcap(case_list& to);
void add_visibility(case_list& to);
void add_additive_masks(case_list& to);
void add_masked_against_live(case_list& to);
void add_infinities(case_list& to);
void add_causal_poison(case_list& to);
void add_special_values(case_list& to);
void add_shapes(case_list& to);
void add_strides_of_tensors(case_list& to);
void add_nothing_there(case_list& to);
void add_sequences(case_list& to);
void add_conversations(case_list& to);
void add_groups(case_list& to);
void add_probes(case_list& to);
void add_every_key(case_list& to);
void add_long_sums(case_list& to);
void add_far_blocks(case_list& to);
void add_sinks(case_list& to);
void add_entries(case_list& to);
void add_pages(case_list& to);
void add_block_masks(case_list& to);
void add_dropouts(case_list& to);
void add_pairs(case_list& to);
void add_stability(case_list& to);

}  // namespace attest::audit
