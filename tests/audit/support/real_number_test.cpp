// Numbers in somebody's text.
#include "audit/support/real_number.hpp"

#include <cmath>
#include <limits>
#include <string_view>

#include "tests/support/catch.hpp"

namespace attest::audit::real_number_test {

TEST_CASE("a number in somebody's text is a decimal number or a hex float, whole and finite", "[unit]") {
  struct known {
    std::string_view text;
    double value;
  };
  for (auto const& [text, value] : {known{"0", 0}, known{"0e9", 0}, known{".5", 0.5}, known{"-1e-3", -1e-3},
                                    known{"0x1p-3", 0.125}, known{"-0X.8P1", -1}, known{"4.9e-324", 0x1p-1074},
                                    known{"1.7976931348623157e308", 0x1.fffffffffffffp1023}, known{"0x10", 16}}) {
    INFO(text);
    CHECK(real_number(text) == value);
  }
  CHECK(std::signbit(real_number("-0").value_or(1)));
  using namespace std::string_view_literals;
  for (std::string_view const text :
       {""sv,     "-"sv,   "--1"sv,  "+1"sv,   " 1"sv,       "1 "sv,     "1\0"sv,       "1,5"sv,
        "one"sv,  "inf"sv, "nan"sv,  "-inf"sv, "1e999"sv,    "1e-999"sv, "0x1p-1200"sv, "0x"sv,
        "0x-1"sv, "1e"sv,  "0x1p"sv, "."sv,    "infinity"sv, "0b1"sv}) {
    INFO(text);
    CHECK(!real_number(text));
  }
  CHECK(hex_number("-0x1.8p+1") == -3.0);
  CHECK(hex_number("-inf") == -std::numeric_limits<double>::infinity());
  CHECK(std::isnan(hex_number("nan").value_or(0)));
  for (std::string_view const text :
       {"1", "-nan", "1e3", "0X1p3", "0x1P3", "0xAp0", "-", "0x1.0000000000000000000000000000000000000000p0"})
    CHECK(!hex_number(text));
}

}  // namespace attest::audit::real_number_test
