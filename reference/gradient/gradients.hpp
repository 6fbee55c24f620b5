// Gradients of attention, enclosed and bounded: dQ, dK, dV, dBias, dSink. What a program asks of reference/gradient/.
//
// gradient_source (double arithmetic, one group at a time) gives an enclosure and an error bound of every element.
// enclose_gradients (balls of W bits) encloses chosen elements anew, where a verdict is still open. docs/semantics.md,
// "Gradients", states the exact values, docs/bound_backward.md the bound.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "problem/gradient_model.hpp"
#include "problem/instance.hpp"
#include "problem/kernel_model.hpp"
#include "reference/attention/attention.hpp"
#include "reference/real/outward.hpp"

namespace attest::reference {

enum class gradient : std::uint8_t { dq, dk, dv, dbias, dsink };

/// What the judged numbers are compared with, and what replaces the bounds of the forward pass.
enum class gradient_mode : std::uint8_t {
  own,  ///< the gradients of attention; O and LSE came from the forward pass of the same contract, and are not given
  recorded,  ///< the gradients of attention; the actual errors of the O and LSE that were handed over count
  local,     ///< the function of the O and LSE that were handed over: π := e^(s − LSE), Δ := Σ_c dO_c·O_c
};

/// What a backward kernel is handed beside its problem. The modes recorded and local need o and lse. (Weights that come
/// from a recorded LSE rest on it alone: a mode with lse but no o is recorded with Δ from weights.)
/// Shapes    d_o, o [b, hq, n, dv], lse [b, hq, n, 1], as problem::outputs has them
template <problem::floating_element T>
struct gradient_inputs {
  problem::view<T const> d_o{};
  problem::view<T const> o{};
  problem::view<problem::lse_element<T> const> lse{};
  problem::log_base lse_base = problem::log_base::e;
};

/// One element of a gradient. Where `kind` is finite the exact value lies in [lower, upper] and a kernel of the model
/// returns a number within `bound` of it. An infinite bound judges nothing: a hypothesis fails, or nothing is claimed.
struct gradient_element {
  double lower = 0, upper = 0;
  double bound = infinity;
  value_kind kind = value_kind::finite;
  bool no_terms = false;  ///< nothing contributes: the value is 0, and so is the bound (−0 counts as 0)
};

enum class gradient_verdict : std::uint8_t {
  certified,   ///< within the bound of every number of the enclosure
  refuted,     ///< farther than the bound from every number of the enclosure, or of the wrong kind
  undecided,   ///< neither: enclose_gradients may decide
  not_judged,  ///< the bound is infinite, or the kind is unspecified
};

/// The verdict on the number `got`. Of a NaN element only NaN is right; NaN and ±∞ are where it is not finite.
constexpr gradient_verdict verdict_on(gradient_element const& element, double got) noexcept;

/// The place of one element: of dq (b, query head, i, t); of dk, dv (b, key-value head, j, column); of dbias its index
/// in shared_gradient::shape; of dsink (b or 0, query head, 0, 0).
struct gradient_index {
  gradient which = gradient::dq;
  std::int64_t b = 0, h = 0, i = 0, x = 0;
  friend constexpr bool operator==(gradient_index const&, gradient_index const&) noexcept = default;
};

/// The gradients of one group: batch entry b and key-value head g, with the query heads that read it.
struct group_gradients {
  std::int64_t b = 0, g = 0;
  std::int64_t heads = 0, queries = 0, keys = 0;  ///< query heads g·heads + h; used rows of entry b on both sides
  std::int64_t d = 0, dv = 0;
  std::vector<gradient_element> of_q;  ///< [heads, queries, d]
  std::vector<gradient_element> of_k;  ///< [keys, d]
  std::vector<gradient_element> of_v;  ///< [keys, dv]

  gradient_element const& dq_at(std::int64_t h, std::int64_t i, std::int64_t t) const {
    return of_q[static_cast<std::size_t>((h * queries + i) * d + t)];
  }
  gradient_element const& dk_at(std::int64_t j, std::int64_t t) const {
    return of_k[static_cast<std::size_t>(j * d + t)];
  }
  gradient_element const& dv_at(std::int64_t j, std::int64_t c) const {
    return of_v[static_cast<std::size_t>(j * dv + c)];
  }

  /// f(gradient_index, gradient_element) for every element of dQ, dK and dV, in this order.
  template <class F>
  void each(F const& f) const {
    for (std::int64_t h = 0; h < heads; ++h)
      for (std::int64_t i = 0; i < queries; ++i)
        for (std::int64_t t = 0; t < d; ++t) f(gradient_index{gradient::dq, b, g * heads + h, i, t}, dq_at(h, i, t));
    for (std::int64_t j = 0; j < keys; ++j)
      for (std::int64_t t = 0; t < d; ++t) f(gradient_index{gradient::dk, b, g, j, t}, dk_at(j, t));
    for (std::int64_t j = 0; j < keys; ++j)
      for (std::int64_t c = 0; c < dv; ++c) f(gradient_index{gradient::dv, b, g, j, c}, dv_at(j, c));
  }
};

/// The rows of a group that are wanted alone: of dQ (query head of the group, query), and keys, of dK and dV. Both in
/// increasing order, each once.
struct wanted_rows {
  struct query {
    std::int64_t h = 0, i = 0;
    friend constexpr auto operator<=>(query const&, query const&) noexcept = default;
  };
  std::vector<query> queries;
  std::vector<std::int64_t> keys;
};

/// Elements of dBias or dSink in the shape in which the tensor itself is broadcast.
struct shared_gradient {
  std::array<std::int64_t, 4> shape{};    ///< dBias [b or 1, hq or 1, n or 1, m or 1]; dSink [b or 1, hq, 1, 1]
  std::vector<gradient_element> element;  ///< row-major; empty where the problem has no such tensor

  gradient_element const& at(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const {
    return element[static_cast<std::size_t>(((b * shape[1] + h) * shape[2] + i) * shape[3] + j)];
  }
};

struct gradient_row;
namespace gradient_detail {
template <class T>
struct source_state;
}

/// Gradients of one problem under one pair of models. Each thread needs its own: it owns the memory of a block of rows.
template <class T>
class gradient_source {
 public:
  /// An error names the argument: a tensor that the mode needs is absent or has another shape, or the machine tier
  /// cannot enclose this problem (machine::row_source). `p` and the memory of the inputs must outlive the source.
  static problem::result<gradient_source> make(problem::instance<T> const& p, gradient_inputs<T> const& inputs,
                                               problem::kernel_model const& forward,
                                               problem::gradient_model const& backward, gradient_mode mode);
  gradient_source(gradient_source&&) noexcept;
  gradient_source& operator=(gradient_source&&) noexcept;
  ~gradient_source();

  /// The gradients of group (b, g), valid until the next call. The group's part of dBias and dSink is added to
  /// the sums of this source.
  /// Requires  b < p.size().b, g < p.size().hk; each group asked once, for dBias and dSink to be right
  /// Cost      the forward oracle's, and 10 products n·m·d; memory O(16·m) beside the results and dBias
  group_gradients const& group(std::int64_t b, std::int64_t g);

  /// While group() runs, each row is shown once the lemmas have been evaluated for it (reference/gradient/row.hpp).
  void observe(std::function<void(gradient_row const&)> each);

  /// Some rows of the gradients of group (b, g), valid until the next call: of_q has the wanted queries as the rows of
  /// one head, of_k and of_v the wanted keys. The sums of dBias and dSink stay as they are.
  /// Requires  indices inside the group
  /// Cost      per row of the group that is wanted, or that sees a wanted key: its weights, over all of its keys, with
  ///           2 products m·dv; a wanted query 4 products m·d; a row of a wanted key its columns. A key that all rows
  ///           see needs all of their weights. Memory O(16·m) beside the results
  group_gradients const& some_of_group(std::int64_t b, std::int64_t g, wanted_rows const& wanted);

  /// The sums over the groups asked so far, of this source and of others that were added to it.
  void add(gradient_source const& other);
  shared_gradient dbias() const;
  shared_gradient dsink() const;

 private:
  explicit gradient_source(std::unique_ptr<gradient_detail::source_state<T>> state) noexcept;
  std::unique_ptr<gradient_detail::source_state<T>> state_;
};

namespace compiled {

/// Encloses chosen elements in balls of W bits, in the order asked. W is 128, 256 or 1152; T any floating type. Modes
/// own and recorded have the same exact values.
/// Requires  indices inside their shapes; d_o present, and for the mode local o and lse
/// Cost      every row that contributes to a wanted element: its scores in exact integers, one exp a key
template <unsigned W, class T>
std::vector<enclosed_value<W>> enclose_gradients(problem::instance<T> const& p, gradient_inputs<T> const& inputs,
                                                 gradient_mode mode, std::span<gradient_index const> wanted);

}  // namespace compiled

/// The element with the enclosure of a ball, where that is the narrower one.
template <unsigned W>
constexpr gradient_element refined(gradient_element element, enclosed_value<W> const& enclosed) noexcept {
  if (element.kind != value_kind::finite || enclosed.kind != value_kind::finite) return element;
  element.lower = larger(element.lower, lower(enclosed.value));
  element.upper = smaller(element.upper, upper(enclosed.value));
  return element;
}

constexpr gradient_verdict verdict_on(gradient_element const& element, double got) noexcept {
  bool const nan = got != got, infinite = !nan && !(absolute(got) < infinity);
  if (element.kind == value_kind::unspecified || (element.kind == value_kind::finite && !(element.bound < infinity)))
    return gradient_verdict::not_judged;
  if (element.kind == value_kind::nan) return nan ? gradient_verdict::certified : gradient_verdict::refuted;
  if (element.kind == value_kind::not_finite)
    return nan || infinite ? gradient_verdict::certified : gradient_verdict::refuted;
  if (nan || infinite) return gradient_verdict::refuted;
  if (element.lower == got && got == element.upper) return gradient_verdict::certified;
  double const farthest = rounded_up(larger(got - element.lower, element.upper - got));
  if (farthest <= element.bound) return gradient_verdict::certified;
  double const nearest = rounded_down(larger(element.lower - got, got - element.upper));
  return element.bound < nearest ? gradient_verdict::refuted : gradient_verdict::undecided;
}

}  // namespace attest::reference
