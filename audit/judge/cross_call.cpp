#include "audit/judge/cross_call.hpp"

#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "audit/judge/row_law.hpp"
#include "audit/judge/row_truth.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/entry_forms.hpp"
#include "reference/real/outward.hpp"

namespace attest::audit {
namespace {

using reference::infinity;

/// The sum of the bounds of one row of O (Corollary V of docs/bound.md). Returns nothing if an element is not judged.
template <class T>
std::optional<double> sum_of_bounds(problem::instance<T> const& p, problem::kernel_model const& model, std::int64_t b,
                                    std::int64_t h, std::int64_t i) {
  row_truth<128, T> truth;
  truth.evaluate(p, model, b, h, i);
  if (truth.row.kind != reference::row_kind::finite) return std::nullopt;
  double sum = 0;
  for (std::int64_t c = 0; c < p.size().dv; ++c) {
    auto const exact = reference::compiled::output(p, truth.row, c);
    if (exact.kind != reference::value_kind::finite) return std::nullopt;
    auto const bound = reference::compiled::output_bound(truth.bound, p, truth.row, c, exact.value);
    if (bound.by == reference::judged_by::nothing) return std::nullopt;
    sum += bound.size;
  }
  return sum * (1 + 0x1p-40);  // for rounding this sum of at most 2^12 doubles
}

}  // namespace

std::optional<violation> outputs_differ(audit_case const& kernel_case, owned_outputs const& first,
                                        further_call const& further, owned_outputs const& again,
                                        std::span<row_index const> left_out) {
  for (output_kind const which : output_kinds) {
    auto const &x = first.of(which), &y = again.of(which);
    if (!x || !y) continue;
    bool const is_lse = which == output_kind::lse;
    // A file may hold problems of lower rank, without relations between calls.
    if (kernel_case.problem.rank() != 4) continue;
    if (further.is != relation::same_rows && x->bytes == y->bytes) continue;
    owned_tensor a = *x, b = *y;
    if (is_lse) a.layout = problem::with_last_axis(a.layout), b.layout = problem::with_last_axis(b.layout);
    else a.layout = problem::lifted(a.layout, 4), b.layout = problem::lifted(b.layout, 4);  // of a bias or a sink
    std::size_t const bytes = problem::size_of(a.type);
    auto const& n = b.layout.shape;
    bool const moved = further.is == relation::same_rows;
    for (std::int64_t batch = 0; batch < n[0]; ++batch)
      for (std::int64_t h = 0; h < n[1]; ++h)
        for (std::int64_t i = 0; i < n[2]; ++i) {
          if (std::ranges::binary_search(left_out, row_index{batch, h, i})) continue;
          for (std::int64_t j = 0; j < n[3]; ++j) {
            auto const b_offset = offset_of(b, batch, h, i, j);
            auto const a_offset =
                moved ? offset_of(a, batch + further.at[0], h + further.at[1], i + further.at[2], j) : b_offset;
            if (std::memcmp(a.bytes.data() + a_offset * bytes, b.bytes.data() + b_offset * bytes, bytes) == 0) continue;
            violation found;
            found.output = name_of(which);
            found.index = {batch, h, i, j};
            found.truth_lower = found.truth_upper = load(a, a_offset);
            found.got = load(b, b_offset);
            found.error_in_bounds = infinity;
            found.sentence =
                fmt::format("{}[{}, {}, {}{}] changed from {} to {}: {}", name_of(which), batch, h, i,
                            is_lse ? "" : fmt::format(", {}", j), found.truth_lower, found.got, further.says);
            return found;
          }
        }
  }
  return std::nullopt;
}

/// The model of a merge by LSE of `answers` answers of a kernel of model `of`. It has one level more than its own
/// merges, and O is rounded to the type of the outputs before that level (docs/bound.md, States).
problem::kernel_model merge_of_answers(problem::kernel_model of, std::size_t answers) {
  constexpr double up = 1 + 0x1p-50;
  if (of.merge != problem::split_merge::raw) ++of.merge_levels;
  of.merge = problem::split_merge::lse;
  of.splits = std::max(of.splits, static_cast<int>(answers));
  of.omega_state = (of.omega_state * (1 + of.u_out) + of.omega_out) * up;
  of.u_state = (of.u_state + of.u_out + of.u_state * of.u_out) * up;
  of.state_limit = std::min(of.state_limit, of.out_limit);
  return of;
}

/// In the rows of a part whose keys are all hidden, writes the O and LSE of docs/semantics.md if the contract
/// prescribes others. These values hide the part from a merge.
void hide_empty_rows(owned_problem const& part, contract const& claim, owned_outputs& answer) {
  conventions const& says = claim.conventions;
  if (says.empty_row == conventions::row::zero && says.empty_lse == conventions::log::minus_infinity) return;
  auto const dv = static_cast<std::size_t>(part.size().dv);
  for (auto const& [b, h, i] : empty_rows_of(part)) {
    std::size_t const row = output_row(part, b, h, i);
    for (std::size_t c = 0; c < dv; ++c) store(*answer.o, row * dv + c, 0);
    store(*answer.lse, row, -infinity);
  }
}

void judge_merge(audit_case const& kernel_case, case_outputs const& outputs, contract const& claim, case_result& into) {
  std::vector<owned_outputs> parts;
  for (std::size_t n = 0; n < kernel_case.further.size(); ++n) {
    if (kernel_case.further[n].is != relation::part) continue;
    if (!outputs[n + 1] || !outputs[n + 1]->o || !outputs[n + 1]->lse) {  // parts are merged by their LSE
      into.unsupported = true;
      return;
    }
    parts.push_back(*outputs[n + 1]);
    hide_empty_rows(kernel_case.further[n].problem, claim, parts.back());
  }
  if (parts.empty() || !outputs[0]->o) return;
  owned_outputs merged;
  merged.o = owned_tensor{outputs[0]->o->type, outputs[0]->o->layout, outputs[0]->o->bytes};
  bool const in_base_2 = claim.conventions.lse_base == problem::log_base::two;
  fill(*merged.o, [&](auto b, auto h, auto i, auto c) {
    double top = -infinity;
    auto const lse_of = [&](owned_outputs const& part) {
      owned_tensor const& t = *part.lse;
      return load(t,
                  static_cast<std::size_t>(b * t.layout.stride[0] + h * t.layout.stride[1] + i * t.layout.stride[2]));
    };
    for (owned_outputs const& part : parts) top = std::max(top, lse_of(part));
    double sum = 0, weight = 0;
    for (owned_outputs const& part : parts) {
      double const below = lse_of(part) - top;
      double const w = lse_of(part) == -infinity ? 0 : in_base_2 ? std::exp2(below) : std::exp(below);
      if (w == 0) continue;
      weight += w;
      sum += w * load(*part.o, offset_of(*part.o, b, h, i, c));
    }
    return weight == 0 ? 0 : sum / weight;
  });
  contract merging = claim;
  merging.fixed = merge_of_answers(claim.model_for(kernel_case.problem.instance()), parts.size());
  merging.builtin = false;
  merging.conventions.empty_row = conventions::row::zero;
  merging.conventions.empty_lse = conventions::log::minus_infinity;
  judgement found = judge(kernel_case.problem.instance(), merged, merging);
  for (violation& v : found.violations) {
    v.sentence += fmt::format("; it is the answers to {} parts of the keys, merged by their LSE", parts.size());
    v.bug_class = bug_class::lse;
  }
  into.judged.merge(std::move(found));
}

void judge_read_weights(audit_case const& kernel_case, case_outputs const& outputs, contract const& claim,
                        case_result& into) {
  problem::sizes const& s = kernel_case.problem.size();
  struct chunk {
    owned_problem const* problem;
    owned_tensor const* o;
    std::int64_t first;
    std::size_t call;
  };
  std::vector<chunk> chunks;
  if (outputs[0]->o) chunks.push_back({&kernel_case.problem, &*outputs[0]->o, 0, 0});
  for (std::size_t n = 0; n < kernel_case.further.size(); ++n)
    if (kernel_case.further[n].is == relation::weight_columns && outputs[n + 1] && outputs[n + 1]->o)
      chunks.push_back({&kernel_case.further[n].problem, &*outputs[n + 1]->o, kernel_case.further[n].at[0], n + 1});
  std::visit(
      [&]<class T>(problem::instance<T> const& p) {
        problem::kernel_model const model = claim.model_for(kernel_case.problem.instance());
        for (std::int64_t row = 0; row < s.b * s.hq * s.n; ++row) {
          std::int64_t const b = row / s.n / s.hq, h = row / s.n % s.hq, i = row % s.n;
          if (i >= p.queries(b)) continue;
          double sum = 0, bounds = 0;
          bool whole = true;
          std::int64_t columns = 0;
          auto const wrong = [&](chunk const& at, std::int64_t c, double got, double expected, double bound,
                                 std::string says, std::optional<bug_class> kind) {
            ++into.judged.failed;
            violation found;
            found.output = "o", found.index = {b, h, i, c}, found.got = got;
            found.truth_lower = found.truth_upper = expected, found.bound = bound;
            found.error_in_bounds = bound > 0 ? std::abs(got - expected) / bound : infinity;
            found.bug_class = kind, found.call = at.call, found.sentence = std::move(says);
            into.judged.add(std::move(found));
          };
          for (chunk const& at : chunks) {
            auto const bound = sum_of_bounds(std::get<problem::instance<T>>(at.problem->instance()), model, b, h, i);
            whole = whole && bound.has_value();
            bounds += bound.value_or(0);
            std::int64_t const count = at.o->layout.shape[3];
            columns += count;
            for (std::int64_t c = 0; c < count; ++c) {
              double const weight = load(*at.o, output_row(*at.problem, b, h, i) * static_cast<std::size_t>(count) +
                                                    static_cast<std::size_t>(c));
              std::int64_t const j = at.first + c;
              sum += weight;
              if (!reference::visible(p, b, h, i, j) && weight != 0)
                wrong(at, c, weight, 0, 0,
                      fmt::format("the weight of masked key {} for query [{}, {}, {}], read through V, is {}", j, b, h,
                                  i, weight),
                      bug_class::mask_polarity);
              else if (weight < 0)
                wrong(at, c, weight, 0, 0,
                      fmt::format("the weight of key {} for query [{}, {}, {}], read through V, is {}: "
                                  "a weight is never negative",
                                  j, b, h, i, weight),
                      std::nullopt);
            }
          }
          double const slack = static_cast<double>(s.m) * 0x1p-52;  // for rounding this double sum of numbers in [0, 2]
          bool const sums_to_one = !p.has_sink() && !p.keep().present;
          if (whole && sums_to_one && columns == s.m && !(std::abs(sum - 1) <= bounds + 2 * slack))
            wrong(chunks.front(), 0, sum, 1, bounds,
                  fmt::format("the weights of query [{}, {}, {}], read through V, sum to {}; 1 ± {:.4g} is allowed", b,
                              h, i, sum, bounds),
                  std::nullopt);
        }
      },
      kernel_case.problem.instance());
}

}  // namespace attest::audit
