// The scores of a kernel of tests/support/known_kernels.hpp on one row, with every rounding on their way.
#pragma once

#include <cmath>
#include <cstddef>

#include "tests/support/kernel_arithmetic.hpp"
#include "tests/support/known_kernel.hpp"
#include "tests/support/written.hpp"

namespace attest::tests {

/// Requires  `kernel`, `row` and `math` live as long
template <class F>
class known_scores {
 public:
  static constexpr F log2_e = F(1.44269504088896340736);

  known_scores(known_kernel const& kernel, written<F> const& row, arithmetic<F>& math)
      : kernel_(kernel),
        row_(row),
        math_(math),
        keys_(static_cast<std::size_t>(row.v.layout.shape[0])),
        d_(static_cast<std::size_t>(row.k.layout.shape[1])),
        scale_(row.scale ? math.read(*row.scale) : math.kept(math.div(F(1), math.kept(std::sqrt(static_cast<F>(d_)))))),
        // As PyTorch forms it: in double, rounded once.
        root_(math.read(std::sqrt(row.scale ? *row.scale : 1 / std::sqrt(static_cast<double>(d_))))) {}

  F scale() const { return scale_; }
  /// The key that comes at place j.
  std::size_t at(std::size_t j) const { return kernel_.reversed ? keys_ - 1 - j : j; }
  /// As it is stored.
  F of(std::size_t j) { return math_.score(before_storing(j)); }
  /// t in the unit of the scores; of FlashAttention-2, in base 2.
  F sink() const {
    F const t = math_.kept(math_.read(row_.sink.values.front()));
    bool const base_2 = in_base_2() || is_flash_attention_2();
    return base_2 ? math_.mul(t, math_.kept(log2_e)) : t;
  }
  bool in_base_2() const { return kernel_.scores == score_form::base_2; }
  bool is_flash_attention_2() const { return kernel_.softmax == softmax_form::flash_attention_2; }
  /// FlashAttention-2 multiplies by σ inside the argument of exp2 unless something comes between.
  bool scale_last() const { return row_.bias.values.empty() && row_.softcap == 0; }

 private:
  F q(std::size_t t) const { return math_.read(row_.q.values[t]); }
  F k(std::size_t j, std::size_t t) const { return math_.read(row_.k.values[at(j) * d_ + t]); }
  F bias(std::size_t j) const { return row_.bias.values.empty() ? F(0) : math_.read(row_.bias.values[at(j)]); }
  F dot(std::size_t j, F first, F q_factor, F k_factor) const {
    F sum = first;
    for (std::size_t t = 0; t < d_; ++t) {
      F const a = q_factor == 1 ? q(t) : math_.kept(math_.mul(q(t), q_factor));
      F const b = k_factor == 1 ? k(j, t) : math_.kept(math_.mul(k(j, t), k_factor));
      sum = math_.accumulate(a, b, sum);
    }
    return math_.kept(sum);
  }

  F before_storing(std::size_t j) {
    if (is_flash_attention_2() && scale_last()) return dot(j, 0, 1, 1);
    switch (kernel_.scores) {
      case score_form::folded: return with_bias(j, capped(dot(j, 0, scale_, 1)));
      case score_form::root: return with_bias(j, capped(dot(j, 0, root_, root_)));
      case score_form::bias_first: return dot(j, bias(j), scale_, 1);
      case score_form::base_2: return math_.mul(dot(j, 0, 1, 1), math_.kept(math_.mul(scale_, math_.kept(log2_e))));
      case score_form::plain: break;
    }
    return with_bias(j, capped(math_.kept(math_.mul(dot(j, 0, 1, 1), scale_))));
  }
  F with_bias(std::size_t j, F s) const { return row_.bias.values.empty() ? s : math_.add(s, bias(j)); }
  F capped(F s) {
    if (row_.softcap == 0) return s;
    auto const c = math_.read(row_.softcap);
    F const y = math_.kept(math_.div(s, c)), size = std::abs(y);
    F t = 0;
    if (kernel_.tanh == tanh_form::library) {
      t = static_cast<F>(std::tanh(static_cast<double>(size)));
    } else if (kernel_.tanh == tanh_form::from_above) {
      t = math_.add(math_.div(2, math_.add(1, math_.exp(-2 * size))), -1);
    } else {
      F const e = math_.exp(2 * size);
      t = kernel_.tanh == tanh_form::from_below ? math_.add(1, -math_.div(2, math_.add(e, 1)))
          : std::isinf(e)                       ? F(1)
                                                : math_.div(math_.add(e, -1), math_.add(e, 1));
    }
    return math_.kept(math_.mul(c, std::copysign(math_.kept(t), y)));
  }

  known_kernel const& kernel_;
  written<F> const& row_;
  arithmetic<F>& math_;
  std::size_t keys_, d_;
  F scale_, root_;
};

}  // namespace attest::tests
