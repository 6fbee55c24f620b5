#include "audit/cases/forms/feature_writers.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "audit/cases/arranged.hpp"
#include "audit/cases/forms/value_forms.hpp"
#include "audit/cases/random.hpp"

namespace attest::audit {
namespace {

/// Writes a mask of bytes, row by row: attend(b, h, i, j).
template <class F>
void set_mask(feature one, call_form const& form, problem_draft& to, F&& attend) {
  auto const shape = shape_of(one, form);
  to.mask = owned_tensor::compact(problem::element_type::u8, {shape[0], shape[1], shape[2], shape[3]});
  auto* byte = to.mask->as<std::uint8_t>();
  for (std::int64_t b = 0; b < shape[0]; ++b)
    for (std::int64_t h = 0; h < shape[1]; ++h)
      for (std::int64_t i = 0; i < shape[2]; ++i)
        for (std::int64_t j = 0; j < shape[3]; ++j) *byte++ = attend(b, h, i, j) ? form.mask_byte : std::uint8_t{0};
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

owned_tensor& new_bias(feature one, call_form const& form, problem_draft& to) {
  auto const shape = shape_of(one, form);
  return to.bias.emplace(owned_tensor::compact(to.q.type, {shape[0], shape[1], shape[2], shape[3]}));
}

constexpr std::int64_t page_rows[]{1, 7, 16, 16, 64, 128};
static_assert(std::ranges::max(page_rows) == most_page_rows);

}  // namespace

void draw_mask(feature_row const& row, call_form const& form, problem_draft& to, random_stream& random) {
  set_mask(row.id, form, to, [&](auto...) { return random.below(3) != 0; });
}

void pad(feature_row const& row, call_form const& form, problem_draft& to, random_stream& random) {
  std::int64_t const m = form.size.m;
  auto const count = padded_lengths(shape_of(row.id, form)[0], m, form.length, random);
  set_mask(row.id, form, to, [&](std::int64_t b, auto, auto, std::int64_t j) {
    std::int64_t const keys = count[static_cast<std::size_t>(b)];
    return row.id == feature::left_padding ? j >= m - keys : j < keys;
  });
}

void set_prefix(feature_row const& row, call_form const& form, problem_draft& to, random_stream&) {
  std::int64_t const corner = form.size.m - form.size.n;
  set_mask(row.id, form, to,
           [&](auto, auto, std::int64_t i, std::int64_t j) { return j < form.length || j <= corner + i; });
}

void draw_bias(feature_row const& row, call_form const& form, problem_draft& to, random_stream& random) {
  fill_normal(new_bias(row.id, form, to), random, 1);
}

void set_alibi(feature_row const& row, call_form const& form, problem_draft& to, random_stream&) {
  problem::sizes const& s = form.size;
  fill(new_bias(row.id, form, to), [&](auto, auto h, auto, auto j) {
    return std::exp2(-8.0 * static_cast<double>(h + 1) / static_cast<double>(s.hq)) *
           static_cast<double>(j - (s.m - 1));
  });
}

void hide_by_bias(feature_row const& row, call_form const& form, problem_draft& to, random_stream& random) {
  fill(new_bias(row.id, form, to), [&](auto...) { return random.below(3) != 0 ? 0.0 : -HUGE_VAL; });
}

void mask_by_bias(feature_row const& row, call_form const& form, problem_draft& to, random_stream& random) {
  static constexpr double in_f16[]{-32752, -65504}, elsewhere[]{-1e6, -1e9, -1e20, -1e30};
  std::span<double const> const values =
      to.q.type == problem::element_type::f16 ? std::span<double const>(in_f16) : std::span<double const>(elsewhere);
  double const masked = values[static_cast<std::size_t>(random.below(std::ssize(values)))];
  fill(new_bias(row.id, form, to), [&](auto...) { return random.below(3) != 0 ? 0.0 : masked; });
}

void set_scale(feature_row const&, call_form const& form, problem_draft& to, random_stream&) {
  to.scale = form.scale.value_or(0.8125 / std::sqrt(std::max(1.0, static_cast<double>(form.size.d))));
}

void draw_sinks(feature_row const&, call_form const&, problem_draft& to, random_stream& random) {
  std::int64_t const heads = to.q.layout.shape[1];
  double const keys = std::log(std::max(1.0, static_cast<double>(to.k.layout.shape[2])));
  to.sink = owned_tensor::compact(problem::element_type::f32, {heads});
  for (std::int64_t h = 0; h < heads; ++h) store(*to.sink, static_cast<std::size_t>(h), keys + random.normal());
}

void draw_dropout(feature_row const&, call_form const&, problem_draft& to, random_stream& random) {
  auto const& shape = to.q.layout.shape;
  to.dropout = 0.25;
  to.keep = owned_tensor::compact(problem::element_type::u8, {shape[0], shape[1], shape[2], to.k.layout.shape[2]});
  fill(*to.keep, [&](auto...) { return random.below(4) != 0 ? 1.0 : 0.0; });
}

void draw_block_mask(feature_row const&, call_form const&, problem_draft& to, random_stream& random) {
  constexpr std::int64_t sizes[][2]{{16, 16}, {5, 7}, {64, 32}, {32, 64}, {128, 128}};
  auto const [q, k] = sizes[random.below(5)];
  to.block_q = q, to.block_k = k;
  auto const& shape = to.q.layout.shape;
  to.block_mask = owned_tensor::compact(
      problem::element_type::u8,
      {shape[0], random.below(2) == 0 ? 1 : shape[1], (shape[2] + q - 1) / q, (to.k.layout.shape[2] + k - 1) / k});
  fill(*to.block_mask, [&](auto...) { return random.below(3) != 0 ? 1.0 : 0.0; });
}

void draw_entries(feature_row const&, call_form const& form, problem_draft& to, random_stream& random) {
  draw_lengths(to, random);
  // A kernel that needs lengths of one side may take no others.
  bool const of_queries = form.supplied.has(needed_inputs::input::q_lengths),
             of_keys = form.supplied.has(needed_inputs::input::k_lengths) ||
                       form.supplied.has(needed_inputs::input::block_table);
  if (of_queries != of_keys) (of_queries ? to.k_lengths : to.q_lengths).reset();
  if (to.band == problem::band{} || form.diagonal || form.options.has(feature::causal_top_left)) return;
  to.align = 1;  // each entry at its own end
  to.band.diagonal -= form.size.m - form.size.n;
}

void pack(feature_row const& row, call_form const& form, problem_draft& to, random_stream& random) {
  draw_entries(row, form, to, random);
  pack_queries(to, random.below(3)), pack_keys(to, random.below(3));
}

void page(feature_row const& row, call_form const& form, problem_draft& to, random_stream& random) {
  draw_entries(row, form, to, random);
  std::int64_t const drawn = page_rows[random.below(std::ssize(page_rows))];
  page_keys(to,
            {.page = form.supplied.has(needed_inputs::input::block_table) ? form.supplied.page() : drawn,
             .more_columns = random.below(most_more_columns + 1),
             .more_pages = random.below(most_more_pages + 1)},
            random);
}

}  // namespace attest::audit
