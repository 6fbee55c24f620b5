#include "audit/condition/edges.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace attest::audit {
namespace {

using integer = std::int64_t;

class explorer {
 public:
  explorer(number_line const& line, number_asker const& ask) : line_(line), ask_(ask) {}

  number_answer run() {
    found_.lowest_wrong = line_.wrong_at;
    if (!find_step()) {
      // The kernel takes no neighbour: all that can be said is on which side the right one lies.
      if (line_.right_at && *line_.right_at < line_.wrong_at && wrong(2 * line_.wrong_at))
        found_.set.low = line_.wrong_at;
      else alone();
      return found_;
    }
    bool const isolated = !wrong(line_.wrong_at + found_.step) && !wrong(line_.wrong_at - found_.step);
    if (!find_no_powers()) {
      if (isolated && !find_powers() && !find_modulus()) {
        alone();
        return found_;
      }
      if (!isolated) find_multiples();
    }
    find_low();
    find_high();
    found_.again = found_.set.high && found_.set.interval() && is_wrong_beyond(*found_.set.high);
    if (line_.right_at && found_.set.has(*line_.right_at)) found_.hole = line_.right_at;
    return found_;
  }

 private:
  /// The number itself, unless another one is wrong too.
  void alone() {
    integer const x = line_.wrong_at;
    found_.set.low = found_.set.high = x;
    found_.again = is_wrong_beyond(x) || (x > 1 && (wrong(2 * x) || wrong(x / 2)));
  }

  answer at(integer x) const { return x < line_.lowest || x > line_.highest ? answer::refused : ask_(x); }
  bool wrong(integer x) const { return at(x) == answer::wrong; }
  bool right(integer x) const { return at(x) == answer::right; }

  bool find_step() {
    for (integer const step : {1, 2, 4, 8, 16, 32, 64, 128, 256})
      if (at(line_.wrong_at + step) != answer::refused || at(line_.wrong_at - step) != answer::refused) {
        found_.step = stride_ = step;
        return true;
      }
    return false;
  }

  bool find_powers() {
    integer const x = line_.wrong_at;
    if (x < 4 || !std::has_single_bit(static_cast<std::uint64_t>(x))) return false;
    bool const far = 4 * x <= line_.highest ? wrong(4 * x) : wrong(x / 4);
    return found_.set.powers_of_two = far && wrong(2 * x <= line_.highest ? 2 * x : x / 2) &&
                                      right(3 * x <= line_.highest ? 3 * x : 3 * (x / 2));
  }

  /// All but powers of two: the two around it are right, and their other neighbours and thrice the smaller are wrong.
  bool find_no_powers() {
    integer const x = line_.wrong_at;
    if (x < 3 || std::has_single_bit(static_cast<std::uint64_t>(x))) return false;
    auto const lower = static_cast<integer>(std::bit_floor(static_cast<std::uint64_t>(x))), upper = 2 * lower;
    if (found_.step != 1 || upper >= line_.highest || !right(lower) || !right(upper)) return false;
    integer const thrice = 3 * lower <= line_.highest ? 3 * lower : 3 * (lower / 2);
    for (integer const other : {lower + 1, upper - 1, upper + 1, thrice})
      if (other != x && !wrong(other)) return false;
    return found_.set.no_powers_of_two = true;
  }

  bool find_modulus() {
    integer const x = line_.wrong_at;
    for (integer const period : {64, 256, 480, 336}) {
      bool const up = x + period <= line_.highest;
      integer const way = up ? period : -period;
      if (period % found_.step != 0 || !wrong(x + way)) continue;
      integer modulus = period;
      for (integer const prime : {2, 3, 5, 7})
        while (modulus % prime == 0 && modulus / prime > found_.step && wrong(x + way / period * (modulus / prime)))
          modulus /= prime;
      found_.set.modulus = stride_ = modulus, found_.set.residue = x % modulus;
      return true;
    }
    return false;
  }

  /// All but multiples: a multiple is right between two wrong neighbours.
  void find_multiples() {
    integer const x = line_.wrong_at, step = found_.step;
    for (integer const period : {64, 480}) {
      integer multiple = (x / period + 1) * period;
      if (multiple + step > line_.highest) multiple = x / period * period;
      if (multiple <= 0 || !right(multiple) || !wrong(multiple + step) || !wrong(multiple - step)) continue;
      integer divisor = period;
      for (integer const prime : {2, 3, 5})
        while (divisor % prime == 0 && divisor / prime > step) {
          integer const way = multiple + divisor / prime + step <= line_.highest ? 1 : -1;
          if (!right(multiple + way * (divisor / prime))) break;
          divisor /= prime;
        }
      if (divisor == 64 && right(128) && wrong(192)) found_.set.no_powers_of_two = true;
      else found_.set.not_multiple_of = divisor;
      return;
    }
  }

  /// The kth element of the set, counted from wrong_at = 0.
  integer element(integer k) const {
    if (found_.set.powers_of_two) return k < 0 ? line_.wrong_at >> -k : line_.wrong_at << k;
    integer x = line_.wrong_at + k * stride_;
    while (!found_.set.has(x)) x += k < 0 ? found_.step : -found_.step;
    return x;
  }
  integer first() const {
    if (!found_.set.powers_of_two) return -((line_.wrong_at - line_.lowest) / stride_);
    return 1 - static_cast<integer>(std::bit_width(static_cast<std::uint64_t>(line_.wrong_at)));
  }
  integer last() const {
    if (!found_.set.powers_of_two) return (line_.highest - line_.wrong_at) / stride_;
    integer k = 0;
    while (element(k + 1) <= line_.highest) ++k;
    return k;
  }
  /// The index of right_at, where it is an element.
  std::optional<integer> index_of_right() const {
    if (!line_.right_at || found_.set.powers_of_two || !found_.set.has(*line_.right_at)) return std::nullopt;
    integer const distance = *line_.right_at - line_.wrong_at;
    return distance % stride_ == 0 ? std::optional(distance / stride_) : std::nullopt;
  }

  /// The edge between an element that is not wrong and wrong_at: next to the last right number, where all numbers that
  /// the kernel takes are elements. Nothing where it refuses the next.
  std::optional<integer> edge(integer outside) {
    integer const way = outside < 0 ? 1 : -1;
    integer inside = 0;
    while (std::abs(outside - inside) > 1) {
      integer const middle = inside + (outside - inside) / 2;
      (wrong(element(middle)) ? inside : outside) = middle;
    }
    if (!right(element(outside))) return std::nullopt;
    if (way > 0) found_.lowest_wrong = element(inside);
    bool const all = found_.set.modulus == 0 && found_.set.not_multiple_of == 0 && !found_.set.powers_of_two;
    return all && !found_.set.no_powers_of_two ? element(outside) + way : element(inside);
  }

  void find_low() {
    integer const bottom = first();
    if (bottom == 0) return;
    auto const known = index_of_right();
    if (known && *known < 0) {
      // A hole rather than an edge, where the lowest is wrong.
      if (element(bottom) < element(*known) && wrong(element(bottom))) return;
      found_.set.low = edge(*known);
    } else if (!wrong(element(bottom))) {
      found_.set.low = edge(bottom);
    }
  }

  void find_high() {
    integer const top = last();
    auto const known = index_of_right();
    if (known && *known > 0) {
      if (element(top) > element(*known) && wrong(element(top))) return;
      found_.set.high = edge(*known);
      return;
    }
    if (top == 0) return;
    integer const near = found_.set.powers_of_two ? 1 : std::max<integer>(line_.wrong_at / stride_, 1);
    for (integer const outside : {std::min(near, top), top})
      if (at(element(outside)) == answer::right) {
        found_.set.high = edge(outside);
        return;
      }
  }

  /// Is a number far above the set wrong again, so that the set is no interval?
  bool is_wrong_beyond(integer high) const {
    integer const far[]{high + line_.wrong_at + 1, 2 * high + line_.wrong_at / 2 + 3};
    return std::ranges::any_of(
        far, [&](integer x) { return wrong(line_.wrong_at + (x - line_.wrong_at) / found_.step * found_.step); });
  }

  number_line line_;
  number_asker const& ask_;
  number_answer found_;
  integer stride_ = 1;
};

}  // namespace

number_answer explore(number_line const& line, number_asker const& ask) { return explorer(line, ask).run(); }

}  // namespace attest::audit
