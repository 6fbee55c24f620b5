// A block of query rows in double words, from scores to outputs. Compiled once for every SIMD target.
#if defined(ATTEST_REFERENCE_MACHINE_DOUBLE_WORD_BLOCK_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_REFERENCE_MACHINE_DOUBLE_WORD_BLOCK_INL_HPP
#undef ATTEST_REFERENCE_MACHINE_DOUBLE_WORD_BLOCK_INL_HPP
#else
#define ATTEST_REFERENCE_MACHINE_DOUBLE_WORD_BLOCK_INL_HPP
#endif

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "reference/machine/block_task.hpp"
#include "reference/machine/double_word/columns-inl.hpp"
#include "reference/machine/double_word/scores-inl.hpp"
#include "reference/machine/environment.hpp"
#include "reference/machine/gather-inl.hpp"
#include "reference/machine/keys_alone-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace attest::reference::machine::HWY_NAMESPACE {

template <class T>
void word_block(block_task<T> const& task) {
  problem::instance<T> const& p = *task.p;
  problem::sizes const& s = p.size();
  workspace& memory = *task.memory;
  key_columns& keys = memory.keys;
  row_terms terms;
  auto const dv = static_cast<std::size_t>(s.dv);
  bool const safe = !unsafe_environment();
  if (safe) block_word_scores(p, task.b, task.h, task.i0, task.rows, memory);
  auto const given = given_scale(p);
  double_word<double> const scale = given     ? word(*given)
                                    : s.d > 0 ? inverse_root_of(static_cast<double>(s.d))
                                              : word(infinity);
  for (std::size_t r = 0; r < task.rows; ++r) {
    certified_row certified;
    certified.b = task.b, certified.h = task.h, certified.i = task.i0 + static_cast<std::int64_t>(r);
    certified.memory = &memory;
    row_scalars facts;
    word_row_numbers row;
    std::int64_t const hk = key_head(s, task.h);
    // The row in `keys`, with its sink or without; 0 where it must be handed over.
    auto const enclose = [&](bool with_sink) -> std::size_t {
      facts = scalars_of(p, task.b, memory.q.data() + r * static_cast<std::size_t>(s.d));
      row = {}, row.softcap = p.softcap(), row.scale = scale;
      row.in_base_2 = p.base() == problem::log_base::two;
      auto const found = gather<true>(p, task.b, task.h, certified.i, r, memory, facts, with_sink);
      bool const enclosed = found && *found > 0 && find_word_weights(*found, facts, keys, row) &&
                            log_sum_exp_of_words(row, facts, certified);
      return enclosed ? *found : 0;
    };
    auto const columns_of = [&](std::size_t count, row_terms const& by, double sum_eta) {
      bool const all = count - (facts.has_sink ? 1 : 0) == static_cast<std::size_t>(p.keys(task.b)) && !facts.drops;
      if (all) measure_values(p, task.b, hk, memory);
      return column_task<T>{keys, count, row.Z.hi, row.mean_error, by, sum_eta, all, memory};
    };
    auto const bound = [&](std::size_t count, problem::kernel_model const& model, row_terms& to) {
      return bound_row(count, model, facts, task.options.weights, keys, memory.ranks, memory.known, to);
    };
    auto const bound_alone = [&](problem::kernel_model const& model) {
      std::size_t const count = enclose(false);
      double const sum_eta = count > 0 ? bound(count, model, memory.alone.terms) : -1;
      if (sum_eta < 0) return false;
      column_task<T> const columns = columns_of(count, memory.alone.terms, sum_eta);
      enclose_word_columns(columns, row, dv);
      sweep_columns<true>(columns, dv);
      keep_alone(count, dv, task.options.weights, facts, certified, memory);
      return true;
    };
    std::size_t const n = safe ? enclose(true) : 0;
    auto const bound_by = [&](problem::kernel_model const& model, bool again) {
      bool const beside = bounds_keys_alone(facts, model);
      if (beside && !(bound_alone(model) && enclose(true) == n)) return -1.0;
      double const sum_eta = bound(n, model, terms);
      if (beside && sum_eta >= 0) rescale_row(n, task.options.weights, terms, memory);
      if (beside && again && sum_eta >= 0) enclose_word_columns(columns_of(n, terms, sum_eta), row, dv);
      return sum_eta;
    };
    double sum_eta = n == 0 ? -1 : task.options.bounds ? bound_by(*task.model, false) : 0;
    if (sum_eta < 0) {
      task.visit(task.context, certified);
      continue;
    }
    std::size_t const real = n - (facts.has_sink ? 1 : 0);
    column_task<T> const columns = columns_of(n, terms, sum_eta);
    enclose_word_columns(columns, row, dv);
    if (task.options.bounds) sweep_columns<true>(columns, dv);
    scale_outputs(p, task.options.bounds, memory);
    scale_word_outputs(p, memory);
    publish(memory, real, task.options, terms, certified);
    if (facts.has_sink) certified.sink_lower = keys.weight_lower[real], certified.sink_upper = keys.weight_upper[real];
    certified.o_low = memory.kept_low.empty() ? memory.o_low : memory.kept_low;
    if (task.options.weights) {
      word_share_stage shares{keys, row};
      each_key(real, shares);
      certified.weight = std::span(keys.share).first(real);
      certified.weight_low = std::span(keys.share_low).first(real);
      certified.weight_radius = std::span(keys.share_radius).first(real);
    }
    task.visit(task.context, certified);
    if (!bounded_again(s, task.b, task.h, certified.i)) continue;
    for (std::size_t at = 0; at < task.options.further.size(); ++at) {
      sum_eta = bound_by(task.options.further[at], true);
      if (sum_eta < 0) {
        if (enclose(true) != n) break;  // `keys` and the columns may hold the row without its sink
        enclose_word_columns(columns, row, dv);
        continue;
      }
      column_task<T> further = columns;
      further.sum_eta = sum_eta;
      sweep_columns<true>(further, dv);
      scale_outputs(p, true, memory);
      scale_word_outputs(p, memory);
      publish(memory, real, task.options, terms, certified);
      certified.model = at + 1;
      task.visit(task.context, certified);
    }
  }
}

void any_word_block(any_block_task const& task) {
  std::visit([](auto const* typed_task) { word_block(*typed_task); }, task);
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
