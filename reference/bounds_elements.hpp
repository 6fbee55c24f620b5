// Section 4 of docs/bound.md: the bounds of one row's results. Part of reference/bounds.hpp.
#pragma once

#include "reference/bounds.hpp"

namespace attest::reference {

template <class Deviation>
constexpr double row_bound::average_error(Deviation&& deviation, bool& by_theorem) const noexcept {
  double hull = 0, weighted = 0, dominant = 0, dominated = 0;
  for (std::size_t j = 0; j < keys_.size(); ++j) {
    double const y = deviation(j);
    hull = larger(hull, y);
    weighted += keys_[j].P * y;
    if (keys_[j].dominant) dominant = larger(dominant, y);
    else dominated += keys_[j].eta * y;
  }
  double const clauses = smaller(hull, (dominant + dominated) * slack_);
  double const theorem = theorem_holds_ && D_lower_ > 0 ? (weighted / D_lower_ + n_far_ * 2 * omega_w_ * hull) * slack_
                                                        : infinity;
  by_theorem = theorem <= clauses;
  return smaller(theorem, clauses);
}

template <unsigned W, class Value>
constexpr error_bound row_bound::output(ball<W> const& o, Value&& value) const noexcept {
  if (!judged_) return {};
  problem::working_format const& f = model_.format;
  double const o_size = upper_size(o);
  double largest = 0, sum = 0, average = 0, average_lower = 0;  // max|v|, Σ|v|, ā from both sides
  for (std::size_t j = 0; j < keys_.size(); ++j) {
    double const v = size_upper(value(j));
    largest = larger(largest, v);
    sum += v;
    average += facts_->keys[j].weight_upper * v;
    average_lower += facts_->keys[j].weight_lower * v;
  }
  if (!(n_ * e_tau_ * largest < f.h0_limit)) return {};
  average *= slack_;
  average_lower *= 2 - slack_;

  double const o_mid = (upper(o) + lower(o)) / 2;
  double const o_width = rounded_up(larger(upper(o) - o_mid, o_mid - lower(o)));
  double const evaluation = n_ * 0x1p-1074 * larger(1, largest);
  bool by_theorem = false, ignored = false;
  auto const signed_value = [&](std::size_t j) {
    element const x = value(j);
    return x.significand < 0 ? -size_upper(x) : size_upper(x);
  };
  double const A = average_error([&](std::size_t j) {
    return rounded_up(absolute(signed_value(j) - o_mid)) + o_width; }, by_theorem) + evaluation;
  double const A_abs = average + evaluation + average_error([&](std::size_t j) {
    double const v = size_upper(value(j));
    return rounded_up(larger(absolute(v - average_lower), absolute(average - v))); }, ignored);

  // Γ_O·A′ with each key's own R_j, or with the largest: whichever is smaller.
  double const u_p = model_.p_shared ? 0 : model_.u_p;
  double const u_pv = larger(f.u, model_.u_pv);
  double const extra = height_O_ + 1 + model_.k_pre + merges_O_;
  auto const gamma_O = [&](double R) { return compounded(u_p, gamma(extra + R, u_pv)); };
  double const common = gamma_O(R_) * (1 + 0x1p-40) * A_abs;
  double per_key = 0;
  for (std::size_t j = 0; j < keys_.size(); ++j) per_key += keys_[j].share * gamma_O(keys_[j].R) * size_upper(value(j));
  double sums = smaller(common, per_key * (1 + 0x1p-40));
  if (model_.merge == problem::split_merge::lse_normalised) sums += 1.01 * (model_.eps + 104 * f.u) * A_abs;

  double omega_O = 8 * (n_ + model_.splits) * f.omega;
  if (model_.k_pre > 0) omega_O += f.omega * sum;
  if (model_.omega_p > 0) {
    double const lost = D_lower_ > 0 ? e_above_ / (facts_->normaliser_lower * D_lower_) : infinity;
    omega_O += model_.omega_p * sum * smaller(2, lost);
  }
  double const omega_F = 2 * f.omega;
  double B = A + ((1 + gamma_F_) * (sums + omega_O) + (o_size + A) * (gamma_L_ + gamma_F_)) / (1 - gamma_L_) + omega_F;
  if (model_.u_out > 0) B = B * (1 + model_.u_out) + model_.u_out * o_size + model_.omega_out;

  // The warning level, λ = 3; the roundings of the division and of normalised weights count like additions.
  double spread = 0;
  for (std::size_t j = 0; j < keys_.size(); ++j) {
    double const y = facts_->keys[j].weight_upper * absolute(signed_value(j) - o_mid);
    spread += keys_[j].t_squared * y * y;
  }
  double const roundings = height_O_ + R_ + model_.k_f + model_.k_pre;
  double const warning = 3 * (root(spread) + f.u * root(roundings) * (o_size + A_abs) + model_.u_out * o_size +
                              model_.u_p * A_abs) + omega_O + omega_F + model_.omega_out;
  return {rounded_up(B * slack_), by_theorem ? judged_by::theorem : judged_by::dominance, warning};
}

constexpr error_bound row_bound::weight(std::size_t at) const noexcept {
  if (!judged_) return {};
  key const& my = keys_[at];
  double const pi = facts_->keys[at].weight_upper, far_share = 2 * omega_w_, omega = model_.format.omega;
  double A = 1;
  bool by_theorem = false;
  double twice = 1;  // p_j recomputed in a second pass
  if (theorem_holds_ && D_lower_ > 0) {
    double const others = larger(0, sum_P_ * slack_ - my.P);
    A = ((1 - facts_->keys[at].weight_lower) * my.P + pi * others) / D_lower_ + n_far_ * far_share;
    by_theorem = A <= 1;
    A = smaller(1, A);
    // π[(1+T)(1+Γ_F)/(D(1−Γ_L)) − 1] with the 1 taken inside, so that nothing cancels.
    twice = (my.P * (1 + gamma_F_) + pi * (gamma_F_ + one_minus_D_ + gamma_L_)) / (D_lower_ * (1 - gamma_L_)) + far_share;
  }
  double const dominated = larger(pi, my.eta);
  if (dominated < A) A = dominated, by_theorem = false;
  double B = A + (pi + A) * (gamma_L_ + gamma_F_) / (1 - gamma_L_) + 2 * omega;
  if (by_theorem) B = larger(B, twice + 2 * omega);
  if (model_.u_out > 0) B = B * (1 + model_.u_out) + model_.u_out * pi + model_.omega_out;
  return {rounded_up(B * slack_), by_theorem ? judged_by::theorem : judged_by::dominance};
}

constexpr error_bound row_bound::log_sum_exp() const noexcept {
  if (!judged_) return {};
  double const theorem = theorem_holds_ ? larger(log_upper_, log_lower_) + 4 * n_ * omega_w_ : infinity;
  double const base = smaller(theorem, log_hull_) + gamma_L_ / (1 - gamma_L_);
  if (!(base < infinity)) return {};
  double const u = model_.format.u;
  double const logged = model_.eps_log * (facts_->lse_above_max + largest_E_ + model_.tau + base);
  double const B = (1 + u) * (base + logged) + gamma(model_.k_lse, u) * (facts_->lse_size + base) +
                   gamma(model_.k_lse - 1, u) * largest_max_ + 2 * model_.format.omega;
  return {rounded_up(B * slack_), theorem <= log_hull_ ? judged_by::theorem : judged_by::dominance};
}

constexpr double row_bound::hull_margin(double largest_value) const noexcept {
  if (!judged_) return infinity;
  double const u_pv = larger(model_.format.u, model_.u_pv), u_p = model_.p_shared ? 0 : model_.u_p;
  double const gamma_O = compounded(u_p, gamma(height_O_ + R_ + 1 + model_.k_pre + merges_O_, u_pv));
  double const omega_O = 8 * (n_ + model_.splits) * model_.format.omega +
                         (model_.omega_p + (model_.k_pre > 0 ? model_.format.omega : 0)) * 2 * n_ * largest_value;
  double const margin = (gamma_O + gamma_L_ + gamma_F_) / (1 - gamma_L_) * largest_value * (1 + gamma_F_) + omega_O +
                        2 * model_.format.omega;
  return rounded_up((margin * (1 + model_.u_out) + model_.u_out * largest_value + model_.omega_out) * slack_);
}

constexpr error_bound row_bound::row_sum() const noexcept {
  if (!judged_) return {};
  double sum = 0;
  bool by_theorem = true;
  for (std::size_t j = 0; j < keys_.size(); ++j) {
    error_bound const b = weight(j);
    sum += b.size;
    by_theorem = by_theorem && b.by == judged_by::theorem;
  }
  return {rounded_up(sum * slack_), by_theorem ? judged_by::theorem : judged_by::dominance};
}

}  // namespace attest::reference
