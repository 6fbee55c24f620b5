#include "audit/judge/judge_outputs.hpp"

#include <algorithm>

#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>

#include "audit/contract/preset_family.hpp"
#include "audit/judge/tiered_judge.hpp"

namespace attest::audit {
namespace {

/// Consecutive queries of one head, i0 ≤ i < i1. They share the conversion of K.
struct row_block {
  std::int64_t b, h, i0, i1;
};

std::vector<row_block> blocks_of(problem::sizes const& s, std::span<row_index const> rows) {
  constexpr std::int64_t most = 32;
  std::vector<row_block> blocks;
  if (rows.empty()) {
    for (std::int64_t b = 0; b < s.b; ++b)
      for (std::int64_t h = 0; h < s.hq; ++h)
        for (std::int64_t i = 0; i < s.n; i += most) blocks.push_back({b, h, i, std::min(i + most, s.n)});
    return blocks;
  }
  for (auto const& [b, h, i] : rows) {
    bool const continues = !blocks.empty() && blocks.back().b == b && blocks.back().h == h && blocks.back().i1 == i &&
                           i - blocks.back().i0 < most;
    if (continues) ++blocks.back().i1;
    else blocks.push_back({b, h, i, i + 1});
  }
  return blocks;
}

/// The elements of all outputs.
std::int64_t elements_of(owned_outputs const& outputs) {
  std::int64_t elements = 0;
  for (auto const* output : {&outputs.o, &outputs.lse, &outputs.weights})
    if (*output) elements += static_cast<std::int64_t>((*output)->bytes.size() / problem::size_of((*output)->type));
  return elements;
}

template <class T>
judgement judge_typed(problem::instance<T> const& problem, owned_outputs const& outputs,
                      problem::kernel_model const& model, std::span<named_model const> sharper,
                      std::span<row_index const> rows) {
  output_views<T> const views = views_of<T>(outputs);
  struct worker {
    tiered_judge<T> rows;
    judgement sum;
  };
  tbb::enumerable_thread_specific<worker> workers(
      [&] { return worker{tiered_judge<T>(problem, views, model, sharper), {}}; });
  auto const blocks = blocks_of(problem.size(), rows);
  tbb::parallel_for(std::size_t{0}, blocks.size(), [&](std::size_t at) {
    worker& mine = workers.local();
    mine.rows.judge(blocks[at].b, blocks[at].h, blocks[at].i0, blocks[at].i1, mine.sum);
  });
  judgement total;
  for (worker& local : workers) total.merge(std::move(local.sum));
  total.exist = elements_of(outputs);
  total.returned = {views.o.present, views.lse.present, views.weights.present};
  return total;
}

}  // namespace

judgement judge(problem::any_instance const& problem, owned_outputs const& outputs, contract const& claim,
                std::span<row_index const> rows) {
  problem::kernel_model const model = claim.model_for(problem);
  std::vector<named_model> sharper;
  for (contract const* preset : sharper_presets(claim)) sharper.push_back({preset->name, preset->model_for(problem)});
  return std::visit([&](auto const& p) { return judge_typed(p, outputs, model, sharper, rows); }, problem);
}

}  // namespace attest::audit
