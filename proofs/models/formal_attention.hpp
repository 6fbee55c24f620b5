// Attention of one key head over polynomials, and its derivatives by the rules of differentiation alone: no formula of
// a backward pass is used here. Every number of a problem is a symbol of its own, so that an equality of polynomials
// holds for all real inputs.
//
// Symbols that are functions of others, each with its derivative:
//   E_ij = e^{s_ij}         ∂E = E·∂s
//   C_ij = c·tanh(x_ij/c)   ∂C = (1 − (C/c)²)·∂x, since tanh′ = 1 − tanh²; 1/c is a symbol
//   R_i  = 1/D_i            ∂R = −R²·∂D, where D_i = Σ_j E_ij + X over the visible keys j
//   X    = e^sink           ∂X = X with respect to the sink
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "proofs/models/attention_form.hpp"
#include "proofs/models/polynomial.hpp"

namespace attest::proofs {

/// rows × columns symbols.
struct symbol_matrix {
  std::size_t first = 0, rows = 0, columns = 0;

  constexpr std::size_t size() const noexcept { return rows * columns; }
  constexpr std::size_t index(std::size_t row, std::size_t column) const noexcept {
    return first + row * columns + column;
  }
  constexpr monomial operator()(std::size_t row, std::size_t column = 0) const { return monomial(index(row, column)); }
};

class formal_attention {
 public:
  constexpr explicit formal_attention(attention_form const& form) : form_(form) {
    std::size_t const rows = form.rows();
    auto const next = [this](std::size_t height, std::size_t width) {
      symbol_matrix const made{used_, height, width};
      used_ += made.size();
      return made;
    };
    scale_ = next(1, 1), inverse_cap_ = next(form.softcap, 1);
    q_ = next(rows, form.d), k_ = next(form.m, form.d), v_ = next(form.m, form.dv), dO_ = next(rows, form.dv);
    b_ = next(form.bias_size(), 1), E_ = next(rows, form.m), C_ = next(form.softcap ? rows : 0, form.m);
    R_ = next(rows, 1), X_ = next(form.sink ? form.heads : 0, 1), kept_ = next(form.dropout ? rows : 0, form.m);
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t j = 0; j < form.m; ++j) {
        polynomial dot;
        for (std::size_t t = 0; t < form.d; ++t) dot += q_(r, t) * k_(j, t);
        x_.push_back(scale_(0) * dot);
        polynomial s = x_.back();
        if (form.softcap) s = C_(r, j);
        if (form.bias) s += b_(form.bias_at(r, j));
        s_.push_back(s);
      }
  }
  constexpr attention_form const& form() const noexcept { return form_; }

  /// O_rc = R_r·Σ_j E_rj·kept_rj·v_jc over the visible keys; 0 where there are none.
  constexpr polynomial output(std::size_t r, std::size_t c) const {
    polynomial sum;
    for (std::size_t j = 0; j < form_.m; ++j)
      if (form_.visible(r, j)) sum += R_(r) * E_(r, j) * kept(r, j) * v_(j, c);
    return sum;
  }
  /// D_r = 1/R_r, the sum of the weights before the division.
  constexpr polynomial normaliser(std::size_t r) const {
    polynomial sum;
    if (form_.sink) sum = X_(r / form_.n);
    for (std::size_t j = 0; j < form_.m; ++j)
      if (form_.visible(r, j)) sum += E_(r, j);
    return sum;
  }
  /// R_r·D_r, which is 1.
  constexpr polynomial share(std::size_t r) const { return R_(r) * normaliser(r); }
  /// Σ_rc dO_rc·O_rc, whose derivatives are the gradients.
  constexpr polynomial loss() const {
    polynomial sum;
    for (std::size_t r = 0; r < form_.rows(); ++r)
      for (std::size_t c = 0; c < form_.dv; ++c) sum += dO_(r, c) * output(r, c);
    return sum;
  }
  /// The derivatives of the loss, by the chain rule and the table above.
  constexpr formal_gradients derivatives() const {
    polynomial const of = loss();
    auto const along = [&](symbol_matrix const& inputs, std::vector<polynomial>& slopes) {
      for (std::size_t s = 0; s < inputs.size(); ++s)
        slopes[s] = derivative(of, derivatives_of_symbols(inputs.first + s));
    };
    formal_gradients all(form_);
    along(q_, all.dQ), along(k_, all.dK), along(v_, all.dV), along(b_, all.dBias), along(X_, all.dSink);
    return all;
  }

  /// What a kernel is given. Garbage is Q and dO of a row without a key, K and V of a key that no row sees, and the
  /// bias and the dropout of invisible pairs.
  constexpr formal_tensors tensors() const {
    formal_tensors given;
    auto const add_row = [](std::vector<polynomial>& tensor, symbol_matrix const& of, std::size_t row, bool read) {
      for (std::size_t c = 0; c < of.columns; ++c) {
        tensor.push_back(polynomial::garbage());
        if (read) tensor.back() = of(row, c);
      }
    };
    for (std::size_t r = 0; r < form_.rows(); ++r) {
      add_row(given.q, q_, r, !form_.row_is_empty(r));
      add_row(given.dO, dO_, r, !form_.row_is_empty(r));
      for (std::size_t c = 0; c < form_.dv; ++c) given.O.push_back(output(r, c));
    }
    for (std::size_t j = 0; j < form_.m; ++j) {
      add_row(given.k, k_, j, !form_.key_is_unseen(j));
      add_row(given.v, v_, j, !form_.key_is_unseen(j));
    }
    given.bias.assign(form_.bias_size(), polynomial::garbage());
    for (std::size_t r = 0; r < form_.rows(); ++r)
      for (std::size_t j = 0; j < form_.m; ++j) {
        if (form_.dropout) given.kept.push_back(polynomial::garbage());
        if (form_.dropout && form_.visible(r, j)) given.kept.back() = kept_(r, j);
        if (form_.bias && form_.visible(r, j)) given.bias[form_.bias_at(r, j)] = b_(form_.bias_at(r, j));
      }
    return given;
  }

  // The arithmetic of a kernel: exp and tanh, of numbers that are scores of this problem. Any other number gives
  // garbage, and so does a score that a kernel forms of the wrong query, key or bias.

  constexpr polynomial scale() const { return scale_(0); }
  /// e^{s − L_r} = E·R_r, where R_r = e^{−L_r} is all that is known of the LSE of row r.
  constexpr polynomial probability(polynomial const& s, std::size_t r) const {
    for (std::size_t at = 0; at < s_.size(); ++at)
      if (s_[at] == s) return E_(0, at) * R_(r);
    return polynomial::garbage();
  }
  /// tanh(x/c) = C/c
  constexpr polynomial capped_tanh(polynomial const& x) const {
    for (std::size_t at = 0; at < x_.size(); ++at)
      if (x_[at] == x) return C_(0, at) * inverse_cap_(0);
    return polynomial::garbage();
  }
  /// c·t for t = tanh(x/c)
  constexpr polynomial times_cap(polynomial const& t) const {
    for (std::size_t at = 0; at < x_.size(); ++at)
      if (t == polynomial(C_(0, at) * inverse_cap_(0))) return C_(0, at);
    return polynomial::garbage();
  }
  /// e^{sink − L_r}
  constexpr polynomial sink_probability(std::size_t r) const {
    if (!form_.sink) return {};
    return X_(r / form_.n) * R_(r);
  }

 private:
  constexpr monomial kept(std::size_t r, std::size_t j) const { return form_.dropout ? kept_(r, j) : monomial(); }

  /// Of each symbol, ∂/∂(the input `by`). In this order: a derivative asks for those before it.
  constexpr std::vector<polynomial> derivatives_of_symbols(std::size_t by) const {
    std::vector<polynomial> all(used_);
    all[by] = by >= X_.first && by < X_.first + X_.size() ? monomial(by) : monomial();
    for (std::size_t at = 0; at < x_.size(); ++at) {
      if (form_.softcap) {
        monomial const t = C_(0, at) * inverse_cap_(0);
        all[C_.index(0, at)] = (polynomial(1) - t * t) * derivative(x_[at], all);
      }
      all[E_.index(0, at)] = E_(0, at) * derivative(s_[at], all);
    }
    for (std::size_t r = 0; r < form_.rows(); ++r)
      all[R_.index(r, 0)] = polynomial(R_(r) * R_(r), -1) * derivative(normaliser(r), all);
    return all;
  }
  attention_form form_;
  std::size_t used_ = 0;
  symbol_matrix scale_{}, inverse_cap_{}, q_{}, k_{}, v_{}, dO_{}, b_{}, E_{}, C_{}, R_{}, X_{}, kept_{};
  std::vector<polynomial> x_{}, s_{};  // scores before and after the softcap and the bias, [rows, m]
};

}  // namespace attest::proofs
