#include "audit/judge/outside_hypotheses.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <variant>

#include "audit/judge/element_value.hpp"

namespace attest::audit {
namespace {

/// Does the q·k of a visible key multiply an infinity by a number that the kernel may read as 0? Such a number is below
/// ω (alone or times σ·log₂ e), or it is σ if σ may be 0. Then the kernel's score is NaN, whatever the exact score is,
/// and the row is not judged (E10 of docs/bound.md).
template <class T>
bool flushed_meets_infinity(problem::instance<T> const& p, problem::kernel_model const& model,
                            reference::enclosed_row<first_width, T> const& row, std::int64_t b, std::int64_t h,
                            std::int64_t i) {
  std::int64_t const d = p.size().d, hk = reference::key_head(p.size(), h);
  T const* const q = p.q().row(b, h, i);
  // The smallest factor other than 1 that a kernel may fold into q or k is σ, rounded down as a kernel may round it.
  double const scale = reference::given_scale(p).value_or(1 / std::sqrt(static_cast<double>(d)));
  double const sigma = reference::size_upper(reference::value_of(scale));
  double const roundings = std::max(8 * model.format.u, model.k_qk_base * model.u_qk);
  double const folded = sigma * (1 - roundings);
  bool const scale_may_be_zero = sigma > 0 && folded < model.format.omega;
  auto const may_be_zero = [&](T x) {
    double const size = std::abs(as_double(x));
    return size > 0 && (size < model.format.omega || size * folded < model.format.omega);
  };
  auto const meets = [&](std::int64_t j) {
    T const* const k = p.k().row(b, hk, j);
    for (std::int64_t t = 0; t < d; ++t) {
      bool const infinite_q = std::isinf(as_double(q[t])), infinite_k = std::isinf(as_double(k[t]));
      if (scale_may_be_zero && (infinite_q || infinite_k)) return true;
      if ((infinite_q && may_be_zero(k[t])) || (infinite_k && may_be_zero(q[t]))) return true;
    }
    return false;
  };
  return std::ranges::any_of(row.real_keys(), [&](auto const& key) { return meets(key.j); }) ||
         std::ranges::any_of(row.without_weight, meets);
}

}  // namespace

template <class T>
bool is_outside_hypotheses(problem::instance<T> const& p, problem::kernel_model const& model,
                           row_truth<first_width, T> const& truth, std::int64_t b, std::int64_t h, std::int64_t i) {
  using reference::row_kind;
  // Outside H0 the scores of an honest kernel may overflow: to −∞, and then a NaN in V does not reach the output, or to
  // NaN if the bias is −∞.
  row_kind const kind = truth.row.kind;
  bool const outside = kind == row_kind::finite
                           ? !truth.bound.says_anything()
                           : kind == row_kind::empty &&
                                 !reference::keys_without_weight_in_range(model, reference::range_of(p, truth.row));
  return outside || (kind != row_kind::nan && model.flushes && flushed_meets_infinity(p, model, truth.row, b, h, i));
}

namespace {

template <class... T>
constexpr auto outside_of(std::variant<problem::instance<T>...> const*) {
  return std::tuple{&is_outside_hypotheses<T>...};
}
/// Compiles is_outside_hypotheses for every element type.
[[gnu::used]] constexpr auto outside = outside_of(static_cast<problem::any_instance const*>(nullptr));

}  // namespace
}  // namespace attest::audit
