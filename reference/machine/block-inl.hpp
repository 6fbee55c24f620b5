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
    row_scalars facts = scalars_of(p, task.b, memory.q.data() + r * static_cast<std::size_t>(s.d));
    row_numbers row;
    row.softcap = p.softcap(), row.scale = scale_of(p);
    auto const n = safe ? gather<false>(p, task.b, task.h, certified.i, r, memory, facts) : std::nullopt;
    double sum_eta = -1;
    if (n && *n > 0 && find_weights(*n, p.has_bias() || facts.has_sink, facts, keys, row)) {
      log_sum_exp_of(row, facts, certified);
      sum_eta = task.options.bounds
                    ? bound_row(*n, *task.model, facts, task.options.weights, keys, memory.ranks, memory.known, terms)
                    : 0;
    }
    if (sum_eta < 0) {
      task.visit(task.context, certified);
      continue;
    }
    std::int64_t const hk = key_head(s, task.h);
    std::size_t const real = *n - (facts.has_sink ? 1 : 0);
    bool const all_keys = real == static_cast<std::size_t>(p.keys(task.b)) && !facts.drops;
    if (all_keys) measure_values(p, task.b, hk, memory);
    column_task<T> const columns{keys, *n, row.Z, row.mean_error, terms, sum_eta, all_keys, memory};
    if (task.options.bounds) sweep_columns(columns, dv);
    else enclose_columns(columns, dv);
    scale_outputs(p, task.options.bounds, memory);
    publish(memory, real, task.options, terms, certified);
    if (facts.has_sink) certified.sink_lower = keys.weight_lower[real], certified.sink_upper = keys.weight_upper[real];
    task.visit(task.context, certified);
    if (!bounded_again(s, task.b, task.h, certified.i)) continue;
    for (std::size_t at = 0; at < task.options.further.size(); ++at) {
      sum_eta =
          bound_row(*n, task.options.further[at], facts, task.options.weights, keys, memory.ranks, memory.known, terms);
      if (sum_eta < 0) continue;
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
