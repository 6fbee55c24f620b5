#include "audit/judge/hidden_keys.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "audit/tensors/elements.hpp"
#include "reference/attention/visibility.hpp"

namespace attest::audit {
namespace {

template <class T>
double largest_of(T const* row, std::int64_t width) {
  double largest = 0;
  for (std::int64_t t = 0; t < width; ++t) largest = std::max(largest, std::abs(number(row[t])));
  return largest;
}

template <class T>
double positive_bias(problem::instance<T> const& p, std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) {
  double const bias = p.bias().present       ? number(p.bias()(b, h, i, j))
                      : p.bias_f32().present ? number(p.bias_f32()(b, h, i, j))
                                             : 0;
  return std::max(bias, 0.0);
}

/// The largest element of a bias, or 0.
double largest_positive(owned_tensor const& bias) {
  double largest = 0;
  for (std::size_t at = 0; at < bias.bytes.size() / problem::size_of(bias.type); ++at)
    largest = std::max(largest, load(bias, at));
  return largest;
}

/// One head of queries. No bias is larger than `most`.
template <class T>
bool may_overflow(problem::instance<T> const& p, std::int64_t b, std::int64_t h, double sigma, double most,
                  double limit) {
  problem::sizes const& s = p.size();
  std::int64_t const hk = reference::key_head(s, h);
  auto const terms = static_cast<double>(s.d);
  std::vector<double> queries, keys;
  for (std::int64_t i = 0; i < p.queries(b); ++i) queries.push_back(largest_of(p.q().row(b, h, i), s.d));
  for (std::int64_t j = 0; j < p.keys(b); ++j) keys.push_back(largest_of(p.k().row(b, hk, j), s.d));
  if (queries.empty() || keys.empty()) return false;
  double const largest = *std::ranges::max_element(queries) * *std::ranges::max_element(keys) * terms * sigma;
  if (largest + most < limit) return false;
  for (std::int64_t i = 0; i < p.queries(b); ++i)
    for (std::int64_t j = 0; j < p.keys(b); ++j) {
      double const bias = positive_bias(p, b, h, i, j);
      double const product = queries[static_cast<std::size_t>(i)] * keys[static_cast<std::size_t>(j)];
      if (product * terms * sigma + bias < limit || reference::visible(p, b, h, i, j)) continue;
      double sum = 0;
      for (std::int64_t t = 0; t < s.d; ++t)
        sum += std::abs(number(p.q().row(b, h, i)[t]) * number(p.k().row(b, hk, j)[t]));
      if (!(sum * sigma + bias < limit)) return true;
    }
  return false;
}

}  // namespace

bool hidden_scores_may_overflow(owned_problem const& problem, contract const& claim) {
  problem::kernel_model const model = claim.model_for(problem.instance());
  double const limit = std::min(model.format.h0_limit, model.s_limit);
  return std::visit(
      [&](auto const& p) {
        problem::sizes const& s = p.size();
        if (s.n == 0 || s.m == 0) return false;
        double const scale = p.scale().value_or(1 / std::sqrt(static_cast<double>(s.d)));
        double const sigma = std::max(1.0, std::abs(scale));
        auto const& bias = problem.draft().bias;
        double const most = bias ? largest_positive(*bias) : 0;
        for (std::int64_t head = 0; head < s.b * s.hq; ++head)
          if (may_overflow(p, head / s.hq, head % s.hq, sigma, most, limit)) return true;
        return false;
      },
      problem.instance());
}

}  // namespace attest::audit
