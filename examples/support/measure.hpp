// The cost of a call: time, and the memory that it touched. Times depend on the machine and on its other work: they are
// printed and drawn, and no check depends on them.
#pragma once

#include <functional>
#include <vector>

namespace attest::examples {

/// Seconds of one call: the least of several batches, each of as many calls as fill `batch_seconds`.
double seconds_of(std::function<void()> const& call, double batch_seconds = 0.005, int batches = 5);

/// The slope of ln y over ln x by least squares: p where y = c·x^p. Requires x, y > 0 and two different x.
double fitted_exponent(std::vector<double> const& x, std::vector<double> const& y);

}  // namespace attest::examples
