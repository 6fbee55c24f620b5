// Errors are values: what went wrong, in which argument, in a sentence.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>

namespace attest::problem {

enum class error_code : std::uint8_t {
  bad_shape,      ///< ranks or sizes do not fit together
  bad_stride,     ///< a stride that the rules of semantics forbid
  bad_type,       ///< an element type that is not allowed here, or types that differ where they must agree
  bad_value,      ///< a number outside its range
  size_overflow,  ///< a size or an offset does not fit in 63 bits
  missing,        ///< something required is not there
  unreadable,     ///< a file or a stream that cannot be read, or is not what it says it is
  unsupported,    ///< well formed, but not something this part of attest does
};

struct error {
  error_code code = error_code::bad_value;
  std::string argument;  ///< the argument at fault, as its caller knows it: "k", "--scale", "layer0.mask"
  std::string reason;    ///< a sentence: what was found and what was expected

  std::string message() const { return argument.empty() ? reason : argument + ": " + reason; }
};

/// A value, or the error that says why there is none.
template <class T>
class [[nodiscard]] result {
 public:
  constexpr result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  constexpr result(error why) : state_(std::in_place_index<1>, std::move(why)) {}

  constexpr bool has_value() const noexcept { return state_.index() == 0; }
  constexpr explicit operator bool() const noexcept { return has_value(); }

  /// Requires has_value().
  constexpr T& value() & noexcept { return *std::get_if<0>(&state_); }
  constexpr T const& value() const& noexcept { return *std::get_if<0>(&state_); }
  constexpr T&& value() && noexcept { return std::move(*std::get_if<0>(&state_)); }

  /// Requires !has_value().
  constexpr error const& why() const& noexcept { return *std::get_if<1>(&state_); }
  constexpr error&& why() && noexcept { return std::move(*std::get_if<1>(&state_)); }

 private:
  std::variant<T, error> state_;
};

}  // namespace attest::problem
