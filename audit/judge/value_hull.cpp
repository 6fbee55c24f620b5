#include "audit/judge/value_hull.hpp"

#include <tuple>
#include <variant>

#include "audit/judge/element_value.hpp"

namespace attest::audit {

template <class T>
value_hull hull_of(problem::instance<T> const& p, row_truth<first_width, T> const& truth, std::int64_t b,
                   std::int64_t h, std::int64_t c) {
  std::int64_t const hk = reference::key_head(p.size(), h);
  value_hull hull{reference::infinity, -reference::infinity};
  auto const add = [&](double lowest, double highest) {
    hull.lowest = std::min(hull.lowest, lowest), hull.highest = std::max(hull.highest, highest);
  };
  double const dropout = reference::dropout_of(p);
  for (auto const& key : truth.row.real_keys()) {
    double const v = as_double(p.v()(b, hk, key.j, c));
    if (dropout == 0) add(v, v);
    else add(reference::rounded_down(v / (1 - dropout)), reference::rounded_up(v / (1 - dropout)));
  }
  // A sink, and a key that dropout removes, add the value 0.
  if (truth.row.has_sink() || p.keep().present) add(0, 0);
  hull.margin = truth.bound.hull_margin(std::max(std::abs(hull.lowest), std::abs(hull.highest)));
  return hull;
}

namespace {

template <class... T>
constexpr auto hulls_of(std::variant<problem::instance<T>...> const*) {
  return std::tuple{&hull_of<T>...};
}
/// Compiles hull_of for every element type.
[[gnu::used]] constexpr auto hulls = hulls_of(static_cast<problem::any_instance const*>(nullptr));

}  // namespace
}  // namespace attest::audit
