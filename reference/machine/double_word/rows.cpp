// The machine tier in double words: f64, and elements of narrower types that doubles leave open.
#include "reference/machine/rows.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>

#include "reference/machine/block_task.hpp"
#include "reference/machine/environment.hpp"
#include "reference/machine/rank.hpp"
#include "reference/machine/workspace.hpp"

// One wide target, one of 256 bits, and the baseline: the ones that the tests run.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference/machine/double_word/rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace attest::reference::machine::HWY_NAMESPACE {

using reference::absolute, reference::exp_upper, reference::larger, reference::mul_add, reference::root,
    reference::rounded_down, reference::rounded_up, reference::smaller;
using reference::all, reference::both, reference::either, reference::inverse, reference::select;

#include "reference/machine/lanes-inl.hpp"
#include "reference/machine/exp-inl.hpp"
#include "reference/machine/scores-inl.hpp"
#include "reference/machine/weights-inl.hpp"
#include "reference/bound/formulas-inl.hpp"
#include "reference/machine/bounds-inl.hpp"
#include "reference/machine/columns-inl.hpp"
#include "reference/machine/gather-inl.hpp"

#include "reference/machine/double_word/double_word-inl.hpp"
#include "reference/machine/double_word/exp-inl.hpp"
#include "reference/machine/double_word/scores-inl.hpp"
#include "reference/machine/double_word/weights-inl.hpp"
#include "reference/machine/double_word/columns-inl.hpp"

#include "reference/machine/double_word/block-inl.hpp"

}  // namespace attest::reference::machine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attest::reference::machine {

HWY_EXPORT(any_pair_block);
HWY_EXPORT(exp_of_word);
HWY_EXPORT(exp_of_word_one);
HWY_EXPORT(log_of_word);
HWY_EXPORT(inverse_root_word);

machine_word machine_exp_word(double hi, double lo, bool lanes) noexcept {
  machine_word made;
  if (lanes) HWY_DYNAMIC_DISPATCH(exp_of_word)(hi, lo, &made.hi, &made.lo);
  else HWY_DYNAMIC_DISPATCH(exp_of_word_one)(hi, lo, &made.hi, &made.lo);
  made.radius = (26 + 2.2 * absolute(hi)) * 0x1p-106 * made.hi;
  return made;
}
machine_word machine_log_word(double hi, double lo) noexcept {
  machine_word made;
  HWY_DYNAMIC_DISPATCH(log_of_word)(hi, lo, &made.hi, &made.lo, &made.radius);
  return made;
}
machine_word machine_inverse_root(double d) noexcept {
  machine_word made;
  HWY_DYNAMIC_DISPATCH(inverse_root_word)(d, &made.hi, &made.lo);
  made.radius = made.hi * 0x1p-102;
  return made;
}

void run_pairs(any_block_task const& task) { HWY_DYNAMIC_DISPATCH(any_pair_block)(task); }

}  // namespace attest::reference::machine
#endif
