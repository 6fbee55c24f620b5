// Validation of tensors whose element type is known only at run time: from files, plug-ins, other languages.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "problem/element_names.hpp"
#include "problem/instance.hpp"

namespace attest::problem {

/// A tensor whose element type is a value. Requires data aligned to the element size (checked by validation).
struct erased_tensor {
  void* data = nullptr;
  element_type type = element_type::f32;
  problem::layout layout{};
};

/// `arguments` with erased element types. Nothing is written through these pointers.
struct erased_arguments : parameters {
  erased_tensor q, k, v;
  std::optional<erased_tensor> mask, bias;
};

struct erased_outputs {
  erased_tensor o;
  std::optional<erased_tensor> lse, weights;
};

namespace detail {

inline std::optional<error> type_fault(std::string_view name, erased_tensor const& tensor, element_type expected) {
  if (tensor.type != expected)
    return checks::fault(
        error_code::bad_type, name,
        "element type is " + std::string(name_of(tensor.type)) + ", expected " + std::string(name_of(expected)));
  if (reinterpret_cast<std::uintptr_t>(tensor.data) % size_of(expected) != 0)
    return checks::fault(error_code::bad_value, name, "data is not aligned to its element size");
  return std::nullopt;
}

template <class T>
tensor<T> typed(erased_tensor const& erased) noexcept {
  return {static_cast<T*>(erased.data), erased.layout};
}

template <floating_element T>
result<instance<T>> typed_instance(erased_arguments const& erased) {
  arguments<T> typed_arguments;
  static_cast<parameters&>(typed_arguments) = erased;
  struct named {
    std::string_view name;
    erased_tensor const& from;
    tensor<T const>& to;
  };
  for (auto const& [name, from, to] : {named{"q", erased.q, typed_arguments.q}, named{"k", erased.k, typed_arguments.k},
                                       named{"v", erased.v, typed_arguments.v}}) {
    if (auto why = type_fault(name, from, type_of<T>)) return *std::move(why);
    to = typed<T const>(from);
  }
  if (erased.mask) {
    if (auto why = type_fault("mask", *erased.mask, element_type::u8)) return *std::move(why);
    typed_arguments.mask = typed<std::uint8_t const>(*erased.mask);
  }
  if (erased.bias) {
    bool const as_f32 = erased.bias->type == element_type::f32 && type_of<T> != element_type::f32;
    if (auto why = type_fault("bias", *erased.bias, as_f32 ? element_type::f32 : type_of<T>)) return *std::move(why);
    if (as_f32) typed_arguments.bias_f32 = typed<float const>(*erased.bias);
    else typed_arguments.bias = typed<T const>(*erased.bias);
  }
  return instance<T>::make(typed_arguments);
}

}  // namespace detail

/// Validates element types, then everything that instance<T>::make validates. The type of q decides T.
inline result<any_instance> make_instance(erased_arguments const& arguments) {
  if (!row_of(arguments.q.type).is_floating())
    return checks::fault(error_code::bad_type, "q",
                         "element type " + std::string(name_of(arguments.q.type)) + " is for masks; expected " +
                             listed(floating_rows, "or"));
  return with_type(arguments.q.type, floating_elements{}, [&]<class T>(std::type_identity<T>) -> result<any_instance> {
    auto typed = detail::typed_instance<T>(arguments);
    if (!typed) return typed.why();
    return any_instance(typed.value());
  });
}

/// Validates element types, then everything that outputs<T>::make validates.
template <floating_element T>
result<outputs<T>> make_outputs(instance<T> const& problem, erased_outputs const& erased) {
  output_tensors<T> tensors;
  if (auto why = detail::type_fault("out", erased.o, type_of<T>)) return *std::move(why);
  tensors.o = detail::typed<T>(erased.o);
  if (erased.lse) {
    if (auto why = detail::type_fault("lse", *erased.lse, type_of<lse_element<T>>)) return *std::move(why);
    tensors.lse = detail::typed<lse_element<T>>(*erased.lse);
  }
  if (erased.weights) {
    if (auto why = detail::type_fault("weights", *erased.weights, type_of<T>)) return *std::move(why);
    tensors.weights = detail::typed<T>(*erased.weights);
  }
  return outputs<T>::make(problem, tensors);
}

}  // namespace attest::problem
