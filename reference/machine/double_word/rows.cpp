// The machine tier in double words, compiled once for every SIMD target: f64, and elements of narrower types that
// doubles leave open.
#include "reference/machine/block_task.hpp"
#include "reference/machine/disabled_targets.hpp"
#include "reference/machine/testing.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference/machine/double_word/rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "reference/machine/double_word/words-inl.hpp"

#if HWY_ONCE
namespace attest::reference::machine {

HWY_EXPORT(any_word_block);
HWY_EXPORT(exp_of_word);
HWY_EXPORT(exp_of_word_one);
HWY_EXPORT(log_of_word);
HWY_EXPORT(inverse_root_word);

void run_in_double_words(any_block_task const& task) { HWY_DYNAMIC_DISPATCH(any_word_block)(task); }

namespace testing {

enclosed_word exp_word(double hi, double lo, bool lanes) noexcept {
  enclosed_word word;
  if (lanes) HWY_DYNAMIC_DISPATCH(exp_of_word)(hi, lo, &word.hi, &word.lo);
  else HWY_DYNAMIC_DISPATCH(exp_of_word_one)(hi, lo, &word.hi, &word.lo);
  word.radius = (26 + 2.2 * absolute(hi)) * 0x1p-106 * word.hi;
  return word;
}
enclosed_word log_word(double hi, double lo) noexcept {
  enclosed_word word;
  HWY_DYNAMIC_DISPATCH(log_of_word)(hi, lo, &word.hi, &word.lo, &word.radius);
  return word;
}
enclosed_word inverse_root(double d) noexcept {
  enclosed_word word;
  HWY_DYNAMIC_DISPATCH(inverse_root_word)(d, &word.hi, &word.lo);
  word.radius = word.hi * 0x1p-102;
  return word;
}

}  // namespace testing
}  // namespace attest::reference::machine
#endif
