// Production shapes cut to a limit.
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "audit/cases/forms/production_shapes.hpp"

namespace attest::audit {
namespace {

/// The elements of the mask (one byte each) and of the bias, in the shapes in which they broadcast. Causal masks and
/// windows are parameters and have none.
std::int64_t mask_elements(production_shape const& s) noexcept {
  switch (s.mask.kind) {
    case masking_kind::padding: return s.size.b * s.size.m;
    case masking_kind::causal_padding: return s.size.b * s.size.m;
    case masking_kind::prefix: return s.size.n * s.size.m;
    case masking_kind::none:
    case masking_kind::causal:
    case masking_kind::causal_window:
    case masking_kind::window: break;
  }
  return 0;
}
std::int64_t bias_elements(production_shape const& s) noexcept {
  if (s.features.bias == bias_kind::none) return 0;
  return s.size.hq * s.size.m * (s.features.bias == bias_kind::relative ? s.size.n : 1);
}

/// The largest x in [1, most] with admitted(x), or 1 where there is none. Requires that admitted(x) implies
/// admitted(x − 1).
template <class F>
std::int64_t largest(std::int64_t most, F&& admitted) {
  std::int64_t least = 1;
  while (least < most) {
    std::int64_t const middle = least + (most - least + 1) / 2;
    if (admitted(middle)) least = middle;
    else most = middle - 1;
  }
  return least;
}

}  // namespace

shape_cost cost_of(production_shape const& shape) noexcept {
  auto const& [b, hq, hk, n, m, d, dv] = shape.size;
  std::int64_t const v_elements = shape.features.v_in_k ? 0 : b * hk * m * dv;
  std::int64_t const elements = b * hq * n * (d + dv) + b * hk * m * d + v_elements + bias_elements(shape);
  return {.bytes = elements * static_cast<std::int64_t>(problem::size_of(shape.type)) + mask_elements(shape),
          .products = b * hq * n * m * (d + dv)};
}

scaled_shape scaled(production_shape const& shape, shape_limit const& limit, call_domain const& domain) {
  production_shape cut = shape;
  auto const fits = [&] { return limit.admits(cost_of(cut)); };
  auto& size = cut.size;
  std::int64_t const group = size.hq / size.hk;
  auto const set_heads = [&](std::int64_t hk) { size.hk = hk, size.hq = hk * group; };
  auto const set_keys = [&](std::int64_t m) {
    size.m = m;
    cut.mask.length = std::min(shape.mask.length, m);
  };
  bool const equal = domain.queries == call_domain::lengths::equal && !(domain.n.one && size.n == 1),
             fewer_keys = domain.queries == call_domain::lengths::no_more_keys;
  auto const cut_down = [&](std::int64_t whole, size_set const& members, std::int64_t least, auto&& set) {
    std::int64_t const most = largest(whole, [&](std::int64_t x) {
      set(x);
      return fits();
    });
    auto const member = members.at_most(most);
    set(member && *member >= least ? *member : members.at_least(least).value_or(whole));
  };
  cut_down(size.b, domain.batch, 1, [&](std::int64_t b) { size.b = b; });
  cut_down(size.hk, domain.kv_heads, 1, set_heads);
  cut_down(size.n, domain.n, 1, [&](std::int64_t n) {
    size.n = n;
    if (equal || fewer_keys) set_keys(std::min(shape.size.m, equal ? n : n / domain.times));
  });
  std::int64_t const as_many = shape.size.n <= shape.size.m ? size.n : 1;
  if (!equal && !fewer_keys) cut_down(size.m, domain.m, std::max(as_many, domain.keys_for(size.n)), set_keys);
  return {.shape = cut, .whole = shape.size, .fits = fits()};
}

std::string scaled_shape::cut() const {
  std::string says;
  auto const add = [&](std::string_view what, std::int64_t before, std::int64_t after) {
    if (before != after) says += fmt::format("{}{} {} → {}", says.empty() ? "" : ", ", what, before, after);
  };
  add("batch", whole.b, shape.size.b);
  add("query heads", whole.hq, shape.size.hq);
  add("key-value heads", whole.hk, shape.size.hk);
  add("queries", whole.n, shape.size.n);
  add("keys", whole.m, shape.size.m);
  add("head size", whole.d, shape.size.d);
  add("value width", whole.dv, shape.size.dv);
  return says;
}

}  // namespace attest::audit
