// The comparisons of correct rounding, for every element type of the problem and of the result.
#include "reference/compiled/rounding.hpp"

#include <tuple>
#include <variant>

#include "problem/instance.hpp"

namespace attest::reference::compiled {

template <unsigned W, class T>
exponential_sums<T> sums_of(enclosed_row<W, T> const& row) {
  return reference::sums_of(row);
}

template <class Target, unsigned W, class T>
rounded_value<Target> rounded_output(problem::instance<T> const& p, enclosed_row<W, T> const& row, std::int64_t c,
                                     exponential_sums<T>& sums) {
  return reference::rounded_output<Target>(p, row, c, sums);
}

template <class Target, unsigned W, class T>
rounded_value<Target> rounded_weight(enclosed_row<W, T> const& row, std::size_t at, exponential_sums<T>& sums) {
  return reference::rounded_weight<Target>(row, at, sums);
}

template <class Target, unsigned W, class T>
rounded_value<Target> rounded_log_sum_exp(enclosed_row<W, T> const& row, exponential_sums<T>& sums) {
  return reference::rounded_log_sum_exp<Target>(row, sums);
}

template <class Target, unsigned W, class T>
rounded_value<Target> rounded_output(problem::instance<T> const& p, enclosed_row<W, T> const& row, std::int64_t c) {
  return reference::rounded_output<Target>(p, row, c);
}

template <class Target, unsigned W, class T>
rounded_value<Target> rounded_weight(enclosed_row<W, T> const& row, std::size_t at) {
  return reference::rounded_weight<Target>(row, at);
}

template <class Target, unsigned W, class T>
rounded_value<Target> rounded_log_sum_exp(enclosed_row<W, T> const& row) {
  return reference::rounded_log_sum_exp<Target>(row);
}

namespace {

constexpr problem::any_instance const* every_type = nullptr;

template <class Target, class T>
constexpr auto rounded_elements() {
  using row = enclosed_row<128, T> const&;
  using sums = exponential_sums<T>&;
  using rounded = rounded_value<Target>;
  rounded (*output)(problem::instance<T> const&, row, std::int64_t, sums) = &rounded_output<Target, 128, T>;
  rounded (*weight)(row, std::size_t, sums) = &rounded_weight<Target, 128, T>;
  rounded (*log_sum)(row, sums) = &rounded_log_sum_exp<Target, 128, T>;
  rounded (*single_output)(problem::instance<T> const&, row, std::int64_t) = &rounded_output<Target, 128, T>;
  rounded (*single_weight)(row, std::size_t) = &rounded_weight<Target, 128, T>;
  rounded (*single_log_sum)(row) = &rounded_log_sum_exp<Target, 128, T>;
  return std::tuple{output, weight, log_sum, single_output, single_weight, single_log_sum};
}
template <class Target, class... T>
constexpr auto rounded_to(std::variant<problem::instance<T>...> const*) {
  return std::tuple{rounded_elements<Target, T>()..., &sums_of<128, T>...};
}
template <class... Target>
constexpr auto rounded(std::variant<problem::instance<Target>...> const*) {
  return std::tuple{rounded_to<Target>(every_type)...};
}

[[gnu::used]] constexpr auto to_nearest = rounded(every_type);

}  // namespace
}  // namespace attest::reference::compiled
