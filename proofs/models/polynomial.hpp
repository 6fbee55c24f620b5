// Polynomials with whole coefficients in many symbols. What is equal here is equal for all real numbers: the arithmetic
// in which a model of an algorithm is proven for every input of a size, and not for chosen ones.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace attest::proofs {

/// A product of symbols, each to a power of at most 3.
class monomial {
 public:
  static constexpr std::size_t per_word = 32, symbols = 2 * per_word;

  constexpr monomial() noexcept = default;
  /// The symbol itself.
  constexpr explicit monomial(std::size_t symbol) {
    if (symbol >= symbols) throw std::out_of_range("more symbols than a monomial holds");
    (symbol < per_word ? low_ : high_) = std::uint64_t{1} << (2 * (symbol % per_word));
  }
  /// visit(symbol, power) for each symbol of the product.
  template <class Visit>
  constexpr void for_each(Visit const& visit) const {
    for (std::size_t w = 0; w < 2; ++w)
      for (std::uint64_t rest = w == 0 ? low_ : high_; rest != 0;) {
        auto const at = static_cast<unsigned>(std::countr_zero(rest)) / 2;
        std::uint64_t const power = rest >> (2 * at) & 3;
        rest -= power << (2 * at);
        visit(w * per_word + at, static_cast<std::int64_t>(power));
      }
  }
  friend constexpr monomial operator*(monomial const& a, monomial const& b) {
    monomial product;
    product.low_ = sum_of_powers(a.low_, b.low_), product.high_ = sum_of_powers(a.high_, b.high_);
    return product;
  }
  /// Requires  symbol to be a factor
  constexpr monomial divided_by(std::size_t symbol) const {
    monomial less = *this;
    (symbol < per_word ? less.low_ : less.high_) -= std::uint64_t{1} << (2 * (symbol % per_word));
    return less;
  }
  friend constexpr bool operator==(monomial const& a, monomial const& b) noexcept = default;
  /// An order with a < b ⇒ a·c < b·c.
  friend constexpr bool operator<(monomial const& a, monomial const& b) noexcept {
    return a.high_ < b.high_ || (a.high_ == b.high_ && a.low_ < b.low_);
  }

 private:
  static constexpr std::uint64_t sum_of_powers(std::uint64_t a, std::uint64_t b) {
    std::uint64_t const sum = a + b, carries = (a & b) | ((a | b) & ~sum);
    if ((carries & 0xAAAAAAAAAAAAAAAA) != 0) throw std::out_of_range("a power above 3");
    return sum;
  }

  std::uint64_t low_ = 0, high_ = 0;  // symbol s has 2 bits
};

/// Σ coefficient·monomial, exactly; or garbage, such as a NaN in memory that no result may read: every sum and product
/// with garbage is garbage, 0·garbage too, and garbage equals nothing.
class polynomial {
 public:
  struct term {
    monomial of{};
    std::int64_t coefficient = 0;
    friend constexpr bool operator==(term const&, term const&) noexcept = default;
  };
  /// Terms in the order of their monomials. (In place: memory from the heap costs a compiler two and a half times
  /// that.)
  class list {
   public:
    static constexpr std::size_t most = 32;

    constexpr void push_back(term const& next) {
      if (size_ == most) throw std::length_error("more terms than a polynomial holds");
      terms_[size_++] = next;
    }
    constexpr std::size_t size() const noexcept { return size_; }
    constexpr bool empty() const noexcept { return size_ == 0; }
    constexpr term const* begin() const noexcept { return terms_.data(); }
    constexpr term const* end() const noexcept { return terms_.data() + size_; }

   private:
    std::array<term, most> terms_{};
    std::size_t size_ = 0;
  };

  constexpr polynomial(std::int64_t value = 0) : polynomial(monomial(), value) {}
  constexpr polynomial(monomial const& of, std::int64_t coefficient = 1) {
    if (coefficient != 0) terms_.push_back({of, coefficient});
  }
  static constexpr polynomial garbage() {
    polynomial made;
    made.garbage_ = true;
    return made;
  }
  constexpr list const& terms() const noexcept { return terms_; }

  friend constexpr polynomial operator+(polynomial const& a, polynomial const& b) { return sum(a, b, 1); }
  friend constexpr polynomial operator-(polynomial const& a, polynomial const& b) { return sum(a, b, -1); }
  friend constexpr polynomial operator*(polynomial const& a, polynomial const& b) {
    if (a.garbage_ || b.garbage_) return garbage();
    bool const swap = b.terms_.size() < a.terms_.size();
    list const &shorter = swap ? b.terms_ : a.terms_, &longer = swap ? a.terms_ : b.terms_;
    polynomial product;
    for (term const& x : shorter) {
      polynomial row;
      for (term const& y : longer) row.terms_.push_back({x.of * y.of, x.coefficient * y.coefficient});
      product += row;
    }
    return product;
  }
  constexpr polynomial& operator+=(polynomial const& b) {
    return *this = terms_.empty() && !garbage_ ? b : sum(*this, b, 1);
  }
  friend constexpr bool operator==(polynomial const& a, polynomial const& b) {
    if (a.garbage_ || b.garbage_ || a.terms_.size() != b.terms_.size()) return false;
    for (auto x = a.terms_.begin(), y = b.terms_.begin(); x != a.terms_.end(); ++x, ++y)
      if (*x != *y) return false;
    return true;
  }

 private:
  /// a + sign·b
  static constexpr polynomial sum(polynomial const& a, polynomial const& b, std::int64_t sign) {
    if (a.garbage_ || b.garbage_) return garbage();
    polynomial made;
    auto x = a.terms_.begin(), y = b.terms_.begin();
    while (x != a.terms_.end() || y != b.terms_.end()) {
      if (y == b.terms_.end() || (x != a.terms_.end() && x->of < y->of)) {
        made.terms_.push_back(*x++);
      } else if (x == a.terms_.end() || y->of < x->of) {
        made.terms_.push_back({y->of, sign * y->coefficient});
        ++y;
      } else {
        std::int64_t const both = x->coefficient + sign * y->coefficient;
        if (both != 0) made.terms_.push_back({x->of, both});
        ++x, ++y;
      }
    }
    return made;
  }

  list terms_{};  // no coefficient is 0
  bool garbage_ = false;
};

/// ∂of, where ∂s is of_symbol[s] for each symbol s: the product rule, term by term.
constexpr polynomial derivative(polynomial const& of, std::vector<polynomial> const& of_symbol) {
  polynomial sum;
  for (auto const& term : of.terms())
    term.of.for_each([&](std::size_t s, std::int64_t power) {
      if (!of_symbol[s].terms().empty())
        sum += polynomial(term.of.divided_by(s), term.coefficient * power) * of_symbol[s];
    });
  return sum;
}

}  // namespace attest::proofs
