// Definitions of compiled::enclose_gradients, for the units that instantiate them.
#pragma once

#include <tuple>
#include <variant>

#include "reference/gradient/exact.hpp"

namespace attest::reference::compiled {

template <unsigned W, class T>
std::vector<enclosed_value<W>> enclose_gradients(problem::instance<T> const& p, gradient_inputs<T> const& inputs,
                                                 gradient_mode mode, std::span<gradient_index const> wanted) {
  return reference::enclose_gradients<W>(p, inputs, mode, wanted);
}

// A unit that defines these pointers instantiates the function for every element type.
template <unsigned W, class... T>
constexpr auto gradients_of(std::variant<problem::instance<T>...> const*) {
  return std::tuple{&enclose_gradients<W, T>...};
}

}  // namespace attest::reference::compiled
