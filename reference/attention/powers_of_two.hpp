// Σ c_g·2^(x_g) for dyadic x_g, without the part of it that vanishes: 2^x is algebraic, so that unequal powers may
// cancel, as in 2^1 − 2^0 − 2^0.
//
// Theorem T6 (docs/rounding.md, "Merges in base 2"). The sum is 0 iff for each residue r of the x_g mod 1 the dyadic
// number Σ_{x_g ≡ r} 2^⌊x_g⌋·c_g is 0.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "reference/attention/exponential_term.hpp"
#include "reference/attention/score_differences.hpp"
#include "reference/real/big_integer.hpp"

namespace attest::reference {

/// The residues and whole parts of the distinct scores of a row in base 2, which serve all sums over it.
class powers_of_two {
 public:
  /// Requires  terms of distinct scores, falling, at least one; a rule in base 2
  template <class T>
  constexpr powers_of_two(score_rule const& rule, std::span<exponential_term<T> const> terms) {
    score_differences const apart = score_differences::of_terms(rule, terms);
    bool const scaled = apart.of == score_differences::factor::scale;
    std::int64_t const exponent = apart.exponent + (scaled ? rule.scale.given->exponent : 0);
    std::vector<big_integer> rests;
    for (quadratic_integer const& node : apart.nodes) {
      big_integer above = node.a - apart.nodes.back().a;
      if (scaled) above = above * big_integer(rule.scale.given->significand);
      if (exponent >= 0) above = above.shifted_up(exponent);
      big_integer whole = exponent >= 0 ? above : above.shifted_down(-exponent);
      rests.push_back(exponent >= 0 ? big_integer() : above - whole.shifted_up(-exponent));
      whole_.push_back(std::move(whole));
    }
    for (std::size_t g = 0; g < rests.size(); ++g) by_residue_.push_back(g);
    std::sort(by_residue_.begin(), by_residue_.end(), [&](std::size_t a, std::size_t b) {
      int const order = (rests[a] - rests[b]).sign();
      return order != 0 ? order < 0 : a < b;
    });
    residue_.resize(rests.size());
    for (std::size_t at = 1; at < by_residue_.size(); ++at)
      residue_[by_residue_[at]] =
          residue_[by_residue_[at - 1]] + !(rests[by_residue_[at]] == rests[by_residue_[at - 1]]);
  }

  /// Σ_g coefficient(g)·2^(x_g) with as few terms as exact integers can hold: calls visit(g, c) for the terms c·2^(x_g)
  /// of the same sum. Each term is the rest of a run of scores of one residue, at the lowest score of the run.
  /// Ensures   no c is 0; no term, if the sum is 0
  /// Why       Horner within a residue, which drops the vanishing part. A run ends where |sum·2^gap| ≥ 2·max|c|: no
  ///           term below takes it to 0 any more, since it falls to no less than max|c|, and the next gap, at least 1,
  ///           doubles it
  template <class Coefficient, class Visit>
  constexpr void gather(Coefficient&& coefficient, Visit&& visit) const {
    int most = 0;
    for (std::size_t const g : by_residue_) most = std::max(most, bit_length(coefficient(g)));
    most = std::min(most + 1, static_cast<int>(exact_coefficient::bits) - 2);  // bits held; a run may end at any score
    integer<exact_coefficient::bits> sum = 0;
    std::size_t last = 0;  // the score of `sum`, if that is not 0
    for (std::size_t const g : by_residue_) {
      auto const& c = coefficient(g);
      if (c.sign() == 0) continue;
      if (sum.sign() != 0) {
        big_integer const gap = whole_[last] - whole_[g];
        bool const goes_on =
            residue_[last] == residue_[g] && gap.bit_length() <= 24 && bit_length(sum) + gap.as_int64() <= most;
        if (goes_on) sum <<= static_cast<unsigned>(gap.as_int64());
        else visit(last, std::exchange(sum, 0));
      }
      sum += c;
      last = g;
    }
    if (sum.sign() != 0) visit(last, sum);
  }

 private:
  std::vector<big_integer> whole_;       ///< ⌊x_g − x_last⌋ of each score
  std::vector<std::size_t> residue_;     ///< the number of its residue
  std::vector<std::size_t> by_residue_;  ///< the scores by residue, falling within each
};

}  // namespace attest::reference
