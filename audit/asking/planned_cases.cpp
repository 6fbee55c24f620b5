#include "audit/asking/planned_cases.hpp"

#include <charconv>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "audit/cases/domain/fit_case.hpp"
#include "audit/cases/families/backward.hpp"
#include "audit/cases/families/backward_forms.hpp"
#include "audit/cases/forms/production.hpp"

namespace attest::audit {
namespace {

double products_of(audit_case const& asked) {
  auto const of_call = [&](std::size_t call) {
    problem::sizes const& s = asked.call(call).size();
    return static_cast<double>(s.b * s.hq * s.n) * static_cast<double>(s.m * (s.d + s.dv));
  };
  double products = static_cast<double>((asked.once ? 1 : 2) + 2 * asked.callers) * of_call(0);
  for (std::size_t call = 1; call <= asked.further.size(); ++call) products += of_call(call);
  return products;
}

/// Without what makes it.
planned_case unmade(audit_case const& made) {
  return {.check = made.check, .name = made.name, .calls = made.calls(), .products = products_of(made), .make = {}};
}

}  // namespace

planned_case existing(audit_case&& made) {
  planned_case plan = unmade(made);
  plan.make = [made = std::make_shared<audit_case const>(std::move(made))](shape_limits const&) { return *made; };
  return plan;
}

planned_fit fitted_plan(audit_case&& made, call_domain const& domain, std::function<void(audit_case&)> const& then) {
  constexpr std::size_t most_bytes = 1 << 20;
  bool const of_sizes = fits_by_sizes(made);
  fitted_case fits = of_sizes ? fitted_sizes(made, domain) : fitted(made, domain);
  if (!fits.made) return {.why_not = std::move(fits.why_not)};
  std::size_t bytes = 0;
  for (std::size_t call = 0; !of_sizes && call <= fits.made->further.size(); ++call) {
    problem_draft const& p = fits.made->call(call).draft();
    bytes += p.q.bytes.size() + p.k.bytes.size() + p.v.bytes.size();
  }
  if (!of_sizes && bytes <= most_bytes) {
    then(*fits.made);
    return {.plan = existing(*std::move(fits.made))};
  }
  planned_case plan = unmade(*fits.made);
  plan.make = [made = std::make_shared<audit_case const>(std::move(made)), domain, then](shape_limits const&) {
    audit_case asked = *fitted(*made, domain).made;
    then(asked);
    return asked;
  };
  return {.plan = std::move(plan)};
}

planned_case again_plan(domain_call const& call, problem::element_type type, std::uint64_t seed) {
  return {
      .check = "domain", .name = call.name(), .make = [=](shape_limits const&) { return case_of(call, type, seed); }};
}

planned_case production_plan(production_shape const& row, problem::element_type type, std::uint64_t seed) {
  return {.check = "production", .name = std::string(row.name), .make = [&row, type, seed](shape_limits const& limits) {
            return production_case(row, type, seed, limits);
          }};
}

planned_case edge_plan(edge_form edge, problem::element_type type, std::uint64_t seed) {
  std::string name = edge.name;
  return {.check = std::string(check_of_edges),
          .name = std::move(name),
          .make = [edge = std::move(edge), type, seed](shape_limits const& limits) {
            return edge_case(edge, type, seed, limits);
          }};
}

planned_case draw_plan(problem::element_type type, std::uint64_t seed, std::int64_t number) {
  return {.check = "drawn", .name = fmt::format("{}", number), .make = [=](shape_limits const& limits) {
            return drawn_case(type, seed, number, limits);
          }};
}

planned_case gradient_production_plan(production_shape const& row, problem::element_type type, std::uint64_t seed) {
  return {
      .check = std::string(check_of_gradients),
      .name = fmt::format("production-{}", row.name),
      .make = [&row, type, seed](shape_limits const& limits) { return production_gradients(row, type, seed, limits); }};
}

planned_case gradient_draw_plan(problem::element_type type, std::uint64_t seed, std::int64_t number) {
  return {.check = std::string(check_of_gradients),
          .name = fmt::format("{}{}", drawn_gradients_prefix, number),
          .make = [=](shape_limits const& limits) { return drawn_gradients(type, seed, number, limits); }};
}

std::optional<std::int64_t> gradient_draw_named(std::string_view full_name) {
  std::string const prefix = fmt::format("{}/{}", check_of_gradients, drawn_gradients_prefix);
  return full_name.starts_with(prefix) ? draw_named(full_name.substr(prefix.size())) : std::nullopt;
}

std::optional<std::int64_t> draw_named(std::string_view name) {
  std::int64_t number = 0;
  auto const [end, fault] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (fault != std::errc{} || end != name.data() + name.size() || number < 1) return std::nullopt;
  return number;
}

std::optional<domain_call> call_of(std::string_view full_name) {
  constexpr std::string_view prefix = "domain/";
  return full_name.starts_with(prefix) ? domain_call::of_name(full_name.substr(prefix.size())) : std::nullopt;
}

}  // namespace attest::audit
