// Numbers as the forms of a report write them.
#pragma once

#include <cstdint>
#include <string>

namespace attest::audit {

/// 1234567 as "1,234,567".
std::string grouped(std::int64_t n);

/// An error in units of the bound: four decimals, from 10⁵ on four significant digits; "inf", "nan".
std::string in_bounds(double x);

/// "99 %", "0.004 %": three digits.
std::string percent(double share);

}  // namespace attest::audit
