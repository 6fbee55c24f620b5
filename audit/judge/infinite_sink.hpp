// Rows with a sink of +∞ under the convention sink_inf: limit. As t grows, the sink takes all the weight: O = 0,
// weights 0, LSE = +∞.
#pragma once

#include <optional>
#include <vector>

#include "audit/judge/outside_hypotheses.hpp"
#include "audit/judge/row_truth.hpp"
#include "audit/tensors/owned_problem.hpp"
#include "audit/tensors/row_index.hpp"
#include "reference/attention/sink.hpp"

namespace attest::audit {

/// The elements that are not judged in a row whose sink is +∞.
struct row_of_infinite_sink {
  bool is_outside = false;        ///< the scores of its keys are outside the hypotheses: a kernel may get NaN
  std::vector<char> leaves_open;  ///< by column of O: V holds a NaN or an infinity at a key, whose weight is 0
};

/// The problem without its sink; nothing if it has no sink.
inline std::optional<owned_problem> without_sink(owned_problem const& problem) {
  if (!problem.draft().sink) return std::nullopt;
  problem_draft keys = problem.draft();
  keys.sink.reset();
  return owned_problem::of_valid(std::move(keys));
}

/// True if the head has a sink other than −∞ (−∞ means no sink).
template <class T>
bool has_a_sink(problem::instance<T> const& p, std::int64_t b, std::int64_t h) {
  return reference::sink_at(p, b, h).kind != reference::number_class::minus_infinity;
}

/// Returns nothing if the sink of row (b, h, i) is not +∞, or if a score of its keys makes it a NaN row.
/// Requires  `keys`, the same problem without its sink
/// Cost      one row of the ball tier if the sink is +∞
template <class T>
std::optional<row_of_infinite_sink> taken_by_sink(problem::instance<T> const& whole, problem::instance<T> const& keys,
                                                  problem::kernel_model const& model, row_index const& row) {
  auto const& [b, h, i] = row;
  if (reference::sink_at(whole, b, h).kind != reference::number_class::plus_infinity) return std::nullopt;
  row_truth<first_width, T> truth;
  truth.evaluate(keys, model, b, h, i);
  if (truth.row.kind == reference::row_kind::nan) return std::nullopt;
  row_of_infinite_sink found;
  found.is_outside = is_outside_hypotheses(keys, model, truth, b, h, i);
  for (std::int64_t c = 0; c < keys.size().dv; ++c)
    found.leaves_open.push_back(reference::compiled::output(keys, truth.row, c).kind != reference::value_kind::finite);
  return found;
}

}  // namespace attest::audit
