// What the kernel declares about its roundings.
#include "fast/model.hpp"

#include "fast/scale.hpp"
#include "tests/catch.hpp"

using namespace attest;

namespace {

constexpr problem::sizes of_d(std::int64_t d) { return {1, 1, 1, 2, 2, d, 1}; }

static_assert(fast::model<float>(of_d(8)).k_qk_base == 2, "σ̂ and the multiplication");
static_assert(fast::model<double>(of_d(8)).k_qk_base == 3, "sqrt, division and the multiplication");
static_assert(fast::model<float>(of_d(64)).k_qk_base == 0, "1/8 is exact, and so is multiplying by it");
static_assert(fast::model<float>(of_d(2)).k_qk_base == 2, "2 is no power of 4");
static_assert(fast::model<float>(of_d(8), true, 0.75).k_qk_base == 1, "an f32 scale: the multiplication");
static_assert(fast::model<float>(of_d(8), true, -0.5).k_qk_base == 0);
static_assert(fast::model<float>(of_d(8), true, 0.0).k_qk_base == 0);
static_assert(fast::model<float>(of_d(8), true, 0.3).k_qk_base == 2, "applied in double, rounded to f32");
static_assert(fast::model<float>(of_d(8), true, 1e300).k_qk_base == 2);
static_assert(fast::model<double>(of_d(8), true, 0.3).k_qk_base == 1);
static_assert(fast::model<float>(of_d(8), false).k_add == 0 && fast::model<float>(of_d(8), true).k_add == 1);
static_assert(fast::model<float>(of_d(8)).block == fast::blocking_of<float>.keys);

}  // namespace

TEST_CASE("the declared scale roundings bound the default scale", "[unit]") {
  for (std::int64_t d = 1; d < 5000; ++d) {
    auto const single = fast::score_scale<float>::of({}, d);
    auto const twice = fast::score_scale<double>::of({}, d);
    long double const truth = 1 / std::sqrt(static_cast<long double>(d));
    CHECK(std::abs(static_cast<long double>(single.factor) - truth) <= truth * (0x1p-24L + 0x1p-51L));
    CHECK(std::abs(static_cast<long double>(twice.factor) - truth) <= truth * 0x1p-52L);
    if (fast::model<float>(of_d(d)).k_qk_base == 0) {
      CHECK(static_cast<long double>(single.factor) == truth);
      CHECK(fast::is_power_of_two(static_cast<double>(single.factor)));
    }
  }
}
