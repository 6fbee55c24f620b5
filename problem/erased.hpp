// The door for tensors whose element type is known only at run time: files, plug-ins, other languages.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "problem/element_names.hpp"
#include "problem/instance.hpp"

namespace attest::problem {

/// A tensor of some element type. Requires data aligned to the element size (checked).
struct erased_tensor {
  void* data = nullptr;
  element_type type = element_type::f32;
  layout where{};
};

/// `arguments` without types. Inputs are never written through.
struct erased_arguments : parameters {
  erased_tensor q, k, v;
  std::optional<erased_tensor> mask, bias;
};

struct erased_outputs {
  erased_tensor o;
  std::optional<erased_tensor> lse, weights;
};

namespace detail {

inline std::optional<error> type_fault(std::string_view name, erased_tensor const& given, element_type expected) {
  if (given.type != expected)
    return checks::fault(
        error_code::bad_type, name,
        "element type is " + std::string(name_of(given.type)) + ", expected " + std::string(name_of(expected)));
  if (reinterpret_cast<std::uintptr_t>(given.data) % size_of(expected) != 0)
    return checks::fault(error_code::bad_value, name, "data is not aligned to its element size");
  return std::nullopt;
}

template <class T>
tensor<T> typed(erased_tensor const& given) noexcept {
  return {static_cast<T*>(given.data), given.where};
}

template <floating_element T>
result<instance<T>> typed_instance(erased_arguments const& asked) {
  arguments<T> made;
  static_cast<parameters&>(made) = asked;
  struct named {
    std::string_view name;
    erased_tensor const& given;
    tensor<T const>& to;
  };
  for (auto const& [name, given, to] :
       {named{"q", asked.q, made.q}, named{"k", asked.k, made.k}, named{"v", asked.v, made.v}}) {
    if (auto why = type_fault(name, given, type_of<T>)) return *std::move(why);
    to = typed<T const>(given);
  }
  if (asked.mask) {
    if (auto why = type_fault("mask", *asked.mask, element_type::u8)) return *std::move(why);
    made.mask = typed<std::uint8_t const>(*asked.mask);
  }
  if (asked.bias) {
    bool const as_f32 = asked.bias->type == element_type::f32 && type_of<T> != element_type::f32;
    if (auto why = type_fault("bias", *asked.bias, as_f32 ? element_type::f32 : type_of<T>)) return *std::move(why);
    if (as_f32) made.bias_f32 = typed<float const>(*asked.bias);
    else made.bias = typed<T const>(*asked.bias);
  }
  return instance<T>::make(made);
}

}  // namespace detail

/// Checks types, then everything that instance<T>::make checks. The type of q decides T.
inline result<any_instance> make_instance(erased_arguments const& asked) {
  if (!row_of(asked.q.type).is_floating())
    return checks::fault(error_code::bad_type, "q",
                         "element type " + std::string(name_of(asked.q.type)) + " is for masks; expected " +
                             listed(floating_rows, "or"));
  return with_type(asked.q.type, floating_elements{}, [&]<class T>(std::type_identity<T>) -> result<any_instance> {
    auto made = detail::typed_instance<T>(asked);
    if (!made) return made.why();
    return any_instance(made.value());
  });
}

template <floating_element T>
result<outputs<T>> make_outputs(instance<T> const& asked, erased_outputs const& given) {
  output_tensors<T> made;
  if (auto why = detail::type_fault("out", given.o, type_of<T>)) return *std::move(why);
  made.o = detail::typed<T>(given.o);
  if (given.lse) {
    if (auto why = detail::type_fault("lse", *given.lse, type_of<lse_element<T>>)) return *std::move(why);
    made.lse = detail::typed<lse_element<T>>(*given.lse);
  }
  if (given.weights) {
    if (auto why = detail::type_fault("weights", *given.weights, type_of<T>)) return *std::move(why);
    made.weights = detail::typed<T>(*given.weights);
  }
  return outputs<T>::make(asked, made);
}

}  // namespace attest::problem
