// docs/bound_backward.md, Lemmas 3 to 8, in their order. Each function is one statement of section 5.
#include "reference/gradient/row.hpp"

#include "reference/gradient/weights-inl.hpp"

namespace attest::reference {

using namespace gradient_detail;

namespace {

/// Lemma 3: N⁰_j.
void errors_of_products(gradient_terms const& terms, gradient_row& row) {
  auto const& model = terms.backward;
  double const omega = terms.forward.format.omega;
  double const path = compounded(terms.gamma_dp, terms.drop);
  for (auto& key : row.keys) {
    key.N0 = 0;
    if (key.j == sink_index || key.dropped) continue;
    double const lost = omega * (4 * terms.dv + 2) + terms.flush * 2 * omega * (row.dO_norm + key.value_norm);
    double const dropout = row.scalars.drops ? 2 * omega + terms.omega_drop * (1 + row.dO_norm + key.value_norm) : 0;
    key.N0 = (1 + model.u_dps) * (product(path, key.product_size) + lost * terms.drop_growth + dropout) +
             model.u_dps * key.product.size() + model.omega_dps * terms.drop_growth;
  }
}

/// Δ = Σ_j π_j·W_j with its radius (local: Σ_c dO_c·Ô_c), and y_j = W_j − Δ.
/// Why       the sum keeps what each addition rounds (Knuth); products and rests round once each
void find_delta(gradient_terms const& terms, gradient_row& row) {
  double sum = 0, rest = 0, off = 0, size = 0;
  auto const add = [&](double term) {
    double const next = sum + term, back = next - sum;
    rest += (sum - (next - back)) + (term - back);
    sum = next, size += absolute(term);
  };
  if (terms.mode == gradient_mode::local) {
    for (std::size_t c = 0; c < row.dO.size(); ++c) add(row.dO[c] * row.recorded_o[c]);
  } else {
    for (auto const& key : row.keys) {
      add(key.weight.mid * key.product.mid);
      off += key.weight.off * key.product.size() + absolute(key.weight.mid) * key.product.off;
    }
  }
  double const terms_of_sum = row.n() + terms.dv;
  row.delta.mid = sum + rest;
  row.delta.off = (off + size * (3 * 0x1p-53 + terms_of_sum * terms_of_sum * 0x1p-105)) * slack_of(row) +
                  absolute(row.delta.mid) * 0x1p-52 + (terms_of_sum + 2) * 0x1p-1073;
  // The only key of a row without a sink has W = Δ.
  row.alone = terms.mode != gradient_mode::local && row.keys.size() == 1 && !row.has_sink;
  for (auto& key : row.keys) {
    key.y.mid = key.product.mid - row.delta.mid;
    key.y.off = (key.product.off + row.delta.off + absolute(key.y.mid) * 0x1p-53) * (1 + 0x1p-50) + 0x1p-1074;
    if (row.alone) key.y = {};
  }
}

/// Lemma 4: |Δ̂ − Δ| of Δ from the output.
double error_of_delta_from_output(gradient_terms const& terms, gradient_row const& row) {
  double off = 0, met = 0, sizes = 0, difference = 0, summed = 0;
  for (std::size_t c = 0; c < row.dO.size(); ++c) {
    double const dO = absolute(row.dO[c]);
    double om = 0;  // |o_c| + B_c
    if (terms.mode == gradient_mode::own) {
      om = row.o[c].size() + row.o_bound[c];
      off += product(dO, row.o_bound[c]);
    } else {
      om = absolute(row.recorded_o[c]);
      double const term = row.dO[c] * row.recorded_o[c];
      difference += term, summed += absolute(term);
    }
    met += product(dO, om), sizes += om;
  }
  if (terms.mode == gradient_mode::recorded)
    off = absolute(difference - row.delta.mid) * (1 + 0x1p-50) + row.delta.off + summed * ((terms.dv + 2) * 0x1p-53) +
          (terms.dv + 1) * 0x1p-1073;
  double const omega = terms.forward.format.omega;
  return off + product(gamma_below_quarter(terms.dv + terms.backward.k_delta, terms.forward.format.u), met) +
         omega * (4 * terms.dv + 2) + terms.flush * 2 * omega * (row.dO_norm + sizes);
}

/// Lemma 5: |Δ̂ − Δ| of Δ from the weights; ε_w.
double error_of_delta_from_weights(gradient_terms const& terms, gradient_row& row) {
  double plain = 0, centred = 0, met = 0, summed = 0, sizes = 0;
  for (auto const& key : row.keys) {
    double const W = key.product.size() + key.N0;
    plain += product(key.A, key.y.size());
    centred += product(product(row.growth, key.piT) + key.zeta, key.y.size());
    met += product(key.P, key.N0), summed += product(key.P, W), sizes += W + key.P;
  }
  double const omega = terms.forward.format.omega;
  row.delta_rounding = product(gamma_below_quarter(row.n() + terms.backward.k_delta, terms.forward.format.u), summed) +
                       omega * (4 * row.n() + 2) + terms.flush * 2 * omega * sizes;
  return smaller(plain, centred) + product(row.delta.size(), row.r) + met + row.delta_rounding;
}

/// Lemmas 4, 5: e_Δ.
void error_of_delta(gradient_terms const& terms, gradient_row& row) {
  auto const& model = terms.backward;
  double error = 0;
  if (terms.delta_from_output) error = error_of_delta_from_output(terms, row);
  if (terms.delta_from_weights)
    error = larger(or_infinite(error), or_infinite(error_of_delta_from_weights(terms, row)));
  row.e_delta = ((1 + model.u_delta) * error + model.u_delta * row.delta.size() + model.omega_delta) * slack_of(row);
}

/// Lemma 6: N_j.
void errors_before_product(gradient_terms const& terms, gradient_row& row) {
  auto const& model = terms.backward;
  double const delta = row.delta.size() + row.e_delta;
  for (auto& key : row.keys) {
    double const N0 = key.N0;
    double beside = 0;
    if (model.delta_first) {
      beside += (1 + model.u_dps) * product(terms.gamma_dp, delta);
      if (model.u_dps > 0) beside += model.u_dps * (key.y.size() + row.e_delta + N0) + model.omega_dps;
    }
    if (model.k_e > 0) beside += product(terms.gamma_e, key.product.size() + N0 + delta);
    key.N_beside_N0 = beside * slack_of(row);
    key.N = (N0 + beside) * slack_of(row) + least;
  }
}

/// Lemma 7: κ_j.
void errors_of_slope(gradient_terms const& terms, gradient_row& row) {
  if (!(terms.softcap > 0)) return;
  double const c = terms.softcap, omega = terms.forward.format.omega;
  for (auto& key : row.keys) {
    if (key.j == sink_index) continue;
    double const moved = key.product_error / c, t = smaller(1, key.tanh.size());
    double const slope = smaller(1, key.slope.size());
    double const D = product(moved, smaller(1, slope + 0.77 * moved));
    double const e = (1 + terms.forward.e_c) * D + terms.forward.e_c * t + terms.forward.a_t + 2 * omega * (1 + 1 / c);
    key.kappa = (2 * t * e + e * e + product(terms.gamma_g, (1 + e) * (1 + e)) + 2 * omega) * (1 + 0x1p-46);
  }
}

/// Lemma 8: dS_j, dX_j with radii; e^S_j, e^X_j.
void find_dS(gradient_terms const& terms, gradient_row& row) {
  double const omega = terms.forward.format.omega, e_delta = row.e_delta, slack = slack_of(row);
  for (auto& key : row.keys) {
    enclosure const pi = key.weight, y = key.y, g = key.slope;
    key.dS.mid = pi.mid * y.mid;
    key.dS.off =
        (pi.off * y.size() + absolute(pi.mid) * y.off + absolute(key.dS.mid) * 0x1p-53) * (1 + 0x1p-50) + 0x1p-1074;
    key.dX.mid = key.dS.mid * g.mid;
    key.dX.off =
        (key.dS.off * g.size() + absolute(key.dS.mid) * g.off + absolute(key.dX.mid) * 0x1p-53) * (1 + 0x1p-50) +
        0x1p-1074;
    double const own = pi.off * y.size() + absolute(pi.mid) * (key.product.off + absolute(y.mid) * 0x1p-53) +
                       absolute(key.dS.mid) * 0x1p-53;
    key.dX_beside_delta =
        (own * g.size() + key.dS.size() * g.off + absolute(key.dX.mid) * 0x1p-53) * (1 + 0x1p-50) + 0x1p-1073;
    if (y.mid == 0 && y.off == 0) key.dS = key.dX = {}, key.dX_beside_delta = 0;

    double const weight = pi.size(), slope = smaller(1, g.size()), reach = y.size() + e_delta;
    key.nu = 6 * omega * (1 + key.P) + terms.backward.omega_ds;
    key.nu_x = key.nu * (1 + key.kappa) + 2 * omega;
    double const q = key.A * (1 + terms.theta) + terms.theta * weight;
    key.error = (product(q, reach) + product(weight + q, key.N) + product(weight, e_delta) + key.nu) * slack;
    double const q_x = (key.A * slope + product(key.P, key.kappa)) * (1 + terms.theta) + terms.theta * weight * slope;
    key.error_x =
        (product(q_x, reach) + product(weight * slope + q_x, key.N) + product(weight * slope, e_delta) + key.nu_x) *
        slack;
  }
}

/// HB6 of one key: its numbers that are stored in a narrower format.
bool stores_in_range(gradient_terms const& terms, gradient_row const& row, gradient_key const& key) {
  auto const& model = terms.backward;
  double const limit = terms.stored, dP = larger(key.dropped ? key.product_size : 0, key.product.size() + key.N);
  double const dS = key.dS.size() + key.error + key.dX.size() + key.error_x;
  bool const held = product(model.ds_scaled ? terms.scale_or_one : 1, dS) < limit || !(model.u_ds > 0);
  bool const products = dP + (model.delta_first ? key.y.size() + row.e_delta : 0) < limit || !(model.u_dps > 0);
  return held && products && (key.P < limit || !(model.u_pd > 0)) && key.P * terms.drop_growth < terms.forward.p_limit;
}

/// HB6 of one row, and H0 of its scores.
bool is_judged(gradient_terms const& terms, gradient_row const& row, weights_of_mode const& at) {
  auto const& model = terms.backward;
  bool hold = row.in_range && (terms.mode != gradient_mode::own || row.by_theorem);
  double const delta = row.delta.size() + row.e_delta, limit = terms.limit;
  hold = hold && (!(model.u_delta > 0) || delta < terms.stored);
  hold = hold && (!(model.u_lse > 0) || !terms.from_lse || 1.5 * (at.lse.size() + row.lambda) < terms.stored);
  double sum = 0, met = 0;
  for (auto const& key : row.keys) {
    sum += product(key.P, key.product.size() + key.N);
    double const dS = key.dS.size() + key.error, dX = key.dX.size() + key.error_x;
    hold = hold && key.P < 0x1p60 && 1.25 * key.product_size + delta < limit &&
           product(terms.scale_or_one, dS + dX) < limit && stores_in_range(terms, row, key);
  }
  if (terms.delta_from_output)
    for (std::size_t c = 0; c < row.dO.size(); ++c)
      met += product(absolute(row.dO[c]),
                     terms.mode == gradient_mode::own ? row.o[c].size() + row.o_bound[c] : absolute(row.recorded_o[c]));
  return hold && sum < limit && 1.25 * met < limit && row.e_delta < limit;
}

}  // namespace

void evaluate(gradient_terms const& terms, gradient_row& row) {
  row.judged = false;
  weights_of_mode const at = take_mode(terms, row);
  constant_terms const scores(terms.forward, row.scalars, row.keys.size());
  for (auto& key : row.keys) {
    key.E = key.j == sink_index ? scalar::sink_error(scores, key.numbers) : scalar::score_error(scores, key.numbers);
    if (terms.softcap > 0 && key.j != sink_index) key.product_error = scalar::stored_product_error(scores, key.numbers);
  }
  row.lambda = 0, row.growth = 1;
  if (terms.from_lse) weights_from_lse(terms, at, row);
  if (terms.from_saved) weights_from_saved(terms, row);
  double sum = 0;
  for (auto& key : row.keys) {
    key.A = key.A == key.A ? key.A * (1 + 0x1p-45) : infinity;
    key.P = (key.weight.size() + key.A) * (1 + 0x1p-50);
    sum += key.A;
  }
  row.r = sum * slack_of(row);
  if (terms.backward.one_pass && !terms.from_lse) row.r = smaller(row.r, row_sum_of_saved(terms, row));
  errors_of_products(terms, row);
  find_delta(terms, row);
  error_of_delta(terms, row);
  errors_before_product(terms, row);
  errors_of_slope(terms, row);
  find_dS(terms, row);
  row.judged = is_judged(terms, row, at);
}

}  // namespace attest::reference
