#include "audit/cases/families/backward_forms.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "audit/cases/families/backward.hpp"
#include "audit/cases/forms/layouts.hpp"
#include "audit/cases/forms/production.hpp"
#include "audit/cases/forms/support_cases.hpp"
#include "audit/cases/row_sample.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/some_gradients.hpp"

namespace attest::audit {
namespace {

constexpr std::string_view support_prefix = "support-", production_prefix = "production-";

using enum problem::output_kind;
constexpr gradient_set some_of_them[]{set_of(dq), set_of(dk) | set_of(dv), set_of(dv), set_of(dq) | set_of(dk),
                                      set_of(dk), set_of(dq) | set_of(dv)};

std::optional<feature> feature_named(std::string_view name) {
  for (feature_row const& row : feature_table())
    if (row.name == name) return row.id;
  return std::nullopt;
}

void each_element(owned_tensor& of, auto&& value) {
  auto const& shape = of.layout.shape;
  for (std::int64_t b = 0; b < shape[0]; ++b)
    for (std::int64_t h = 0; h < shape[1]; ++h)
      for (std::int64_t i = 0; i < shape[2]; ++i)
        for (std::int64_t c = 0; c < shape[3]; ++c) store(of, offset_of(of, b, h, i, c), value(i, c));
}

/// dO: Gaussian, in half of the calls times a power of two, with rows of 0, with one column or one row alone, or far
/// from 0.
void draw_d_out(owned_tensor& d_out, random_stream& random) {
  std::int64_t const most = d_out.type == problem::element_type::f16   ? 4
                            : d_out.type == problem::element_type::f64 ? 100
                                                                       : 20;
  std::int64_t const n = std::max<std::int64_t>(d_out.layout.shape[2], 1), dv = d_out.layout.shape[3];
  std::int64_t const which = random.below(10), row = random.below(n), column = dv > 0 ? random.below(dv) : 0;
  double const factor = std::ldexp(1.0, static_cast<int>(random.below(2 * most + 1) - most));
  each_element(d_out, [&](std::int64_t i, std::int64_t c) {
    double const x = random.normal();
    switch (which) {
      case 0: return factor * x;
      case 1: return i % 3 == 1 ? 0.0 : x;
      case 2: return c == column ? x : 0.0;
      case 3: return i == row ? x : 0.0;
      case 4: return 16 + x;
      default: return x;
    }
  });
}

/// The backward pass of a call of attention, with a dO of its own.
owned_problem drawn_backward(owned_problem const& call, random_stream& random) {
  problem_draft draft = call.draft();
  draft.of = &problem::backward;
  auto const layout = std::visit([](auto const& p) { return problem::rows_layout(p, p.size().dv); }, call.instance());
  draft.d_out = owned_tensor::zeros(call.type(), layout);
  draw_d_out(*draft.d_out, random);
  bool const may_move = draft.has_slots() && draft.d_out->spanned_elements() > 0;
  if (may_move && random.below(3) == 0)
    relay(*draft.d_out, layout_forms[static_cast<std::size_t>(random.below(std::ssize(layout_forms)))]);
  return owned_problem::of_valid(std::move(draft));
}

/// The limits with the ones of backward passes in their places.
shape_limits limits_of_gradients(shape_limits const& limits, std::int64_t most_products) {
  shape_limits own = limits;
  own.call.products = std::min(limits.gradients.products, most_products);
  own.answers = limits.gradients.answers, own.domain = limits.gradients.domain;
  own.answers.refuse(feature::paged);  // pages have no gradient
  return own;
}

audit_case in_check(audit_case made, std::string name) {
  made.check = check_of_gradients, made.name = std::move(name);
  made.asks = {.lse = false, .weights = false};
  made.form.reset();
  return made;
}

constexpr std::int64_t products_of_small = std::int64_t{1} << 16, products_of_medium = std::int64_t{1} << 24;

/// Other calls before, and the same one three times after: what is left of them must not show.
void add_sequence(audit_case& made, problem::element_type type, shape_limits const& small, random_stream& random) {
  for (std::int64_t before = 1 + random.below(3); before > 0; --before) {
    call_form const other = drawn_form(random, type, small.call, small.answers, small.domain);
    made.further.push_back({.is = relation::warm_up,
                            .problem = drawn_backward(owned_problem::of_valid(draft_of(other, type, random)), random),
                            .says = "a call before",
                            .threads = other.threads});
  }
  for (int again = 0; again < 3; ++again)
    made.further.push_back({.is = relation::same_bits,
                            .problem = made.problem,
                            .says = "the same call again",
                            .threads = made.threads,
                            .promised = false,
                            .memory = made.memory});
}

}  // namespace

std::optional<audit_case> gradient_support_case(feature_set const& wanted, problem::element_type type,
                                                std::uint64_t seed, call_domain const& domain) {
  auto made = support_case(wanted, type, seed, domain);
  if (!made || made->problem.draft().block_table) return std::nullopt;
  std::string name = fmt::format("{}{}", support_prefix, made->name);
  made->name = name;
  audit_case of = differentiated(*std::move(made), seed);
  return in_check(std::move(of), std::move(name));
}

std::vector<audit_case> gradient_support_cases(problem::element_type type, std::uint64_t seed,
                                               call_domain const& domain) {
  std::vector<audit_case> cases;
  auto const add = [&](feature_set const& wanted) {
    if (auto made = gradient_support_case(wanted, type, seed, domain)) cases.push_back(*std::move(made));
  };
  add({});
  for (feature_row const& one : feature_table()) add({one.id});
  return cases;
}

bool is_gradient_support(std::string_view name) { return name.starts_with(support_prefix); }

void note_gradient_refusal(support& answers, std::string_view name) {
  if (!is_gradient_support(name)) return;
  if (auto const one = feature_named(name.substr(support_prefix.size()))) answers.refuse(*one);
}

audit_case drawn_gradients(problem::element_type type, std::uint64_t seed, std::int64_t number,
                           shape_limits const& limits) {
  std::string name = fmt::format("{}{}", drawn_gradients_prefix, number);
  random_stream random(seed, "backward/" + name);
  bool const is_sequence = number % 2 == 1;
  shape_limits const own = limits_of_gradients(limits, is_sequence       ? products_of_small
                                                       : number % 8 == 0 ? limits.gradients.products
                                                                         : products_of_medium);
  audit_case made = drawn_call(random, type, seed, number, own.call, own);
  made.problem = drawn_backward(made.problem, random);
  made.rows = sampled_gradients(made.problem, limits.judged_products << 2, random);
  if (is_sequence) add_sequence(made, type, own, random);
  else if (random.below(4) == 0) {
    problem_draft draft = made.problem.draft();
    draft.of = &pass_for(some_of_them[random.below(std::ssize(some_of_them))]);
    made.problem = owned_problem::of_valid(std::move(draft));
  }
  made.once = !is_sequence;
  return in_check(std::move(made), std::move(name));
}

bool depends_on_limits(std::string_view name) {
  return name.starts_with(drawn_gradients_prefix) || name.starts_with(production_prefix);
}

std::vector<production_shape const*> production_of_gradients() {
  constexpr std::string_view names[]{"llama-3-8b-prefill", "gemma-2-9b-global",        "llama-3-8b-padded-prompts",
                                     "mistral-7b-prefill", "gpt-2-xl-prefill-batch-8", "bloom-176b-prefill",
                                     "t5-base-encoder",    "modernbert-base-packed",   "bert-base-classify",
                                     "vit-b-16-image-224", "whisper-large-cross"};
  std::vector<production_shape const*> rows;
  for (production_shape const& row : production_shapes())
    if (std::ranges::find(names, row.name) != std::end(names)) rows.push_back(&row);
  return rows;
}

namespace {

/// The shape as its gradients are asked. A key needs every row that sees it: whole groups are judged, and sequences are
/// shortened for it.
production_call shortened(production_shape const& row, problem::element_type type, shape_limits const& limits) {
  shape_limits own = limits_of_gradients(limits, limits.gradients.products);
  own.call.products *= 4;  // production_call_of takes a quarter
  std::int64_t const most = std::min(limits.judged_products << 6, limits.gradients.products);
  production_shape shorter = row;
  problem::sizes& s = shorter.size;
  while (s.hq / s.hk * s.n * s.m * (s.d + s.dv) > most && s.n * s.m > 64 * 64) {
    bool const both = s.n == s.m;
    if (both || s.n > s.m) s.n /= 2;
    if (both || s.n < s.m) s.m = both ? s.n : s.m / 2;
  }
  if (row.mask.length > 0) shorter.mask.length = std::max<std::int64_t>(row.mask.length * s.m / row.size.m, 1);
  production_call call = production_call_of(shorter, type, own);
  shorter.size = call.form.size;
  call.cut = scaled_shape{shorter, row.size, true}.cut();
  return call;
}

}  // namespace

audit_case production_gradients(production_shape const& row, problem::element_type type, std::uint64_t seed,
                                shape_limits const& limits) {
  std::string name = fmt::format("{}{}", production_prefix, row.name);
  random_stream random(seed, "backward/" + name);
  auto [form, cut, fits] = shortened(row, type, limits);
  form.values = random.below(2) == 0 ? value_form::gaussian : value_form::pointed;
  audit_case made{.check = {}, .name = {}, .problem = owned_problem::of_valid(draft_of(form, type, random))};
  made.problem = drawn_backward(made.problem, random);
  made.rows = sampled_gradients(made.problem, limits.judged_products << 4, random);
  made.once = true;
  made.scaled = std::move(cut);
  return in_check(std::move(made), std::move(name));
}

bool fits_gradients(production_shape const& row, problem::element_type type, shape_limits const& limits) {
  return shortened(row, type, limits).fits;
}

}  // namespace attest::audit
