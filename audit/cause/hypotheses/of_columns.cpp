// The hypothesis that columns of Q and K are not read: the answer tells which.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "audit/cause/hypotheses/changes.hpp"
#include "audit/tensors/elements.hpp"

namespace attest::audit {
namespace {

constexpr std::int64_t unit = 8;  // columns that a vector holds at least

/// Q without the columns from `first` to `last`.
owned_tensor without(owned_tensor q, problem::sizes const& s, std::int64_t first, std::int64_t last) {
  for (std::int64_t b = 0; b < s.b; ++b)
    for (std::int64_t h = 0; h < s.hq; ++h)
      for (std::int64_t i = 0; i < s.n; ++i)
        for (std::int64_t t = first; t < last; ++t) store(q, offset_of(q, b, h, i, t), 0);
  return q;
}

/// One element of O and the LSE of its row, where there is one, and what they are formed of.
struct sampled_element {
  struct seen_key {
    std::vector<double> products;  ///< σ·Σ q_t·k_t of the first 0, 8, 16, … columns, then of all
    double bias, value;
  };
  double got;
  std::optional<double> lse;
  std::vector<seen_key> keys{};

  /// How far both are from those without the columns of units first to last − 1, in double arithmetic.
  double error_without(std::size_t first, std::size_t last, double softcap) const {
    double most = -std::numeric_limits<double>::infinity(), sum = 0, o = 0;
    std::vector<double> scores;
    for (seen_key const& key : keys) {
      double const x = key.products.back() - (key.products[last] - key.products[first]);
      scores.push_back(capped(x, softcap) + key.bias);
      most = std::max(most, scores.back());
    }
    for (std::size_t j = 0; j < keys.size(); ++j) {
      double const weight = std::exp(scores[j] - most);
      sum += weight, o += weight * keys[j].value;
    }
    double const error = std::abs(got - o / sum) + (lse ? std::abs(*lse - most - std::log(sum)) : 0);
    return std::isfinite(error) ? error : 0;
  }
};

sampled_element sample(answered_call const& call, std::int64_t row) {
  owned_problem const& p = call.problem;
  problem::sizes const& s = p.size();
  owned_tensor const &q = p.draft().q, &k = p.draft().k;
  std::int64_t const b = row / s.n / s.hq, h = row / s.n % s.hq, i = row % s.n, c = row % s.dv, kv = h / (s.hq / s.hk);
  double const sigma = sigma_of(p);
  sampled_element of{load(*call.outputs.o, static_cast<std::size_t>(row * s.dv + c)), std::nullopt};
  if (call.outputs.lse && call.claim.conventions.lse_base == problem::log_base::e)
    of.lse = load(*call.outputs.lse, static_cast<std::size_t>(row));
  for (std::int64_t j = 0; j < s.m; ++j) {
    if (!sees(p, b, h, i, j)) continue;
    std::vector<double> products;
    double dot = 0;
    for (std::int64_t t = 0; t < s.d; ++t) {
      if (t % unit == 0) products.push_back(sigma * dot);
      dot += load(q, offset_of(q, b, h, i, t)) * load(k, offset_of(k, b, kv, j, t));
    }
    products.push_back(sigma * dot);
    of.keys.push_back(
        {std::move(products), bias_of(p, b, h, i, j), load(p.draft().v, offset_of(p.draft().v, b, kv, j, c))});
  }
  return of;
}

/// The columns, in eights, without which some elements of O are right. Returns nothing if none fit far better than all.
std::optional<std::pair<std::int64_t, std::int64_t>> fitted(answered_call const& call) {
  owned_problem const& p = call.problem;
  problem::sizes const& s = p.size();
  problem_draft const& draft = p.draft();
  constexpr std::int64_t most_elements = 12, most_columns = 256, most_keys = 512;
  std::int64_t const rows = s.b * s.hq * s.n, step = std::max<std::int64_t>(rows / most_elements, 1);
  if (s.d <= unit || s.d > most_columns || s.m == 0 || s.m > most_keys || s.dv == 0 || rows == 0 || draft.sink ||
      draft.keep || !is_small(p))
    return std::nullopt;
  std::vector<sampled_element> elements;
  for (std::int64_t row = 0; row < rows; row += step) elements.push_back(sample(call, row));
  auto const error_of = [&](std::size_t first, std::size_t last) {
    double total = 0;
    for (sampled_element const& of : elements) total += of.error_without(first, last, draft.softcap);
    return total;
  };
  double least = error_of(0, 0) / 64;  // roundings alone differ less
  std::optional<std::pair<std::int64_t, std::int64_t>> best;
  auto const units = static_cast<std::size_t>((s.d + unit - 1) / unit);
  for (std::size_t first = 0; first < units; ++first)
    for (std::size_t last = first + 1; last <= units; ++last) {
      if (first == 0 && last == units) continue;
      double const error = error_of(first, last);
      if (error >= least) continue;
      best = {static_cast<std::int64_t>(first) * unit, std::min(static_cast<std::int64_t>(last) * unit, s.d)};
      least = error;
    }
  return best;
}

std::vector<answered_call> reads_some(answered_call const& call, answered_call const*) {
  if (!call.outputs.o) return {};
  auto const lost = fitted(call);
  if (!lost) return {};
  problem_draft draft = call.problem.draft();
  draft.scale = sigma_of(call.problem);
  draft.q = without(std::move(draft.q), call.problem.size(), lost->first, lost->second);
  return with_problem(call, std::move(draft));
}

}  // namespace

void add_hypotheses_of_columns(hypothesis_list& to) {
  adds_problems_to(to, any_class)(
      "columns-unread", "some columns of Q and K, a multiple of 8 or all behind one, are not read", reads_some);
  to.back().fits_answers = true;
}

}  // namespace attest::audit
