#include "audit/judge/padding_rows.hpp"

#include <limits>

#include <fmt/format.h>

namespace attest::audit {

void judge_padding(owned_outputs const& outputs, contract const& claim, judgement& into) {
  using padding = conventions::padding;
  bool const kept = claim.conventions.padding_rows == padding::kept;
  if (!kept && claim.conventions.padding_rows != padding::zero) return;
  for (output_kind const which : output_kinds) {
    padding_found const& found = outputs.padding[static_cast<std::size_t>(which)];
    padding_found::rows const& rows = kept ? found.changed : found.not_zero;
    auto const& tensor = outputs.of(which);
    if (!tensor || rows.count == 0) continue;
    auto const& shape = tensor->layout.shape;
    into.failed += rows.count;
    violation wrong;  // its index stays 0, since no query of the problem has such a row
    wrong.output = name_of(which), wrong.bug_class = bug_class::entries,
    wrong.error_in_bounds = std::numeric_limits<double>::infinity();
    wrong.sentence =
        fmt::format("row [{}, {}, {}] of {} belongs to no query, and {}; the contract {} says that such rows are {}",
                    rows.first / shape[2] / shape[1], rows.first / shape[2] % shape[1], rows.first % shape[2],
                    wrong.output, kept ? "the kernel wrote there" : "is not 0", claim.name, kept ? "kept" : "0");
    into.add(std::move(wrong));
  }
}

}  // namespace attest::audit
