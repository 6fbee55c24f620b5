#include "audit/cases/forms/production.hpp"

#include <algorithm>
#include <utility>

#include "audit/cases/domain/keep_form.hpp"
#include "audit/cases/families/shared_values.hpp"
#include "audit/cases/row_sample.hpp"

namespace attest::audit {

call_form form_of(production_shape const& shape) {
  call_form form{.size = shape.size, .length = shape.mask.length};
  switch (shape.mask.kind) {
    case masking_kind::none: break;
    case masking_kind::causal: form.options.add(feature::causal); break;
    case masking_kind::causal_window: form.options.add(feature::window); break;
    case masking_kind::window: form.options.add(feature::symmetric_window); break;
    case masking_kind::padding: form.options.add(feature::padding); break;
    case masking_kind::causal_padding:
      form.options.add(feature::causal);
      form.options.add(feature::left_padding);
      break;
    case masking_kind::prefix: form.options.add(feature::prefix); break;
  }
  switch (shape.features.bias) {
    case bias_kind::none: break;
    case bias_kind::alibi: form.options.add(feature::alibi); break;
    case bias_kind::relative: form.options.add(feature::bias); break;
  }
  if (shape.features.scale) form.options.add(feature::scale), form.scale = shape.features.scale;
  if (shape.features.softcap > 0) form.options.add(feature::softcap);
  operator_needs const& needs = shape.features.needs;
  if (needs.sinks) form.options.add(feature::sink);
  if (needs.paged || needs.packed) {
    // Sequences of different lengths are entries then, not slots with padding.
    form.options.remove(feature::padding), form.options.remove(feature::left_padding);
    form.options.add(needs.paged ? feature::paged : feature::packed);
  }
  return form;
}

production_call production_call_of(production_shape const& row, problem::element_type type,
                                   shape_limits const& limits) {
  production_shape in_type = row;
  in_type.type = type;
  call_form form = form_of(row);
  if (!limits.domain.is_everything()) {
    feature_set const options = form.options;
    options.each([&](feature one) {
      if (!limits.answers.answers(one)) form.options.remove(one), reset(form, one);
    });
    keep_to(limits.domain, form);
    in_type.size = form.size;
  }
  // All rows together are to take about a third of an audit: each may cost a quarter of what a large draw may.
  constexpr std::int64_t most_bytes = std::int64_t{1} << 26;
  call_domain within = limits.domain;
  if (needs_square(within, form) && form.size.n == form.size.m) within.queries = call_domain::lengths::equal;
  scaled_shape cut = scaled(in_type, {std::min(limits.call.bytes, most_bytes), limits.call.products / 4}, within);
  cut.whole = row.size;
  form.size = cut.shape.size, form.length = cut.shape.mask.length;
  keep_to(limits.domain, form);
  bool const long_as_said = has_any(form, feature_group::mask) || form.options.has(feature::window) ||
                            form.options.has(feature::symmetric_window);
  if (!long_as_said) form.length = 0;
  return {.form = form, .cut = cut.cut(), .fits = cut.fits};
}

std::optional<std::string> why_not_asked(production_shape const& row, problem::element_type type,
                                         shape_limits const& limits) {
  if (limits.domain.is_everything()) return std::nullopt;
  production_call const asked = production_call_of(row, type, limits);
  if (!asked.fits) return "the smallest call in the domain is too large";
  for (production_shape const& before : production_shapes()) {
    if (before.name == row.name) break;
    if (production_call_of(before, type, limits).form == asked.form) return "it asks what an earlier shape asks";
  }
  return std::nullopt;
}

audit_case production_case(production_shape const& row, problem::element_type type, std::uint64_t seed,
                           shape_limits const& limits) {
  auto [form, cut, fits] = production_call_of(row, type, limits);
  random_stream random(seed, "production/" + std::string(row.name));
  // One head size in two shows lost keys by digits, the others by queries that point to keys.
  form.values = random.below(2) == 0 ? value_form::digits : value_form::pointed;
  problem_draft draft = draft_of(form, type, random);
  // A pool of its own for V is as good: packed and paged tensors have no memory form.
  bool const in_k = row.features.v_in_k && form.size.dv <= form.size.d;
  memory_form const memory{.v_in_k = in_k && draft.has_slots()};
  share_values(draft, memory);
  audit_case made{.check = "production",
                  .name = std::string(row.name),
                  .problem = owned_problem::of_valid(std::move(draft)),
                  .memory = memory};
  made.rows = sampled_queries(made.problem, judged_rows(form.size, limits.judged_products), random);
  made.once = true;
  made.form = form;
  made.scaled = std::move(cut);
  return made;
}

}  // namespace attest::audit
