// The tier of double words: what a block of rows asks of it. Compiled once for every SIMD target.
#if defined(ATTEST_REFERENCE_MACHINE_DOUBLE_WORD_WORDS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_REFERENCE_MACHINE_DOUBLE_WORD_WORDS_INL_HPP
#undef ATTEST_REFERENCE_MACHINE_DOUBLE_WORD_WORDS_INL_HPP
#else
#define ATTEST_REFERENCE_MACHINE_DOUBLE_WORD_WORDS_INL_HPP
#endif

#include <cstddef>
#include <span>

#include "reference/machine/block-inl.hpp"
#include "reference/machine/double_word/columns-inl.hpp"
#include "reference/machine/double_word/scores-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace attest::reference::machine::HWY_NAMESPACE {

/// σ within 16u²; infinite, so that the row is handed over, where 1/√d has no value.
template <class T>
double_word<double> word_scale_of(problem::instance<T> const& p) {
  if (auto const given = given_scale(p)) return word(*given);
  return p.size().d > 0 ? inverse_root_of(static_cast<double>(p.size().d)) : word(infinity);
}

class in_double_words {
 public:
  static constexpr bool double_words = true;

  template <class T>
  explicit in_double_words(problem::instance<T> const& p) : scale_(word_scale_of(p)) {}

  template <class T>
  static void scores(block_task<T> const& task) {
    block_word_scores(*task.p, task.b, task.h, task.i0, task.rows, *task.memory);
  }

  /// Weights and LSE of the n gathered keys. Returns false if the row must be handed over to the ball tier.
  template <class T>
  bool enclose(problem::instance<T> const& p, std::size_t n, row_scalars& facts, key_columns& keys,
               certified_row& certified) {
    row_ = {}, row_.softcap = p.softcap(), row_.scale = scale_;
    row_.in_base_2 = p.base() == problem::log_base::two;
    columns_known_ = false;
    return find_word_weights(n, facts, keys, row_) && log_sum_exp_of_words(row_, facts, certified);
  }
  double Z() const { return row_.Z.hi; }
  double mean_error() const { return row_.mean_error; }

  /// The columns depend on no kernel model: they are enclosed once, and swept for each.
  template <class T>
  void columns(column_task<T> const& task, std::size_t dv, bool bounds) {
    if (!columns_known_) enclose_word_columns(task, row_, dv);
    columns_known_ = true;
    if (bounds) sweep_columns<true>(task, dv);
  }
  template <class T>
  static void scale(problem::instance<T> const& p, bool bounds, workspace& memory) {
    scale_outputs(p, bounds, memory);
    scale_word_outputs(p, memory);
  }
  /// What doubles do not have: the low words of o, and, if asked for, the weights of the first n keys as double words.
  void publish(std::size_t n, bool weights, workspace& memory, certified_row& certified) const {
    certified.o_low = memory.kept_low.empty() ? memory.o_low : memory.kept_low;
    if (!weights) return;
    key_columns& keys = memory.keys;
    word_share_stage shares{keys, row_};
    each_key(n, shares);
    certified.weight = std::span(keys.share).first(n);
    certified.weight_low = std::span(keys.share_low).first(n);
    certified.weight_radius = std::span(keys.share_radius).first(n);
  }

 private:
  double_word<double> scale_;
  word_row_numbers row_;
  bool columns_known_ = false;  ///< memory.o and o_low belong to the row in `keys`
};

void any_word_block(any_block_task const& task) {
  std::visit([]<class T>(block_task<T> const* typed_task) { block<in_double_words, T>(*typed_task).visit_rows(); },
             task);
}

void exp_of_word(double hi, double lo, double* high, double* low) {
  auto const result = exp_near(double_word<lanes>{lanes(hi), lanes(lo)});
  *high = hn::GetLane(result.hi.raw), *low = hn::GetLane(result.lo.raw);
}
void exp_of_word_one(double hi, double lo, double* high, double* low) {
  auto const result = exp_near(double_word<double>{hi, lo});
  *high = result.hi, *low = result.lo;
}
void log_of_word(double hi, double lo, double* high, double* low, double* radius) {
  auto const result = log_near({hi, lo});
  *high = result.value.hi, *low = result.value.lo, *radius = result.radius;
}
void inverse_root_word(double d, double* high, double* low) {
  auto const root = inverse_root_of(d);
  *high = root.hi, *low = root.lo;
}

}  // namespace attest::reference::machine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
