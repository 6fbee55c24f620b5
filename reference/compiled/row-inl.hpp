// Definitions of what reference/compiled/row.hpp declares, for the units that instantiate them.
#pragma once

#include <tuple>
#include <variant>

#include "problem/instance.hpp"
#include "reference/compiled/row.hpp"

namespace attest::reference::compiled {

template <unsigned W, class T>
void enclose_row(problem::instance<T> const& p, std::int64_t b, std::int64_t h, std::int64_t i,
                 enclosed_row<W, T>& row) {
  reference::enclose_row(p, b, h, i, row);
}

template <unsigned W, class T>
enclosed_value<W> output(problem::instance<T> const& p, enclosed_row<W, T> const& row, std::int64_t c) noexcept {
  return reference::output(p, row, c);
}

template <unsigned W, class T>
ball<W> weight(enclosed_row<W, T> const& row, std::size_t at) noexcept {
  return reference::weight(row, at);
}

template <unsigned W, class T>
ball<W> log_sum_exp(enclosed_row<W, T> const& row) noexcept {
  return reference::log_sum_exp(row);
}

template <unsigned W, class T>
void collect_facts(problem::instance<T> const& p, enclosed_row<W, T> const& row, row_facts& facts) {
  reference::collect_facts(p, row, facts);
}

template <unsigned W, class T>
error_bound output_bound(row_bound const& bound, problem::instance<T> const& p, enclosed_row<W, T> const& row,
                         std::int64_t c, ball<W> const& o) noexcept {
  auto const value = [&](std::size_t n) { return value_at(p, row, n, c); };
  return dropout_of(p) > 0 ? bound.output(o * kept_part<W>(p), value) : bound.output(o, value);
}

// A unit that defines these pointers instantiates the functions for every element type.

template <unsigned W, class... T>
constexpr auto rows_of(std::variant<problem::instance<T>...> const*) {
  return std::tuple{&enclose_row<W, T>..., &output<W, T>..., &weight<W, T>..., &log_sum_exp<W, T>...};
}
template <unsigned W, class... T>
constexpr auto facts_of(std::variant<problem::instance<T>...> const*) {
  return std::tuple{&collect_facts<W, T>..., &output_bound<W, T>...};
}
inline constexpr problem::any_instance const* every_type = nullptr;

}  // namespace attest::reference::compiled
