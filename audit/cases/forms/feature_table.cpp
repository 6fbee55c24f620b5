#include <algorithm>
#include <cmath>

#include "audit/cases/forms/feature_writers.hpp"
#include "audit/tensors/elements.hpp"

namespace attest::audit {
namespace {

using enum feature;
using of = feature_group;

// Which feature of a group a problem has.

std::optional<feature> band_feature(problem_draft const& p, problem::sizes const& s) {
  auto const& band = p.band;
  if (band == problem::band{}) return std::nullopt;
  if (band.right != 0) return symmetric_window;
  if (band.left >= 0) return window;
  return band.diagonal == 0 && s.m != s.n ? causal_top_left : causal;
}

std::optional<feature> mask_feature(problem_draft const& p, problem::sizes const& s) {
  if (!p.mask) return std::nullopt;
  auto const& shape = p.mask->layout.shape;
  if (shape[2] == 1 && s.n != 1) return padding;
  if (shape[1] > 1) return head_mask;
  return shape[0] == 1 && s.b > 1 ? shared_mask : feature::mask;
}

std::optional<feature> bias_feature(problem_draft const& p, problem::sizes const& s) {
  if (!p.bias) return std::nullopt;
  owned_tensor const& t = *p.bias;
  auto const& shape = t.layout.shape;
  if (shape[2] == 1 && s.n != 1) return alibi;
  if (shape[1] > 1) return feature::bias;
  constexpr double masks = -3e4;  // Gaussian biases and slopes times positions are above it
  for (std::size_t at = 0, all = t.bytes.size() / problem::size_of(t.type); at < all; ++at) {
    double const x = load(t, at);
    if (x == -HUGE_VAL && shape[0] == 1) return hiding_bias;
    if (std::isfinite(x) && x < masks) return finite_mask;
  }
  return shape[0] > 1 ? batch_bias : feature::bias;
}

// Rows of groups whose features share functions.

constexpr auto nothing = [](auto&...) {};
constexpr auto cannot_be_ignored = [](auto&) { return false; };

constexpr feature_row of_sizes(feature id, std::string_view name, bool (*follows)(problem::sizes const&)) {
  return {.id = id, .group = of::sizes, .name = name, .follows = follows, .add = nothing, .remove = cannot_be_ignored};
}

constexpr feature_row of_band(feature id, std::string_view name) {
  return {.id = id,
          .group = of::band,
          .name = name,
          .present = [](auto& row, auto& p, auto& s) { return band_feature(p, s) == row.id; },
          .add = [](auto&, auto& form, auto& to, auto&) { to.band = band_of(form); },
          .remove = [](auto& p) { return p.band = {}, p.align = {}, true; }};
}

constexpr feature_row of_mask(feature id, std::string_view name, broadcast_axes axes, feature_writer* add) {
  return {.id = id,
          .group = of::mask,
          .name = name,
          .axes = axes,
          .present = [](auto& row, auto& p, auto& s) { return mask_feature(p, s) == row.id; },
          .add = add,
          .remove = [](auto& p) { return p.mask.reset(), true; }};
}

constexpr feature_row of_bias(feature id, std::string_view name, broadcast_axes axes, feature_writer* add) {
  return {.id = id,
          .group = of::bias,
          .name = name,
          .axes = axes,
          .present = [](auto& row, auto& p, auto& s) { return bias_feature(p, s) == row.id; },
          .add = add,
          .remove = [](auto& p) { return p.bias.reset(), true; }};
}

constexpr std::array<feature_row, feature_count> table{{
    of_sizes(grouped, "grouped", [](auto& s) { return s.hq != s.hk; }),
    of_sizes(value_width, "value-width", [](auto& s) { return s.dv != s.d; }),
    of_sizes(odd_width, "odd-width", [](auto& s) { return s.d % 8 != 0 || s.dv % 8 != 0; }),
    of_sizes(unequal, "unequal-lengths", [](auto& s) { return s.n != s.m; }),
    of_band(causal, "causal"),
    of_band(causal_top_left, "causal-top-left"),
    of_band(window, "window"),
    of_band(symmetric_window, "symmetric-window"),
    of_mask(feature::mask, "mask", {true, false, true}, draw_mask),
    of_mask(head_mask, "head-mask", {true, true, true}, draw_mask),
    of_mask(shared_mask, "shared-mask", {false, false, true}, draw_mask),
    of_mask(padding, "padding", {true, false, false}, pad),
    of_mask(left_padding, "left-padding", {true, false, false}, pad),
    of_mask(prefix, "prefix", {false, false, true}, set_prefix),
    of_bias(feature::bias, "bias", {false, true, true}, draw_bias),
    of_bias(batch_bias, "batch-bias", {true, false, true}, draw_bias),
    of_bias(alibi, "alibi", {false, true, false}, set_alibi),
    of_bias(hiding_bias, "hiding-bias", {false, false, true}, hide_by_bias),
    of_bias(finite_mask, "finite-mask", {true, false, true}, mask_by_bias),
    {.id = feature::scale,
     .group = of::numbers,
     .name = "scale",
     .number = &call_form::scale,
     .present = [](auto&, auto& p, auto&) { return p.scale.has_value(); },
     .add = set_scale,
     .remove = [](auto& p) { return p.scale.reset(), true; }},
    {.id = softcap,
     .group = of::numbers,
     .name = "softcap",
     .number = &call_form::cap,
     .present = [](auto&, auto& p, auto&) { return p.softcap != 0; },
     .add = [](auto&, auto& form, auto& to, auto&) { to.softcap = form.cap.value_or(usual_cap); },
     .remove = [](auto& p) { return p.softcap = {}, true; }},
    {.id = sink,
     .group = of::numbers,
     .name = "sink",
     .present = [](auto&, auto& p, auto&) { return p.sink.has_value(); },
     .when = stage::after_values,
     .add = draw_sinks,
     .remove = [](auto& p) { return p.sink.reset(), true; }},
    {.id = dropout,
     .group = of::numbers,
     .name = "dropout",
     .axes = broadcast_axes{true, true, true},
     .present = [](auto&, auto& p, auto&) { return p.keep.has_value(); },
     .when = stage::on_weights,
     .add = draw_dropout,
     .remove = [](auto& p) { return p.dropout = {}, p.keep.reset(), true; }},
    {.id = feature::block_mask,
     .group = of::numbers,
     .name = "block-mask",
     .present = [](auto&, auto& p, auto&) { return p.block_mask.has_value(); },
     .when = stage::after_values,
     .add = draw_block_mask,
     .remove = [](auto& p) { return p.block_mask.reset(), p.block_q = p.block_k = 0, true; }},
    {.id = lengths,
     .group = of::entries,
     .name = "lengths",
     .present = [](auto&, auto& p, auto&) { return !p.is_dense() && p.has_slots(); },
     .when = stage::on_rows,
     .add = draw_entries,
     // A table needs the lengths of keys.
     .remove = [](auto& p) { return !p.block_table && (p.q_lengths.reset(), p.k_lengths.reset(), true); }},
    // Rows of packed and paged tensors have another place: no kernel sees them without it.
    {.id = feature::packed,
     .group = of::entries,
     .name = "packed",
     .present = [](auto&, auto& p, auto&) { return !p.block_table && (p.q_offsets || p.k_offsets); },
     .when = stage::on_rows,
     .add = pack,
     .remove = cannot_be_ignored},
    {.id = paged,
     .group = of::entries,
     .name = "paged",
     .present = [](auto&, auto& p, auto&) { return p.block_table.has_value(); },
     .when = stage::on_rows,
     .add = page,
     .remove = cannot_be_ignored},
}};

template <class F>
constexpr bool all_rows(F&& fit) {
  for (std::size_t at = 0; at < table.size(); ++at)
    if (!fit(table[at], at)) return false;
  return true;
}
static_assert(all_rows([](feature_row const& row, std::size_t at) { return static_cast<std::size_t>(row.id) == at; }),
              "a row for every feature, in the order of the enumerators");
static_assert(all_rows([](feature_row const& row, std::size_t) { return row.add && row.remove; }),
              "every feature says what it adds, and what a kernel sees that does not read it");
static_assert(all_rows([](feature_row const& row, std::size_t) {
                return (row.follows != nullptr) == (row.group == of::sizes) &&
                       (row.present != nullptr) == (row.group != of::sizes);
              }),
              "every feature is recognised, in the sizes or in the problem");

}  // namespace

std::span<feature_row const> feature_table() noexcept { return table; }

problem::band band_of(call_form const& form) noexcept {
  std::int64_t const corner = form.diagonal.value_or(form.size.m - form.size.n);
  if (form.options.has(causal)) return {corner, -1, 0};
  if (form.options.has(causal_top_left)) return {form.diagonal.value_or(0), -1, 0};
  if (form.options.has(window)) return {corner, std::max<std::int64_t>(form.length - 1, 0), 0};
  if (form.options.has(symmetric_window)) return {corner, form.length, form.length};
  return {};
}

bool exclude(feature one, feature other) noexcept {
  feature_group const a = row_of(one).group, b = row_of(other).group;
  auto const by_rows = [](feature x, feature y) {
    return x == feature::packed && (row_of(y).axes || y == feature::block_mask);
  };
  return (a == b && a != of::sizes && a != of::numbers) || by_rows(one, other) || by_rows(other, one);
}

bool is_possible(feature_set const& options) noexcept {
  bool possible = true;
  options.each([&](feature one) {
    options.each([&](feature other) {
      possible = possible && (row_of(one).group == row_of(other).group || !exclude(one, other));
    });
  });
  return possible;
}

}  // namespace attest::audit
