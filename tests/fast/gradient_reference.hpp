// The gradients of attention in long double by the definition, for small problems, and a bound of the kernel's error.
//
// Nothing here is formed as the kernel forms it: weights come from the scores alone, Δ_i = Σ_j A_ij·W_ij from the
// weights, and every sum runs over a dense n × m matrix. u of long double is 2^−11 of f64's, so what its own roundings
// cost is 2^−11 of the same counts: the bound is multiplied by 1 + 2^−8.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "fast/algorithm/backward_model.hpp"
#include "fast/algorithm/model.hpp"
#include "tests/fast/gradient_case.hpp"

namespace attest::tests {

using real = long double;

/// A number and a bound of the kernel's error.
struct bounded {
  real x = 0, bound = 0;
};

/// All numbers of one problem: dQ [b, hq, n, d], dK [b, hk, m, d], dV [b, hk, m, dv], dS [b, hq, n, m], dSink [b, hq],
/// and O [b, hq, n, dv].
struct dense_gradients {
  std::vector<bounded> dq, dk, dv, ds, dsink;
  std::vector<real> o;
};

/// γ_k = k·u/(1 − k·u).
inline real gamma(real k, real u) { return k * u / (1 - k * u); }

/// The lemmas of the error bound of gradients for recorded O and LSE, with the counts of the kernel's models: `forward`
/// for scores, `backward` for the rest. Lemma 1 gives |p̂ − π| ≤ A, Lemma 3 |ŵ − W| ≤ N, Lemma 4 e_Δ, Lemma 7 κ,
/// Lemma 8 e^S and e^X, and Lemmas 9 to 11 the sums, whose height here is the number of terms (an upper bound of the
/// kernel's).
template <class T>
class dense_reference {
 public:
  dense_reference(written<T> const& asked, written_gradients<T>& at)
      : p_(asked.instance()),
        s_(p_.size()),
        at_(at),
        forward_(fast::model<T>(p_)),
        backward_(fast::backward_model<T>(p_)),
        u_(forward_.format.u),
        tiny_(4 * forward_.format.omega_w) {
    all_.dq.resize(count(s_.hq, s_.n, s_.d)), all_.dk.resize(count(s_.hk, s_.m, s_.d));
    all_.dv.resize(count(s_.hk, s_.m, s_.dv)), all_.ds.resize(count(s_.hq, s_.n, s_.m));
    all_.dsink.resize(count(s_.hq, 1, 1)), all_.o.resize(count(s_.hq, s_.n, s_.dv));
    sigma_ = p_.scale() ? static_cast<real>(*p_.scale()) : 1 / std::sqrt(static_cast<real>(s_.d));
    kept_ = 1 / (1 - static_cast<real>(p_.parameters().dropout));
    for (std::int64_t b = 0; b < s_.b; ++b)
      for (std::int64_t h = 0; h < s_.hq; ++h)
        for (std::int64_t i = 0; i < p_.queries(b); ++i) row(b, h, i);
    finish(all_.dv, backward_.k_dv + 1), finish(all_.dq, backward_.k_scale + 1), finish(all_.dk, backward_.k_scale + 1);
  }

  dense_gradients const& all() const { return all_; }

  std::size_t place(std::int64_t heads, std::int64_t rows, std::int64_t width, std::int64_t b, std::int64_t h,
                    std::int64_t i, std::int64_t t) const {
    return static_cast<std::size_t>(((b * heads + h) * rows + i) * width + t);
  }

 private:
  struct key {
    std::int64_t j = 0;
    real pi = 0, A = 0, W = 0, N = 0, slope = 1, kappa = 0, kept = 1;
  };

  std::size_t count(std::int64_t heads, std::int64_t rows, std::int64_t width) const {
    return static_cast<std::size_t>(s_.b * heads * rows * width);
  }
  static real number(T const& x) { return static_cast<real>(audit::number(x)); }

  real bias(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const {
    if (p_.bias()) return number(p_.bias()(b, h, i, j));
    return p_.bias_f32() ? static_cast<real>(p_.bias_f32()(b, h, i, j)) : 0;
  }
  real sink(std::int64_t b, std::int64_t h) const {
    if (p_.sink()) return number(p_.sink()(b, h, 0, 0));
    return p_.sink_f32() ? static_cast<real>(p_.sink_f32()(b, h, 0, 0)) : -std::numeric_limits<real>::infinity();
  }

  void row(std::int64_t b, std::int64_t h, std::int64_t i) {
    std::int64_t const kv = h / (s_.hq / s_.hk);
    real const c = static_cast<real>(p_.softcap()), infinity = std::numeric_limits<real>::infinity();
    std::vector<key> keys;
    std::vector<real> s, E;
    real largest = sink(b, h);
    for (std::int64_t j = 0; j < s_.m; ++j) {
      if (!is_visible(p_, b, h, i, j)) continue;
      key one{.j = j};
      real x = 0, size = 0;
      for (std::int64_t t = 0; t < s_.d; ++t) {
        real const product = sigma_ * number(p_.q()(b, h, i, t)) * number(p_.k()(b, kv, j, t));
        x += product, size += std::fabs(product);
      }
      real error = gamma(static_cast<real>(forward_.k_qk_per_d * s_.d + forward_.k_qk_base), u_) * size;
      if (c > 0) {
        real const t = std::tanh(x / c), e_c = static_cast<real>(forward_.e_c);
        one.slope = 1 - t * t;
        real const e_t = (1 + e_c) * error / c + e_c * std::fabs(t) + tiny_ * (1 + 1 / c);
        one.kappa = 2 * std::fabs(t) * e_t + e_t * e_t + gamma(backward_.k_g, u_) * (1 + e_t) * (1 + e_t) + tiny_;
        error = (1 + e_c) * error + e_c * c * std::fabs(t), x = c * t;
      }
      real const added = bias(b, h, i, j), g_b = static_cast<real>(forward_.g_b);
      if (p_.has_bias()) error += g_b * std::fabs(added) + gamma(1, u_) * (std::fabs(x + added) + error);
      s.push_back(x + added), E.push_back(error), keys.push_back(one);
      largest = std::max(largest, s.back());
    }
    if (largest == -infinity || keys.empty()) return;
    real Z = std::exp(sink(b, h) - largest);
    for (real const score : s) Z += std::exp(score - largest);
    real const L = largest + std::log(Z), recorded = static_cast<real>(at_.lse.at(b, h, i));
    real const off = std::fabs(recorded - L), lambda = off + gamma(backward_.c_l, u_) * (std::fabs(L) + off);
    auto const weight_error = [&](real score, real error, real pi) {
      real const rho = std::fabs(score - L) + error + lambda;
      real const z = error + gamma(backward_.k_x, u_) * rho - std::log1p(-static_cast<real>(backward_.eps)) + tiny_;
      return pi * std::expm1(lambda + z) + tiny_;
    };
    real a_delta = 0, delta = 0, size_of_delta = 0, off_o = 0;
    for (std::size_t k = 0; k < keys.size(); ++k) {
      key& one = keys[k];
      one.pi = std::exp(s[k] - L), one.A = weight_error(s[k], E[k], one.pi);
      if (p_.keep()) one.kept = p_.keep()(b, h, i, one.j) != 0 ? kept_ : 0;
      real a = 0;
      for (std::int64_t e = 0; e < s_.dv; ++e) {
        real const product = number(at_.d_o.at(b, h, i, e)) * number(p_.v()(b, kv, one.j, e));
        one.W += product, a += std::fabs(product);
      }
      one.W *= one.kept;
      one.N = one.kept * gamma(static_cast<real>(backward_.k_dp_per_dv * s_.dv + backward_.k_dp_base), u_) * a +
              static_cast<real>(4 * s_.dv + 2) * tiny_;
      delta += one.pi * one.W, a_delta += one.pi * a;
    }
    for (std::int64_t e = 0; e < s_.dv; ++e) {
      real& o = all_.o[place(s_.hq, s_.n, s_.dv, b, h, i, e)];
      for (key const& one : keys) o += one.pi * one.kept * number(p_.v()(b, kv, one.j, e));
      real const d_o = number(at_.d_o.at(b, h, i, e)), got = number(at_.o.at(b, h, i, e));
      off_o += d_o * (got - o), size_of_delta += std::fabs(d_o * got);
    }
    real const e_delta = std::fabs(off_o) + gamma(static_cast<real>(s_.dv + backward_.k_delta), u_) * size_of_delta +
                         static_cast<real>(4 * s_.dv + 2) * tiny_;
    real const theta = gamma(backward_.k_ds, u_);
    for (key const& one : keys) {
      real const y = one.W - delta, P = one.pi + one.A;
      auto const error = [&](real g, real kappa) {
        real const q = (one.A * g + P * kappa) * (1 + theta) + theta * one.pi * g;
        return q * (std::fabs(y) + e_delta) + (one.pi * g + q) * (one.N + e_delta) + 6 * tiny_ * (1 + P);
      };
      real const dS = one.pi * y, dX = dS * one.slope, e_X = error(one.slope, one.kappa);
      all_.ds[place(s_.hq, s_.n, s_.m, b, h, i, one.j)] = {dS, error(1, 0)};
      auto const add = [&](bounded& to, real term, real bound) { to.x += term, to.bound += bound; };
      auto const sum = [&](bounded& to, real weight, real weight_bound, real by, real terms) {
        real const rounded = gamma(terms + 1, u_);
        add(to, weight * by,
            (weight_bound * (1 + rounded) + rounded * std::fabs(weight) + tiny_) * std::fabs(by) + tiny_);
      };
      real const rows = static_cast<real>(s_.hq / s_.hk * s_.n), columns = static_cast<real>(keys.size());
      for (std::int64_t t = 0; t < s_.d; ++t) {
        sum(all_.dq[place(s_.hq, s_.n, s_.d, b, h, i, t)], sigma_ * dX, std::fabs(sigma_) * e_X,
            number(p_.k()(b, kv, one.j, t)), columns);
        sum(all_.dk[place(s_.hk, s_.m, s_.d, b, kv, one.j, t)], sigma_ * dX, std::fabs(sigma_) * e_X,
            number(p_.q()(b, h, i, t)), rows);
      }
      for (std::int64_t e = 0; e < s_.dv; ++e)
        sum(all_.dv[place(s_.hk, s_.m, s_.dv, b, kv, one.j, e)], one.pi * one.kept, one.A * one.kept,
            number(at_.d_o.at(b, h, i, e)), rows);
    }
    // A sink is a key with W = 0: dS = −π_t·Δ, and no rounding of ŵ.
    real const pi = std::exp(sink(b, h) - L),
               A = pi > 0 ? weight_error(sink(b, h), gamma(2, u_) * std::fabs(sink(b, h)), pi) : 0;
    bounded& dsink = all_.dsink[place(s_.hq, 1, 1, b, h, 0, 0)];
    real const error = (A * (1 + theta) + theta * pi) * (std::fabs(delta) + e_delta) + pi * e_delta,
               rounded = gamma(static_cast<real>(s_.b * s_.n), u_);
    dsink.x -= pi * delta;
    dsink.bound += error * (1 + rounded) + rounded * std::fabs(pi * delta) + tiny_;
  }

  /// The k roundings of a finished sum.
  void finish(std::vector<bounded>& of, int k) const {
    for (bounded& one : of) one.bound += gamma(k, u_) * (std::fabs(one.x) + one.bound);
  }

  problem::instance<T> p_;
  problem::sizes s_;
  written_gradients<T>& at_;
  problem::kernel_model forward_;
  problem::gradient_model backward_;
  real u_, tiny_, sigma_ = 0, kept_ = 1;
  dense_gradients all_;
};

}  // namespace attest::tests
