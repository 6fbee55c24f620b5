#include "audit/cases/families/upstream.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <variant>
#include <vector>

#include "audit/cases/arranged.hpp"
#include "audit/cases/forms/layouts.hpp"
#include "audit/cases/random.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/entry_forms.hpp"

namespace attest::audit {
namespace {

/// How dO lies in memory in a case of this name: heads and rows apart, or one row for all, as the gradient of a sum is.
struct upstream_form {
  std::string_view name;
  void (*lay)(owned_tensor&);
};
constexpr upstream_form upstream_layouts[]{
    {"do-heads-inside", [](owned_tensor& t) { relay(t, row_order::heads_inside, 0); }},
    {"do-with-gaps", [](owned_tensor& t) { relay(t, row_order::rows_inside, 3, 8); }},
    {"do-of-a-sum",
     [](owned_tensor& t) {
       for (std::size_t axis = 0; axis < 3; ++axis) t.layout.stride[axis] = 0;
       t.bytes.resize(t.spanned_elements() * problem::size_of(t.type));
     }},
};

void fill_row(owned_tensor& t, std::int64_t b, std::int64_t h, std::int64_t i, double value) {
  for (std::int64_t c = 0; c < t.layout.shape[3]; ++c) store(t, offset_of(t, b, h, i, c), value);
}

/// The element [b, h, i, c], or the last one on an axis that is shorter, as in a case that was fitted to a domain.
void store_near(owned_tensor& t, std::array<std::int64_t, 4> at, double value) {
  auto const& shape = t.layout.shape;
  for (std::size_t axis = 0; axis < 4; ++axis) {
    if (shape[axis] == 0) return;
    at[axis] = std::min(at[axis], shape[axis] - 1);
  }
  store(t, offset_of(t, at[0], at[1], at[2], at[3]), value);
}

/// NaN in the rows of dO that belong to no query.
void forget_other_rows(owned_tensor& d_out, owned_problem const& problem) {
  std::size_t const rows =
      static_cast<std::size_t>(d_out.layout.shape[0] * d_out.layout.shape[1] * d_out.layout.shape[2]);
  std::vector<bool> owned(rows);
  std::visit(
      [&](auto const& p) {
        for (std::int64_t b = 0; b < p.size().b; ++b)
          for (std::int64_t h = 0; h < p.size().hq; ++h)
            for (std::int64_t i = 0; i < p.queries(b); ++i) owned[output_row(problem, b, h, i)] = true;
      },
      problem.instance());
  std::size_t row = 0;
  each_row(d_out, [&](auto b, auto h, auto i) {
    if (!owned[row++]) fill_row(d_out, b, h, i, std::numeric_limits<double>::quiet_NaN());
  });
}

}  // namespace

std::vector<std::string_view> upstream_forms() {
  std::vector<std::string_view> names;
  for (upstream_form const& form : upstream_layouts) names.push_back(form.name);
  return names;
}

owned_tensor d_out_of(owned_problem const& problem, std::string_view name, std::uint64_t seed) {
  random_stream random(seed, name);
  auto const layout =
      std::visit([](auto const& p) { return problem::rows_layout(p, p.size().dv); }, problem.instance());
  owned_tensor d_out = owned_tensor::zeros(problem.type(), layout);
  bool const first_column = name == "one-value";  // dO in the span of the one value
  for (std::size_t at = 0; at < d_out.spanned_elements(); ++at) store(d_out, at, first_column ? 1.5 : random.normal());
  if (problem.draft().q_lengths || problem.draft().q_offsets) forget_other_rows(d_out, problem);
  if (name == "hidden-rows-hold-nan")
    each_row(d_out, [&](auto b, auto h, auto i) {
      if (i % 3 == 1) fill_row(d_out, b, h, i, std::numeric_limits<double>::quiet_NaN());
    });
  if (name == "do-holds-nan") store_near(d_out, {1, 2, 4, 3}, std::numeric_limits<double>::quiet_NaN());
  if (name == "do-holds-infinity") store_near(d_out, {0, 1, 7, 5}, std::numeric_limits<double>::infinity());
  for (upstream_form const& form : upstream_layouts)
    if (form.name == name) form.lay(d_out);
  return d_out;
}

}  // namespace attest::audit
