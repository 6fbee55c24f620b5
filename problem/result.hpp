// Errors are values: a code, the argument at fault, and a sentence with the value found and the value expected.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>

namespace attest::problem {

enum class error_code : std::uint8_t {
  bad_shape,      ///< ranks or sizes do not fit together
  bad_stride,     ///< a stride that docs/semantics.md forbids
  bad_type,       ///< an element type that is not allowed here, or types that differ where they must agree
  bad_value,      ///< a number outside its range
  size_overflow,  ///< a size or an offset does not fit in 63 bits
  missing,        ///< a required argument, file or field is absent
  unreadable,     ///< a file or a stream that cannot be read, or does not have the format that was expected
  unsupported,    ///< well formed, but this part of attest does not handle it
};

struct error {
  error_code code = error_code::bad_value;
  std::string argument;  ///< the argument at fault, by the name that the caller uses: "k", "--scale", "layer0.mask"
  std::string reason;    ///< a sentence with the value found and the value expected

  std::string message() const { return argument.empty() ? reason : argument + ": " + reason; }
};

/// A value, or the error that prevented it.
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
