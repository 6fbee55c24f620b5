#include "audit/asking/domain/domain_call.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ranges>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "audit/cases/domain/keep_form.hpp"
#include "audit/cases/families/backward.hpp"
#include "audit/cases/forms/drawn.hpp"
#include "audit/cases/row_sample.hpp"

namespace attest::audit {
namespace {

constexpr std::string_view ends_of_bands[]{"", "-top-left", "-bottom-right", "-diagonal", "-window"};
constexpr std::string_view backward_prefix = "backward-", before_needs = "-with-";
constexpr std::string_view without_lse = "-without-lse", and_weights = "-and-weights";
constexpr std::string_view ends_of_scales[]{"", "-stated-scale", "-other-scale", "-negative-scale", "-zero-scale"};

/// A diagonal that is neither the top-left nor the bottom-right one.
std::int64_t other_diagonal(problem::sizes const& s) { return s.m - s.n + (s.n == s.m + 1 ? 2 : 1); }

call_form form_of(domain_call const& call) {
  problem::sizes const& s = call.size;
  call_form form{.size = s, .length = std::clamp<std::int64_t>(s.m / 2, 1, std::max<std::int64_t>(s.m, 1))};
  form.supplied = call.needs;
  if (s.m > 0) form.values = value_form::pointed;
  switch (call.band) {
    case band_form::bottom_right: form.options.add(feature::causal); break;
    case band_form::diagonal: form.diagonal = other_diagonal(s); [[fallthrough]];
    case band_form::top_left: form.options.add(feature::causal_top_left); break;
    case band_form::window: form.options.add(feature::window); break;
    case band_form::none:
    case band_form::square: break;
  }
  if (call.scale == domain_call::scaling::standard) return form;
  form.options.add(feature::scale);
  double const usual = 1 / std::sqrt(std::max(1.0, static_cast<double>(s.d)));
  switch (call.scale) {
    case domain_call::scaling::stated: form.scale = usual; break;
    case domain_call::scaling::negative: form.scale = -0.75 * usual; break;
    case domain_call::scaling::zero: form.scale = 0; break;
    default: break;
  }
  return form;
}

}  // namespace

std::string domain_call::name() const {
  return fmt::format("{}b{}-hq{}-hk{}-n{}-m{}-d{}-dv{}{}{}{}{}{}{}", backward ? backward_prefix : "", size.b, size.hq,
                     size.hk, size.n, size.m, size.d, size.dv, ends_of_bands[static_cast<std::size_t>(band)],
                     ends_of_scales[static_cast<std::size_t>(scale)], needs.empty() ? "" : before_needs,
                     fmt::join(needs.names(), "+"), asks.lse ? "" : without_lse, asks.weights ? and_weights : "");
}

std::optional<domain_call> domain_call::of_name(std::string_view name) {
  domain_call call;
  std::string_view named = name;
  auto const ends = [&](std::string_view with) {
    bool const found = named.ends_with(with);
    if (found) named.remove_suffix(with.size());
    return found;
  };
  call.asks.weights = ends(and_weights), call.asks.lse = !ends(without_lse);
  problem::sizes& s = call.size;
  call.backward = name.starts_with(backward_prefix);
  std::string_view const rest = name.substr(call.backward ? backward_prefix.size() : 0);
  if (std::sscanf(std::string(rest).c_str(), "b%5ld-hq%5ld-hk%5ld-n%5ld-m%5ld-d%5ld-dv%5ld", &s.b, &s.hq, &s.hk, &s.n,
                  &s.m, &s.d, &s.dv) != 7)
    return std::nullopt;
  bool const is_valid = std::min({s.b, s.hq, s.hk, s.d, s.dv}) > 0 && std::min(s.n, s.m) >= 0 && s.hq % s.hk == 0;
  if (!is_valid || s.b * s.hq * std::max(s.n, s.m) * std::max(s.d, s.dv) > std::int64_t{1} << 26) return std::nullopt;
  if (std::size_t const at = named.find(before_needs); at != named.npos)
    for (auto const part : std::views::split(named.substr(at + before_needs.size()), '+'))
      call.needs.add_named({part.begin(), part.end()});
  for (std::size_t band = 0; band < std::size(ends_of_bands); ++band)
    for (std::size_t scale = 0; scale < std::size(ends_of_scales); ++scale) {
      call.band = static_cast<band_form>(band), call.scale = static_cast<scaling>(scale);
      if (call.name() == name) return call;
    }
  return std::nullopt;
}

std::optional<domain_call> small_call_of(call_domain const& domain) {
  call_form form{.size = {1, 2, 2, 33, 33, 64, 64}};
  keep_to(domain, form);
  domain_call call{.size = form.size};
  using enum band_form;
  for (band_form const form_taken : {window, diagonal, top_left, bottom_right, none})
    if (domain.takes(form_taken)) call.band = form_taken;
  if (domain.scale == call_domain::scales::stated) call.scale = domain_call::scaling::stated;
  call.needs = domain.needs;
  call.asks = domain.outputs.within(call.asks);
  return domain_call::of_name(call.name());
}

audit_case case_of(domain_call const& call, problem::element_type type, std::uint64_t seed) {
  std::string name = call.name();
  random_stream random(seed, "domain/" + name);
  call_form const form = form_of(call);
  audit_case made{.check = "domain",
                  .name = std::move(name),
                  .problem = owned_problem::of_valid(draft_of(form, type, random)),
                  .form = form};
  made.asks = call.asks;
  if (call.backward) {
    made = differentiated(std::move(made), seed);
    made.asks = {.lse = false, .weights = false};
    made.rows = sampled_gradients(made.problem, std::int64_t{1} << 23, random);
    return made;
  }
  made.rows = sampled_queries(made.problem, judged_rows(form.size, std::int64_t{1} << 20), random);
  return made;
}

}  // namespace attest::audit
