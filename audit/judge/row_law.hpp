// The law that judges the row of a query: docs/semantics.md, or a convention that the contract puts in its place. The
// law of a row follows from the inputs and the contract alone, before any output is read.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "audit/contract/contract.hpp"
#include "audit/judge/infinite_sink.hpp"
#include "audit/tensors/owned_problem.hpp"
#include "audit/tensors/row_index.hpp"
#include "reference/real/outward.hpp"

namespace attest::audit {

enum class row_law : std::uint8_t {
  semantics,       ///< the theorem, and where there is nothing to bound exact_values_of()
  every_key,       ///< empty_row: unmasked. O, LSE and weights of the same query with every key visible
  mean_of_values,  ///< empty_row: mean. O is the mean of V and the weights are equal, or 0; the LSE is
                   ///< exact_values_of()
  sink_takes_all,  ///< sink_inf: limit. O = 0, weights 0, LSE = +∞
};

/// The exact values that a contract prescribes. Values that it does not mention are the values of docs/semantics.md.
struct exact_values {
  double empty_o = 0;                       ///< O of a row without a visible key and without a sink: 0 or NaN
  double empty_lse = -reference::infinity;  ///< its LSE
  bool any_for_nan = false;                 ///< any output is right where the exact one is NaN or infinite
};

/// Requires  the entry of the row has `keys` keys, visible or not
inline exact_values exact_values_of(conventions const& how, std::int64_t keys) noexcept {
  using row = conventions::row;
  using log = conventions::log;
  bool const is_nan = how.empty_row == row::nan || (how.empty_row == row::nan_unless_no_keys && keys > 0);
  return {.empty_o = is_nan ? std::numeric_limits<double>::quiet_NaN() : 0,
          .empty_lse = how.empty_lse == log::zero            ? 0
                       : how.empty_lse == log::plus_infinity ? reference::infinity
                                                             : -reference::infinity,
          .any_for_nan = how.nan == conventions::invalid::unspecified};
}

/// The laws of the rows of one problem under one contract. Any number of threads may ask at the same time.
class row_laws {
 public:
  /// Requires  `problem` outlives this object
  row_laws(owned_problem const& problem, contract const& claim);

  /// Does docs/semantics.md judge every row, whatever the problem holds?
  bool are_semantics() const noexcept { return !replaces_empty_rows_ && !keys_alone_; }

  /// Cost      m if the numbers of the problem are finite and the row has a key; else the cost of enclosing the row
  row_law of(row_index const& row) const;

  /// Which elements of a row under sink_takes_all are not judged. Returns nothing if its sink does not take all.
  std::optional<row_of_infinite_sink> taken(row_index const& row) const;

 private:
  template <class T>
  row_law of(problem::instance<T> const& p, row_index const& row) const;

  owned_problem const& problem_;
  conventions::row empty_row_;
  problem::kernel_model model_;
  bool replaces_empty_rows_, is_finite_;
  std::optional<owned_problem> keys_alone_;  ///< without the sink, if the contract says sink_inf: limit
};

/// The queries of the problem, in order; if `rows` is not empty, the queries among these.
std::vector<row_index> queries_among(owned_problem const& problem, std::span<row_index const> rows = {});

/// The queries that see no key and have no sink, in order.
std::vector<row_index> empty_rows_of(owned_problem const& problem);

}  // namespace attest::audit
