#include "audit/judge/judge_outputs.hpp"

#include <algorithm>

#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>

#include "audit/judge/tiered_judge.hpp"

namespace attest::audit {
namespace {

constexpr std::int64_t rows_a_block = 32;

template <class T>
judgement judge_typed(problem::instance<T> const& asked, owned_outputs const& answer,
                      problem::kernel_model const& model) {
  answer_views<T> const views = views_of<T>(answer);
  struct worker {
    machine_first<T> rows;
    judgement sum;
  };
  tbb::enumerable_thread_specific<worker> workers([&] { return worker{machine_first<T>(asked, views, model), {}}; });
  // Blocks of rows of one head: they share the conversion of K.
  problem::sizes const& s = asked.size();
  std::int64_t const blocks = (s.n + rows_a_block - 1) / rows_a_block;
  tbb::parallel_for(std::int64_t{0}, s.b * s.hq * blocks, [&](std::int64_t at) {
    worker& mine = workers.local();
    std::int64_t const first = at % blocks * rows_a_block;
    mine.rows.judge(at / blocks / s.hq, at / blocks % s.hq, first, std::min(first + rows_a_block, s.n), mine.sum);
  });
  judgement total;
  for (worker& each : workers) total.merge(std::move(each.sum));
  return total;
}

}  // namespace

judgement judge(problem::any_instance const& asked, owned_outputs const& answer, contract const& claim) {
  problem::kernel_model const model = claim.model_for(asked);
  return std::visit([&](auto const& p) { return judge_typed(p, answer, model); }, asked);
}

}  // namespace attest::audit
