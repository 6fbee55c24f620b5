#include "audit/cases/forms/call_form.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "audit/cases/arranged.hpp"
#include "audit/cases/random.hpp"
#include "audit/cases/families/shared_values.hpp"
#include "audit/cases/forms/value_forms.hpp"
#include "audit/support/words.hpp"

namespace attest::audit {
namespace {

using enum feature;
using of = feature_group;

constexpr std::array<feature_row, feature_count> table{{
    {grouped, of::sizes, "grouped"},
    {value_width, of::sizes, "value-width"},
    {odd_width, of::sizes, "odd-width"},
    {unequal, of::sizes, "unequal-lengths"},
    {causal, of::band, "causal"},
    {causal_top_left, of::band, "causal-top-left"},
    {window, of::band, "window"},
    {symmetric_window, of::band, "symmetric-window"},
    {feature::mask, of::mask, "mask"},
    {head_mask, of::mask, "head-mask"},
    {shared_mask, of::mask, "shared-mask"},
    {padding, of::mask, "padding"},
    {left_padding, of::mask, "left-padding"},
    {prefix, of::mask, "prefix"},
    {feature::bias, of::bias, "bias"},
    {batch_bias, of::bias, "batch-bias"},
    {alibi, of::bias, "alibi"},
    {hiding_bias, of::bias, "hiding-bias"},
    {finite_mask, of::bias, "finite-mask"},
    {feature::scale, of::numbers, "scale"},
    {softcap, of::numbers, "softcap"},
    {sink, of::numbers, "sink"},
    {dropout, of::numbers, "dropout"},
    {feature::block_mask, of::numbers, "block-mask"},
    {lengths, of::entries, "lengths"},
    {feature::packed, of::entries, "packed"},
    {paged, of::entries, "paged"},
}};

static_assert(
    [] {
      for (std::size_t at = 0; at < table.size(); ++at)
        if (static_cast<std::size_t>(table[at].id) != at) return false;
      return true;
    }(),
    "a row for every feature, in the order of the enumerators");

/// In multiplications. A score costs its exponential too, which is what calls with few columns consist of.
constexpr std::int64_t cost_of_exp = 16;

/// The pages of a paged problem: rows of each, columns of the table and pages of the pool that no key needs.
constexpr std::int64_t page_rows[]{1, 7, 16, 16, 64, 128}, more_columns = 2, more_pages = 3;
constexpr std::int64_t most_page_rows = *std::ranges::max_element(page_rows);

/// The shape of the mask or bias that a feature adds.
std::array<std::int64_t, 4> broadcast_shape(feature one, call_form const& form) {
  problem::sizes const& s = form.size;
  auto const over = axes_of(one, form);
  return {over[0] ? s.b : 1, over[1] ? s.hq : 1, over[2] ? s.n : 1, s.m};
}

std::int64_t elements(std::array<std::int64_t, 4> const& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>{});
}

problem::band band_of(call_form const& form) {
  std::int64_t const corner = form.diagonal.value_or(form.size.m - form.size.n);
  if (form.options.has(causal)) return {corner, -1, 0};
  if (form.options.has(causal_top_left)) return {form.diagonal.value_or(0), -1, 0};
  if (form.options.has(window)) return {corner, std::max<std::int64_t>(form.length - 1, 0), 0};
  if (form.options.has(symmetric_window)) return {corner, form.length, form.length};
  return {};
}

/// Writes a mask of bytes, row by row: attend(b, h, i, j).
template <class F>
void set_mask(problem_draft& to, std::array<std::int64_t, 4> const& shape, std::uint8_t visible, F&& attend) {
  to.mask = owned_tensor::compact(problem::element_type::u8, {shape[0], shape[1], shape[2], shape[3]});
  auto* byte = to.mask->as<std::uint8_t>();
  for (std::int64_t b = 0; b < shape[0]; ++b)
    for (std::int64_t h = 0; h < shape[1]; ++h)
      for (std::int64_t i = 0; i < shape[2]; ++i)
        for (std::int64_t j = 0; j < shape[3]; ++j) *byte++ = attend(b, h, i, j) ? visible : std::uint8_t{0};
}

/// How many of m keys each batch entry has: from `least` on. Where all would have all of two or more, one has fewer.
std::vector<std::int64_t> padded_lengths(std::int64_t entries, std::int64_t m, std::int64_t least,
                                         random_stream& random) {
  std::vector<std::int64_t> count(static_cast<std::size_t>(entries));
  for (std::int64_t& keys : count) keys = m - random.below(std::max<std::int64_t>(m - least, 0) + 1);
  if (m > 1 && !count.empty() && std::ranges::all_of(count, [&](std::int64_t keys) { return keys == m; }))
    count[static_cast<std::size_t>(random.below(entries))] = 1 + random.below(m - 1);
  return count;
}

void add_mask_of(feature one, call_form const& form, problem_draft& to, random_stream& random) {
  problem::sizes const& s = form.size;
  auto const shape = broadcast_shape(one, form);
  std::vector<std::int64_t> count;
  if (one == padding || one == left_padding) count = padded_lengths(shape[0], s.m, form.length, random);
  auto const keys_of = [&](std::int64_t b) { return count[static_cast<std::size_t>(b)]; };
  switch (one) {
    case feature::mask:
    case head_mask:
    case shared_mask: return set_mask(to, shape, form.mask_byte, [&](auto...) { return random.below(3) != 0; });
    case padding:
      return set_mask(to, shape, form.mask_byte, [&](auto b, auto, auto, auto j) { return j < keys_of(b); });
    case left_padding:
      return set_mask(to, shape, form.mask_byte, [&](auto b, auto, auto, auto j) { return j >= s.m - keys_of(b); });
    case prefix:
      return set_mask(to, shape, form.mask_byte,
                      [&](auto, auto, auto i, auto j) { return j < form.length || j <= s.m - s.n + i; });
    default: return;
  }
}

void add_bias_of(feature one, call_form const& form, problem_draft& to, random_stream& random) {
  problem::sizes const& s = form.size;
  auto const shape = broadcast_shape(one, form);
  to.bias = owned_tensor::compact(to.q.type, {shape[0], shape[1], shape[2], shape[3]});
  switch (one) {
    case feature::bias:
    case batch_bias: return fill_normal(*to.bias, random, 1);
    case alibi:
      return fill(*to.bias, [&](auto, auto h, auto, auto j) {
        return std::exp2(-8.0 * static_cast<double>(h + 1) / static_cast<double>(s.hq)) *
               static_cast<double>(j - (s.m - 1));
      });
    case hiding_bias: return fill(*to.bias, [&](auto...) { return random.below(3) != 0 ? 0.0 : -HUGE_VAL; });
    case finite_mask: {
      static constexpr double in_f16[]{-32752, -65504}, elsewhere[]{-1e6, -1e9, -1e20, -1e30};
      std::span<double const> const values = to.q.type == problem::element_type::f16
                                                 ? std::span<double const>(in_f16)
                                                 : std::span<double const>(elsewhere);
      double const masked = values[static_cast<std::size_t>(random.below(std::ssize(values)))];
      return fill(*to.bias, [&](auto...) { return random.below(3) != 0 ? 0.0 : masked; });
    }
    default: return;
  }
}

/// The feature of a mask of this shape, [b or 1, hq or 1, n or 1, m].
feature mask_feature(std::span<std::int64_t const, 4> shape, problem::sizes const& s) {
  if (shape[2] == 1 && s.n != 1) return padding;
  if (shape[1] > 1) return head_mask;
  return shape[0] == 1 && s.b > 1 ? shared_mask : feature::mask;
}

feature bias_feature(owned_tensor const& t, problem::sizes const& s) {
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

feature band_feature(problem::band const& band, problem::sizes const& s) {
  if (band.right != 0) return symmetric_window;
  if (band.left >= 0) return window;
  return band.diagonal == 0 && s.m != s.n ? causal_top_left : causal;
}

bool is_packed_or_paged(call_form const& form) { return form.options.has(feature::packed) || form.options.has(paged); }

/// A sink for each head, near ln m, which is the LSE of m scores that are 0.
void add_head_sinks(problem_draft& to, random_stream& random) {
  std::int64_t const heads = to.q.layout.shape[1];
  double const keys = std::log(std::max(1.0, static_cast<double>(to.k.layout.shape[2])));
  to.sink = owned_tensor::compact(problem::element_type::f32, {heads});
  for (std::int64_t h = 0; h < heads; ++h) store(*to.sink, static_cast<std::size_t>(h), keys + random.normal());
}

void add_block_mask(problem_draft& to, random_stream& random) {
  constexpr std::int64_t sizes[][2]{{16, 16}, {5, 7}, {64, 32}, {32, 64}, {128, 128}};
  auto const [q, k] = sizes[random.below(5)];
  to.block_q = q, to.block_k = k;
  auto const& shape = to.q.layout.shape;
  to.block_mask = owned_tensor::compact(
      problem::element_type::u8,
      {shape[0], random.below(2) == 0 ? 1 : shape[1], (shape[2] + q - 1) / q, (to.k.layout.shape[2] + k - 1) / k});
  fill(*to.block_mask, [&](auto...) { return random.below(3) != 0 ? 1.0 : 0.0; });
}

void add_dropout(problem_draft& to, random_stream& random) {
  auto const& shape = to.q.layout.shape;
  to.dropout = 0.25;
  to.keep = owned_tensor::compact(problem::element_type::u8, {shape[0], shape[1], shape[2], to.k.layout.shape[2]});
  fill(*to.keep, [&](auto...) { return random.below(4) != 0 ? 1.0 : 0.0; });
}

/// What version 2 of the interface adds to a problem with slots.
void add_version_2(call_form const& form, problem_draft& to, random_stream& random) {
  if (form.options.has(sink)) add_head_sinks(to, random);
  if (form.options.has(feature::block_mask)) add_block_mask(to, random);
  if (form.options.has(dropout)) add_dropout(to, random);
  if (!form.options.has(lengths) && !is_packed_or_paged(form)) return;
  draw_lengths(to, random);
  if (to.band != problem::band{} && !form.diagonal && !form.options.has(causal_top_left)) {
    to.align = 1;  // each entry at its own end
    to.band.diagonal -= form.size.m - form.size.n;
  }
  if (form.options.has(feature::packed)) pack_queries(to, random.below(3)), pack_keys(to, random.below(3));
  if (form.options.has(paged))
    page_keys(to,
              {.page = page_rows[random.below(std::ssize(page_rows))],
               .more_columns = random.below(more_columns + 1),
               .more_pages = random.below(more_pages + 1)},
              random);
}

}  // namespace

bool exclude(feature one, feature other) noexcept {
  feature_group const a = row_of(one).group, b = row_of(other).group;
  auto const by_pair = [](feature x, feature_group y_group, feature y) {
    return x == feature::packed && (y_group == of::mask || y_group == of::bias || y == dropout || y == feature::block_mask);
  };
  return (a == b && a != of::sizes && a != of::numbers) || by_pair(one, b, other) || by_pair(other, a, one);
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

std::span<feature_row const> feature_table() noexcept { return table; }

std::optional<call_form> form_of(problem_draft const& p) {
  if (p.q.layout.rank != 4 || p.merge) return std::nullopt;
  auto const &q = p.q.layout.shape, &k = p.k.layout.shape;
  call_form form{.size = {q[0], q[1], k[1], q[2], k[2], q[3], p.v.layout.shape[3]}, .scale = p.scale};
  if (p.q_offsets || p.k_offsets || p.block_table) {
    auto const valid = problem::make_instance(p.arguments());
    if (!valid) return std::nullopt;
    form.size = std::visit([](auto const& instance) { return instance.size(); }, valid.value());
  }
  if (p.block_table) form.options.add(paged);
  else if (p.q_offsets || p.k_offsets) form.options.add(feature::packed);
  else if (!p.is_dense()) form.options.add(lengths);
  if (p.sink) form.options.add(sink);
  if (p.keep) form.options.add(dropout);
  if (p.block_mask) form.options.add(feature::block_mask);
  if (p.band != problem::band{}) form.options.add(band_feature(p.band, form.size));
  form.length = std::clamp<std::int64_t>(p.band.left, 1, std::max<std::int64_t>(form.size.m, 1));
  if (p.mask) form.options.add(mask_feature(std::span(p.mask->layout.shape).first<4>(), form.size));
  if (p.bias) form.options.add(bias_feature(*p.bias, form.size));
  if (p.scale) form.options.add(feature::scale);
  if (p.softcap != 0) form.options.add(softcap);
  return form;
}

std::string_view name_of(value_form form) noexcept {
  switch (form) {
    case value_form::gaussian: return "gaussian";
    case value_form::digits: return "digits";
    case value_form::pointed: return "pointed";
    case value_form::edge_digits: return "edge-digits";
    case value_form::nan_value: return "NaN";
    case value_form::weightless_nan: return "weightless-NaN";
    case value_form::far_block: return "far-block";
  }
  return "";
}

broadcast_axes usual_axes(feature one) noexcept {
  switch (one) {
    case feature::mask:
    case batch_bias:
    case finite_mask: return {true, false, true};
    case head_mask: return {true, true, true};
    case padding:
    case left_padding: return {true, false, false};
    case feature::bias: return {false, true, true};
    case alibi: return {false, true, false};
    default: return {false, false, true};
  }
}

feature_set call_form::features() const {
  feature_set all = options;
  if (size.hq != size.hk) all.add(grouped);
  if (size.dv != size.d) all.add(value_width);
  if (size.d % 8 != 0 || size.dv % 8 != 0) all.add(odd_width);
  if (size.n != size.m) all.add(unequal);
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
  return says;
}

call_cost cost_of(call_form const& form, problem::element_type type) noexcept {
  auto const& [b, hq, hk, n, m, d, dv] = form.size;
  auto const width = static_cast<std::int64_t>(problem::size_of(type));
  // Of a paged problem the most that its draft may hold.
  bool const in_pages = form.options.has(paged);
  std::int64_t const whole = m + (in_pages ? most_page_rows - 1 : 0);
  std::int64_t const rows = b * whole + (in_pages ? more_pages * most_page_rows : 0);  // of keys
  call_form slots = form;
  slots.size.m = whole + (in_pages ? more_columns * most_page_rows : 0);
  call_cost cost{.bytes = (b * hq * n * (d + dv) + hk * rows * (d + dv)) * width,
                 .products = b * hq * n * m * (d + dv + cost_of_exp)};
  form.options.each([&](feature one) {
    feature_group const group = table[static_cast<std::size_t>(one)].group;
    if (group == feature_group::mask) cost.bytes += elements(broadcast_shape(one, slots));
    if (group == feature_group::bias) cost.bytes += elements(broadcast_shape(one, slots)) * width;
    if (one == dropout) cost.bytes += b * hq * n * slots.size.m;
  });
  return cost;
}

problem_draft draft_of(call_form const& form, problem::element_type type, random_stream& random) {
  problem_draft draft = blank(form.size, type);
  draft.band = band_of(form);
  if (form.options.has(feature::scale))
    draft.scale = form.scale.value_or(0.8125 / std::sqrt(std::max(1.0, static_cast<double>(form.size.d))));
  if (form.options.has(softcap)) draft.softcap = form.cap.value_or(50);
  form.options.each([&](feature one) {
    if (row_of(one).group == feature_group::mask) add_mask_of(one, form, draft, random);
    if (row_of(one).group == feature_group::bias) add_bias_of(one, form, draft, random);
  });
  set_values(form.values, draft, random);
  share_values(draft, form.memory);
  add_version_2(form, draft, random);
  return draft;
}

}  // namespace attest::audit
