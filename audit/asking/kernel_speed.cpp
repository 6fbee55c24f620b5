#include "audit/asking/kernel_speed.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "audit/cases/domain/keep_form.hpp"
#include "audit/cases/families/backward.hpp"
#include "audit/cases/random.hpp"
#include "audit/isolation/own_time.hpp"
#include "audit/judge/forward_answers.hpp"

namespace attest::audit {

namespace {

constexpr std::int64_t least_of_gradients = std::int64_t{1} << 18, most_of_gradients = std::int64_t{1} << 28;

}  // namespace

std::int64_t gradient_products(std::int64_t products) noexcept {
  return std::min(std::max(products / 4, std::min(products, least_of_gradients)), most_of_gradients);
}

shape_limits fixed_limits(audit_options const& options) {
  shape_limits limits;
  if (options.quick) limits.call = {.bytes = std::int64_t{1} << 25, .products = std::int64_t{1} << 25};
  if (options.draw_products) limits.call.products = *options.draw_products;
  limits.gradients.products = gradient_products(limits.call.products);
  if (options.claim->type == problem::element_type::f64) limits.judged_products >>= 2;
  if (options.quick) limits.judged_products >>= 2;
  return limits;
}

namespace {

std::optional<std::int64_t> measured(kernel_session& kernel, problem::element_type type, double seconds,
                                     call_domain const& domain, bool backward) {
  constexpr double long_enough = 0.01;
  double const least = backward ? 4 * least_of_gradients : 0x1p20, most = seconds < 60 ? 0x1p25 : 0x1p33;
  std::optional<std::int64_t> products;
  call_form last;
  for (std::int64_t n = 32; n <= (backward ? 512 : 2048); n *= 2) {
    call_form form{.size = {1, 4, 4, n, n, 64, 64}};
    keep_to(domain, form);
    if (form == std::exchange(last, form)) continue;
    random_stream random(0, "speed");
    audit_case plain{.check = {}, .name = "speed", .problem = owned_problem::of_valid(draft_of(form, type, random))};
    if (backward) plain = differentiated(std::move(plain), 0);
    auto const ran = kernel.run(backward && kernel.reads_forward() ? with_forward(plain.problem) : plain.problem, 0,
                                placement::end, {false, false});
    if (!ran || ran.value().report.outcome != call_outcome::succeeded) break;
    double const took = std::max(own_time::share() * ran.value().seconds, 1e-6);
    double const speed = static_cast<double>(cost_of(form, type).products) / took;
    double const allowed = std::clamp((backward ? 4 : 1) * speed * seconds / 200, least, most);
    products = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(allowed)));
    if (took >= long_enough) break;
  }
  return products;
}

}  // namespace

std::optional<std::int64_t> most_products(kernel_session& kernel, problem::element_type type, double seconds,
                                          drawn_functions const& of, call_domain const& domain,
                                          call_domain const& of_gradients) {
  std::optional<std::int64_t> products, backward;
  if (of.attention) products = measured(kernel, type, seconds, domain, false);
  if (of.backward) backward = measured(kernel, type, seconds, of_gradients, true);
  return products && backward ? std::min(products, backward) : products ? products : backward;
}

}  // namespace attest::audit
