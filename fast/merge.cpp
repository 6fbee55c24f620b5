// The merge of partial results, row by row.
#include "fast/merge.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "fast/algorithm/blocking.hpp"
#include "fast/algorithm/exp2.hpp"
#include "fast/algorithm/logarithm.hpp"
#include "fast/algorithm/storage.hpp"
#include "fast/float_environment.hpp"
#include "fast/for_ranges.hpp"
#include "fast/plan.hpp"
#include "fast/simd/operations.hpp"

namespace attest::fast {
namespace {

/// x rounded to f32 in the one way that a second rounding, to a format of 16 bits, does not see: inexact results have
/// an odd last bit.
/// Source  Boldo and Melquiond 2008, "Emulation of a FMA and correctly rounded sums: proved algorithms using rounding
/// to odd"
float rounded_to_odd(double x) noexcept {
  auto const near = static_cast<float>(x);
  auto const bits = std::bit_cast<std::uint32_t>(near);
  if (x != x || static_cast<double>(near) == x || (bits & 1u) != 0) return near;
  return std::bit_cast<float>(std::abs(static_cast<double>(near)) > std::abs(x) ? bits - 1 : bits + 1);
}

/// x as a number of Out, rounded to nearest once.
template <class Out, class T>
Out stored_as(T x) noexcept {
  if constexpr (!is_narrow<Out>) return static_cast<Out>(x);
  else if constexpr (std::is_same_v<T, double>) return narrowed<Out>(rounded_to_odd(x));
  else return narrowed<Out>(x);
}

template <class E>
working<E> number_of(E x) noexcept {
  if constexpr (is_narrow<E>) return widened(x);
  else return x;
}

/// The merge of rows, one thread's part of it.
template <class E, class Out>
class row_merger {
 public:
  using T = working<E>;
  using lse_type = problem::lse_element<E>;
  static_assert(std::is_same_v<lse_type, T>);

  row_merger(merge_parts<E> const& parts, merge_outputs<E, Out> const& outputs) noexcept
      : parts_(parts), outputs_(outputs), ops_(best_operations<T>()) {}

  void merge_row(std::int64_t b, std::int64_t h, std::int64_t i) noexcept {
    at_ = {b, h, i};
    Out* const to = outputs_.o.row(b, h, i);
    std::int64_t const dv = outputs_.o.shape[3];
    T m = minus_infinity, total = 0;
    std::int64_t live = 0, last = 0;
    bool is_nan = false;
    for (std::int64_t s = 0; s < parts_.count; ++s) {
      T const x = lse_of(parts_.at(parts_.described, s));
      is_nan = is_nan || !(x <= std::numeric_limits<T>::max());
      m = m < x ? x : m;
      if (x != minus_infinity) ++live, last = s;
    }
    if (is_nan || live == 0) {
      T const nan = std::numeric_limits<T>::quiet_NaN();
      std::fill_n(to, dv, stored_as<Out>(is_nan ? nan : T(0)));
      m = is_nan ? nan : minus_infinity;
    } else if (live == 1) {
      copy(row_of(parts_.at(parts_.described, last)), dv, to);
    } else {
      std::int64_t c = 0;
      do {
        std::int64_t const width = std::min(columns, dv - c);
        total = merge_columns(m, {c, c + width}, to);
        c += width;
      } while (c < dv);
      m = log_sum_exp(m, total);
    }
    if (outputs_.lse) outputs_.lse(b, h, i, 0) = m;
  }

 private:
  static constexpr T minus_infinity = -std::numeric_limits<T>::infinity();
  static constexpr std::int64_t columns = 256, chunk = blocking_of<T>.keys;

  T lse_of(merge_part<E> const& part) const noexcept {
    return part.lse[at_[0] * part.lse_stride[0] + at_[1] * part.lse_stride[1] + at_[2] * part.lse_stride[2]];
  }
  E const* row_of(merge_part<E> const& part) const noexcept {
    if (part.o == nullptr) return nullptr;  // there are no columns
    return part.o + (at_[0] * part.o_stride[0] + at_[1] * part.o_stride[1] + at_[2] * part.o_stride[2]);
  }

  /// The columns `some` of O.
  /// Returns  l = Σ_s w_s
  T merge_columns(T m, interval const& some, Out* to) noexcept {
    std::fill_n(sums_, rounded_up(some.size(), sum_lanes), T(0));
    T l[sum_lanes]{};
    for (std::int64_t s = 0; s < parts_.count;) {
      // The parts that are read, at most `chunk` at a time: rows and weights.
      std::int64_t found = 0;
      for (; s < parts_.count && found < chunk; ++s) {
        merge_part<E> const part = parts_.at(parts_.described, s);
        T const x = lse_of(part);
        if (x == minus_infinity) continue;
        weights_[found] = (x - m) * static_cast<T>(log2_e), rows_[found++] = row_of(part);
      }
      std::fill(weights_ + found, weights_ + rounded_up(found, sum_lanes), minus_infinity);
      T zero = 0, one = 1;
      ops_.exponentiate(weights_, 1, {0, rounded_up(found, sum_lanes)}, {&zero, l, &one});
      for (std::int64_t k = 0; k < found; ++k)
        ops_.add_multiple(wide(rows_[k] + some.first, some.size()), weights_[k], some.size(), sums_);
    }
    if constexpr (std::is_same_v<Out, T>) return ops_.finish(sums_, l, some.size(), to + some.first);
    T const sum = ops_.finish(sums_, l, some.size(), buffer_);
    for (std::int64_t c = 0; c < some.size(); ++c) to[some.first + c] = stored_as<Out>(buffer_[c]);
    return sum;
  }

  T const* wide(E const* row, std::int64_t count) noexcept {
    if constexpr (is_narrow<E>) {
      std::get<row_conversions<E>>(ops_.stored).widen(row, count, buffer_);
      return buffer_;
    } else {
      return row;
    }
  }

  static void copy(E const* from, std::int64_t count, Out* to) noexcept {
    if constexpr (std::is_same_v<E, Out>) {
      if (count > 0) std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(E));
    } else {
      for (std::int64_t c = 0; c < count; ++c) to[c] = stored_as<Out>(number_of(from[c]));
    }
  }

  /// m + ln l, m the largest LSE. f32: computed in double and rounded once. f64: one rounding and the rounding of the
  /// logarithm.
  static T log_sum_exp(T m, T l) noexcept {
    return static_cast<T>(static_cast<double>(m) + natural_log(static_cast<double>(l)));
  }

  merge_parts<E> const& parts_;
  merge_outputs<E, Out> const& outputs_;
  operations<T> const& ops_;
  std::array<std::int64_t, 3> at_{};
  T sums_[columns + 2 * sum_lanes], buffer_[columns + 2 * sum_lanes], weights_[score_stride<T>];
  E const* rows_[chunk];
};

template <class E, class Out>
[[gnu::noinline]] void merge_rows(merge_parts<E> const& parts, merge_outputs<E, Out> const& outputs,
                                  interval const& rows) noexcept {
  auto const& shape = outputs.o.shape;
  row_merger<E, Out> merger(parts, outputs);
  for (std::int64_t r = rows.first; r < rows.last; ++r)
    merger.merge_row(r / shape[2] / shape[1], r / shape[2] % shape[1], r % shape[2]);
}

}  // namespace

template <problem::floating_element E, problem::floating_element Out>
void merge(merge_parts<E> const& parts, merge_outputs<E, Out> const& outputs, options const& chosen) {
  auto const& shape = outputs.o.shape;
  constexpr std::int64_t together = 64;  // rows of a task
  // A multiply-add here takes a number from memory, which costs as much as a dozen in attention.
  constexpr double weight = 12;
  std::int64_t const rows = shape[0] * shape[1] * shape[2];
  if (rows == 0) return;
  double const work =
      weight * static_cast<double>(rows) * static_cast<double>(parts.count) * static_cast<double>(shape[3]);
  for_ranges(ceiling_division(rows, together), threads_for(work, chosen.threads),
             [&](std::int64_t first, std::int64_t last) {
               float_environment const environment(subnormals::kept);
               merge_rows(parts, outputs, {first * together, std::min(last * together, rows)});
             });
}

using problem::bf16, problem::f16;
static_assert(std::is_same_v<problem::floating_elements, problem::type_list<float, double, bf16, f16>>,
              "one line below for each pair of the floating types");
#define ATTEST_MERGE(E, Out) template void merge(merge_parts<E> const&, merge_outputs<E, Out> const&, options const&);
ATTEST_MERGE(float, float)
ATTEST_MERGE(float, double)
ATTEST_MERGE(float, bf16)
ATTEST_MERGE(float, f16)
ATTEST_MERGE(double, float)
ATTEST_MERGE(double, double)
ATTEST_MERGE(double, bf16)
ATTEST_MERGE(double, f16)
ATTEST_MERGE(bf16, float)
ATTEST_MERGE(bf16, double)
ATTEST_MERGE(bf16, bf16)
ATTEST_MERGE(bf16, f16)
ATTEST_MERGE(f16, float)
ATTEST_MERGE(f16, double)
ATTEST_MERGE(f16, bf16)
ATTEST_MERGE(f16, f16)
#undef ATTEST_MERGE

}  // namespace attest::fast
