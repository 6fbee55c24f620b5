#include "audit/cases/needed_inputs.hpp"

#include <algorithm>
#include <charconv>
#include <functional>

#include "audit/cases/arranged.hpp"
#include "audit/cases/forms/feature.hpp"
#include "audit/cases/random.hpp"
#include "audit/tensors/elements.hpp"

namespace attest::audit {
namespace {

using needed_input = needed_inputs::input;

/// An input by its name and, if it is a tensor, by the member of a call that holds it.
struct needed_row {
  needed_input id;
  std::string_view name;
  std::optional<owned_tensor> problem_draft::* member;
};
constexpr needed_row needed_table[]{
    {needed_input::mask, "mask", &problem_draft::mask},
    {needed_input::bias, "bias", &problem_draft::bias},
    {needed_input::q_lengths, "q_lengths", &problem_draft::q_lengths},
    {needed_input::k_lengths, "k_lengths", &problem_draft::k_lengths},
    {needed_input::q_offsets, "q_offsets", &problem_draft::q_offsets},
    {needed_input::k_offsets, "k_offsets", &problem_draft::k_offsets},
    {needed_input::block_table, "block_table", &problem_draft::block_table},
    {needed_input::softcap, "softcap", nullptr},
    {needed_input::sink, "sink", &problem_draft::sink},
};
static_assert(std::size(needed_table) == needed_inputs::count);

bool is_in(problem_draft const& p, needed_row const& row) {
  return row.member ? (p.*row.member).has_value() : p.softcap > 0;
}

bool all_numbers(owned_tensor const& of, auto&& fit) {
  bool all = true;
  each_row(of, [&](auto b, auto h, auto i) {
    for (std::int64_t c = 0; c < of.layout.shape[3]; ++c) all = all && fit(load(of, offset_of(of, b, h, i, c)));
  });
  return all;
}

bool all_lengths(owned_tensor const& of, std::int64_t length) {
  auto const* first = of.as<std::int32_t>();
  return std::all_of(first, first + of.layout.shape[0], [&](std::int32_t x) { return x == length; });
}

bool all_entries(owned_tensor const& offsets, std::int64_t length) {
  auto const* first = offsets.as<std::int32_t>();
  auto const* const last = first + offsets.layout.shape[0];
  return std::adjacent_find(first, last, [&](std::int32_t x, std::int32_t y) { return y - x != length; }) == last;
}

bool is_usual(needed_input one, problem_draft const& p, problem::sizes const& s) {
  if (one == needed_input::softcap) return p.softcap == usual_cap;
  owned_tensor const& of = *(p.*needed_table[static_cast<std::size_t>(one)].member);
  switch (one) {
    case needed_input::mask: return all_numbers(of, [](double x) { return x != 0; });
    case needed_input::bias: return all_numbers(of, [](double x) { return x == 0; });
    case needed_input::q_lengths: return all_lengths(of, s.n);
    case needed_input::k_lengths: return all_lengths(of, s.m);
    case needed_input::q_offsets: return all_entries(of, s.n);
    case needed_input::k_offsets: return all_entries(of, s.m);
    case needed_input::block_table: return !p.k_lengths || all_lengths(*p.k_lengths, s.m);
    case needed_input::sink: return std::ranges::all_of(of.bytes, [](std::byte x) { return x == std::byte{0}; });
    case needed_input::softcap: break;
  }
  return false;
}

/// All rows of each entry: as many as its slot has, or its offsets say.
void supply_lengths(std::optional<owned_tensor>& to, std::int64_t entries, std::int64_t slot,
                    std::optional<owned_tensor> const& offsets) {
  if (offsets) entries = offsets->layout.shape[0] - 1;
  to = owned_tensor::compact(problem::element_type::i32, {entries});
  auto* const length = to->as<std::int32_t>();
  std::fill_n(length, entries, static_cast<std::int32_t>(slot));
  if (!offsets) return;
  auto const* const start = offsets->as<std::int32_t>();
  std::transform(start + 1, start + 1 + entries, start, length, std::minus<>{});
}

void align_at_the_end(problem_draft& to) {
  std::int64_t const corner = to.k.layout.shape[2] - to.q.layout.shape[2];
  bool const banded = to.band.left >= 0 || to.band.right >= 0;
  if (banded && to.align == 0 && to.is_dense() && to.band.diagonal == corner) to.align = 1, to.band.diagonal = 0;
}

}  // namespace

needed_inputs needed_inputs::in_slots() const {
  needed_inputs kept = *this;
  for (needed_input const one : {needed_input::q_offsets, needed_input::k_offsets, needed_input::block_table})
    kept.has_[static_cast<std::size_t>(one)] = false;
  return kept;
}

bool needed_inputs::all_in(problem_draft const& p) const {
  return std::ranges::all_of(needed_table, [&](needed_row const& row) { return !has(row.id) || is_in(p, row); });
}

needed_inputs needed_inputs::usual_in(problem_draft const& p, problem::sizes const& s) const {
  needed_inputs found;
  for (needed_row const& row : needed_table)
    if (has(row.id) && is_in(p, row) && is_usual(row.id, p, s)) found.add(row.id);
  return found;
}

bool needed_inputs::has_entries_of(problem_draft const& p) const {
  return std::ranges::all_of(needed_table, [&](needed_row const& row) {
    bool const of_entries = row.id >= input::q_lengths && row.id <= input::block_table;
    return !of_entries || !is_in(p, row) || has(row.id) || (row.id == input::k_lengths && has(input::block_table));
  });
}

std::vector<std::string> needed_inputs::names() const {
  std::vector<std::string> names;
  for (needed_row const& row : needed_table)
    if (has(row.id)) {
      bool const paged = row.id == input::block_table && page_ != usual_page;
      names.push_back(std::string(row.name) + (paged ? ":" + std::to_string(page_) : ""));
    }
  return names;
}

bool needed_inputs::add_named(std::string_view name) {
  std::string_view const table = needed_table[static_cast<std::size_t>(input::block_table)].name;
  constexpr std::int64_t most_rows = 1 << 16;
  if (name.starts_with(table) && name.substr(table.size()).starts_with(':')) {
    std::string_view const number = name.substr(table.size() + 1);
    std::int64_t rows = 0;
    auto const [end, fault] = std::from_chars(number.data(), number.data() + number.size(), rows);
    if (fault != std::errc{} || end != number.data() + number.size() || rows < 1 || rows > most_rows) return false;
    add(input::block_table).in_pages_of(rows);
    return true;
  }
  auto const at = std::ranges::find(needed_table, name, &needed_row::name);
  if (at != std::end(needed_table)) add(at->id);
  return at != std::end(needed_table);
}

std::vector<std::string_view> needed_inputs::all_names() {
  std::vector<std::string_view> names;
  for (needed_row const& row : needed_table) names.push_back(row.name);
  return names;
}

void supply(problem_draft& to, needed_inputs const& needed) {
  if (needed.all_in(to)) return;
  auto const& q = to.q.layout.shape;
  std::int64_t const b = q[0], heads = q[1], n = q[2], page = to.k.layout.shape[2],
                     m = to.block_table ? to.block_table->layout.shape[1] * page : page;
  bool const packed = to.q_offsets || to.k_offsets;
  auto const lacks = [&](needed_input one) {
    return needed.has(one) && !is_in(to, needed_table[static_cast<std::size_t>(one)]);
  };
  if (lacks(needed_input::mask) && !packed) {
    to.mask = owned_tensor::compact(problem::element_type::u8, {b, 1, n, m});
    fill(*to.mask, [](auto...) { return 1.0; });
  }
  if (lacks(needed_input::bias) && !packed) to.bias = owned_tensor::compact(to.q.type, {1, heads, n, m});
  if (lacks(needed_input::q_lengths) || lacks(needed_input::k_lengths) || needed.move_rows()) align_at_the_end(to);
  if (lacks(needed_input::softcap)) to.softcap = usual_cap;
  if (lacks(needed_input::sink)) to.sink = owned_tensor::compact(problem::element_type::f32, {heads});
  bool const can_pack = !to.mask && !to.bias && !to.keep && !to.block_mask;
  if (lacks(needed_input::q_offsets) && can_pack) pack_queries(to, 0);
  if (lacks(needed_input::k_offsets) && can_pack && !to.block_table) pack_keys(to, 0);
  if (lacks(needed_input::block_table) && !to.k_offsets) {
    random_stream random(0, "needed pages");
    page_keys(to, {.page = needed.page(), .more_columns = 1, .more_pages = 2}, random);
  }
  if (lacks(needed_input::q_lengths)) supply_lengths(to.q_lengths, b, n, to.q_offsets);
  if (lacks(needed_input::k_lengths)) supply_lengths(to.k_lengths, b, m, to.k_offsets);
}

}  // namespace attest::audit
