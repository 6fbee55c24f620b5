// Validation of tensors whose element type is known only at run time: from files, plug-ins, other languages.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "problem/element_names.hpp"
#include "problem/instance.hpp"
#include "problem/optional_tensors.hpp"

namespace attest::problem {

/// A tensor whose element type is a value. Requires data aligned to the element size (checked by validation).
struct erased_tensor {
  void* data = nullptr;
  element_type type = element_type::f32;
  problem::layout layout{};
};

/// `arguments` with erased element types. No byte is written through these pointers.
struct erased_arguments : parameters {
  erased_tensor q, k, v;
  std::optional<erased_tensor> mask, bias;
  std::optional<erased_tensor> sink{}, q_lengths{}, k_lengths{}, q_offsets{}, k_offsets{}, block_table{}, block_mask{},
      keep{}, d_out{};
  log_base base = log_base::e;  ///< as arguments::base
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
  typed_arguments.base = erased.base;
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
  // If T is not f32, a bias or a sink in f32 has a member of its own.
  auto const floating = [&](std::string_view name, std::optional<erased_tensor> const& from, auto& as_T, auto& as_f32) {
    bool const is_f32 = from->type == element_type::f32 && type_of<T> != element_type::f32;
    if (auto why = type_fault(name, *from, is_f32 ? element_type::f32 : type_of<T>)) return why;
    if (is_f32) as_f32 = typed<float const>(*from);
    else as_T = typed<T const>(*from);
    return std::optional<error>();
  };
  std::optional<error> why;
  auto const read = [&]<class Target>(optional_tensor const& row, std::optional<erased_tensor> const& from,
                                      Target& to) {
    if (why || !from) return;
    if constexpr (std::is_same_v<Target, std::optional<tensor<std::uint8_t const>>>) {
      if (why = type_fault(row.name, *from, element_type::u8); !why) to = typed<std::uint8_t const>(*from);
    } else if constexpr (std::is_same_v<Target, std::optional<tensor<std::int32_t const>>>) {
      if (why = type_fault(row.name, *from, element_type::i32); !why) to = typed<std::int32_t const>(*from);
    } else {
      if (row.name == "bias") why = floating(row.name, from, typed_arguments.bias, typed_arguments.bias_f32);
      else if (row.name == "do") {
        if (why = type_fault(row.name, *from, type_of<T>); !why) typed_arguments.d_out = typed<T const>(*from);
      } else why = floating(row.name, from, typed_arguments.sink, typed_arguments.sink_f32);
    }
  };
  visit_optional_tensors(read, erased, typed_arguments);
  if (why) return *std::move(why);
  return instance<T>::make(typed_arguments);
}

}  // namespace detail

/// Validates element types, then everything that instance<T>::make validates. The type of q decides T.
/// Why       a template, so that four validations are compiled only where it is called. Give no argument for it.
template <class = void>
result<any_instance> make_instance(erased_arguments const& arguments) {
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
