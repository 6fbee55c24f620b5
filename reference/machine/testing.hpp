// What tests and fuzz targets ask of the machine tier beside its rows: one SIMD target, the enclosures behind a bound,
// and the functions that a row is made of.
#pragma once

#include <string_view>
#include <vector>

#include "reference/bound/facts.hpp"
#include "reference/machine/rows.hpp"

namespace attest::reference::machine {

/// The names of the SIMD targets that this processor can run and this build knows, best first.
std::vector<std::string_view> simd_targets();

/// All rows from now on are computed on SIMD target `name`; "" returns to the best. Answers false for an unknown one.
/// Not to be called while a row_source runs.
bool use_simd_target(std::string_view name) noexcept;

namespace testing {

/// The enclosures of a row as row_bound takes them. Requires !row.handed_over.
row_facts facts_of(certified_row const& row);

/// The exponential of the tier of doubles, on lanes or on one double: |result − e^x| ≤ 2⁻⁵²·e^x for −708 ≤ x ≤ 709.
double exp(double x, bool lanes) noexcept;

/// hi + lo ± radius.
struct enclosed_word {
  double hi = 0, lo = 0, radius = 0;
};
/// e^(hi + lo) for −600 ≤ hi ≤ 708, ln(hi + lo) for 1/2 ≤ hi ≤ 2⁶⁰, and 1/√d, in double words.
enclosed_word exp_word(double hi, double lo, bool lanes) noexcept;
enclosed_word log_word(double hi, double lo) noexcept;
enclosed_word inverse_root(double d) noexcept;

}  // namespace testing
}  // namespace attest::reference::machine
