#include "audit/cases/forms/drawn_numbers.hpp"

#include <cmath>

#include "audit/tensors/elements.hpp"

namespace attest::audit {

void draw_parameters(call_form& form, random_stream& random) {
  bool const scaled = random.below(3) != 0, capped = random.below(3) != 0;
  double const size = std::exp2(-13 + 19 * random.uniform()), cap = 0.5 * std::pow(400.0, random.uniform());
  std::int64_t const sign = random.below(16);
  if (form.options.has(feature::scale) && scaled) form.scale = sign == 0 ? 0.0 : sign % 2 == 0 ? size : -size;
  if (form.options.has(feature::softcap) && capped) form.cap = cap;
}

void set_residues(problem::sizes& s, std::int64_t number, call_domain const& domain) {
  bool const free = domain.queries == call_domain::lengths::any && domain.n.is_everything() && domain.m.is_everything();
  if (!free || number % 3 == 0 || s.n == s.m) return;
  constexpr std::int64_t of_queries = 64, of_keys = 128;
  if (s.n >= of_queries) s.n = s.n / of_queries * of_queries + number % of_queries;
  if (s.m >= of_keys) s.m = s.m / of_keys * of_keys + 7 * number % of_keys;
}

void draw_levels(problem_draft& to, value_form values, random_stream& random) {
  std::int64_t const how = random.below(4);
  auto const type = to.q.type;
  if (how == 0) {
    std::int64_t const most = type == problem::element_type::f64 ? 300 : type == problem::element_type::f16 ? 6 : 90;
    double const factor = std::ldexp(1.0, static_cast<int>(random.below(2 * most + 1) - most));
    fill(to.v, [&](auto... at) { return factor * load(to.v, offset_of(to.v, at...)); });
  } else if (how == 1 && values == value_form::gaussian && to.q.layout.shape[3] > 1) {
    double const scale = to.scale.value_or(1 / std::sqrt(static_cast<double>(to.q.layout.shape[3])));
    double const level = 2000 * random.uniform() - 1000, size = std::abs(level / scale);
    if (!(size < limits_of(type).largest / 64)) return;
    auto const set = [](owned_tensor& t, double x) {
      fill(t, [&](auto b, auto h, auto i, auto c) { return c == 0 ? x : load(t, offset_of(t, b, h, i, c)); });
    };
    set(to.q, std::sqrt(size));
    set(to.k, std::copysign(std::sqrt(size), level * scale));
  }
}

}  // namespace attest::audit
