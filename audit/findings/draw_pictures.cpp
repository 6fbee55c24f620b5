#include "audit/findings/draw_pictures.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "audit/judge/element_value.hpp"
#include "audit/judge/exact_row_judge.hpp"
#include "audit/judge/row_truth.hpp"
#include "audit/report/number_words.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/entry_forms.hpp"
#include "reference/attention/infinite_score.hpp"
#include "reference/bound/lse_base.hpp"

namespace attest::audit {
namespace {

constexpr std::size_t most_listed = 96;  ///< numbers of a listing
constexpr std::int64_t shown_rows = 24, shown_columns = 32;
constexpr std::int64_t largest_row = 1 << 20;  ///< products of one query; pictures of larger problems take too long
constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();

/// The first of `most` indices below `all` that have `about` near their middle.
std::int64_t window(std::int64_t about, std::int64_t all, std::int64_t most) {
  return std::clamp<std::int64_t>(about - most / 2, 0, std::max<std::int64_t>(all - most, 0));
}

matrix_picture blank_picture(std::int64_t first_row, std::int64_t rows, std::int64_t first_column,
                             std::int64_t columns) {
  return {first_row, first_column, rows, columns, std::vector<double>(static_cast<std::size_t>(rows * columns), nan)};
}

/// An upper bound of |got − truth|/bound.
double in_bounds(reference::ball<128> const& truth, reference::error_bound const& bound, double got) {
  if (bound.by == reference::judged_by::nothing) return nan;
  if (!std::isfinite(got)) return infinity;
  auto const error = reference::absolute(reference::ball<128>::from(reference::value_of(got)) - truth);
  double const size = reference::upper(error);
  return size == 0 ? 0 : bound.size > 0 ? size / bound.size : infinity;
}

double by_rule(double got, double expected) {
  return (std::isnan(expected) ? std::isnan(got) : got == expected) ? 0 : infinity;
}

/// Draws one head of one problem.
template <class T>
class painter {
 public:
  painter(problem::instance<T> const& problem, problem::kernel_model const& model, conventions const& how,
          std::int64_t b, std::int64_t h)
      : p_(problem), model_(model), how_(how), b_(b), h_(h) {}

  void expected(std::int64_t i, std::int64_t key, finding_pictures& into) {
    problem::sizes const& s = p_.size();
    std::int64_t const queries = p_.queries(b_);
    std::int64_t const row = window(i, queries, shown_rows), column = window(key, s.m, shown_columns);
    into.expected = blank_picture(row, std::min(queries, shown_rows), column, std::min(s.m, shown_columns));
    into.masked.assign(into.expected.values.size(), false);
    for (std::int64_t r = 0; r < into.expected.rows; ++r) {
      go_to(row + r);
      for (std::int64_t c = 0; c < into.expected.columns; ++c) {
        std::int64_t const j = column + c;
        into.masked[static_cast<std::size_t>(r * into.expected.columns + c)] =
            !reference::visible(p_, b_, h_, row + r, j);
        into.expected.at(r, c) = weight(j);
      }
    }
  }

  void errors(violation const& wrong, owned_outputs const& outputs, finding_pictures& into) {
    output_views<T> const got = views_of<T>(p_, outputs);
    problem::sizes const& s = p_.size();
    bool const o = wrong.output == "o" && got.o.present, lse = wrong.output == "lse" && got.lse.present;
    if (!o && !lse && !(wrong.output == "weights" && got.weights.present)) return;
    std::int64_t const all = o ? s.dv : lse ? 1 : s.m, column = window(wrong.index[3], all, shown_columns);
    auto error_picture =
        blank_picture(into.expected.first_row, into.expected.rows, column, std::min(all, shown_columns));
    for (std::int64_t r = 0; r < error_picture.rows; ++r) {
      std::int64_t const i = error_picture.first_row + r;
      go_to(i);
      for (std::int64_t c = 0; c < error_picture.columns; ++c)
        error_picture.at(r, c) = o     ? error_of_o(column + c, as_double(got.o(b_, h_, i, column + c)))
                                 : lse ? error_of_lse(as_double(got.lse(b_, h_, i, 0)))
                                       : error_of_weight(column + c, as_double(got.weights(b_, h_, i, column + c)));
    }
    into.errors = std::move(error_picture);
  }

 private:
  bool unmasked() const { return how_.empty_row == conventions::row::unmasked; }
  /// Does the contract accept answers other than NaN in a NaN row?
  bool leaves_nan_rows() const {
    bool const by_sink = truth_.row.empty_lse == reference::number_class::plus_infinity;
    return how_.nan == conventions::invalid::unspecified ||
           (by_sink && how_.sink_inf == conventions::infinite_sink::limit);
  }
  void go_to(std::int64_t i) { truth_.evaluate(p_, model_, b_, h_, i); }

  std::optional<std::size_t> place_of(std::int64_t j) const {
    auto const keys = truth_.row.real_keys();
    auto const at = std::ranges::lower_bound(keys, j, {}, [](auto const& key) { return key.j; });
    if (at == keys.end() || at->j != j) return std::nullopt;
    return static_cast<std::size_t>(at - keys.begin());
  }
  /// The midpoint of the enclosure of the true weight.
  double weight(std::int64_t j) const {
    if (truth_.row.kind == reference::row_kind::nan) return nan;
    auto const at = place_of(j);
    if (truth_.row.kind == reference::row_kind::empty || !at) return 0;
    auto const exact = reference::compiled::weight(truth_.row, *at);
    return std::clamp((reference::lower(exact) + reference::upper(exact)) / 2, 0.0, 1.0);
  }
  double error_of_o(std::int64_t c, double got) const {
    auto const exact = reference::compiled::output(p_, truth_.row, c);
    switch (exact.kind) {
      case reference::value_kind::unspecified: return nan;
      case reference::value_kind::nan: return leaves_nan_rows() ? nan : by_rule(got, nan);
      case reference::value_kind::not_finite:
        return how_.nan == conventions::invalid::unspecified ? nan : std::isfinite(got) ? infinity : 0;
      case reference::value_kind::finite: break;
    }
    if (truth_.row.kind == reference::row_kind::empty)
      return how_.empty_row == conventions::row::zero ? by_rule(got, 0) : nan;
    return in_bounds(exact.value, reference::compiled::output_bound(truth_.bound, p_, truth_.row, c, exact.value), got);
  }
  double error_of_lse(double got) const {
    // The row without its sink is another row.
    if (p_.has_sink() && how_.lse_sink == conventions::log_of_sink::excluded) return nan;
    if (truth_.row.kind == reference::row_kind::nan) {
      if (leaves_nan_rows()) return nan;
      bool const infinite = got == infinity && reference::lse_is_infinite(p_, b_, h_, truth_.row.i);
      return infinite ? 0 : by_rule(got, nan);
    }
    if (truth_.row.kind == reference::row_kind::empty)
      return how_.empty_lse == conventions::log::minus_infinity && !unmasked()
                 ? by_rule(got, audit::lse_of_empty(truth_.row))
                 : nan;
    problem::log_base const base = model_.lse_base;
    return in_bounds(reference::in_base(base, reference::compiled::log_sum_exp(truth_.row)),
                     reference::in_base(base, truth_.bound.log_sum_exp()), got);
  }
  double error_of_weight(std::int64_t j, double got) const {
    if (truth_.row.kind == reference::row_kind::nan) return leaves_nan_rows() ? nan : by_rule(got, nan);
    if (truth_.row.kind == reference::row_kind::finite && !truth_.bound.says_anything()) return nan;
    if (truth_.row.kind == reference::row_kind::empty && unmasked()) return nan;
    auto const at = place_of(j);
    if (!at) return by_rule(got, 0);
    return in_bounds(reference::compiled::weight(truth_.row, *at), truth_.bound.weight(*at), got);
  }

  problem::instance<T> const& p_;
  problem::kernel_model model_;
  conventions how_;
  std::int64_t b_, h_;
  row_truth<128, T> truth_;
};

/// The weights that the kernel applies. They are its outputs if V holds columns of the identity, dv columns at a time.
/// Returns nothing if the kernel cannot be run or writes no O.
std::optional<matrix_picture> weights_read_through_v(owned_problem const& whole, finding_pictures const& about,
                                                     output_source const& from) {
  // Dropout acts on V alone: O would differ from the weights.
  if (whole.rank() != 4 || whole.draft().keep || whole.draft().k_offsets || whole.draft().block_table)
    return std::nullopt;
  problem_draft draft = whole.draft();
  matrix_picture applied = about.expected;
  auto const shape = draft.v.layout.shape;
  std::int64_t const chunk = std::max<std::int64_t>(shape[3], 1), last = applied.first_column + applied.columns;
  for (std::int64_t first = applied.first_column; first < last; first += chunk) {
    std::int64_t const count = std::min(chunk, last - first);
    draft.v = owned_tensor::compact(draft.v.type, {shape[0], shape[1], shape[2], count});
    fill(draft.v, [&](auto, auto, auto j, auto c) { return j == first + c ? 1.0 : 0.0; });
    auto const outputs = from.of_problem ? from.of_problem(owned_problem::of_valid(draft)) : std::nullopt;
    if (!outputs || !outputs->o) return std::nullopt;
    for (std::int64_t r = 0; r < applied.rows; ++r)
      for (std::int64_t c = 0; c < count; ++c)
        applied.at(r, first - applied.first_column + c) = load(
            *outputs->o, output_row(whole, about.b, about.h, applied.first_row + r) * static_cast<std::size_t>(count) +
                             static_cast<std::size_t>(c));
  }
  return applied;
}

/// Pictures from the lines of the visibility probe (judge/visibility_probe.cpp): "expected  read" for each query, with
/// '#' for a key that is visible or was read.
void from_probe(std::vector<std::string> const& lines, finding_pictures& into) {
  auto const rows = static_cast<std::int64_t>(lines.size()) - 1;
  auto const columns = static_cast<std::int64_t>(lines.at(1).find(' '));
  into.expected = blank_picture(0, rows, 0, columns);
  into.applied = into.expected;
  into.masked.assign(into.expected.values.size(), false);
  for (std::int64_t r = 0; r < rows; ++r) {
    std::string const& line = lines[static_cast<std::size_t>(r) + 1];
    bool const readable = line.size() == static_cast<std::size_t>(2 * columns + 2);
    for (std::int64_t c = 0; c < columns; ++c) {
      bool const seen = line[static_cast<std::size_t>(c)] == '#';
      into.expected.at(r, c) = seen;
      into.masked[static_cast<std::size_t>(r * columns + c)] = !seen;
      into.applied->at(r, c) = readable ? (line[static_cast<std::size_t>(columns + 2 + c)] == '#') : nan;
    }
  }
  into.keys_only = true;
  into.applied_by = "the keys that each query read, from the digits of its output (Q = 0)";
}

/// The parts of a merge, under their names in files.
std::vector<input_listing> list_parts(problem_draft const& merge) {
  merge_parts const parts = parts_of(merge);
  std::vector<input_listing> listings{
      {std::string(merge.of->takes[0]), {parts.parts, parts.b, parts.hq, parts.n, parts.dv}, {}},
      {std::string(merge.of->takes[1]), {parts.parts, parts.b, parts.hq, parts.n}, {}}};
  owned_tensor const tensors[]{{parts.type, {}, parts.o}, {merge.bias->type, {}, parts.lse}};
  std::size_t numbers = 0;
  for (std::size_t n = 0; n < listings.size(); ++n) {
    std::size_t const count = tensors[n].bytes.size() / problem::size_of(tensors[n].type);
    if ((numbers += count) > most_listed) return {};
    for (std::size_t at = 0; at < count; ++at) listings[n].values.push_back(load(tensors[n], at));
  }
  return listings;
}

}  // namespace

std::string not_drawn(audit_case const& kernel_case, violation const& wrong) {
  if (!problem::output_named(wrong.output)) return "it is not about an element of an output";
  if (kernel_case.call(wrong.call).draft().d_out) return "it is about a backward pass";
  problem::sizes const& s = kernel_case.call(wrong.call).size();
  return s.m * (s.d + s.dv) > largest_row ? "the problem is too large to draw" : "";
}

std::optional<finding_pictures> draw_pictures(audit_case const& kernel_case, violation const& wrong,
                                              contract const& claim, output_source const& from) {
  if (!not_drawn(kernel_case, wrong).empty()) return std::nullopt;
  owned_problem const& problem = kernel_case.call(wrong.call);
  problem::band const band = std::visit([&](auto const& p) { return p.band(wrong.index[0]); }, problem.instance());
  finding_pictures drawn;
  drawn.b = wrong.index[0], drawn.h = wrong.index[1], drawn.output = wrong.output;
  std::visit(
      [&]<class T>(problem::instance<T> const& p) {
        std::int64_t const i = wrong.index[2], most = std::int64_t{1} << 40;
        std::int64_t const diagonal = i + std::clamp(band.diagonal, -most, most);
        // With a band the keys near the diagonal matter; without one the first keys are as good as any.
        std::int64_t const key = band != problem::band{} ? diagonal : wrong.output == "weights" ? wrong.index[3] : 0;
        painter<T> paint(p, claim.model_for(problem.instance()), claim.conventions, drawn.b, drawn.h);
        paint.expected(i, std::clamp<std::int64_t>(key, 0, std::max<std::int64_t>(p.size().m - 1, 0)), drawn);
        auto const outputs = from.of_call();
        if (outputs) paint.errors(wrong, *outputs, drawn);
        if (wrong.picture.size() > 1) return from_probe(wrong.picture, drawn);
        if ((drawn.applied = weights_read_through_v(problem, drawn, from))) {
          drawn.applied_by = fmt::format("read through {} (columns of the identity)",
                                         problem.draft().merge ? "the O of the parts" : "V");
        } else if (outputs && outputs->weights) {
          auto const weights = views_of<T>(p, *outputs).weights;
          drawn.applied = drawn.expected;
          for (std::int64_t r = 0; r < drawn.expected.rows; ++r)
            for (std::int64_t c = 0; c < drawn.expected.columns; ++c)
              drawn.applied->at(r, c) =
                  as_double(weights(drawn.b, drawn.h, drawn.expected.first_row + r, drawn.expected.first_column + c));
          drawn.applied_by = "the weights that came with the answer";
        } else {
          drawn.applied_by =
              outputs ? "not known: the answer holds no weights of its own" : "not known: the kernel gave no answer";
        }
      },
      problem.instance());
  return drawn;
}

std::vector<input_listing> list_inputs(owned_problem const& problem) {
  problem_draft const& p = problem.draft();
  if (p.merge) return list_parts(p);
  std::vector<input_listing> listings;
  if (p.q.layout.rank != 4) return listings;
  std::size_t numbers = 0;
  auto const list = [&](char const* name, owned_tensor const& t) {
    if (t.layout.rank < 1) return;
    problem::layout const lifted = problem::lifted(t.layout, 4);
    auto const& n = lifted.shape;
    input_listing& listing = listings.emplace_back(
        input_listing{name, {t.layout.shape.begin(), t.layout.shape.begin() + t.layout.rank}, {}});
    for (std::int64_t b = 0; b < n[0] && numbers <= most_listed; ++b)
      for (std::int64_t h = 0; h < n[1]; ++h)
        for (std::int64_t i = 0; i < n[2] && numbers <= most_listed; ++i)
          for (std::int64_t j = 0; j < n[3] && numbers <= most_listed; ++j, ++numbers)
            listing.values.push_back(load(t, static_cast<std::size_t>(b * lifted.stride[0] + h * lifted.stride[1] +
                                                                      i * lifted.stride[2] + j * lifted.stride[3])));
  };
  for (auto const& [name, tensor] : {std::pair{"q", &p.q}, std::pair{"k", &p.k}, std::pair{"v", &p.v}})
    if (p.of->does_take(name)) list(name, *tensor);
  p.each_optional([&](problem::optional_tensor const& row, owned_tensor const& t) { list(row.name.data(), t); });
  return numbers <= most_listed ? listings : std::vector<input_listing>{};
}

}  // namespace attest::audit
