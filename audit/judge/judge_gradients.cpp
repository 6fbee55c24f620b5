#include "audit/judge/judge_gradients.hpp"

#include <cmath>
#include <map>
#include <type_traits>
#include <utility>
#include <vector>

#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>
#include <tbb/task_group.h>

#include "audit/judge/beside_gradients.hpp"
#include "audit/judge/element_value.hpp"
#include "audit/judge/exact_row_judge.hpp"
#include "audit/judge/gradient_tally.hpp"
#include "audit/judge/stored_gradient.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/gradient_form.hpp"
#include "audit/tensors/key_rows.hpp"
#include "reference/gradient/gradients.hpp"

namespace attest::audit {
namespace {

using reference::gradient;
using reference::gradient_element;
using reference::gradient_index;
using reference::gradient_verdict;
using reference::value_kind;

/// One gradient that was returned, and where its elements lie.
struct returned_gradient {
  owned_tensor const* tensor;
  gradient_places places;

  double got(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t x) const {
    return load(*tensor, places.row(b, h, i) + static_cast<std::size_t>(x));
  }
};

/// The gradients that were returned.
struct returned_gradients {
  std::array<std::optional<returned_gradient>, 5> of;
  std::int64_t heads_of_group;

  returned_gradients(owned_problem const& problem, owned_outputs const& outputs)
      : heads_of_group(problem.size().hk > 0 ? problem.size().hq / problem.size().hk : 1) {
    for (gradient const which : {gradient::dq, gradient::dk, gradient::dv, gradient::dbias, gradient::dsink})
      if (auto const& tensor = outputs.of(kind_of(which)))
        of[static_cast<std::size_t>(which)].emplace(
            returned_gradient{&*tensor, gradient_places(problem, kind_of(which))});
  }
  std::optional<returned_gradient> const& operator[](gradient which) const noexcept {
    return of[static_cast<std::size_t>(which)];
  }
};

void take_group(reference::group_gradients const& group, returned_gradients const& given, gradient_tally& into) {
  group.each([&](gradient_index const& at, gradient_element const& truth) {
    if (auto const& gradient = given[at.which]) into.take(at, truth, gradient->got(at.b, at.h, at.i, at.x));
  });
}

/// A group, and its rows that are wanted.
struct sampled_group {
  std::int64_t b = 0, g = 0;
  reference::wanted_rows wanted;
};

/// The rows by their groups. Requires  rows in increasing order
std::vector<sampled_group> groups_of(problem::sizes const& s, std::span<row_index const> rows) {
  std::map<std::pair<std::int64_t, std::int64_t>, reference::wanted_rows> groups;
  std::int64_t const heads = s.hk > 0 ? s.hq / s.hk : 1;
  for (row_index const& row : rows)
    if (is_row_of_key(s, row)) groups[{row.b, row.h - s.hq}].keys.push_back(row.i);
    else groups[{row.b, row.h / heads}].queries.push_back({row.h % heads, row.i});
  std::vector<sampled_group> all;
  for (auto& [at, wanted] : groups) all.push_back({at.first, at.second, std::move(wanted)});
  return all;
}

void take_some(reference::group_gradients const& found, sampled_group const& of, returned_gradients const& given,
               gradient_tally& into) {
  auto const take = [&](gradient which, std::int64_t h, std::int64_t row, std::int64_t columns, auto&& truth) {
    auto const& gradient = given[which];
    for (std::int64_t x = 0; gradient && x < columns; ++x)
      into.take({which, of.b, h, row, x}, truth(x), gradient->got(of.b, h, row, x));
  };
  std::int64_t const heads = given.heads_of_group;
  for (std::size_t n = 0; n < of.wanted.queries.size(); ++n) {
    auto const& [h, i] = of.wanted.queries[n];
    take(gradient::dq, of.g * heads + h, i, found.d,
         [&](std::int64_t t) { return found.dq_at(0, static_cast<std::int64_t>(n), t); });
  }
  for (std::size_t n = 0; n < of.wanted.keys.size(); ++n) {
    auto const at = static_cast<std::int64_t>(n);
    take(gradient::dk, of.g, of.wanted.keys[n], found.d, [&](std::int64_t t) { return found.dk_at(at, t); });
    take(gradient::dv, of.g, of.wanted.keys[n], found.dv, [&](std::int64_t c) { return found.dv_at(at, c); });
  }
}

template <class T>
void take_shared(gradient which, reference::shared_gradient const& truth, returned_gradients const& given,
                 gradient_tally& into) {
  auto const& gradient = given[which];
  if (!gradient || truth.element.empty()) return;
  for (std::int64_t b = 0; b < truth.shape[0]; ++b)
    for (std::int64_t h = 0; h < truth.shape[1]; ++h)
      for (std::int64_t i = 0; i < truth.shape[2]; ++i)
        for (std::int64_t j = 0; j < truth.shape[3]; ++j)
          into.take({which, b, h, i, j}, stored_as<T>(gradient->tensor->type, truth.at(b, h, i, j)),
                    gradient->got(b, h, i, j));
}

/// The verdict by the ball itself, which may be far narrower than the doubles around it.
template <unsigned W>
gradient_verdict verdict_beside(gradient_element const& truth, reference::enclosed_value<W> const& enclosed,
                                double got) {
  if (truth.kind != value_kind::finite || enclosed.kind != value_kind::finite || !std::isfinite(got) ||
      !(truth.bound < reference::infinity))
    return verdict_on(truth, got);
  auto const exactly = [](double x) { return reference::ball<W>::from(reference::value_of(x)); };
  switch (reference::at_most(reference::absolute(exactly(got) - enclosed.value), exactly(truth.bound))) {
    case reference::decision::yes: return gradient_verdict::certified;
    case reference::decision::no: return gradient_verdict::refuted;
    default: return gradient_verdict::undecided;
  }
}

/// Encloses the open elements anew, at widths that grow until each is decided.
template <class T>
void decide_open(problem::instance<T> const& p, reference::gradient_inputs<T> const& inputs,
                 reference::gradient_mode mode, gradient_tally& tally, thoroughness how) {
  auto const refine = [&]<unsigned W>(std::integral_constant<unsigned, W>, bool is_last) {
    std::vector<open_element> const open = std::exchange(tally.open, {});
    std::vector<gradient_index> wanted;
    for (open_element const& element : open) wanted.push_back(element.at);
    auto const enclosed = reference::compiled::enclose_gradients<W>(p, inputs, mode, wanted);
    for (std::size_t n = 0; n < open.size(); ++n) {
      gradient_element const truth = refined(open[n].truth, enclosed[n]);
      gradient_verdict const verdict = verdict_beside(truth, enclosed[n], open[n].got);
      if (is_last || verdict != gradient_verdict::undecided) tally.count(open[n].at, truth, open[n].got, verdict);
      else tally.open.push_back({open[n].at, truth, open[n].got});
    }
  };
  auto const enough = [&] {
    return tally.open.empty() || (how == thoroughness::verdict && tally.found.failed > 0) ||
           tbb::is_current_task_group_canceling();
  };
  if (!enough()) refine(std::integral_constant<unsigned, 128>{}, false);
  if (!enough()) refine(std::integral_constant<unsigned, 256>{}, false);
  if (!enough()) refine(std::integral_constant<unsigned, 1152>{}, true);
  tally.found.not_certified += std::ssize(tally.open);
}

/// A backward pass, and what is asked of its gradients.
template <class T>
struct asked_gradients {
  owned_problem const& problem;
  problem::instance<T> const& p;
  owned_outputs const& outputs;
  problem::kernel_model const forward;
  reference::gradient_inputs<T> const inputs;
  thoroughness how;
  std::span<row_index const> rows;
};

template <class T>
judgement judge_reading(asked_gradients<T> const& of, gradient_reading const& reading) {
  auto const& p = of.p;
  problem::sizes const& s = p.size();
  auto const source_of = [&] {
    return reference::gradient_source<T>::make(p, of.inputs, of.forward, reading.model, reading.mode);
  };
  returned_gradients const returned(of.problem, of.outputs);
  gradient_tally total(s.m, reading.refutes);
  auto first = source_of();
  if (!first) {  // nothing is claimed about such a problem
    for (output_kind const kind : output_kinds)
      if (auto const& tensor = problem::is_gradient(kind) ? of.outputs.of(kind) : std::nullopt)
        total.found.leave_out(kind, static_cast<std::int64_t>(answered_elements(of.problem, kind, *tensor)),
                              not_judged_because::outside_hypotheses);
    return std::move(total.found);
  }
  struct worker {
    reference::gradient_source<T> source;
    gradient_tally tally;
  };
  tbb::enumerable_thread_specific<worker> workers(
      [&] { return worker{source_of().value(), gradient_tally(s.m, reading.refutes)}; });
  auto const groups = of.rows.empty() ? static_cast<std::size_t>(s.b * s.hk) : 0;
  tbb::parallel_for(std::size_t{0}, groups, [&](std::size_t at) {
    worker& mine = workers.local();
    auto const number = static_cast<std::int64_t>(at);
    take_group(mine.source.group(number / s.hk, number % s.hk), returned, mine.tally);
  });
  auto const some = groups_of(s, of.rows);
  tbb::parallel_for(std::size_t{0}, some.size(), [&](std::size_t at) {
    worker& mine = workers.local();
    take_some(mine.source.some_of_group(some[at].b, some[at].g, some[at].wanted), some[at], returned, mine.tally);
  });
  for (worker& local : workers) {
    first.value().add(local.source);
    total.open.insert(total.open.end(), local.tally.open.begin(), local.tally.open.end());
    total.found.merge(std::move(local.tally.found));
  }
  if (of.rows.empty()) take_shared<T>(gradient::dbias, first.value().dbias(), returned, total);
  if (of.rows.empty()) take_shared<T>(gradient::dsink, first.value().dsink(), returned, total);
  decide_open(p, of.inputs, reading.mode, total, of.how);
  return std::move(total.found);
}

/// By the first reading under which no element is wrong; else by the one with the fewest wrong elements.
template <class T>
judgement judge_typed(owned_problem const& problem, problem::instance<T> const& p, owned_outputs const& outputs,
                      contract const& claim, thoroughness how, formed_from what, std::span<row_index const> rows) {
  owned_outputs const handed{.o = outputs.o ? outputs.o : problem.draft().handed_o,
                             .lse = outputs.lse ? outputs.lse : problem.draft().handed_lse};
  output_views<T> given = views_of<T>(p, handed);
  problem::sizes const& s = p.size();  // of packed rows, too
  if (given.o.present) given.o.shape = {s.b, s.hq, s.n, s.dv};
  if (given.lse.present) given.lse.shape = {s.b, s.hq, s.n, 1};
  asked_gradients<T> const of{.problem = problem,
                              .p = p,
                              .outputs = outputs,
                              .forward = claim.model_for(problem.instance()),
                              .inputs = {p.d_out(), given.o, given.lse, base_beside(outputs, claim)},
                              .how = how,
                              .rows = rows};
  if (what == formed_from::handed_alone)
    return judge_reading(of, {claim.gradient_for(problem.instance()), reference::gradient_mode::local});
  auto const readings = readings_beside(problem, outputs, given.o.present, given.lse.present, claim);
  judgement least = judge_reading(of, readings.front());
  for (std::size_t n = 1; n < readings.size() && least.failed > 0; ++n)
    if (judgement found = judge_reading(of, readings[n]); found.failed < least.failed) least = std::move(found);
  return least;
}

}  // namespace

judgement judge_gradients(owned_problem const& problem, owned_outputs const& outputs, contract const& claim,
                          thoroughness how, formed_from what, std::span<row_index const> rows) {
  return std::visit([&](auto const& p) { return judge_typed(problem, p, outputs, claim, how, what, rows); },
                    problem.instance());
}

}  // namespace attest::audit
