#include "audit/cases/forms/support_cases.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "audit/cases/domain/keep_form.hpp"
#include "audit/cases/random.hpp"

namespace attest::audit {
namespace {

constexpr problem::sizes plain_sizes{2, 4, 4, 24, 24, 16, 16};
/// Of the shapes of masks and biases: more keys than a kernel takes in its first step.
constexpr problem::sizes several_blocks{2, 2, 2, 72, 72, 16, 16};

call_form plain_form(call_domain const& domain) {
  call_form plain{.size = plain_sizes, .length = 9};
  keep_to(domain, plain);
  return plain;
}

/// Gives the form a feature, in sizes near the domain.
void add(call_domain const& domain, call_form& form, feature one) {
  auto& [b, hq, hk, n, m, d, dv] = form.size;
  switch (one) {
    case feature::grouped:
      if (hk > 1) hk /= 2;
      else hq *= 2;
      return;
    case feature::value_width: dv = std::max<std::int64_t>(d / 16 * 8, 8); return;
    case feature::odd_width: {
      auto const odd = std::ranges::find_if(domain.d.listed, [](std::int64_t x) { return x % 8 != 0; });
      dv = dv == d ? 12 : 4;
      d = odd == domain.d.listed.end() ? 12 : *odd;
      return;
    }
    case feature::unequal:
      n = domain.decodes() ? 1 : domain.n.near(7);
      if (n == m) m = domain.m.near(m + 1);
      return;
    default:
      if (row_of(one).group == feature_group::band)
        for (feature_row const& row : feature_table())
          if (row.group == feature_group::band) form.options.remove(row.id);
      form.options.add(one);
  }
}

/// Do these features name bands of the domain? Both forms of causal are one where n = m, which is called causal.
bool names_bands(feature_set const& wanted, call_domain const& domain) {
  if (domain.is_square()) return !wanted.has(feature::causal_top_left);
  bool const any = domain.takes(band_form::diagonal), slants = any || domain.takes(band_form::top_left);
  bool const square = domain.takes(band_form::square) && !slants;
  return (!wanted.has(feature::causal) || any || square || domain.takes(band_form::bottom_right)) &&
         (!wanted.has(feature::causal_top_left) || slants);
}

/// The form with these features, in the domain. Returns nothing if no call of the domain is that one: another feature
/// would come with them, or one of them is lost.
std::optional<call_form> form_with(feature_set const& wanted, call_domain const& domain) {
  if (!names_bands(wanted, domain)) return std::nullopt;
  call_form const plain = plain_form(domain);
  call_form form = plain;
  wanted.each([&](feature one) { add(domain, form, one); });
  keep_to(domain, form);
  feature_set const always = plain.features(), has = form.features();
  bool shows = (has | always) == (wanted | always);
  wanted.each([&](feature one) { shows = shows && has.has(one) && !always.has(one); });
  return shows ? std::optional(form) : std::nullopt;
}

audit_case case_of(call_form const& form, std::string name, problem::element_type type, std::uint64_t seed) {
  random_stream random(seed, "support/" + name);
  return {.check = "support",
          .name = std::move(name),
          .problem = owned_problem::of_valid(draft_of(form, type, random)),
          .form = form,
          .beyond = form.options.has(feature::finite_mask)};
}

}  // namespace

std::optional<audit_case> support_case(feature_set const& wanted, problem::element_type type, std::uint64_t seed,
                                       call_domain const& domain) {
  std::string name;
  wanted.each([&](feature one) { name += (name.empty() ? "" : "+") + std::string(row_of(one).name); });
  auto const form = wanted.empty() ? std::optional(plain_form(domain)) : form_with(wanted, domain);
  if (!form) return std::nullopt;
  return case_of(*form, name.empty() ? "plain" : std::move(name), type, seed);
}

std::vector<audit_case> support_cases(problem::element_type type, std::uint64_t seed, call_domain const& domain) {
  std::vector<audit_case> cases;
  auto const add = [&](feature_set const& wanted) {
    if (auto made = support_case(wanted, type, seed, domain)) cases.push_back(*std::move(made));
  };
  add({});
  for (feature_row const& first : feature_table()) {
    add({first.id});
    for (feature_row const& second : feature_table())
      if (second.id > first.id && !exclude(first.id, second.id)) add({first.id, second.id});
  }
  for (feature const one : {feature::mask, feature::bias})
    for (broadcast_axes const& axes : all_axes) {
      call_form form{.size = several_blocks};
      form.options.add(one);
      axes_over(form, row_of(one).group) = axes;
      keep_to(domain, form);
      if (!form.options.has(one)) continue;
      std::string const name =
          fmt::format("{}-{}{}{}m", row_of(one).name, axes[0] ? 'b' : '1', axes[1] ? 'h' : '1', axes[2] ? 'n' : '1');
      cases.push_back(case_of(form, name, type, seed));
    }
  return cases;
}

void note_refusal(support& answers, call_form const& refused, call_domain const& domain) {
  // A kernel that refuses one shape may answer the feature in others.
  if (refused.mask_over) return answers.refuse(feature_group::mask, *refused.mask_over);
  if (refused.bias_over) return answers.refuse(feature_group::bias, *refused.bias_over);
  feature_set const always = plain_form(domain).features();
  std::vector<feature> shown;
  refused.features().each([&](feature one) {
    if (!always.has(one)) shown.push_back(one);
  });
  if (shown.size() == 1) answers.refuse(shown[0]);
  if (shown.size() == 2) answers.refuse(shown[0], shown[1]);
}

}  // namespace attest::audit
