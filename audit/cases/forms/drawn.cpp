#include "audit/cases/forms/drawn.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "audit/cases/domain/keep_form.hpp"
#include "audit/cases/families/shared_values.hpp"
#include "audit/cases/forms/drawn_numbers.hpp"
#include "audit/cases/forms/drawn_sizes.hpp"
#include "audit/cases/forms/layouts.hpp"
#include "audit/cases/row_sample.hpp"

namespace attest::audit {
namespace {

feature_set drawn_options(random_stream& random) {
  constexpr std::int64_t counts[]{0, 0, 1, 1, 2, 3};
  feature_set options;
  std::vector<feature_group> taken{feature_group::sizes};
  for (std::int64_t left = one_of(counts, random); left > 0; --left) {
    std::vector<feature> free;
    for (feature_row const& row : feature_table().first(static_cast<std::size_t>(first_of_version_2)))
      if (std::ranges::find(taken, row.group) == taken.end() && !options.has(row.id)) free.push_back(row.id);
    feature const chosen = free[static_cast<std::size_t>(random.below(std::ssize(free)))];
    options.add(chosen);
    if (row_of(chosen).group != feature_group::numbers) taken.push_back(row_of(chosen).group);
  }
  return options;
}

/// Removes what the kernel refuses: what follows from the sizes first by making them plain, then the options.
void keep_to(support const& answers, call_form& form) {
  auto& s = form.size;
  auto const refuses = [&](feature one) { return !answers.answers(feature_set{one}); };
  if (refuses(feature::grouped)) s.hk = s.hq;
  if (refuses(feature::value_width)) s.dv = s.d;
  if (refuses(feature::odd_width)) s.d = (s.d + 7) / 8 * 8, s.dv = (s.dv + 7) / 8 * 8;
  if (refuses(feature::unequal)) s.n = s.m;
  feature_set kept = form.options;
  form.options.each([&](feature one) {
    if (refuses(one)) kept.remove(one);
  });
  form.options = kept;
  // Pairs: options are given up one after the other, then grouped heads, widths and lengths.
  kept.each([&](feature one) {
    if (!answers.answers(form.features())) form.options.remove(one);
  });
  if (!answers.answers(form.features())) s.hk = s.hq;
  if (!answers.answers(form.features())) s.dv = s.d;
  if (!answers.answers(form.features())) s.n = s.m;
}

/// One or two features of version 2 in every fourth form of a call by itself, as far as the kernel answers them; random
/// numbers of their own, so that a kernel of version 1 is asked the same with and without them.
void add_version_2(call_form& form, std::uint64_t seed, std::int64_t number, shape_limits const& limits) {
  random_stream random(seed, fmt::format("drawn-version-2/{}", number));
  if (random.below(2) != 0) return;
  std::span<feature_row const> const added = feature_table().subspan(static_cast<std::size_t>(first_of_version_2));
  for (std::int64_t left = 1 + random.below(2); left > 0; --left) {
    feature const chosen = added[static_cast<std::size_t>(random.below(std::ssize(added)))].id;
    bool excluded = chosen == feature::dropout && form.size.b * form.size.hq * form.size.n * form.size.m > 1 << 22;
    form.options.each([&](feature there) { excluded = excluded || there == chosen || exclude(there, chosen); });
    if (excluded) continue;
    call_form with = form;
    with.options.add(chosen);
    if (limits.answers.answers(with.features()) && takes(limits.domain, with)) form = with;
  }
}

/// In one of three forms the mask and the bias have the axes of their feature, in the others any that the kernel
/// answers: it may be right for some of the shapes in which they broadcast only.
void draw_axes(support const& answers, call_form& form, random_stream& random) {
  form.mask_over.reset(), form.bias_over.reset();
  form.options.each([&](feature one) {
    feature_group const group = row_of(one).group;
    if (group != feature_group::mask && group != feature_group::bias) return;
    if (random.below(3) == 0) return;
    broadcast_axes const drawn = all_axes[static_cast<std::size_t>(random.below(std::ssize(all_axes)))];
    if (drawn != row_of(one).axes && answers.answers(group, drawn)) axes_over(form, group) = drawn;
  });
}

bool admits(call_cost const& limit, call_cost const& cost) {
  return cost.bytes <= limit.bytes && cost.products <= limit.products;
}

constexpr std::int64_t small_products = 1 << 16, medium_products = 1 << 26;

/// Usually the default. Otherwise one way in which tensors share memory, lie apart, or lie in another order; far ones
/// beyond 2³¹ elements or 2³² bytes.
memory_form drawn_memory(problem::sizes const& s, random_stream& random) {
  constexpr std::int64_t far[]{(std::int64_t{1} << 30) + 64, (std::int64_t{1} << 31) + 64,
                               (std::int64_t{1} << 32) + 64};
  memory_form form;
  switch (random.below(32)) {
    case 0: form.v_in_k = s.dv <= s.d; break;
    case 1: form.shared_batch = s.b > 1; break;
    case 2: form.shared_heads = s.hk > 1; break;
    case 3: form.overlap = random.below(std::min(s.d, s.dv) + 1); break;
    case 4: form.heads_inside = true; break;
    case 5: form.unaligned = true; break;
    case 6:
    case 7: form.row_gap = 1 + random.below(40); break;
    case 8:
    case 9: {  // more of them would not fit into the address space
      std::int64_t const count = s.b > 1 ? s.b : s.hq;
      (s.b > 1 ? form.far_batch : form.far_head) = count > 1 && count <= 64 ? one_of(far, random) : 0;
      break;
    }
    case 10: form.far_row = s.b * s.hq * std::max(s.n, s.m) <= 256 ? one_of(far, random) : 0; break;
    default: break;
  }
  return form;
}

/// More than 2³¹ scores, where offsets of 32 bits overflow, in as few multiplications as the kernel answers.
call_form many_scores(shape_limits const& limits, random_stream& random) {
  std::int64_t const heads = std::int64_t{8} << random.below(7);
  std::int64_t const queries = (std::int64_t{1} << 31) / heads / largest_length + 1;
  call_form form{.size = {1, heads, heads, queries, largest_length, 1, 1}};
  keep_to(limits.answers, form);
  keep_to(limits.domain, form);
  return form;
}

audit_case single(call_form const& form, problem::element_type type, shape_limits const& limits,
                  random_stream& random) {
  memory_form memory = drawn_memory(form.size, random);
  problem_draft draft = draft_of(form, type, random);
  if (!draft.has_slots()) memory = {};  // its rows lie as offsets or a table say
  if (draft.is_dense()) draw_levels(draft, form.values, random);
  share_values(draft, memory);
  if (memory == memory_form{} && draft.is_dense() && random.below(8) == 0) draw_layouts(draft, random);
  audit_case made{.check = "drawn", .name = {}, .problem = owned_problem::of_valid(std::move(draft))};
  made.memory = memory;
  made.rows = sampled_queries(made.problem, judged_rows(form.size, limits.judged_products), random);
  made.once = true;
  made.threads = form.threads;
  std::int64_t const asks = random.below(4);
  made.asks = {.lse = asks != 0, .weights = asks > 1};
  made.form = form, made.beyond = form.options.has(feature::finite_mask);
  return made;
}

/// The smallest plain call.
call_form least_form(call_domain const& domain) {
  call_form least{.size = {1, 1, 1, 1, 1, 8, 8}, .length = 1};
  keep_to(domain, least);
  return least;
}

/// Small calls one after the other on one kernel: a few others, the judged one, and that one again.
audit_case sequence(problem::element_type type, shape_limits const& limits, random_stream& random) {
  // Four times the smallest call leaves a choice.
  auto const [bytes, products] = cost_of(least_form(limits.domain), type);
  call_cost const small{.bytes = std::max<std::int64_t>(1 << 20, 4 * bytes),
                        .products = std::max<std::int64_t>(small_products, 4 * products)};
  auto const drawn = [&] { return drawn_form(random, type, small, limits.answers, limits.domain); };
  audit_case made = single(drawn(), type, limits, random);
  made.once = false;
  for (std::int64_t before = 1 + random.below(4); before > 0; --before) {
    call_form const other = drawn();
    made.further.push_back({.is = relation::warm_up,
                            .problem = owned_problem::of_valid(draft_of(other, type, random)),
                            .says = "a call before",
                            .threads = other.threads});
  }
  std::int64_t const cost = std::max<std::int64_t>(cost_of(*made.form, type).products, 1);
  std::int64_t const repeats = std::clamp<std::int64_t>(40 * small_products / cost, 4, 40);
  for (std::int64_t again = 0; again < repeats; ++again) made.must_equal(made.problem, "the same call again");
  for (further_call& call : made.further)
    if (call.is == relation::same_bits) call.threads = made.threads, call.memory = made.memory;
  return made;
}

}  // namespace

std::int64_t judged_rows(problem::sizes const& s, std::int64_t products) noexcept {
  std::int64_t const row = std::max<std::int64_t>(s.m * (s.d + s.dv), 1);
  return std::max<std::int64_t>(products / row, 4);
}

call_form drawn_form(random_stream& random, problem::element_type type, call_cost const& limit, support const& answers,
                     call_domain const& domain) {
  constexpr std::int32_t threads[]{0, 0, 0, 1, 2, 3, 4, 8, 16, 64};
  constexpr value_form values[]{value_form::gaussian, value_form::digits, value_form::pointed};
  call_form form;
  form.threads = one_of(threads, random);
  form.values = one_of(values, random);
  form.options = drawn_options(random);
  for (int tries = 0; tries < 256; ++tries) {
    form.size = drawn_sizes(domain, random);
    form.length = log_uniform(std::max<std::int64_t>(form.size.m, 1), random);
    keep_to(answers, form);
    if (!domain.is_everything()) {  // what its sizes bring may be refused, and what is plain may lie outside
      keep_to(domain, form);
      keep_to(answers, form);
      if (!takes(domain, form)) continue;
    }
    draw_axes(answers, form, random);
    draw_parameters(form, random);
    if (domain.scale != call_domain::scales::any) keep_to(domain, form);
    if (admits(limit, cost_of(form, type))) return form;
  }
  call_form least = least_form(domain);
  least.threads = form.threads, least.values = form.values;
  return least;
}

audit_case drawn_call(random_stream& random, problem::element_type type, std::uint64_t seed, std::int64_t number,
                      call_cost const& limit, shape_limits const& limits) {
  call_form drawn = drawn_form(random, type, limit, limits.answers, limits.domain);
  if (number % 4 == 2) add_version_2(drawn, seed, number, limits);
  call_form const whole = drawn;
  set_residues(drawn.size, number / 2, limits.domain);
  return single(admits(limit, cost_of(drawn, type)) ? drawn : whole, type, limits, random);
}

audit_case drawn_case(problem::element_type type, std::uint64_t seed, std::int64_t number, shape_limits const& limits) {
  std::string const name = fmt::format("{}", number);
  random_stream random(seed, "drawn/" + name);
  call_cost limit = limits.call;
  if (number % 64 == 0) limit.products *= 10;
  else if (number % 8 != 0) limit.products = std::min(limit.products, medium_products);
  auto const alone = [&] {
    if (number % 256 == 128)
      if (call_form const many = many_scores(limits, random); admits(limit, cost_of(many, type)))
        return single(many, type, limits, random);
    return drawn_call(random, type, seed, number, limit, limits);
  };
  audit_case made = number % 2 == 1 ? sequence(type, limits, random) : alone();
  made.name = name;
  return made;
}

}  // namespace attest::audit
