// Numbers as the forms of a report write them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace attest::audit {

/// 1234567 as "1,234,567".
std::string grouped(std::int64_t n);

/// "1 element", "1,234 elements".
std::string plural(std::int64_t count, std::string_view noun);
/// "1 element was", "1,234 elements were"; `one` and `several` are the forms of the verb.
std::string plural(std::int64_t count, std::string_view noun, std::string_view one, std::string_view several);

/// An error in units of the bound: four decimals, from 10⁵ on four significant digits; "inf", "nan".
std::string in_bounds(double x);

/// "99 %", "0.004 %": three digits.
std::string percent(double share);

}  // namespace attest::audit
