#include "audit/judge/judge_outputs.hpp"

#include <algorithm>

#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>

#include "audit/contract/preset_family.hpp"
#include "audit/judge/tiered_judge.hpp"

namespace attest::audit {
namespace {

constexpr std::int64_t rows_per_block = 32;

template <class T>
judgement judge_typed(problem::instance<T> const& problem, owned_outputs const& outputs,
                      problem::kernel_model const& model, std::span<named_model const> sharper) {
  output_views<T> const views = views_of<T>(outputs);
  struct worker {
    tiered_judge<T> rows;
    judgement sum;
  };
  tbb::enumerable_thread_specific<worker> workers(
      [&] { return worker{tiered_judge<T>(problem, views, model, sharper), {}}; });
  // The rows of a block belong to one head and share the conversion of K.
  problem::sizes const& s = problem.size();
  std::int64_t const blocks = (s.n + rows_per_block - 1) / rows_per_block;
  tbb::parallel_for(std::int64_t{0}, s.b * s.hq * blocks, [&](std::int64_t at) {
    worker& mine = workers.local();
    std::int64_t const first = at % blocks * rows_per_block;
    mine.rows.judge(at / blocks / s.hq, at / blocks % s.hq, first, std::min(first + rows_per_block, s.n), mine.sum);
  });
  judgement total;
  for (worker& local : workers) total.merge(std::move(local.sum));
  total.returned = {views.o.present, views.lse.present, views.weights.present};
  return total;
}

}  // namespace

judgement judge(problem::any_instance const& problem, owned_outputs const& outputs, contract const& claim) {
  problem::kernel_model const model = claim.model_for(problem);
  std::vector<named_model> sharper;
  for (contract const* preset : sharper_presets(claim)) sharper.push_back({preset->name, preset->model_for(problem)});
  return std::visit([&](auto const& p) { return judge_typed(p, outputs, model, sharper); }, problem);
}

}  // namespace attest::audit
