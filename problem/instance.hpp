// A validated problem. instance<T>::make validates shapes, strides and parameters once; code that holds an instance
// validates nothing again.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <variant>

#include "problem/checks.hpp"
#include "problem/element_type.hpp"
#include "problem/parameters.hpp"
#include "problem/result.hpp"
#include "problem/view.hpp"

namespace attest::problem {

/// A problem that is not yet validated: tensors, and the parameters as members of this object (arguments.scale).
template <floating_element T>
struct arguments : parameters {
  tensor<T const> q, k, v;
  std::optional<tensor<std::uint8_t const>> mask;  ///< non-zero = attend
  std::optional<tensor<T const>> bias;
  std::optional<tensor<float const>> bias_f32;  ///< a bias in f32 beside a T that is not f32
};

/// O_i = Σ_j softmax_j(s_ij)·v_j over visible keys, s_ij = softcap(σ·(q_i·k_j)) + bias_ij.
///
/// Shapes    Q [b, hq, n, d], K [b, hk, m, d], V [b, hk, m, dv], mask and bias [b, hq, n, m] (broadcast axes have
///           stride 0). Query head h reads key-value head h / (hq/hk).
/// Source    docs/semantics.md; Vaswani et al. 2017, section 3.2.1
template <floating_element T>
class instance {
 public:
  /// Validation: the only way to an instance. The error names the argument, what was found and what was expected.
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
  constexpr problem::parameters const& parameters() const noexcept { return parameters_; }
  constexpr std::optional<double> const& scale() const noexcept { return parameters_.scale; }
  constexpr double softcap() const noexcept { return parameters_.softcap; }
  constexpr problem::band const& band() const noexcept { return parameters_.band; }

 private:
  constexpr instance() = default;

  sizes size_{};
  int rank_ = 0;
  view<T const> q_{}, k_{}, v_{};
  view<std::uint8_t const> mask_{};
  view<T const> bias_{};
  view<float const> bias_f32_{};
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
  if (auto why = checks::sizes_fault(unchecked.q.layout, unchecked.k.layout, unchecked.v.layout, validated.size_))
    return *std::move(why);
  validated.rank_ = unchecked.q.layout.rank;
  validated.q_ = lifted(unchecked.q);
  validated.k_ = lifted(unchecked.k);
  validated.v_ = lifted(unchecked.v);

  std::optional<error> why;
  auto const attach = [&]<class E>(std::string_view name, std::optional<tensor<E const>> const& input,
                                   view<E const>& to) {
    if (!input || why) return;
    why = checks::layout_fault(name, input->layout, sizeof(E), input->data != nullptr);
    if (why) return;
    auto lifted_view = broadcast(name, *input, validated.size_, validated.rank_);
    if (lifted_view) to = lifted_view.value();
    else why = lifted_view.why();
  };
  if (unchecked.bias && unchecked.bias_f32)
    return fault(error_code::bad_value, "bias", "given twice, in two element types");
  attach("mask", unchecked.mask, validated.mask_);
  attach("bias", unchecked.bias, validated.bias_);
  attach("bias", unchecked.bias_f32, validated.bias_f32_);
  if (why) return *std::move(why);

  if (auto parameters_why = parameters_fault(unchecked, validated.size_.d)) return *std::move(parameters_why);
  validated.parameters_ = unchecked;
  return validated;
}

template <floating_element T>
constexpr result<outputs<T>> outputs<T>::make(instance<T> const& problem, output_tensors<T> const& tensors) {
  outputs validated;
  sizes const& s = problem.size();
  int const rank = problem.rank();
  auto const check = [](std::string_view name, auto const& t, layout const& expected) -> std::optional<error> {
    if (t.layout.rank != expected.rank || t.layout.shape != expected.shape)
      return checks::fault(error_code::bad_shape, name,
                           "shape is " + checks::text(t.layout) + ", expected " + checks::text(expected));
    return checks::layout_fault(name, t.layout, sizeof(*t.data), t.data != nullptr);
  };
  if (auto why = check("out", tensors.o, rows_layout(s, rank, s.dv))) return *std::move(why);
  validated.o = lifted(tensors.o);
  if (tensors.weights) {
    if (auto why = check("weights", *tensors.weights, rows_layout(s, rank, s.m))) return *std::move(why);
    validated.weights = lifted(*tensors.weights);
  }
  if (tensors.lse) {
    if (auto why = check("lse", *tensors.lse, rows_layout(s, rank))) return *std::move(why);
    validated.lse = lifted(tensor<lse_element<T>>{tensors.lse->data, with_last_axis(tensors.lse->layout)});
  }
  return validated;
}

}  // namespace attest::problem
