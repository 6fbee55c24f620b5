#include "audit/judge/row_law.hpp"

#include "audit/judge/hidden_keys.hpp"
#include "audit/tensors/entry_forms.hpp"
#include "reference/attention/score.hpp"
#include "reference/compiled/row.hpp"

namespace attest::audit {
namespace {

/// Are the numbers of the problem finite? A bias of −∞ is allowed. If so, a row with a visible key whose bias is finite
/// has a finite score.
bool is_finite(owned_problem const& problem) {
  auto const& sink = problem.draft().sink;
  return !has_nonfinite(problem) && !(sink && has_nonfinite(*sink, true));
}

/// Is there a visible key whose bias is not −∞?
template <class T>
bool sees_a_key(problem::instance<T> const& p, row_index const& row) {
  auto const& [b, h, i] = row;
  for (std::int64_t j = 0; j < p.keys(b); ++j)
    if (reference::visible(p, b, h, i, j) &&
        reference::bias_at(p, b, h, i, j).kind != reference::number_class::minus_infinity)
      return true;
  return false;
}

/// The kind of the row. An `empty` row may have a sink that is NaN or +∞.
template <class T>
reference::row_kind kind_of(problem::instance<T> const& p, row_index const& row) {
  static thread_local reference::enclosed_row<first_width, T> reused;
  reference::compiled::enclose_row(p, row.b, row.h, row.i, reused);
  return reused.kind;
}

}  // namespace

row_laws::row_laws(owned_problem const& problem, contract const& claim)
    : problem_(problem),
      empty_row_(claim.conventions.empty_row),
      model_(claim.model_for(problem.instance())),
      replaces_empty_rows_(empty_row_ == conventions::row::mean || empty_row_ == conventions::row::unmasked) {
  if (claim.conventions.sink_inf == conventions::infinite_sink::limit) keys_alone_ = without_sink(problem);
  is_finite_ = !are_semantics() && is_finite(problem);
}

template <class T>
row_law row_laws::of(problem::instance<T> const& p, row_index const& row) const {
  if (is_finite_ && (!replaces_empty_rows_ || sees_a_key(p, row))) return row_law::semantics;
  reference::row_kind const kind = kind_of(p, row);
  if (replaces_empty_rows_ && kind == reference::row_kind::empty && !has_a_sink(p, row.b, row.h) && p.keys(row.b) > 0)
    return empty_row_ == conventions::row::mean ? row_law::mean_of_values : row_law::every_key;
  if (kind == reference::row_kind::nan && taken(row)) return row_law::sink_takes_all;
  return row_law::semantics;
}

row_law row_laws::of(row_index const& row) const {
  if (are_semantics()) return row_law::semantics;
  return std::visit([&](auto const& p) { return of(p, row); }, problem_.instance());
}

std::optional<row_of_infinite_sink> row_laws::taken(row_index const& row) const {
  if (!keys_alone_) return std::nullopt;
  return std::visit(
      [&]<class T>(problem::instance<T> const& p) {
        return taken_by_sink(p, std::get<problem::instance<T>>(keys_alone_->instance()), model_, row);
      },
      problem_.instance());
}

std::vector<row_index> queries_among(owned_problem const& problem, std::span<row_index const> rows) {
  std::vector<row_index> queries;
  for (row_index const& row : rows)
    if (row.i < queries_of(problem, row.b)) queries.push_back(row);
  if (!rows.empty()) return queries;
  problem::sizes const& s = problem.size();
  for (std::int64_t b = 0; b < s.b; ++b)
    for (std::int64_t h = 0; h < s.hq; ++h)
      for (std::int64_t i = 0; i < queries_of(problem, b); ++i) queries.push_back({b, h, i});
  return queries;
}

std::vector<row_index> empty_rows_of(owned_problem const& problem) {
  std::vector<row_index> rows = queries_among(problem);
  bool const finite = is_finite(problem);
  std::visit(
      [&](auto const& p) {
        std::erase_if(rows, [&](row_index const& row) {
          if (finite && sees_a_key(p, row)) return true;
          return kind_of(p, row) != reference::row_kind::empty || has_a_sink(p, row.b, row.h);
        });
      },
      problem.instance());
  return rows;
}

}  // namespace attest::audit
