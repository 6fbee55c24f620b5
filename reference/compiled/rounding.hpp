// reference/attention/correctly_rounded.hpp, compiled once: see reference/compiled/row.hpp.
#pragma once

#include "reference/attention/correctly_rounded.hpp"

namespace attest::reference::compiled {

// W is 128, Target and T are element types of problem::any_instance. Other ones do not link.

template <unsigned W, class T>
exponential_sums<T> sums_of(enclosed_row<W, T> const& row);

template <class Target, unsigned W, class T>
rounded_value<Target> rounded_output(problem::instance<T> const& p, enclosed_row<W, T> const& row, std::int64_t c,
                                     exponential_sums<T>& sums);

template <class Target, unsigned W, class T>
rounded_value<Target> rounded_weight(enclosed_row<W, T> const& row, std::size_t at, exponential_sums<T>& sums);

template <class Target, unsigned W, class T>
rounded_value<Target> rounded_log_sum_exp(enclosed_row<W, T> const& row, exponential_sums<T>& sums);

// The same of a single element.

template <class Target, unsigned W, class T>
rounded_value<Target> rounded_output(problem::instance<T> const& p, enclosed_row<W, T> const& row, std::int64_t c);

template <class Target, unsigned W, class T>
rounded_value<Target> rounded_weight(enclosed_row<W, T> const& row, std::size_t at);

template <class Target, unsigned W, class T>
rounded_value<Target> rounded_log_sum_exp(enclosed_row<W, T> const& row);

}  // namespace attest::reference::compiled
