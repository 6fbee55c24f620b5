// The machine tier in doubles, compiled once for every SIMD target, and the choice among them at run time.
#include "reference/machine/rows.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "reference/machine/block_task.hpp"
#include "reference/machine/disabled_targets.hpp"
#include "reference/machine/environment.hpp"
#include "reference/machine/testing.hpp"
#include "reference/machine/workspace.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference/machine/rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "reference/machine/doubles-inl.hpp"

#if HWY_ONCE
namespace attest::reference::machine {

HWY_EXPORT(any_block);
HWY_EXPORT(exp_of);
HWY_EXPORT(exp_of_one);

template <class T>
problem::result<row_source<T>> row_source<T>::make(problem::instance<T> const& p, problem::kernel_model const& model,
                                                   row_options const& options) {
  using problem::error, problem::error_code;
  if (p.size().d > std::int64_t{1} << 20)
    return error{error_code::unsupported, "q", "d is above 2^20: only the ball tier encloses such rows"};
  if (p.size().m >= std::int64_t{1} << 31)
    return error{error_code::unsupported, "k", "m is 2^31 or more: only the ball tier encloses such rows"};
  if (auto const why = unsafe_environment())
    return error{error_code::unsupported, "", "the floating-point environment is unsafe: " + std::string(*why)};
  return row_source(p, model, options);
}

template <class T>
row_source<T>::row_source(problem::instance<T> const& p, problem::kernel_model const& model, row_options const& options)
    : problem_(&p), model_(model), options_(options), memory_(std::make_unique<workspace>()) {
  if (!has_exact_products<T>::value) options_.double_words = true;
  memory_->reserve(p.size().m, p.size().d, p.size().dv, options_.double_words);
}
template <class T>
row_source<T>::row_source(row_source&&) noexcept = default;
template <class T>
row_source<T>& row_source<T>::operator=(row_source&&) noexcept = default;
template <class T>
row_source<T>::~row_source() = default;

template <class T>
void row_source<T>::run(std::int64_t b, std::int64_t h, std::int64_t i0, std::int64_t i1,
                        void (*visit)(void*, certified_row const&), void* to) {
  for (; i0 < i1; i0 += static_cast<std::int64_t>(block_rows)) {
    std::size_t const rows = std::min(block_rows, static_cast<std::size_t>(i1 - i0));
    block_task<T> const task{problem_, &model_, memory_.get(), b, h, i0, rows, options_, visit, to};
    if constexpr (has_exact_products<T>::value)
      if (!options_.double_words) {
        HWY_DYNAMIC_DISPATCH(any_block)(&task);
        continue;
      }
    run_in_double_words(&task);
  }
}

static_assert(
    std::is_same_v<problem::floating_elements, problem::type_list<float, double, problem::bf16, problem::f16>>,
    "one line below for each of the floating types");
template class row_source<float>;
template class row_source<double>;
template class row_source<problem::bf16>;
template class row_source<problem::f16>;

namespace {

struct simd_target {
  std::string_view name;
  std::int64_t bit;
};
std::vector<simd_target> const& known_targets() {
  static std::vector<simd_target> const known = [] {
    std::vector<simd_target> targets;
    for (std::int64_t const bit : hwy::SupportedAndGeneratedTargets()) targets.push_back({hwy::TargetName(bit), bit});
    return targets;
  }();
  return known;
}

}  // namespace

std::vector<std::string_view> simd_targets() {
  std::vector<std::string_view> names;
  for (simd_target const& target : known_targets()) names.push_back(target.name);
  return names;
}

bool use_simd_target(std::string_view name) noexcept {
  std::int64_t chosen = 0;  // Highway's word for the best one
  if (!name.empty()) {
    auto const found = std::ranges::find(known_targets(), name, &simd_target::name);
    if (found == known_targets().end()) return false;
    chosen = found->bit;
  }
  hwy::SetSupportedTargetsForTest(chosen);
  return true;
}

namespace testing {

double exp(double x, bool lanes) noexcept {
  return lanes ? HWY_DYNAMIC_DISPATCH(exp_of)(x) : HWY_DYNAMIC_DISPATCH(exp_of_one)(x);
}

row_facts facts_of(certified_row const& row) {
  row_facts facts;
  static_cast<row_scalars&>(facts) = *row.terms;
  key_columns const& k = row.memory->keys;
  for (std::size_t j = 0; j < row.keys.size() + (facts.has_sink ? 1 : 0); ++j)
    facts.keys.push_back({k.j[j], k.x_lower[j], k.x_upper[j], k.score_upper[j], k.product_upper[j], k.key_norm[j],
                          k.bias[j], k.weight_lower[j], k.weight_upper[j]});
  if (row.terms->factor.asked) {
    row_alone const& alone = row.memory->alone;
    facts.keys_alone = {alone.facts};
    facts.sink_above_lower = alone.above_lower, facts.sink_above_upper = alone.above_upper;
  }
  return facts;
}

}  // namespace testing

}  // namespace attest::reference::machine
#endif
