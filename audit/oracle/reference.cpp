#include "audit/oracle/reference.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include "audit/cases/default_contract.hpp"
#include "audit/judge/allowed_errors.hpp"
#include "audit/judge/element_value.hpp"
#include "audit/judge/hidden_keys.hpp"
#include "audit/judge/infinite_sink.hpp"
#include "audit/judge/one_query.hpp"
#include "audit/judge/row_law.hpp"
#include "audit/judge/row_truth.hpp"
#include "audit/oracle/answer_tensors.hpp"
#include "audit/oracle/gradient_answers.hpp"
#include "audit/oracle/rounded_lse.hpp"
#include "audit/support/printable.hpp"
#include "audit/tensors/entry_forms.hpp"
#include "reference/attention/sink.hpp"
#include "reference/machine/rounded.hpp"

namespace attest::audit {
namespace {

using problem::error;
using problem::error_code;
using problem::lse_element;

/// One row of the file.
template <class Target>
struct referenced_row {
  reference::row_kind kind = reference::row_kind::finite;
  std::vector<Target> o;
  lse_element<Target> lse{};
  std::vector<double> o_bound;
  double lse_bound = 0;
};

/// Rows of one head, and the number of elements that could not be rounded.
template <class Target>
struct referenced_rows {
  std::vector<referenced_row<Target>> rows;
  reference::machine::rounding_tally rounded;  ///< of O
  std::int64_t undecided = 0;                  ///< of O and LSE
};

/// Rows i0 ≤ i < i1 of head h of batch b, by docs/semantics.md.
template <class Target, class T>
referenced_rows<Target> rows_by_semantics(problem::instance<T> const& p, problem::kernel_model const& model,
                                          bounds_of tiers, std::int64_t b, std::int64_t h, std::int64_t i0,
                                          std::int64_t i1) {
  constexpr bool lse_has_the_type = std::is_same_v<Target, lse_element<Target>>;
  referenced_rows<Target> found;
  found.rows.resize(static_cast<std::size_t>(i1 - i0));
  auto const at = [&](std::int64_t i) -> referenced_row<Target>& {
    return found.rows[static_cast<std::size_t>(i - i0)];
  };
  reference::machine::row_rounder<Target, T> rounder(p, {.weights = false, .lse = lse_has_the_type});
  rounder.each(b, h, i0, i1, [&](auto const& row) {
    at(row.i).o = row.o;
    if constexpr (lse_has_the_type) at(row.i).lse = row.lse;
  });
  found.rounded = rounder.tally(), found.undecided = found.rounded.undecided;
  if constexpr (!lse_has_the_type) {
    reference::machine::row_rounder<lse_element<Target>, T> wider(p, {.weights = false});
    wider.each(b, h, i0, i1, [&](auto const& row) { at(row.i).lse = row.lse; });
  }
  allowed_errors<T>(p, model, tiers).each(b, h, i0, i1, [&](row_allowance const& row) {
    referenced_row<Target>& into = at(row.i);
    into.kind = row.kind, into.o_bound = row.o, into.lse_bound = row.lse;
    if (row.kind != reference::row_kind::finite) return;
    bool const is_undecided = std::isnan(as_double(into.lse));
    if (model.lse_base == p.base()) {
      if (is_undecided && !lse_has_the_type) ++found.undecided;
      return;
    }
    if (is_undecided && lse_has_the_type) --found.undecided;  // the natural LSE, which is not asked for
    auto const rounded = rounded_log2_sum_exp<lse_element<Target>>(p, row.b, row.h, row.i);
    into.lse = rounded.value_or(reference::quiet_nan<lse_element<Target>>());
    if (!rounded) ++found.undecided;
  });
  return found;
}

/// The rows of one problem under one contract, with its conventions.
template <class Target, class T>
class contract_rows {
 public:
  contract_rows(owned_problem const& problem, problem::instance<T> const& instance, contract const& claim,
                bounds_of tiers)
      : problem_(problem), instance_(instance), claim_(claim), tiers_(tiers) {}

  /// Rows i0 ≤ i < i1 of head h of batch b.
  referenced_rows<Target> of(std::int64_t b, std::int64_t h, std::int64_t i0, std::int64_t i1) const {
    auto found = rows_by_semantics<Target>(instance_, model_, tiers_, b, h, i0, i1);
    for (std::int64_t i = i0; i < i1; ++i) {
      referenced_row<Target>& row = found.rows[static_cast<std::size_t>(i - i0)];
      follow_law(row, {b, h, i});
      if (keys_alone_) lse_of_keys(row, b, h, i);
      if (!is_open_) continue;
      std::ranges::fill(row.o_bound, reference::infinity);
      row.lse_bound = reference::infinity;
    }
    return found;
  }

 private:
  /// Replaces outputs for which the contract prescribes others than docs/semantics.md.
  void follow_law(referenced_row<Target>& row, row_index const& at) const {
    switch (laws_.of(at)) {
      case row_law::semantics: return state_exact_values(row, at);
      case row_law::every_key: return take(one_query(problem_, at.b, at.h, at.i), row, true);
      case row_law::mean_of_values:
        take(mean_of_values(problem_, at.b, at.h, at.i), row, false);
        return state_lse_of_empty(row, at);
      case row_law::sink_takes_all: return taken(row, at);
    }
  }

  void state_exact_values(referenced_row<Target>& row, row_index const& at) const {
    exact_values const says = exact_values_of(claim_.conventions, instance_.keys(at.b));
    if (row.kind != reference::row_kind::empty || has_a_sink(instance_, at.b, at.h)) {
      if (says.any_for_nan) leave_nan_open(row);
      return;
    }
    if (std::isnan(says.empty_o)) {
      std::ranges::fill(row.o, reference::quiet_nan<Target>());
      std::ranges::fill(row.o_bound, 0);
    }
    state_lse_of_empty(row, at);
  }

  void state_lse_of_empty(referenced_row<Target>& row, row_index const& at) const {
    double const lse = exact_values_of(claim_.conventions, instance_.keys(at.b)).empty_lse;
    if (lse != -reference::infinity) row.lse = static_cast<lse_element<Target>>(lse), row.lse_bound = 0;
  }

  /// lse_sink: excluded. The LSE of the row of the same problem without its sink. It stays open if the row with the
  /// sink is outside the hypotheses.
  void lse_of_keys(referenced_row<Target>& row, std::int64_t b, std::int64_t h, std::int64_t i) const {
    auto found = rows_by_semantics<Target>(std::get<problem::instance<T>>(keys_alone_->instance()), model_, tiers_, b,
                                           h, i, i + 1);
    referenced_row<Target>& keys = found.rows.front();
    contract_rows(*keys_alone_, std::get<problem::instance<T>>(keys_alone_->instance()), claim_, tiers_)
        .follow_law(keys, {b, h, i});
    bool const outside = row.kind == reference::row_kind::finite && row.lse_bound == reference::infinity;
    row.lse = keys.lse, row.lse_bound = outside ? reference::infinity : keys.lse_bound;
  }

  /// O, and with `and_lse` LSE, of another problem of one query.
  void take(problem_draft&& other, referenced_row<Target>& into, bool and_lse) const {
    owned_problem const one = owned_problem::of_valid(std::move(other));
    auto const answer = rows_by_semantics<Target>(std::get<problem::instance<T>>(one.instance()),
                                                  claim_.model_for(one.instance()), tiers_, 0, 0, 0, 1);
    referenced_row<Target> const& row = answer.rows.front();
    into.o = row.o, into.o_bound = row.o_bound;
    if (and_lse) into.lse = row.lse, into.lse_bound = row.lse_bound;
  }

  /// sink_inf: limit.
  void taken(referenced_row<Target>& row, row_index const& at) const {
    auto const by = laws_.taken(at);
    for (std::size_t c = 0; c < row.o.size(); ++c) {
      row.o[c] = Target{};
      row.o_bound[c] = by->is_outside || by->leaves_open[c] != 0 ? reference::infinity : 0;
    }
    row.lse = static_cast<lse_element<Target>>(reference::infinity);
    row.lse_bound = by->is_outside ? reference::infinity : 0;
  }

  /// Undecided elements are NaN, too, but have a bound above 0.
  static void leave_nan_open(referenced_row<Target>& row) {
    auto const open = [](auto value, double& bound) {
      if (std::isnan(as_double(value)) && !(bound > 0)) bound = reference::infinity;
    };
    for (std::size_t c = 0; c < row.o.size(); ++c) open(row.o[c], row.o_bound[c]);
    open(row.lse, row.lse_bound);
  }

  owned_problem const& problem_;
  problem::instance<T> const& instance_;
  contract const& claim_;
  bounds_of tiers_;
  problem::kernel_model model_ = claim_.model_for(problem_.instance());
  std::optional<owned_problem> keys_alone_ =  ///< if the LSE does not count the sink
      claim_.conventions.lse_sink == conventions::log_of_sink::excluded ? without_sink(problem_) : std::nullopt;
  row_laws laws_{problem_, claim_};
  bool is_open_ = leaves_outputs_open(problem_, claim_);
};

/// Rows of a task, which share the conversion of K.
constexpr std::int64_t rows_together = 16;

template <class Target, class T>
void reference_of(problem::instance<T> const& p, owned_problem const& problem, problem_file_entry const& from,
                  contract const& claim, bounds_of tiers, answers::tensors& into, referenced& all) {
  problem::sizes const& s = p.size();
  answers::shapes const place(from), shape = place.in_file();
  auto const add = [&]<class E>(answers::kind k, char const* suffix, E fill) {
    return into.add<E>(from.name_of(answers::names[k]) + suffix, shape.of[k], shape.elements[k], fill);
  };
  // Rows that belong to no query stay as they are here. Only padding_rows demands anything of them. Under zero, the LSE
  // may be 0 or −∞; under kept, no file has their bytes before the call.
  auto const o = add(answers::o, "", Target{});
  auto const lse = add(answers::lse, "", lse_element<Target>{});
  bool const zero = claim.conventions.padding_rows == conventions::padding::zero;
  auto const o_bound = add(answers::o, ".bound", zero ? 0.0 : reference::infinity),
             lse_bound = add(answers::lse, ".bound", reference::infinity);
  contract_rows<Target, T> const source(problem, p, claim, tiers);
  std::mutex tallies;
  std::int64_t const tasks = (s.n + rows_together - 1) / rows_together;
  tbb::parallel_for(std::int64_t{0}, s.b * s.hq * tasks, [&](std::int64_t task) {
    std::int64_t const b = task / tasks / s.hq, h = task / tasks % s.hq, i0 = task % tasks * rows_together;
    std::int64_t const i1 = std::min(p.queries(b), i0 + rows_together);
    if (i0 >= i1) return;
    auto const found = source.of(b, h, i0, i1);
    for (auto at = static_cast<std::int64_t>(output_row(from.problem, b, h, i0)); auto const& row : found.rows) {
      auto const first = static_cast<std::ptrdiff_t>(place.place_of_o(at));
      std::ranges::copy(row.o, o->begin() + first);
      std::ranges::copy(row.o_bound, o_bound->begin() + first);
      (*lse)[static_cast<std::size_t>(at)] = row.lse;
      (*lse_bound)[static_cast<std::size_t>(at)] = row.lse_bound;
      ++at;
    }
    std::scoped_lock const lock(tallies);
    all.rounded += found.rounded, all.undecided += found.undecided;
  });
  all.elements += queries_of(from.problem) * s.hq * (s.dv + 1);
}

/// The bytes of O and LSE of one problem, and of their bounds.
double bytes_with_bounds(problem::sizes const& s) {
  return static_cast<double>(s.b) * static_cast<double>(s.hq) * static_cast<double>(s.n) *
         (static_cast<double>(s.dv) + 1) * 2 * sizeof(double);
}

}  // namespace

problem::result<referenced> run_reference(reference_options const& options) {
  std::vector<std::string> notes;
  auto const file = read_in_words(options.inputs, options.words, notes);
  if (!file) return file.why();
  auto recorded = problem_file_of(file.value(), options.flags);
  if (!recorded) return recorded.why();
  recorded.value().notes.insert(recorded.value().notes.end(), notes.begin(), notes.end());
  for (problem_file_entry const& entry : recorded.value().problems) {
    if (options.claim && options.claim->type != entry.problem.type())
      return error{error_code::bad_type, "--contract",
                   fmt::format("{} is about {}, {} of the file is {}", options.claim->name,
                               problem::name_of(options.claim->type),
                               printable(entry.name_of(entry.problem.draft().of->takes.front())),
                               problem::name_of(entry.problem.type()))};
    if (options.claim)
      if (auto const why = why_not_under(*options.claim, entry.problem))
        return error{error_code::bad_value, "--contract", fmt::format("{}: {}", printable(entry.name_of("q")), *why)};
  }
  if (auto why = answers::beyond_memory(recorded.value(), bytes_with_bounds, "")) return *std::move(why);
  referenced all;
  all.ignored = sentences_of_ignored(recorded.value());
  answers::tensors into;
  for (problem_file_entry const& entry : recorded.value().problems) {
    problem::element_type const type = entry.problem.type();
    contract const claim = contract_of(options.claim, entry.problem);
    bounds_of const tiers = options.quick ? bounds_of::machine_tier : bounds_of::both_tiers;
    owned_problem const in_its_base = under(claim, entry.problem);
    auto const read = with_unread_parts_hidden(in_its_base, claim);
    owned_problem const& problem = read ? *read : in_its_base;
    std::visit(
        [&](auto const& p) {
          problem::with_type(
              options.round.value_or(entry.problem.draft().merge ? entry.problem.draft().merge->answer : type),
              problem::floating_elements{}, [&]<class Target>(std::type_identity<Target>) {
                reference_of<Target>(p, problem, entry, claim, tiers, into, all);
              });
        },
        problem.instance());
    auto const gradients = answers::add_rounded_gradients(entry, problem, options.round, &claim, into);
    all.elements += answers::count_of_gradients(problem), all.undecided += gradients.undecided;
  }
  auto bytes = into.file({{"attest", "correctly rounded, with the bounds of a contract"}});
  if (!bytes) return bytes.why();
  all.file = std::move(bytes).value();
  return all;
}

}  // namespace attest::audit
