// The run-time face of the constexpr oracle: the same functions, compiled once for each element type and width.
//
// reference/attention and reference/bound are templates, so that the same text runs in a static_assert and at run time.
// Every unit that calls them compiles them again: enclose_row for four element types takes ten seconds. Programs call
// the functions here instead; proofs, and users of other widths, call the templates.
#pragma once

#include "reference/bound/bound.hpp"

namespace attest::reference::compiled {

// Every T is an element type of problem::any_instance, every W 128, 256 or 1152; enclose_row, output, weight and
// log_sum_exp are there for 4096 too, and for 64 in attest_compiled_narrow. Other widths do not link.

template <unsigned W, class T>
void enclose_row(problem::instance<T> const& p, std::int64_t b, std::int64_t h, std::int64_t i,
                 enclosed_row<W, T>& row);

template <unsigned W, class T>
enclosed_value<W> output(problem::instance<T> const& p, enclosed_row<W, T> const& row, std::int64_t c) noexcept;

template <unsigned W, class T>
ball<W> weight(enclosed_row<W, T> const& row, std::size_t at) noexcept;

template <unsigned W, class T>
ball<W> log_sum_exp(enclosed_row<W, T> const& row) noexcept;

template <unsigned W, class T>
void collect_facts(problem::instance<T> const& p, enclosed_row<W, T> const& row, row_facts& facts);

void evaluate(row_bound& bound, problem::kernel_model const& model, row_facts const& facts);

/// bound.output(o, value_at over the row's keys): the bound of output c, where o encloses it.
template <unsigned W, class T>
error_bound output_bound(row_bound const& bound, problem::instance<T> const& p, enclosed_row<W, T> const& row,
                         std::int64_t c, ball<W> const& o) noexcept;

}  // namespace attest::reference::compiled
