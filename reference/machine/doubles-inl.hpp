// The tier of doubles: what a block of rows asks of it. Compiled once for every SIMD target.
#if defined(ATTEST_REFERENCE_MACHINE_DOUBLES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_REFERENCE_MACHINE_DOUBLES_INL_HPP
#undef ATTEST_REFERENCE_MACHINE_DOUBLES_INL_HPP
#else
#define ATTEST_REFERENCE_MACHINE_DOUBLES_INL_HPP
#endif

#include <cstddef>

#include "reference/machine/block-inl.hpp"
#include "reference/machine/enclosures-inl.hpp"
#include "reference/machine/weights-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace attest::reference::machine::HWY_NAMESPACE {

/// LSE = M + ln Z with its radius, and its bounds in `facts`.
/// Why  log_upper is at most 2⁻⁴⁰(1 + |ln Z|) above ln Z
inline void log_sum_exp_of(row_numbers const& row, row_scalars& facts, certified_row& certified) {
  double const above = log_upper(row.Z_upper), below_ = log_upper(row.Z_lower);
  double const low = below_ - (1 + absolute(below_)) * 0x1.1p-40;
  double const ln_Z = (above + low) / 2;
  certified.lse = row.max + ln_Z;
  certified.lse_radius =
      rounded_up((above - low) / 2 + (absolute(ln_Z) + absolute(certified.lse)) * 0x1p-52) * (1 + 0x1p-50);
  facts.lse_upper = rounded_up(absolute(certified.lse) + certified.lse_radius);
  facts.lse_above_max = rounded_up(larger(0, above) + row.max_below);
}

class in_doubles {
 public:
  static constexpr bool double_words = false;

  template <class T>
  explicit in_doubles(problem::instance<T> const& p) : scale_(scale_of(p)) {}

  template <class T>
  static void scores(block_task<T> const& task) {
    block_scores(*task.p, task.b, task.h, task.i0, task.rows, *task.memory);
  }

  /// Weights and LSE of the n gathered keys. Returns false if the row must be handed over to the ball tier.
  template <class T>
  bool enclose(problem::instance<T> const& p, std::size_t n, row_scalars& facts, key_columns& keys,
               certified_row& certified) {
    row_ = {}, row_.softcap = p.softcap(), row_.scale = scale_;
    row_.in_base_2 = p.base() == problem::log_base::two;
    if (!find_weights(n, p.has_bias() || facts.has_sink, facts, keys, row_)) return false;
    log_sum_exp_of(row_, facts, certified);
    return true;
  }
  double Z() const { return row_.Z; }
  double mean_error() const { return row_.mean_error; }

  template <class T>
  void columns(column_task<T> const& task, std::size_t dv, bool bounds) const {
    if (bounds) sweep_columns(task, dv);
    else enclose_columns(task, dv);
  }
  template <class T>
  static void scale(problem::instance<T> const& p, bool bounds, workspace& memory) {
    scale_outputs(p, bounds, memory);
  }
  static void publish(std::size_t, bool, workspace&, certified_row&) {}  // nothing beside what both tiers publish

 private:
  double scale_;
  row_numbers row_;
};

void any_block(one_double_task const& task) {
  std::visit([]<class T>(block_task<T> const* typed_task) { block<in_doubles, T>(*typed_task).visit_rows(); }, task);
}

double exp_of(double x) { return hn::GetLane(exp_near(lanes(x)).raw); }
double exp_of_one(double x) { return exp_near(x); }

}  // namespace attest::reference::machine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
