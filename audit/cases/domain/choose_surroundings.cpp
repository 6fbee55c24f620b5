#include "audit/cases/domain/choose_surroundings.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>

#include "audit/cases/random.hpp"
#include "audit/tensors/elements.hpp"

namespace attest::audit {
namespace {

using problem::error;
using problem::result;

bool is_one_of(std::string_view word, std::span<std::string_view const> all) {
  return std::ranges::find(all, word) != all.end();
}

/// The checks beside whose numbers others would ask another question.
constexpr std::string_view of_extreme_numbers[]{"value-range", "beyond-range", "subnormals", "large-scores"};
/// The checks that ask about sizes, memory or state: added keys may count.
constexpr std::string_view of_any_keys[]{"accuracy", "tails",   "heads", "determinism", "sequences",       "strides",
                                         "scale",    "support", "pairs", "stability",   "concurrent-calls"};
/// The checks half of whose calls keep the default scale at another head size: Q grows instead.
constexpr std::string_view of_any_scale[]{"accuracy",    "tails", "heads",   "sequences",
                                          "determinism", "pairs", "support", "strides"};

hiding hiding_of(problem_draft const& p, problem::sizes const& s, placement const& at, reading reads) {
  if (at.m == s.m || !p.has_slots()) return hiding::nothing;
  if (reads == reading::visibility) return hiding::open;
  if (p.k_lengths || p.mask) return hiding::mask;
  return at.band_hides ? hiding::band : hiding::scores;
}

/// The scale of the larger call, and the factor of Q that keeps the scores.
std::optional<error> choose_scale(problem_draft const& p, problem::sizes const& s, surroundings& by,
                                  std::string_view check, call_domain const& domain) {
  double const of_call = p.scale.value_or(1 / std::sqrt(static_cast<double>(s.d)));
  double const standard = 1 / std::sqrt(static_cast<double>(by.d));
  by.scale = p.scale;
  if (domain.scale != call_domain::scales::any && p.scale && !(*p.scale > 0)) {
    if (check == "scale" || *p.scale == 0) return not_in_domain("a scale of 0 or below");
    by.scale = -*p.scale, by.times = -1;
  }
  if (domain.scale == call_domain::scales::standard) {
    by.scale.reset();
    by.times *= std::abs(of_call) / standard;
  } else if (!p.scale && domain.scale == call_domain::scales::stated) {
    by.scale = of_call;
  } else if (!p.scale && by.d != s.d) {
    std::uint64_t const drawn = random_stream(0, by.name).bits();
    if (is_one_of(check, of_any_scale) && drawn % 2 == 0) by.times = of_call / standard;
    else by.scale = of_call;
  }
  return std::nullopt;
}

}  // namespace

result<surroundings> surroundings_of(std::string_view check, reading reads, call_domain const& domain,
                                     owned_problem const& base, std::string const& name) {
  problem_draft const& p = base.draft();
  problem::sizes const& s = base.size();
  if (s.d == 0 || s.dv == 0 || s.n == 0 || s.m == 0) return not_in_domain("a size is 0");
  // V, the identity, has no more columns than keys.
  call_domain enough_keys = domain;
  if (reads == reading::weights)
    if (auto const least = domain.widths(s.d, 1)) enough_keys.m.least = std::max(domain.m.least, least->second);
  auto const at = placed(p, s, enough_keys);
  if (!at) return at.why();
  surroundings by;
  by.at = at.value(), by.name = name;
  by.copies_only = is_one_of(check, of_extreme_numbers);
  by.by = hiding_of(p, s, by.at, reads);
  bool const any_dv = reads == reading::weights && domain.dv != call_domain::value_widths::any;
  std::int64_t const least_dv = any_dv ? 1 : s.dv;
  auto widths = domain.widths(s.d + (by.by == hiding::scores), least_dv);
  if (!widths && by.by == hiding::scores && is_one_of(check, of_any_keys)) {
    by.by = hiding::open;
    widths = domain.widths(s.d, least_dv);
  }
  if (!widths) return not_in_domain("head size above the largest");
  std::tie(by.d, by.dv) = *widths;
  if (auto const why = choose_scale(p, s, by, check, domain)) return *why;
  if (by.by == hiding::scores) {
    if (p.softcap != 0) return not_in_domain("a softcap brings hidden keys near");
    by.depth = depth_of(base, by.scale.value_or(1 / std::sqrt(static_cast<double>(by.d))) * by.times);
    by.depth = std::abs(by.depth * by.times);
    if (!(by.depth < 1e30) || by.depth > limits_of(base.type()).largest / 4)
      return not_in_domain("scores too far below to hide keys");
  }
  return by;
}

}  // namespace attest::audit
