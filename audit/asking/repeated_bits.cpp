#include "audit/asking/repeated_bits.hpp"

#include "audit/judge/cross_call.hpp"

namespace attest::audit {

problem::result<bool> bit_repeater::repeats(std::initializer_list<std::size_t> calls, int times) {
  constexpr double enough_seconds = 2;
  for (int time = 0; time < times; ++time)
    for (std::size_t const call : calls) {
      if (failed_ || seconds_ >= enough_seconds) return true;
      auto ran =
          kernel_.run(case_.call(call), case_.threads_of(call), placement::end, case_.asks, case_.memory_of(call));
      if (!ran) return ran.why();
      seconds_ += ran.value().seconds;
      failed_ = ran.value().report.outcome != call_outcome::succeeded;
      if (!failed_ && !same_bits(ran.value().outputs, *outputs_[call])) return false;
    }
  return true;
}

problem::result<std::optional<audit_case>> without_bits_that_vary(bit_repeater& repeater, audit_case const& of,
                                                                  case_outputs const& outputs) {
  constexpr int times = 8;
  std::optional<audit_case> changed;
  check const* const about = find_check(of.check);
  if (about && about->bug_class == bug_class::nondeterminism) return changed;
  for (std::size_t n = 0; outputs[0] && n < of.further.size(); ++n) {
    further_call const& further = of.further[n];
    bool const alike = further.is == relation::same_bits || further.is == relation::same_rows;
    if (!alike || !further.promised || !outputs[n + 1]) continue;
    if (!outputs_differ(of, *outputs[0], further, *outputs[n + 1])) continue;
    auto const same = repeater.repeats({0, n + 1}, times);
    if (!same) return same.why();
    if (same.value()) continue;
    if (!changed) changed = of;
    changed->further[n].promised = false;
    changed->further[n].says = bits_vary;
  }
  return changed;
}

}  // namespace attest::audit
