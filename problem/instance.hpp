// A validated problem. instance<T>::make validates shapes, strides and parameters once; code that holds an instance
// validates nothing again.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "problem/checks.hpp"
#include "problem/element_type.hpp"
#include "problem/entries.hpp"
#include "problem/log_base.hpp"
#include "problem/parameters.hpp"
#include "problem/result.hpp"
#include "problem/view.hpp"

namespace attest::problem {

/// A problem that is not yet validated: tensors, and the parameters as members of this object (arguments.scale).
template <floating_element T>
struct arguments : parameters, entry_tensors {
  tensor<T const> q, k, v;
  std::optional<tensor<std::uint8_t const>> mask;  ///< non-zero = attend
  std::optional<tensor<T const>> bias;
  std::optional<tensor<float const>> bias_f32;  ///< a bias in f32, if T is not f32
  std::optional<tensor<T const>> sink;
  std::optional<tensor<float const>> sink_f32;           ///< sinks in f32, if T is not f32
  std::optional<tensor<std::uint8_t const>> block_mask;  ///< non-zero = the block is set
  std::optional<tensor<std::uint8_t const>> keep;        ///< non-zero = dropout keeps the weight
  std::optional<tensor<T const>> d_out;                  ///< dO, of a backward pass
  log_base base = log_base::e;                           ///< of the exponentials of scores
};

/// O_i = Σ_j π_ij·[keep_ij]/(1 − p)·v_j over visible keys, π_ij = e^(s_ij)/(e^(t) + Σ_j e^(s_ij)) with the sink t of
/// the head, s_ij = softcap(σ·(q_i·k_j)) + bias_ij. With the base 2 the scores are logarithms to the base 2, like the
/// LSEs of parts in a merge of that base: s_ij = ln 2·(σ·(q_i·k_j) + bias_ij).
///
/// Shapes    Q [b, hq, n, d], K [b, hk, m, d], V [b, hk, m, dv], dO [b, hq, n, dv], sink [b, hq, 1, 1], block_mask
///           [b, hq, ⌈n/block_q⌉, ⌈m/block_k⌉]. Mask, bias and keep are [b, hq, n, m], and their broadcast axes have
///           stride 0. n and m are the slots of an entry: entry b has queries(b) queries and keys(b) keys. Query head h
///           reads key-value head h / (hq/hk).
/// Source    docs/semantics.md; Vaswani et al. 2017, section 3.2.1
template <floating_element T>
class instance {
 public:
  /// Validation: the only way to an instance. The error names the argument, the value found and the value expected.
  static constexpr result<instance> make(arguments<T> const& unchecked);

  constexpr sizes const& size() const noexcept { return size_; }
  constexpr int rank() const noexcept { return rank_; }  ///< the rank of q, k, v and o in the caller's tensors
  constexpr view<T const> const& q() const noexcept { return q_; }
  constexpr view<T const> const& k() const noexcept { return k_; }
  constexpr view<T const> const& v() const noexcept { return v_; }
  constexpr view<std::uint8_t const> const& mask() const noexcept { return mask_; }
  constexpr view<T const> const& bias() const noexcept { return bias_; }
  constexpr view<float const> const& bias_f32() const noexcept { return bias_f32_; }
  constexpr bool has_bias() const noexcept { return bias_.present || bias_f32_.present; }
  constexpr view<T const> const& sink() const noexcept { return sink_; }
  constexpr view<float const> const& sink_f32() const noexcept { return sink_f32_; }
  constexpr bool has_sink() const noexcept { return sink_.present || sink_f32_.present; }
  constexpr view<std::uint8_t const> const& block_mask() const noexcept { return block_mask_; }
  constexpr view<std::uint8_t const> const& keep() const noexcept { return keep_; }
  constexpr view<T const> const& d_out() const noexcept { return d_out_; }
  constexpr problem::entries const& entries() const noexcept { return entries_; }
  constexpr std::int64_t queries(std::int64_t b) const noexcept { return entries_.queries.used(b); }  ///< n_b ≤ n
  constexpr std::int64_t keys(std::int64_t b) const noexcept { return entries_.keys.used(b); }        ///< m_b ≤ m
  constexpr log_base base() const noexcept { return base_; }
  constexpr problem::parameters const& parameters() const noexcept { return parameters_; }
  constexpr std::optional<double> const& scale() const noexcept { return parameters_.scale; }
  constexpr double softcap() const noexcept { return parameters_.softcap; }
  constexpr problem::band const& band() const noexcept { return parameters_.band; }
  /// The band of entry b. Its diagonal is the given one; if the problem aligns at the end, keys(b) − queries(b) is
  /// added. The sum saturates.
  constexpr problem::band band(std::int64_t b) const noexcept {
    problem::band of = parameters_.band;
    if (parameters_.align == 0) return of;
    constexpr auto largest = std::numeric_limits<std::int64_t>::max();
    std::int64_t const shift = keys(b) - queries(b), diagonal = of.diagonal;
    of.diagonal = shift > 0 && diagonal > largest - shift    ? largest
                  : shift < 0 && diagonal < -largest - shift ? -largest
                                                             : diagonal + shift;
    return of;
  }

 private:
  constexpr instance() = default;

  sizes size_{};
  int rank_ = 0;
  view<T const> q_{}, k_{}, v_{};
  view<std::uint8_t const> mask_{};
  view<T const> bias_{};
  view<float const> bias_f32_{};
  view<T const> sink_{};
  view<float const> sink_f32_{};
  view<std::uint8_t const> block_mask_{}, keep_{};
  view<T const> d_out_{};
  problem::entries entries_{};
  log_base base_ = log_base::e;
  problem::parameters parameters_{};
};

/// The tensors into which outputs are written, not yet validated. lse and weights are optional.
template <floating_element T>
struct output_tensors {
  tensor<T> o;
  std::optional<tensor<lse_element<T>>> lse;  ///< one rank less than o
  std::optional<tensor<T>> weights;
};

/// Validated outputs: O [b, hq, n, dv]; LSE as [b, hq, n, 1]; weights [b, hq, n, m].
template <floating_element T>
struct outputs {
  view<T> o{};
  view<lse_element<T>> lse{};
  view<T> weights{};

  static constexpr result<outputs> make(instance<T> const& problem, output_tensors<T> const& tensors);
};

namespace detail {
template <class T>
using instance_of = instance<T>;
}
/// A problem of any of the floating types, in the order of the table.
using any_instance = variant_of<detail::instance_of, floating_elements>;

// ---------------------------------------------------------------------------------------------------------------------

/// The layout of O (last = dv) or of the weights (last = m) of a problem, row-major: [b, hq, n, last] in the rank of
/// the problem, [1, hq, rows of q, last] if q is packed.
template <floating_element T>
constexpr layout rows_layout(instance<T> const& p, std::int64_t last) noexcept {
  if (auto const& queries = p.entries().queries; queries.is_packed())
    return layout::compact({1, p.size().hq, queries.total, last});
  return rows_layout(p.size(), p.rank(), last);
}
/// The same for an LSE.
template <floating_element T>
constexpr layout rows_layout(instance<T> const& p) noexcept {
  if (auto const& queries = p.entries().queries; queries.is_packed())
    return layout::compact({1, p.size().hq, queries.total});
  return rows_layout(p.size(), p.rank());
}

namespace checks {

/// The rules for sinks, block masks and dropout together, and with packed rows.
template <class T>
constexpr std::optional<error> companions_fault(arguments<T> const& given) {
  if (given.q_offsets || given.k_offsets)
    for (auto const& [name, present] :
         {std::pair{"mask", given.mask.has_value()}, std::pair{"bias", given.bias || given.bias_f32},
          std::pair{"keep", given.keep.has_value()}, std::pair{"block_mask", given.block_mask.has_value()}})
      if (present)
        return fault(error_code::bad_shape, name,
                     "has no shape over packed rows; use lengths, the band, or the dense layout");
  if (given.block_mask && (given.block_q < 1 || given.block_k < 1))
    return fault(error_code::missing, "block_mask", "needs block_q and block_k of at least 1");
  if (given.dropout > 0 && !given.keep)
    return fault(error_code::missing, "keep", "is missing beside a dropout above 0: it says which weights are kept");
  if (given.sink && given.sink_f32) return fault(error_code::bad_value, "sink", "given twice, in two element types");
  return std::nullopt;
}

/// A sink [hq], [1, hq] or [b, hq] as a view of shape [b, hq, 1, 1].
template <class E>
constexpr result<view<E const>> sink_view(tensor<E const> const& sink, sizes const& s) {
  auto const& [rank, shape, stride] = sink.layout;
  bool const by_batch = rank == 2 && shape[0] == s.b;
  auto const heads = static_cast<std::size_t>(rank - 1);
  if (rank > 2 || shape[heads] != s.hq || (rank == 2 && shape[0] != 1 && !by_batch))
    return fault(error_code::bad_shape, "sink",
                 "shape is " + text(sink.layout) + "; " + std::to_string(s.hq) + " query heads need [" +
                     std::to_string(s.hq) + "] or [b or 1, " + std::to_string(s.hq) + "]");
  return view<E const>{sink.data, {s.b, s.hq, 1, 1}, {by_batch && s.b > 1 ? stride[0] : 0, stride[heads], 0}, true, {}};
}

}  // namespace checks

template <floating_element T>
constexpr result<instance<T>> instance<T>::make(arguments<T> const& unchecked) {
  using checks::fault;
  instance validated;
  struct named {
    std::string_view name;
    tensor<T const> const& input;
  };
  for (auto const& [name, input] : {named{"q", unchecked.q}, named{"k", unchecked.k}, named{"v", unchecked.v}})
    if (auto why = checks::layout_fault(name, input.layout, sizeof(T), input.data != nullptr)) return *std::move(why);
  if (auto why = checks::companions_fault(unchecked)) return *std::move(why);
  checks::entry_layouts slots{};
  if (auto why =
          checks::entry_shapes_fault(unchecked, unchecked.q.layout, unchecked.k.layout, unchecked.v.layout, slots))
    return *std::move(why);
  if (auto why = checks::sizes_fault(slots.q, slots.k, slots.v, validated.size_)) return *std::move(why);
  sizes const& s = validated.size_;
  validated.entries_ = slots.entries;
  if (auto why = checks::entries_fault(unchecked, s, unchecked.k.layout.shape[0], validated.entries_))
    return *std::move(why);
  validated.rank_ = unchecked.q.layout.rank;
  validated.q_ = lifted(unchecked.q);
  validated.k_ = lifted(unchecked.k);
  validated.v_ = lifted(unchecked.v);
  validated.q_.shape = {s.b, s.hq, s.n, s.d}, validated.q_.map = validated.entries_.queries.map;
  validated.k_.shape = {s.b, s.hk, s.m, s.d}, validated.k_.map = validated.entries_.keys.map;
  validated.v_.shape = {s.b, s.hk, s.m, s.dv}, validated.v_.map = validated.entries_.keys.map;

  std::optional<error> why;
  auto const usable = [&]<class E>(std::string_view name, std::optional<tensor<E const>> const& input) {
    if (!input || why) return false;
    why = checks::layout_fault(name, input->layout, sizeof(E), input->data != nullptr);
    return !why;
  };
  auto const take = [&](auto&& found, auto& to) {
    if (found) to = found.value();
    else why = found.why();
  };
  auto const attach = [&](std::string_view name, auto const& input, auto& to) {
    if (usable(name, input)) take(broadcast(name, *input, s, validated.rank_), to);
  };
  if (unchecked.bias && unchecked.bias_f32)
    return fault(error_code::bad_value, "bias", "given twice, in two element types");
  attach("mask", unchecked.mask, validated.mask_);
  attach("bias", unchecked.bias, validated.bias_);
  attach("bias", unchecked.bias_f32, validated.bias_f32_);
  attach("keep", unchecked.keep, validated.keep_);
  if (usable("sink", unchecked.sink)) take(checks::sink_view(*unchecked.sink, s), validated.sink_);
  if (usable("sink", unchecked.sink_f32)) take(checks::sink_view(*unchecked.sink_f32, s), validated.sink_f32_);
  if (usable("block_mask", unchecked.block_mask)) {
    auto const blocks = [](std::int64_t rows, std::int64_t block) { return rows / block + (rows % block != 0); };
    take(broadcast("block_mask", *unchecked.block_mask,
                   {s.b, s.hq, blocks(s.n, unchecked.block_q), blocks(s.m, unchecked.block_k)}, validated.rank_, 2),
         validated.block_mask_);
  }
  if (usable("do", unchecked.d_out)) {
    layout const expected = rows_layout(validated, s.dv), &found = unchecked.d_out->layout;
    if (found.rank != expected.rank || found.shape != expected.shape)
      return fault(error_code::bad_shape, "do",
                   "shape is " + checks::text(found) + ", expected " + checks::text(expected) + ", the shape of o");
    validated.d_out_ = lifted(*unchecked.d_out);
    validated.d_out_.shape = {s.b, s.hq, s.n, s.dv}, validated.d_out_.map = validated.entries_.queries.map;
  }
  if (why) return *std::move(why);

  if (auto parameters_why = parameters_fault(unchecked, s.d)) return *std::move(parameters_why);
  if (unchecked.base == log_base::two && (!unchecked.scale || unchecked.softcap > 0 || validated.has_sink()))
    return fault(error_code::bad_value, "base",
                 "is 2 beside a softcap, a sink or the scale 1/sqrt(d), which have the base e");
  validated.base_ = unchecked.base;
  validated.parameters_ = unchecked;
  return validated;
}

template <floating_element T>
constexpr result<outputs<T>> outputs<T>::make(instance<T> const& problem, output_tensors<T> const& tensors) {
  outputs validated;
  sizes const& s = problem.size();
  auto const& queries = problem.entries().queries;
  auto const check = [](std::string_view name, auto const& t, layout const& expected,
                        bool any_last_stride = false) -> std::optional<error> {
    if (t.layout.rank != expected.rank || t.layout.shape != expected.shape)
      return checks::fault(error_code::bad_shape, name,
                           "shape is " + checks::text(t.layout) + ", expected " + checks::text(expected));
    return checks::layout_fault(name, t.layout, sizeof(*t.data), t.data != nullptr, any_last_stride);
  };
  auto const as_rows = [&]<class E>(tensor<E> const& t, std::int64_t last) {
    view<E> rows = lifted(t);
    rows.shape = {s.b, s.hq, s.n, last}, rows.map = queries.map;
    return rows;
  };
  if (auto why = check("out", tensors.o, rows_layout(problem, s.dv))) return *std::move(why);
  validated.o = as_rows(tensors.o, s.dv);
  if (tensors.weights) {
    if (queries.is_packed() || problem.entries().keys.map.starts != nullptr)
      return checks::fault(error_code::bad_shape, "weights",
                           "has no shape over packed rows; use lengths, the band, or the dense layout");
    if (auto why = check("weights", *tensors.weights, rows_layout(problem, s.m))) return *std::move(why);
    validated.weights = as_rows(*tensors.weights, s.m);
  }
  if (tensors.lse) {
    if (auto why = check("lse", *tensors.lse, rows_layout(problem), queries.is_packed())) return *std::move(why);
    validated.lse = as_rows(tensor<lse_element<T>>{tensors.lse->data, with_last_axis(tensors.lse->layout)}, 1);
  }
  return validated;
}

}  // namespace attest::problem
