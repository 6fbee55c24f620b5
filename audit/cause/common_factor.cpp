#include "audit/cause/common_factor.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "audit/judge/element_value.hpp"
#include "audit/judge/row_truth.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/entry_forms.hpp"

namespace attest::audit {
namespace {

struct column {
  double got = 0, exact = 0, bound = 0;
  bool constant = false;  ///< all visible values are equal
};

/// The columns of a row; empty where one of them is not finite or not bounded.
template <class T>
std::vector<column> columns_of(problem::instance<T> const& p, problem::kernel_model const& model, owned_tensor const& o,
                               std::size_t row, violation const& wrong) {
  auto const [b, h, i, at] = wrong.index;
  problem::sizes const& s = p.size();
  row_truth<128, T> truth;
  truth.evaluate(p, model, b, h, i);
  if (truth.row.kind != reference::row_kind::finite || truth.row.has_sink() || p.keep().present) return {};
  std::int64_t const hk = reference::key_head(s, h);
  std::vector<column> columns;
  for (std::int64_t c = 0; c < s.dv; ++c) {
    auto const exact = reference::compiled::output(p, truth.row, c);
    double const got = load(o, row * static_cast<std::size_t>(s.dv) + static_cast<std::size_t>(c));
    if (exact.kind != reference::value_kind::finite || !std::isfinite(got)) return {};
    auto const bound = reference::compiled::output_bound(truth.bound, p, truth.row, c, exact.value);
    if (bound.by == reference::judged_by::nothing || !(bound.size < reference::infinity)) return {};
    double const first = as_double(p.v()(b, hk, truth.row.keys.front().j, c));
    columns.push_back({got, (reference::lower(exact.value) + reference::upper(exact.value)) / 2, bound.size,
                       std::ranges::all_of(truth.row.keys, [&](auto const& key) {
                         return as_double(p.v()(b, hk, key.j, c)) == first;
                       })});
  }
  return columns;
}

}  // namespace

std::optional<common_factor> find_common_factor(owned_problem const& problem, owned_outputs const& outputs,
                                                violation const& wrong, contract const& claim) {
  if (wrong.output != "o" || !outputs.o || !std::isfinite(wrong.got)) return std::nullopt;
  std::size_t const row = output_row(problem, wrong.index[0], wrong.index[1], wrong.index[2]);
  auto const columns = std::visit(
      [&](auto const& p) { return columns_of(p, claim.model_for(problem.instance()), *outputs.o, row, wrong); },
      problem.instance());
  auto const sharpest = std::ranges::min_element(
      columns, {}, [](column const& c) { return c.exact == 0 ? reference::infinity : c.bound / std::abs(c.exact); });
  if (sharpest == columns.end() || sharpest->exact == 0) return std::nullopt;
  double const factor = sharpest->got / sharpest->exact, relative = sharpest->bound / std::abs(sharpest->exact);
  if (!(factor > 0)) return std::nullopt;
  int telling = 0;
  for (column const& c : columns) {
    double const tolerance = factor * (c.bound + relative * std::abs(c.exact));
    if (!(std::abs(c.got - factor * c.exact) <= tolerance)) return std::nullopt;
    if (std::abs((factor - 1) * c.exact) > 4 * tolerance) telling += c.constant ? 2 : 1;
  }
  if (telling < 2) return std::nullopt;
  return common_factor{factor, static_cast<int>(std::clamp(std::floor(-std::log10(relative)) + 1, 1.0, 6.0))};
}

}  // namespace attest::audit
