#include "audit/judge/judge_outputs.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>
#include <tbb/task_group.h>

#include "audit/contract/preset_family.hpp"
#include "audit/judge/tiered_judge.hpp"

namespace attest::audit {
namespace {

/// Consecutive queries of one head, i0 ≤ i < i1. They share the conversion of K.
struct row_block {
  std::int64_t b, h, i0, i1;
};

template <class T>
std::vector<row_block> blocks_of(problem::instance<T> const& p, std::span<row_index const> rows) {
  constexpr std::int64_t most = 32;
  std::vector<row_block> blocks;
  if (rows.empty()) {
    for (std::int64_t b = 0; b < p.size().b; ++b)
      for (std::int64_t h = 0; h < p.size().hq; ++h)
        for (std::int64_t i = 0; i < p.queries(b); i += most)
          blocks.push_back({b, h, i, std::min(i + most, p.queries(b))});
    return blocks;
  }
  for (auto const& [b, h, i] : rows) {
    if (i >= p.queries(b)) continue;
    bool const continues = !blocks.empty() && blocks.back().b == b && blocks.back().h == h && blocks.back().i1 == i &&
                           i - blocks.back().i0 < most;
    if (continues) ++blocks.back().i1;
    else blocks.push_back({b, h, i, i + 1});
  }
  return blocks;
}

/// Orders rows so that the first row of every head comes first, then the second of every head, and so on. If only some
/// rows are judged, some of every head are among them.
void put_heads_in_turn(std::vector<row_index>& rows) {
  std::ranges::sort(rows);
  std::vector<std::pair<std::int64_t, row_index>> turns;
  for (row_index const& row : rows) {
    bool const same_head = !turns.empty() && turns.back().second.b == row.b && turns.back().second.h == row.h;
    turns.emplace_back(same_head ? turns.back().first + 1 : 0, row);
  }
  std::ranges::sort(turns);
  std::ranges::transform(turns, rows.begin(), &std::pair<std::int64_t, row_index>::second);
}

struct row_counts {
  std::int64_t judged = 0, wrong = 0;
};

/// Judges rows in order until `most` of them are wrong.
/// Ensures   counts that do not depend on threads: rows are judged in parts, and the sizes of the parts follow from the
///           results
template <class IsWrong>
row_counts judge_until(std::vector<row_index> const& rows, std::int64_t most, IsWrong const& is_wrong) {
  std::int64_t judged = 0, wrong = 0, part = most;
  while (judged < std::ssize(rows) && wrong < most && !tbb::is_current_task_group_canceling()) {
    part = std::min(part, std::ssize(rows) - judged);
    std::vector<char> is_wrong_row(static_cast<std::size_t>(part));
    tbb::parallel_for(std::size_t{0}, is_wrong_row.size(), [&](std::size_t at) {
      is_wrong_row[at] = is_wrong(rows[static_cast<std::size_t>(judged) + at]);
    });
    wrong += std::ranges::count(is_wrong_row, true);
    judged += part;
    // As long as no row is wrong, larger parts keep all threads at work.
    part = wrong == 0 ? 2 * part : most - wrong;
  }
  return {judged, wrong};
}

template <class T>
judgement judge_typed(problem::instance<T> const& problem, owned_outputs const& outputs,
                      problem::kernel_model const& model, said_by_contract const& says,
                      std::span<named_model const> sharper, std::span<row_index const> rows, thoroughness how) {
  output_views<T> const views = views_of<T>(problem, outputs);
  judgement total = unjudged(outputs);
  if (total.exist == 0) return total;  // empty outputs, whatever the number of rows
  struct worker {
    tiered_judge<T> rows;
    judgement sum;
    std::vector<row_index> not_enclosed, not_certified;  ///< by the machine tier
  };
  tbb::enumerable_thread_specific<worker> workers(
      [&] { return worker{tiered_judge<T>(problem, views, model, sharper, how, says), {}, {}, {}}; });
  auto const blocks = blocks_of(problem, rows);
  tbb::parallel_for(std::size_t{0}, blocks.size(), [&](std::size_t at) {
    auto const [b, h, i0, i1] = blocks[at];
    worker& mine = workers.local();
    mine.rows.certify(b, h, i0, i1, mine.sum, [&](std::int64_t i, bool enclosed) {
      (enclosed ? mine.not_certified : mine.not_enclosed).push_back({b, h, i});
    });
  });
  std::vector<row_index> not_enclosed, not_certified;
  for (worker const& local : workers) {
    not_enclosed.insert(not_enclosed.end(), local.not_enclosed.begin(), local.not_enclosed.end());
    not_certified.insert(not_certified.end(), local.not_certified.begin(), local.not_certified.end());
  }
  put_heads_in_turn(not_enclosed), put_heads_in_turn(not_certified);
  auto const is_wrong = [&](row_index const& row) {
    worker& mine = workers.local();
    std::int64_t const before = mine.sum.failed;
    mine.rows.judge_exactly(row, mine.sum);
    return mine.sum.failed > before;
  };
  problem::sizes const& s = problem.size();
  constexpr std::int64_t any = std::numeric_limits<std::int64_t>::max();
  std::int64_t given = std::ssize(rows);
  if (rows.empty())
    for (row_block const& block : blocks) given += block.i1 - block.i0;
  // A row that the machine tier cannot enclose costs the same whether it is right or wrong: a report judges all of
  // them.
  auto const [special, wrong] = judge_until(not_enclosed, how == thoroughness::verdict ? 1 : any, is_wrong);
  std::int64_t const most =
      how == thoroughness::verdict ? 1 - std::min<std::int64_t>(wrong, 1) : most_wrong_rows(s, given);
  std::int64_t const left = std::ssize(not_enclosed) - special + std::ssize(not_certified) -
                            judge_until(not_certified, most, is_wrong).judged;
  std::array<call_errors, output_names.size()> signed_errors{};
  for (worker& local : workers) {
    for (std::size_t output = 0; output < signed_errors.size(); ++output)
      signed_errors[output].merge(local.rows.signed_errors()[output]);
    total.merge(std::move(local.sum));
  }
  for (std::size_t output = 0; output < signed_errors.size(); ++output) {
    bool const is_lse = static_cast<output_kind>(output) == output_kind::lse;
    auto const type = is_lse ? problem::type_of<problem::lse_element<T>> : problem::type_of<T>;
    total.systematic[output][static_cast<std::size_t>(type)].add(signed_errors[output]);
  }
  total.not_certified =
      left * ((views.o.present ? s.dv : 0) + (views.lse.present ? 1 : 0) + (views.weights.present ? s.m : 0));
  return total;
}

}  // namespace

judgement unjudged(owned_outputs const& outputs) {
  judgement none;
  for (output_kind const kind : output_kinds) {
    auto const& output = outputs.of(kind);
    if (!output) continue;
    none.returned[static_cast<std::size_t>(kind)] = 1;
    none.exist += static_cast<std::int64_t>(output->bytes.size() / problem::size_of(output->type));
  }
  return none;
}

std::int64_t most_wrong_rows(problem::sizes const& sizes, std::int64_t rows) noexcept {
  constexpr double products_of_small = 0x1p18;
  double const of_row = std::max(1.0, static_cast<double>(sizes.m) * static_cast<double>(sizes.d + sizes.dv));
  return std::max({std::int64_t{1}, static_cast<std::int64_t>(products_of_small / of_row), rows / 128});
}

judgement judge(problem::any_instance const& problem, owned_outputs const& outputs, contract const& claim,
                std::span<row_index const> rows, thoroughness how) {
  problem::kernel_model const model = claim.model_for(problem);
  std::vector<named_model> sharper;
  for (contract const* preset : sharper_presets(claim))
    sharper.push_back({preset->name, problem::with_lse_in(model.lse_base, preset->model_for(problem))});
  return std::visit(
      [&](auto const& p) {
        return judge_typed(p, outputs, model, {claim.conventions, claim.name}, sharper, rows, how);
      },
      problem);
}

}  // namespace attest::audit
