#include "audit/cases/forms/call_form.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "audit/cases/families/shared_values.hpp"
#include "audit/cases/random.hpp"
#include "audit/support/words.hpp"

namespace attest::audit {
namespace {

/// In multiplications. A score costs its exponential too, which is what calls with few columns consist of.
constexpr std::int64_t cost_of_exp = 16;

std::int64_t elements(std::array<std::int64_t, 4> const& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>{});
}

}  // namespace

std::array<std::int64_t, 4> shape_of(feature one, call_form const& form) {
  problem::sizes const& s = form.size;
  auto const over = axes_of(one, form);
  return {over[0] ? s.b : 1, over[1] ? s.hq : 1, over[2] ? s.n : 1, s.m};
}

bool has_any(call_form const& form, feature_group group) noexcept {
  return std::ranges::any_of(feature_table(),
                             [&](feature_row const& row) { return row.group == group && form.options.has(row.id); });
}

void reset(call_form& form, feature one) noexcept {
  feature_row const& row = row_of(one);
  if (row.number) (form.*row.number).reset();
  if (row.group == feature_group::band) form.diagonal.reset();
  if (row.group == feature_group::mask) form.mask_over.reset(), form.mask_byte = 1;
  if (row.group == feature_group::bias) form.bias_over.reset();
}

bool is_bare(call_form const& form) noexcept {
  return std::ranges::all_of(feature_table(), [&](feature_row const& row) {
    return row.group == feature_group::band || row.id == feature::scale || !form.options.has(row.id);
  });
}

std::optional<call_form> form_of(problem_draft const& p) {
  if (p.d_out) return std::nullopt;
  if (p.q.layout.rank != 4 || p.merge) return std::nullopt;
  auto const &q = p.q.layout.shape, &k = p.k.layout.shape;
  call_form form{.size = {q[0], q[1], k[1], q[2], k[2], q[3], p.v.layout.shape[3]}, .scale = p.scale};
  if (!p.has_slots()) {
    auto const valid = problem::make_instance(p.arguments());
    if (!valid) return std::nullopt;
    form.size = std::visit([](auto const& instance) { return instance.size(); }, valid.value());
  }
  form.length = std::clamp<std::int64_t>(p.band.left, 1, std::max<std::int64_t>(form.size.m, 1));
  for (feature_row const& row : feature_table())
    if (row.present && row.present(row, p, form.size)) form.options.add(row.id);
  return form;
}

feature_set call_form::features() const {
  feature_set all = options;
  for (feature_row const& row : feature_table())
    if (row.follows && row.follows(size)) all.add(row.id);
  return all;
}

std::string call_form::text() const {
  std::string says = fmt::format("b {}, heads {}/{}, n {}, m {}, d {}, dv {}", size.b, size.hq, size.hk, size.n, size.m,
                                 size.d, size.dv);
  char const* before = "; ";
  options.each([&](feature one) {
    says += fmt::format("{}{}", before, row_of(one).name);
    before = " + ";
  });
  if (values != value_form::gaussian) says += fmt::format("; {} values", name_of(values));
  if (threads != 0) says += "; " + counted(threads, "thread", "threads");
  if (cap) says += fmt::format("; cap {}", *cap);
  if (diagonal) says += fmt::format("; diagonal {}", *diagonal);
  if (mask_over) says += fmt::format("; mask over {}", fmt::join(*mask_over, " "));
  if (bias_over) says += fmt::format("; bias over {}", fmt::join(*bias_over, " "));
  if (mask_byte != 1) says += fmt::format("; mask byte {}", mask_byte);
  if (memory != memory_form{}) says += "; " + memory.text();
  if (!supplied.empty()) says += fmt::format("; {} as in every call", fmt::join(supplied.names(), ", "));
  return says;
}

call_cost cost_of(call_form const& form, problem::element_type type) noexcept {
  auto const& [b, hq, hk, n, m, d, dv] = form.size;
  auto const width = static_cast<std::int64_t>(problem::size_of(type));
  // Of a paged problem the most that its draft may hold.
  bool const in_pages = form.options.has(feature::paged);
  std::int64_t const whole = m + (in_pages ? most_page_rows - 1 : 0);
  std::int64_t const rows = b * whole + (in_pages ? most_more_pages * most_page_rows : 0);  // of keys
  call_form slots = form;
  slots.size.m = whole + (in_pages ? most_more_columns * most_page_rows : 0);
  call_cost cost{.bytes = (b * hq * n * (d + dv) + hk * rows * (d + dv)) * width,
                 .products = b * hq * n * m * (d + dv + cost_of_exp)};
  form.options.each([&](feature one) {
    feature_row const& row = row_of(one);
    if (row.axes) cost.bytes += elements(shape_of(one, slots)) * (row.group == feature_group::bias ? width : 1);
  });
  auto const supplied = [&](needed_inputs::input one) { return form.supplied.has(one) ? b * n * m : 0; };
  cost.bytes += supplied(needed_inputs::input::mask) + supplied(needed_inputs::input::bias) * hq * width;
  return cost;
}

problem_draft draft_of(call_form const& form, problem::element_type type, random_stream& random) {
  problem_draft draft = blank(form.size, type);
  auto const add = [&](stage now) {
    form.options.each([&](feature one) {
      if (feature_row const& row = row_of(one); row.when == now) row.add(row, form, draft, random);
    });
  };
  add(stage::before_values);
  set_values(form.values, draft, random);
  share_values(draft, form.memory);
  for (stage const now : {stage::after_values, stage::on_weights, stage::on_rows}) add(now);
  supply(draft, form.supplied);
  return draft;
}

}  // namespace attest::audit
