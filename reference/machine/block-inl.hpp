// A block of query rows, from scores to outputs. Compiled once for every SIMD target.
#if defined(ATTEST_REFERENCE_MACHINE_BLOCK_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTEST_REFERENCE_MACHINE_BLOCK_INL_HPP
#undef ATTEST_REFERENCE_MACHINE_BLOCK_INL_HPP
#else
#define ATTEST_REFERENCE_MACHINE_BLOCK_INL_HPP
#endif

#include <cstddef>
#include <cstdint>
#include <optional>

#include "reference/machine/block_task.hpp"
#include "reference/machine/enclosures-inl.hpp"
#include "reference/machine/environment.hpp"
#include "reference/machine/gather-inl.hpp"
#include "reference/machine/keys_alone-inl.hpp"
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

template <class T>
void block(block_task<T> const& task) {
  problem::instance<T> const& p = *task.p;
  problem::sizes const& s = p.size();
  workspace& memory = *task.memory;
  key_columns& keys = memory.keys;
  row_terms terms;
  auto const dv = static_cast<std::size_t>(s.dv);
  bool const safe = !unsafe_environment();
  if (safe) block_scores(p, task.b, task.h, task.i0, task.rows, memory);
  for (std::size_t r = 0; r < task.rows; ++r) {
    certified_row certified;
    certified.b = task.b, certified.h = task.h, certified.i = task.i0 + static_cast<std::int64_t>(r);
    certified.memory = &memory;
    row_scalars facts;
    row_numbers row;
    std::int64_t const hk = key_head(s, task.h);
    // The row in `keys`, with its sink or without; 0 where it must be handed over.
    auto const enclose = [&](bool with_sink) -> std::size_t {
      facts = scalars_of(p, task.b, memory.q.data() + r * static_cast<std::size_t>(s.d));
      row = {}, row.softcap = p.softcap(), row.scale = scale_of(p);
      row.in_base_2 = p.base() == problem::log_base::two;
      auto const found = gather<false>(p, task.b, task.h, certified.i, r, memory, facts, with_sink);
      if (!found || *found == 0 || !find_weights(*found, p.has_bias() || facts.has_sink, facts, keys, row)) return 0;
      log_sum_exp_of(row, facts, certified);
      return *found;
    };
    auto const columns_of = [&](std::size_t count, row_terms const& by, double sum_eta) {
      bool const all = count - (facts.has_sink ? 1 : 0) == static_cast<std::size_t>(p.keys(task.b)) && !facts.drops;
      if (all) measure_values(p, task.b, hk, memory);
      return column_task<T>{keys, count, row.Z, row.mean_error, by, sum_eta, all, memory};
    };
    auto const bound = [&](std::size_t count, problem::kernel_model const& model, row_terms& to) {
      return bound_row(count, model, facts, task.options.weights, keys, memory.ranks, memory.known, to);
    };
    auto const bound_alone = [&](problem::kernel_model const& model) {
      std::size_t const count = enclose(false);
      double const sum_eta = count > 0 ? bound(count, model, memory.alone.terms) : -1;
      if (sum_eta < 0) return false;
      sweep_columns(columns_of(count, memory.alone.terms, sum_eta), dv);
      keep_alone(count, dv, task.options.weights, facts, certified, memory);
      return true;
    };
    std::size_t const n = safe ? enclose(true) : 0;
    auto const bound_by = [&](problem::kernel_model const& model) {
      bool const beside = bounds_keys_alone(facts, model);
      if (beside && !(bound_alone(model) && enclose(true) == n)) return -1.0;
      double const sum_eta = bound(n, model, terms);
      if (beside && sum_eta >= 0) rescale_row(n, task.options.weights, terms, memory);
      return sum_eta;
    };
    double sum_eta = n == 0 ? -1 : task.options.bounds ? bound_by(*task.model) : 0;
    if (sum_eta < 0) {
      task.visit(task.context, certified);
      continue;
    }
    std::size_t const real = n - (facts.has_sink ? 1 : 0);
    column_task<T> const columns = columns_of(n, terms, sum_eta);
    if (task.options.bounds) sweep_columns(columns, dv);
    else enclose_columns(columns, dv);
    scale_outputs(p, task.options.bounds, memory);
    publish(memory, real, task.options, terms, certified);
    if (facts.has_sink) certified.sink_lower = keys.weight_lower[real], certified.sink_upper = keys.weight_upper[real];
    task.visit(task.context, certified);
    if (!bounded_again(s, task.b, task.h, certified.i)) continue;
    for (std::size_t at = 0; at < task.options.further.size(); ++at) {
      sum_eta = bound_by(task.options.further[at]);
      if (sum_eta < 0) {
        if (enclose(true) != n) break;  // `keys` may hold the row without its sink
        continue;
      }
      column_task<T> further = columns;
      further.sum_eta = sum_eta;
      sweep_columns(further, dv);
      scale_outputs(p, true, memory);
      publish(memory, real, task.options, terms, certified);
      certified.model = at + 1;
      task.visit(task.context, certified);
    }
  }
}

void any_block(one_double_task const& task) {
  std::visit([](auto const* typed_task) { block(*typed_task); }, task);
}

double exp_of(double x) { return hn::GetLane(exp_near(lanes(x)).raw); }
double exp_of_one(double x) { return exp_near(x); }

}  // namespace attest::reference::machine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
