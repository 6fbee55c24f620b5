// The machine tier in doubles, compiled once for every SIMD target, and the choice among them at run time.
#include "reference/machine/rows.hpp"

#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

#include "reference/machine/block_task.hpp"
#include "reference/machine/environment.hpp"
#include "reference/machine/simd_targets.hpp"
#include "reference/machine/workspace.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference/machine/rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "reference/machine/block-inl.hpp"

#if HWY_ONCE
namespace attest::reference::machine {

HWY_EXPORT(any_block);
HWY_EXPORT(exp_of);
HWY_EXPORT(exp_of_one);

double machine_exp(double x, bool lanes) noexcept {
  return lanes ? HWY_DYNAMIC_DISPATCH(exp_of)(x) : HWY_DYNAMIC_DISPATCH(exp_of_one)(x);
}

row_facts facts_of(certified_row const& row) {
  row_facts made;
  static_cast<row_scalars&>(made) = row.terms->row;
  key_columns const& k = row.memory->keys;
  for (std::size_t j = 0; j < row.keys.size(); ++j)
    made.keys.push_back({k.x_lower[j], k.x_upper[j], k.score_size[j], k.product_size[j], k.key_norm[j], k.bias[j],
                         k.weight_lower[j], k.weight_upper[j]});
  return made;
}

template <class T>
problem::result<row_source<T>> row_source<T>::make(problem::instance<T> const& p, problem::kernel_model const& model,
                                                   row_options const& how) {
  using problem::error, problem::error_code;
  if (p.size().d > std::int64_t{1} << 20) return error{error_code::unsupported, "q", "d is for the exact tier"};
  if (p.size().m >= std::int64_t{1} << 31) return error{error_code::unsupported, "k", "m is for the exact tier"};
  if (auto const why = unsafe_environment())
    return error{error_code::unsupported, "", "the floating-point environment is unsafe: " + std::string(*why)};
  return row_source(p, model, how);
}

template <class T>
row_source<T>::row_source(problem::instance<T> const& p, problem::kernel_model const& model, row_options const& how)
    : asked_(&p), model_(model), how_(how), memory_(std::make_unique<workspace>()) {
  if (!has_exact_products<T>::value) how_.pairs = true;
  memory_->reserve(p.size().m, p.size().d, p.size().dv, how_.pairs);
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
    block_task<T> const task{asked_, &model_, memory_.get(), b, h, i0, rows, how_, visit, to};
    if constexpr (has_exact_products<T>::value)
      if (!how_.pairs) {
        HWY_DYNAMIC_DISPATCH(any_block)(&task);
        continue;
      }
    run_pairs(&task);
  }
}

static_assert(
    std::is_same_v<problem::floating_elements, problem::type_list<float, double, problem::bf16, problem::f16>>,
    "one line below for each of the floating types");
template class row_source<float>;
template class row_source<double>;
template class row_source<problem::bf16>;
template class row_source<problem::f16>;

std::span<std::int64_t const> available_targets() {
  static std::vector<std::int64_t> const found = [] {
    std::vector<std::int64_t> all;
    for (auto const target : hwy::SupportedAndGeneratedTargets()) all.push_back(target);
    return all;
  }();
  return found;
}
char const* target_name(std::int64_t target) { return hwy::TargetName(target); }
void choose_target(std::int64_t target) { hwy::SetSupportedTargetsForTest(target); }

}  // namespace attest::reference::machine
#endif
