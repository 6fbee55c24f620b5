// Correct rounding: the machine tier and balls of several widths give the same bits.
//
// To f16, bf16, f32 or f64 (the input's choice), of problems of every element type: the machine tier
// first gives the ball tier's bits, and balls of 256 and 512 bits never lie beyond a boundary of the rounded value.

#include "reference/compiled/rounding.hpp"

#include "fuzz/support/problem_bytes.hpp"
#include "fuzz/support/require.hpp"
#include "reference/bound/lse_base.hpp"
#include "reference/compiled/row.hpp"
#include "reference/machine/rounded.hpp"

namespace {

using namespace attest;
using fuzz::require;
using reference::ball;
using reference::row_kind;

template <class E>
auto bits_of(E x) {
  return std::bit_cast<typename reference::float_format<E>::bits>(x);
}

/// The number of a stored value that is not NaN (reference/real/nearest.hpp).
template <class E>
std::int64_t number_of(E x) {
  auto const raw = static_cast<std::uint64_t>(bits_of(x));
  std::uint64_t const sign = std::uint64_t{1}
                             << (reference::float_format<E>::fraction + reference::float_format<E>::exponent);
  auto const size = static_cast<std::int64_t>(raw & (sign - 1));
  return raw & sign ? -size : size;
}

/// Is `rounded` what some number of the ball rounds to? From the definition of rounding alone.
template <class Target, unsigned W>
bool permits(ball<W> const& truth, Target rounded) {
  std::int64_t const n = number_of(rounded);
  if (n < reference::infinity_ordinal<Target>) {
    ball<W> const above = truth - ball<W>::from(reference::boundary_above<Target>(n));
    if (reference::certain_sign(above) > 0) return false;
    if (above.is_exact() && above.mid.sign() == 0 && n % 2 != 0) return false;  // a tie goes to the even one
  }
  if (n > -reference::infinity_ordinal<Target>) {
    ball<W> const below = truth - ball<W>::from(reference::boundary_above<Target>(n - 1));
    if (reference::certain_sign(below) < 0) return false;
    if (below.is_exact() && below.mid.sign() == 0 && n % 2 != 0) return false;
  }
  bool const negative =
      bits_of(rounded) >> (reference::float_format<Target>::fraction + reference::float_format<Target>::exponent) != 0;
  int const sign = reference::certain_sign(truth);
  return negative ? sign <= 0 && !(truth.is_exact() && truth.mid.sign() == 0) : sign >= 0;
}

template <class Target, class T>
struct row_check {
  problem::instance<T> const& p;
  reference::enclosed_row<128, T> first;
  reference::enclosed_row<256, T> second;
  reference::enclosed_row<1152, T> third;

  template <class Exactly, class Enclosure>
  void element(Target got, Exactly&& exactly, Enclosure&& enclosure) const {
    auto const expected = exactly();
    require(bits_of(got) == bits_of(expected.value_or(reference::quiet_nan<Target>())),
            "the machine tier first, or the ball tier alone: the same bits");
    if (!expected) {  // the theorem of docs/rounding.md knows nothing of tanh
      require(p.softcap() > 0, "some width decides");
      return;
    }
    require(permits(enclosure(second), got), "the value is permitted by 256 bits");
    require(permits(enclosure(third), got), "the value is permitted by 1152 bits");
  }

  void operator()(reference::machine::rounded_row<Target> const& got) {
    reference::compiled::enclose_row(p, got.b, got.h, got.i, first);
    reference::compiled::enclose_row(p, got.b, got.h, got.i, second);
    reference::compiled::enclose_row(p, got.b, got.h, got.i, third);
    std::optional<reference::exponential_sums<T>> sums;
    if (first.kind == row_kind::finite) sums.emplace(reference::compiled::sums_of(first));
    for (std::size_t at = 0; at < got.o.size(); ++at) {
      auto const c = static_cast<std::int64_t>(at);
      if (reference::compiled::output(p, first, c).kind != reference::value_kind::finite) {
        require(bits_of(got.o[at]) == bits_of(reference::quiet_nan<Target>()), "what is not finite is NaN");
        continue;
      }
      auto const rounded = [&] {
        return sums ? reference::compiled::rounded_output<Target>(p, first, c, *sums)
                    : reference::compiled::rounded_output<Target>(p, first, c);
      };
      element(got.o[at], rounded, [&](auto const& row) { return reference::compiled::output(p, row, c).value; });
    }
    if (first.kind != row_kind::finite) return;
    element(
        got.lse, [&] { return reference::compiled::rounded_log_sum_exp<Target>(first, *sums); },
        [&](auto const& row) { return reference::in_base(p.base(), reference::compiled::log_sum_exp(row)); });
    std::size_t at = 0;
    for (std::size_t j = 0; j < got.weights.size(); ++j) {
      if (at == first.keys.size() || first.keys[at].j != static_cast<std::int64_t>(j)) {
        require(bits_of(got.weights[j]) == 0, "a key without weight has weight 0");
        continue;
      }
      element(
          got.weights[j], [&] { return reference::compiled::rounded_weight<Target>(first, at, *sums); },
          [&](auto const& row) { return reference::compiled::weight(row, at); });
      ++at;
    }
  }
};

template <class Target, class T>
void check(problem::instance<T> const& p) {
  reference::machine::row_rounder<Target, T> rounder(p);
  row_check<Target, T> visit{p, {}, {}, {}};
  for (std::int64_t b = 0; b < p.size().b; ++b)
    for (std::int64_t h = 0; h < p.size().hq; ++h) rounder.each(b, h, 0, p.queries(b), visit);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  fuzz::decoded const in =
      fuzz::decode({data, size}, {.b = 1, .groups = 2, .hk = 1, .n = 3, .m = 12, .d = 6, .dv = 3, .f64_part = 1});
  fuzz::in_each_base(in.problem, [&](auto const& p) {
    switch (in.header[fuzz::choice] % 4) {
      case 0: return check<float>(p);
      case 1: return check<problem::bf16>(p);
      case 2: return check<problem::f16>(p);
      default: return check<double>(p);
    }
  });
  return 0;
}
