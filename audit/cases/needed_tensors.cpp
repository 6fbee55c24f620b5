#include "audit/cases/needed_tensors.hpp"

#include <algorithm>
#include <charconv>

#include "audit/cases/arranged.hpp"
#include "audit/cases/random.hpp"
#include "audit/tensors/elements.hpp"

namespace attest::audit {
namespace {

using needed_tensor = needed_tensors::tensor;

/// A tensor by its name and by the member of a call that holds it.
struct needed_row {
  needed_tensor id;
  std::string_view name;
  std::optional<owned_tensor> problem_draft::* member;
};
constexpr needed_row needed_table[]{
    {needed_tensor::mask, "mask", &problem_draft::mask},
    {needed_tensor::bias, "bias", &problem_draft::bias},
    {needed_tensor::q_lengths, "q_lengths", &problem_draft::q_lengths},
    {needed_tensor::k_lengths, "k_lengths", &problem_draft::k_lengths},
    {needed_tensor::q_offsets, "q_offsets", &problem_draft::q_offsets},
    {needed_tensor::k_offsets, "k_offsets", &problem_draft::k_offsets},
    {needed_tensor::block_table, "block_table", &problem_draft::block_table},
};
static_assert(std::size(needed_table) == needed_tensors::count);

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

bool is_neutral(needed_tensor one, problem_draft const& p, problem::sizes const& s) {
  owned_tensor const& of = *(p.*needed_table[static_cast<std::size_t>(one)].member);
  switch (one) {
    case needed_tensor::mask: return all_numbers(of, [](double x) { return x != 0; });
    case needed_tensor::bias: return all_numbers(of, [](double x) { return x == 0; });
    case needed_tensor::q_lengths: return all_lengths(of, s.n);
    case needed_tensor::k_lengths: return all_lengths(of, s.m);
    case needed_tensor::q_offsets: return all_entries(of, s.n);
    case needed_tensor::k_offsets: return all_entries(of, s.m);
    case needed_tensor::block_table: return !p.k_lengths || all_lengths(*p.k_lengths, s.m);
  }
  return false;
}

void supply_lengths(std::optional<owned_tensor>& to, std::int64_t entries, std::int64_t length) {
  to = owned_tensor::compact(problem::element_type::i32, {entries});
  std::fill_n(to->as<std::int32_t>(), entries, static_cast<std::int32_t>(length));
}

void align_at_the_end(problem_draft& to) {
  std::int64_t const corner = to.k.layout.shape[2] - to.q.layout.shape[2];
  bool const banded = to.band.left >= 0 || to.band.right >= 0;
  if (banded && to.align == 0 && to.is_dense() && to.band.diagonal == corner) to.align = 1, to.band.diagonal = 0;
}

}  // namespace

needed_tensors needed_tensors::in_slots() const {
  needed_tensors kept = *this;
  for (needed_tensor const one : {needed_tensor::q_offsets, needed_tensor::k_offsets, needed_tensor::block_table})
    kept.has_[static_cast<std::size_t>(one)] = false;
  return kept;
}

bool needed_tensors::all_in(problem_draft const& p) const {
  return std::ranges::all_of(needed_table,
                             [&](needed_row const& row) { return !has(row.id) || (p.*row.member).has_value(); });
}

needed_tensors needed_tensors::neutral_in(problem_draft const& p, problem::sizes const& s) const {
  needed_tensors found;
  for (needed_row const& row : needed_table)
    if (has(row.id) && p.*row.member && is_neutral(row.id, p, s)) found.add(row.id);
  return found;
}

std::vector<std::string> needed_tensors::names() const {
  std::vector<std::string> names;
  for (needed_row const& row : needed_table)
    if (has(row.id)) names.emplace_back(row.name);
  if (has(tensor::block_table) && page_ != usual_page) names.back() += ":" + std::to_string(page_);
  return names;
}

bool needed_tensors::add_named(std::string_view name) {
  std::string_view const table = needed_table[static_cast<std::size_t>(tensor::block_table)].name;
  constexpr std::int64_t most_rows = 1 << 16;
  if (name.starts_with(table) && name.substr(table.size()).starts_with(':')) {
    std::string_view const number = name.substr(table.size() + 1);
    std::int64_t rows = 0;
    auto const [end, fault] = std::from_chars(number.data(), number.data() + number.size(), rows);
    if (fault != std::errc{} || end != number.data() + number.size() || rows < 1 || rows > most_rows) return false;
    add(tensor::block_table).in_pages_of(rows);
    return true;
  }
  auto const at = std::ranges::find(needed_table, name, &needed_row::name);
  if (at != std::end(needed_table)) add(at->id);
  return at != std::end(needed_table);
}

std::vector<std::string_view> needed_tensors::all_names() {
  std::vector<std::string_view> names;
  for (needed_row const& row : needed_table) names.push_back(row.name);
  return names;
}

void supply(problem_draft& to, needed_tensors const& needed) {
  if (needed.all_in(to)) return;
  auto const& q = to.q.layout.shape;
  auto const& k = to.k.layout.shape;
  std::int64_t const b = q[0], heads = q[1], n = q[2], m = k[2];
  bool const slots = to.has_slots();
  auto const lacks = [&](needed_tensor one) {
    return needed.has(one) && !(to.*needed_table[static_cast<std::size_t>(one)].member);
  };
  if (lacks(needed_tensor::mask) && slots) {
    to.mask = owned_tensor::compact(problem::element_type::u8, {b, 1, n, m});
    fill(*to.mask, [](auto...) { return 1.0; });
  }
  if (lacks(needed_tensor::bias) && slots) to.bias = owned_tensor::compact(to.q.type, {1, heads, n, m});
  if (lacks(needed_tensor::q_lengths) || lacks(needed_tensor::k_lengths) || needed.move_rows()) align_at_the_end(to);
  if (lacks(needed_tensor::q_lengths) && !to.q_offsets) supply_lengths(to.q_lengths, b, n);
  if (lacks(needed_tensor::k_lengths) && !to.k_offsets && !to.block_table) supply_lengths(to.k_lengths, b, m);
  bool const can_pack = !to.mask && !to.bias && !to.keep && !to.block_mask;
  if (lacks(needed_tensor::q_offsets) && can_pack) pack_queries(to, 0);
  if (lacks(needed_tensor::k_offsets) && can_pack && !to.block_table) pack_keys(to, 0);
  if (lacks(needed_tensor::block_table) && !to.k_offsets) {
    random_stream random(0, "needed pages");
    page_keys(to, {.page = needed.page(), .more_columns = 1, .more_pages = 2}, random);
  }
}

}  // namespace attest::audit
