// Honest kernels of version 2, each in a form other than the built-in kernel's.
#include "audit/zoo/operator/kernel.hpp"

ATTEST_OPERATOR(operator_sink_at_end, no_bug, "", "the sink joins behind the keys; dropout divides the weights") {};

ATTEST_OPERATOR(operator_sink_first, no_bug, "", "the running maximum starts at the sink; dropout divides V") {
  static constexpr bool sink_first = true;
  static constexpr auto drops_on = honest_operator<F>::on_values;
};

ATTEST_OPERATOR(operator_split, no_bug, "",
                "the keys in three parts, the sink in the first; dropout divides O behind the division") {
  static constexpr std::int64_t splits = 3;
  static constexpr bool sink_first = true;
  static constexpr auto drops_on = honest_operator<F>::on_output;
};

ATTEST_OPERATOR(operator_split_sink_at_end, no_bug, "", "the keys in seven parts, the sink behind them all") {
  static constexpr std::int64_t splits = 7;
};

ATTEST_OPERATOR_BEHIND(operator_sink_by_sigmoid, no_bug, "",
                       "the sink multiplies the answer of the keys by a sigmoid") {
  static constexpr bool sink_behind = true;
};

ATTEST_OPERATOR_BEHIND(operator_sink_by_lse, no_bug, "",
                       "the sink multiplies the answer of the keys by exp(LSE - LSE')") {
  static constexpr bool sink_behind = true;
  static F sink_factor(F, F lse, F whole) { return static_cast<F>(std::exp(static_cast<double>(lse - whole))); }
};
