// 128 bits, the width that decides nearly every row.
#include "reference/compiled/row-inl.hpp"

namespace attest::reference::compiled {

void evaluate(row_bound& bound, problem::kernel_model const& model, row_facts const& facts) {
  bound.evaluate(model, facts);
}

namespace {
[[gnu::used]] constexpr auto at_128 = std::tuple{rows_of<128>(every_type), facts_of<128>(every_type)};
}

}  // namespace attest::reference::compiled
