#include "audit/judge/hidden_keys.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "audit/tensors/elements.hpp"
#include "reference/attention/dropout.hpp"
#include "reference/attention/visibility.hpp"
#include "reference/real/outward.hpp"

namespace attest::audit {
namespace {

template <class T>
double largest_of(T const* row, std::int64_t width) {
  double largest = 0;
  for (std::int64_t t = 0; t < width; ++t) largest = std::max(largest, std::abs(number(row[t])));
  return largest;
}

template <class T>
double bias_of(problem::instance<T> const& p, std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) {
  return p.bias().present ? number(p.bias()(b, h, i, j)) : p.bias_f32().present ? number(p.bias_f32()(b, h, i, j)) : 0;
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
      double const given = bias_of(p, b, h, i, j), bias = std::max(given, 0.0);
      double const product = queries[static_cast<std::size_t>(i)] * keys[static_cast<std::size_t>(j)];
      bool const seen = given != -reference::infinity && reference::visible(p, b, h, i, j);
      if (seen || product * terms * sigma + bias < limit) continue;
      double sum = 0;
      for (std::int64_t t = 0; t < s.d; ++t)
        sum += std::abs(number(p.q().row(b, h, i)[t]) * number(p.k().row(b, hk, j)[t]));
      if (!(sum * sigma + bias < limit)) return true;
    }
  return false;
}

/// One head of queries: may κ·Σ_c |dO_ic·v_jc| of a hidden key j reach the limit?
template <class T>
bool products_may_overflow(problem::instance<T> const& p, std::int64_t b, std::int64_t h, double kept, double limit) {
  problem::sizes const& s = p.size();
  std::int64_t const hk = reference::key_head(s, h);
  double most_dO = 0, most_v = 0;
  for (std::int64_t i = 0; i < p.queries(b); ++i) most_dO = std::max(most_dO, largest_of(p.d_out().row(b, h, i), s.dv));
  for (std::int64_t j = 0; j < p.keys(b); ++j) most_v = std::max(most_v, largest_of(p.v().row(b, hk, j), s.dv));
  if (most_dO * most_v * kept * static_cast<double>(s.dv) < limit) return false;
  for (std::int64_t i = 0; i < p.queries(b); ++i)
    for (std::int64_t j = 0; j < p.keys(b); ++j) {
      if (bias_of(p, b, h, i, j) != -reference::infinity && reference::visible(p, b, h, i, j)) continue;
      double sum = 0;
      for (std::int64_t c = 0; c < s.dv; ++c)
        sum += std::abs(number(p.d_out().row(b, h, i)[c]) * number(p.v().row(b, hk, j)[c]));
      if (!(sum * kept < limit)) return true;
    }
  return false;
}

/// Is every bias between a query and a key of one entry finite or −∞? An axis over which the bias broadcasts is read
/// once.
template <class T, class B>
bool has_nonfinite_bias(problem::instance<T> const& p, problem::view<B const> const& bias) {
  if (!bias.present) return false;
  auto const once = [](std::int64_t stride, std::int64_t size) {
    return stride == 0 ? std::min<std::int64_t>(size, 1) : size;
  };
  for (std::int64_t b = 0; b < p.size().b; ++b) {
    if (b > 0 && bias.stride[0] == 0 && p.queries(b) == p.queries(b - 1) && p.keys(b) == p.keys(b - 1)) continue;
    for (std::int64_t h = 0; h < once(bias.stride[1], p.size().hq); ++h)
      for (std::int64_t i = 0; i < once(bias.stride[2], p.queries(b)); ++i)
        for (std::int64_t j = 0; j < p.keys(b); ++j)
          if (double const x = number(bias(b, h, i, j)); !std::isfinite(x) && x != -reference::infinity) return true;
  }
  return false;
}

/// Is a key hidden from a query of its entry? A bias of −∞ hides a key, too.
template <class T>
bool hides_a_key(problem::instance<T> const& p) {
  for (std::int64_t b = 0; b < p.size().b; ++b)
    for (std::int64_t h = 0; h < p.size().hq; ++h)
      for (std::int64_t i = 0; i < p.queries(b); ++i)
        for (std::int64_t j = 0; j < p.keys(b); ++j)
          if (!reference::visible(p, b, h, i, j) || bias_of(p, b, h, i, j) == -reference::infinity) return true;
  return false;
}

}  // namespace

std::optional<owned_problem> with_unread_parts_hidden(owned_problem const& problem, contract const& claim) {
  problem_draft const& merge = problem.draft();
  if (claim.conventions.empty_lse != conventions::log::plus_infinity || !merge.merge) return std::nullopt;
  problem::layout const& of = merge.bias->layout;
  owned_tensor mask = owned_tensor::compact(problem::element_type::u8, {of.shape[0], of.shape[1], 1, of.shape[3]});
  fill(mask, [&](auto b, auto row, auto, auto part) {
    return std::isinf(load(*merge.bias, offset_of(*merge.bias, b, row, 0, part))) ? 0.0 : 1.0;
  });
  problem_draft read = merge;
  read.mask = std::move(mask);
  return owned_problem::of_valid(std::move(read));
}

bool leaves_outputs_open(owned_problem const& problem, contract const& claim) {
  using masked = conventions::masked;
  masked const says = claim.conventions.masked_values;
  problem_draft const& draft = problem.draft();
  bool const may_hide =
      draft.mask || draft.bias || draft.band != problem::band{} || !draft.is_dense() || draft.block_mask;
  if (says == masked::never_read || !may_hide) return false;
  if (draft.merge) return draft.mask && has_nonfinite(draft.v);  // an LSE of −∞ is what hides a part
  if (has_nonfinite(problem))
    return !draft.is_dense() || std::visit([](auto const& p) { return hides_a_key(p); }, problem.instance());
  if (hidden_products_may_overflow(problem, claim)) return true;
  return says == masked::must_not_overflow && hidden_scores_may_overflow(problem, claim);
}

bool has_nonfinite(owned_problem const& problem) {
  return std::visit(
      [](auto const& p) {
        problem::sizes const& s = p.size();
        for (std::int64_t b = 0; b < s.b; ++b) {
          for (std::int64_t h = 0; h < s.hq; ++h)
            for (std::int64_t i = 0; i < p.queries(b); ++i)
              if (!all_finite(p.q().row(b, h, i), s.d) ||
                  (p.d_out().present && !all_finite(p.d_out().row(b, h, i), s.dv)))
                return true;
          for (std::int64_t h = 0; h < s.hk; ++h)
            for (std::int64_t j = 0; j < p.keys(b); ++j)
              if (!all_finite(p.k().row(b, h, j), s.d) || !all_finite(p.v().row(b, h, j), s.dv)) return true;
        }
        return has_nonfinite_bias(p, p.bias()) || has_nonfinite_bias(p, p.bias_f32());
      },
      problem.instance());
}

bool has_nonfinite(owned_tensor const& t, bool but_minus_infinity) {
  return !all_of(t, [&](double x) { return std::isfinite(x) || (but_minus_infinity && x == -reference::infinity); });
}

bool hidden_products_may_overflow(owned_problem const& problem, contract const& claim) {
  if (!problem.draft().d_out) return false;
  double const limit = claim.model_for(problem.instance()).format.h0_limit;
  return std::visit(
      [&](auto const& p) {
        problem::sizes const& s = p.size();
        double const kept = 1 / (1 - reference::dropout_of(p));
        for (std::int64_t head = 0; head < s.b * s.hq; ++head)
          if (products_may_overflow(p, head / s.hq, head % s.hq, kept, limit)) return true;
        return false;
      },
      problem.instance());
}

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
