// Dispatch of the products: compiled for every SIMD target, the best one chosen at run time.
#include "reference/gradient/products.hpp"

#include "reference/machine/disabled_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference/gradient/products.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "reference/gradient/products-inl.hpp"

#if HWY_ONCE
namespace attest::reference::gradient_detail {

HWY_EXPORT(multiply_both_here);
HWY_EXPORT(multiply_keys_here);
HWY_EXPORT(add_rows_here);

void multiply_both(double const* left, double const* right, std::size_t rows, std::size_t count, std::size_t columns,
                   double* sum, double* size) {
  HWY_DYNAMIC_DISPATCH(multiply_both_here)(left, right, rows, count, columns, sum, size);
}
void multiply_keys(key_sums const& sums, double const* k, std::size_t first, std::size_t last, std::size_t columns) {
  HWY_DYNAMIC_DISPATCH(multiply_keys_here)(sums, k, first, last, columns);
}
void add_rows(double const* weight, double const* error, double const* x, std::size_t first, std::size_t last,
              std::size_t columns, double* sum, double* bound) {
  HWY_DYNAMIC_DISPATCH(add_rows_here)(weight, error, x, first, last, columns, sum, bound);
}

}  // namespace attest::reference::gradient_detail
#endif
