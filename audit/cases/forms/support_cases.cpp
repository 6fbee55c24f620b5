#include "audit/cases/forms/support_cases.hpp"

#include <fmt/format.h>

#include "audit/cases/random.hpp"

namespace attest::audit {
namespace {

constexpr problem::sizes plain_sizes{2, 4, 4, 24, 24, 16, 16};
/// Of the shapes of masks and biases: more keys than a kernel takes in its first step.
constexpr problem::sizes several_blocks{2, 2, 2, 72, 72, 16, 16};

void add(call_form& form, feature one) {
  switch (one) {
    case feature::grouped: form.size.hk = 2; return;
    case feature::value_width: form.size.dv = form.size.d == 16 ? 8 : 12; return;
    case feature::odd_width:
      form.size.dv = form.size.dv == form.size.d ? 12 : 4;
      form.size.d = 12;
      return;
    case feature::unequal: form.size.n = 7; return;
    default: form.options.add(one);
  }
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

std::vector<audit_case> support_cases(problem::element_type type, std::uint64_t seed) {
  call_form const plain{.size = plain_sizes, .length = 9};
  std::vector<audit_case> cases{case_of(plain, "plain", type, seed)};
  for (feature_row const& first : feature_table()) {
    call_form alone = plain;
    add(alone, first.id);
    cases.push_back(case_of(alone, std::string(first.name), type, seed));
    for (feature_row const& second : feature_table()) {
      if (second.id <= first.id || exclude(first.id, second.id)) continue;
      call_form both = alone;
      add(both, second.id);
      cases.push_back(case_of(both, std::string(first.name) + "+" + std::string(second.name), type, seed));
    }
  }
  for (feature const one : {feature::mask, feature::bias})
    for (broadcast_axes const& axes : all_axes) {
      call_form form{.size = several_blocks};
      add(form, one);
      axes_over(form, row_of(one).group) = axes;
      std::string const name =
          fmt::format("{}-{}{}{}m", row_of(one).name, axes[0] ? 'b' : '1', axes[1] ? 'h' : '1', axes[2] ? 'n' : '1');
      cases.push_back(case_of(form, name, type, seed));
    }
  return cases;
}

void note_refusal(support& answers, call_form const& refused) {
  // A kernel that refuses one shape may answer the feature in others.
  if (refused.mask_over) return answers.refuse(feature_group::mask, *refused.mask_over);
  if (refused.bias_over) return answers.refuse(feature_group::bias, *refused.bias_over);
  std::vector<feature> shown;
  refused.features().each([&](feature one) { shown.push_back(one); });
  if (shown.size() == 1) answers.refuse(shown[0]);
  if (shown.size() == 2) answers.refuse(shown[0], shown[1]);
}

}  // namespace attest::audit
