// A block of query rows, from scores to outputs, in either tier. Compiled once for every SIMD target.
#if defined(ATTEST_REFERENCE_MACHINE_BLOCK_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_REFERENCE_MACHINE_BLOCK_INL_HPP
#undef ATTEST_REFERENCE_MACHINE_BLOCK_INL_HPP
#else
#define ATTEST_REFERENCE_MACHINE_BLOCK_INL_HPP
#endif

#include <cstddef>
#include <cstdint>

#include "reference/machine/block_task.hpp"
#include "reference/machine/environment.hpp"
#include "reference/machine/gather-inl.hpp"
#include "reference/machine/keys_alone-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace attest::reference::machine::HWY_NAMESPACE {

/// The rows of one block_task. Tier is the arithmetic: in_doubles (doubles-inl.hpp) or in_double_words
/// (double_word/words-inl.hpp). The order is here, once for both:
///   keys, weights and LSE; the bound of the row; its columns with their bounds; the visit.
/// Further models repeat all but the first step. A row whose sink may be a factor is bounded twice by each model, first
/// without the sink (keys_alone-inl.hpp).
template <class Tier, class T>
class block {
 public:
  explicit block(block_task<T> const& task)
      : task_(task), p_(*task.p), memory_(*task.memory), keys_(memory_.keys), tier_(p_) {}

  void visit_rows() {
    bool const safe = !unsafe_environment();
    if (safe) Tier::scores(task_);
    for (at_ = 0; at_ < task_.rows; ++at_) {
      certified_ = {};
      certified_.b = task_.b, certified_.h = task_.h, certified_.i = task_.i0 + static_cast<std::int64_t>(at_);
      certified_.memory = &memory_;
      if (safe) visit_row();
      else visit();
    }
  }

 private:
  void visit_row() {
    n_ = enclose(true);
    double const sum_eta = n_ == 0 ? -1 : task_.options.bounds ? bound(*task_.model) : 0;
    if (sum_eta < 0) return visit();  // handed over
    publish_columns(sum_eta);
    publish_weights();
    visit();
    if (bounded_again(p_.size(), task_.b, task_.h, certified_.i)) visit_further();
  }
  void visit_further() {
    for (std::size_t at = 0; at < task_.options.further.size(); ++at) {
      double const sum_eta = bound(task_.options.further[at]);
      if (sum_eta < 0) {
        if (enclose(true) != n_) return;  // `keys_` may hold the row without its sink
        continue;
      }
      publish_columns(sum_eta);
      certified_.model = at + 1;
      visit();
    }
  }
  void visit() const { task_.visit(task_.context, certified_); }

  /// Fills `keys_` and the facts of the row, with its sink or without. Returns the number of keys, 0 where the row must
  /// be handed over.
  std::size_t enclose(bool with_sink) {
    facts_ = scalars_of(p_, task_.b, memory_.q.data() + at_ * static_cast<std::size_t>(p_.size().d));
    auto const found = gather<Tier::double_words>(p_, task_.b, task_.h, certified_.i, at_, memory_, facts_, with_sink);
    return found && *found > 0 && tier_.enclose(p_, *found, facts_, keys_, certified_) ? *found : 0;
  }

  /// The terms of the row in `keys_`, by `model`. Returns Σ_{j∉J} η_j, or a negative number: the row must be handed
  /// over.
  double bound(problem::kernel_model const& model) {
    bool const beside = bounds_keys_alone(facts_, model);
    if (beside && !(bound_alone(model) && enclose(true) == n_)) return -1;
    double const sum_eta = bound_keys(n_, model, terms_);
    if (beside && sum_eta >= 0) rescale_row(n_, task_.options.weights, terms_, memory_);
    return sum_eta;
  }
  /// The same of the row without its sink, kept in memory_.alone. Returns false: the row must be handed over.
  bool bound_alone(problem::kernel_model const& model) {
    std::size_t const n = enclose(false);
    double const sum_eta = n > 0 ? bound_keys(n, model, memory_.alone.terms) : -1;
    if (sum_eta < 0) return false;
    tier_.columns(columns_of(n, memory_.alone.terms, sum_eta), dv(), true);
    keep_alone(n, dv(), task_.options.weights, facts_, certified_, memory_);
    return true;
  }
  double bound_keys(std::size_t n, problem::kernel_model const& model, row_terms& to) {
    return bound_row(n, model, facts_, task_.options.weights, keys_, memory_.ranks, memory_.known, to);
  }

  void publish_columns(double sum_eta) {
    tier_.columns(columns_of(n_, terms_, sum_eta), dv(), task_.options.bounds);
    tier_.scale(p_, task_.options.bounds, memory_);
    publish(memory_, real(), task_.options, terms_, certified_);
  }
  void publish_weights() {
    if (facts_.has_sink)
      certified_.sink_lower = keys_.weight_lower[real()], certified_.sink_upper = keys_.weight_upper[real()];
    tier_.publish(real(), task_.options.weights, memory_, certified_);
  }

  column_task<T> columns_of(std::size_t n, row_terms const& by, double sum_eta) {
    std::size_t const real = n - (facts_.has_sink ? 1 : 0);
    bool const all = real == static_cast<std::size_t>(p_.keys(task_.b)) && !facts_.drops;
    if (all) measure_values(p_, task_.b, key_head(p_.size(), task_.h), memory_);
    return {keys_, n, tier_.Z(), tier_.mean_error(), by, sum_eta, all, memory_};
  }
  std::size_t real() const { return n_ - (facts_.has_sink ? 1 : 0); }
  std::size_t dv() const { return static_cast<std::size_t>(p_.size().dv); }

  block_task<T> const& task_;
  problem::instance<T> const& p_;
  workspace& memory_;
  key_columns& keys_;
  Tier tier_;
  row_terms terms_;
  // Of the current row: its place in the block, its keys with a sink, what the visitor gets, its facts.
  std::size_t at_ = 0, n_ = 0;
  certified_row certified_;
  row_scalars facts_;
};

}  // namespace attest::reference::machine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
