#include "audit/cases/arranged.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "audit/cases/random.hpp"

namespace attest::audit {
namespace {

constexpr int nobody = 0xFF;  // a NaN in every floating type

owned_tensor list_of(std::vector<std::int32_t> const& numbers) {
  auto list = owned_tensor::compact(problem::element_type::i32, {std::ssize(numbers)});
  if (!numbers.empty()) std::memcpy(list.bytes.data(), numbers.data(), list.bytes.size());
  return list;
}

/// The lengths of a side: what `lengths` says, or all of the slot.
std::vector<std::int64_t> used_rows(std::optional<owned_tensor> const& lengths, std::int64_t entries,
                                    std::int64_t slot) {
  std::vector<std::int64_t> used(static_cast<std::size_t>(entries), slot);
  for (std::size_t e = 0; lengths && e < used.size(); ++e) used[e] = lengths->as<std::int32_t>()[e];
  return used;
}

std::int32_t drawn_length(std::int64_t slot, random_stream& random) {
  switch (random.below(6)) {
    case 0: return 0;
    case 1: return static_cast<std::int32_t>(std::min<std::int64_t>(slot, 1));
    case 2: return static_cast<std::int32_t>(std::max<std::int64_t>(slot - 1 - random.below(3), 0));
    case 3: return static_cast<std::int32_t>(slot);
    default: return static_cast<std::int32_t>(random.below(slot + 1));
  }
}

std::byte* row_of(owned_tensor& t, std::int64_t b, std::int64_t h, std::int64_t i) {
  return t.bytes.data() + offset_of(t, b, h, i, 0) * problem::size_of(t.type);
}

/// The first rows of the slots of a tensor [b, h, slot, width] as [1, h, rows, width], and where each begins.
owned_tensor packed_rows(owned_tensor& from, std::vector<std::int64_t> const& used, std::int64_t behind,
                         std::vector<std::int32_t>& offsets) {
  auto const [entries, heads, slot, width] = from.layout.shape;
  offsets.assign(1, 0);
  for (std::int64_t const rows : used) offsets.push_back(offsets.back() + static_cast<std::int32_t>(rows));
  auto to = owned_tensor::compact(from.type, {1, heads, offsets.back() + behind, width});
  std::ranges::fill(to.bytes, std::byte{nobody});
  std::size_t const bytes = static_cast<std::size_t>(width) * problem::size_of(from.type);
  for (std::int64_t e = 0; e < entries && bytes > 0; ++e)
    for (std::int64_t h = 0; h < heads; ++h)
      for (std::int64_t i = 0; i < used[static_cast<std::size_t>(e)]; ++i)
        std::memcpy(row_of(to, 0, h, offsets[static_cast<std::size_t>(e)] + i), row_of(from, e, h, i), bytes);
  return to;
}

/// A tensor with more columns, which hold `value`.
void widen(std::optional<owned_tensor>& of, std::int64_t columns, std::byte value) {
  if (!of || of->layout.shape[3] >= columns) return;
  auto const shape = of->layout.shape;
  auto wide = owned_tensor::compact(of->type, {shape[0], shape[1], shape[2], columns});
  std::ranges::fill(wide.bytes, value);
  std::size_t const bytes = static_cast<std::size_t>(shape[3]) * problem::size_of(of->type);
  for (std::int64_t b = 0; b < shape[0]; ++b)
    for (std::int64_t h = 0; h < shape[1]; ++h)
      for (std::int64_t i = 0; i < shape[2] && bytes > 0; ++i)
        std::memcpy(row_of(wide, b, h, i), row_of(*of, b, h, i), bytes);
  of = std::move(wide);
}

}  // namespace

void draw_lengths(problem_draft& to, random_stream& random) {
  std::int64_t const entries = to.q.layout.shape[0], n = to.q.layout.shape[2], m = to.k.layout.shape[2];
  std::vector<std::int32_t> queries, keys;
  for (std::int64_t e = 0; e < entries; ++e)
    queries.push_back(drawn_length(n, random)), keys.push_back(drawn_length(m, random));
  if (entries > 0) {
    auto const whole = static_cast<std::size_t>(random.below(entries));
    queries[whole] = static_cast<std::int32_t>(n), keys[whole] = static_cast<std::int32_t>(m);
  }
  set_lengths(to, queries, keys);
}

void set_lengths(problem_draft& to, std::vector<std::int32_t> const& queries, std::vector<std::int32_t> const& keys) {
  to.q_lengths = list_of(queries), to.k_lengths = list_of(keys);
}

void pack_queries(problem_draft& to, std::int64_t behind) {
  auto const used = used_rows(to.q_lengths, to.q.layout.shape[0], to.q.layout.shape[2]);
  std::vector<std::int32_t> offsets;
  to.q = packed_rows(to.q, used, behind, offsets);
  to.q_offsets = list_of(offsets), to.q_lengths.reset();
}

void pack_keys(problem_draft& to, std::int64_t behind) {
  auto const used = used_rows(to.k_lengths, to.k.layout.shape[0], to.k.layout.shape[2]);
  std::vector<std::int32_t> offsets;
  to.k = packed_rows(to.k, used, behind, offsets), to.v = packed_rows(to.v, used, behind, offsets);
  to.k_offsets = list_of(offsets), to.k_lengths.reset();
}

void page_keys(problem_draft& to, paging const& how, random_stream& random) {
  auto const [entries, heads, m, d] = to.k.layout.shape;
  std::int64_t const dv = to.v.layout.shape[3], page = how.page;
  auto const used = used_rows(to.k_lengths, entries, m);
  // The bytes of a page, by which entries share it.
  auto const bytes_of = [&](owned_tensor& from, std::int64_t e, std::int64_t at, std::int64_t rows) {
    std::string bytes;
    std::size_t const row = static_cast<std::size_t>(from.layout.shape[3]) * problem::size_of(from.type);
    for (std::int64_t h = 0; h < heads; ++h)
      for (std::int64_t i = at * page; i < at * page + rows && row > 0; ++i)
        bytes.append(reinterpret_cast<char const*>(row_of(from, e, h, i)), row);
    return bytes;
  };
  struct filled_page {
    std::int64_t entry, at, rows;
  };
  std::vector<filled_page> pages;
  std::vector<std::vector<std::int32_t>> needed(static_cast<std::size_t>(entries));
  std::map<std::string, std::int32_t> known;
  for (std::int64_t e = 0; e < entries; ++e)
    for (std::int64_t at = 0; at * page < used[static_cast<std::size_t>(e)]; ++at) {
      std::int64_t const rows = std::min(page, used[static_cast<std::size_t>(e)] - at * page);
      auto number = static_cast<std::int32_t>(pages.size());
      if (how.shared && rows == page) {
        auto const bytes = bytes_of(to.k, e, at, rows) + bytes_of(to.v, e, at, rows);
        number = known.try_emplace(bytes, number).first->second;
      }
      if (number == std::ssize(pages)) pages.push_back({e, at, rows});
      needed[static_cast<std::size_t>(e)].push_back(number);
    }
  std::vector<std::int32_t> place(pages.size() + static_cast<std::size_t>(how.more_pages));
  std::iota(place.begin(), place.end(), 0);
  for (std::size_t at = place.size(); at > 1; --at)
    std::swap(place[at - 1], place[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(at)))]);

  owned_tensor k = owned_tensor::compact(to.k.type, {std::ssize(place), heads, page, d}),
               v = owned_tensor::compact(to.v.type, {std::ssize(place), heads, page, dv});
  std::ranges::fill(k.bytes, std::byte{nobody}), std::ranges::fill(v.bytes, std::byte{nobody});
  for (std::size_t number = 0; number < pages.size(); ++number)
    for (auto const& [from, pool] : {std::pair{&to.k, &k}, std::pair{&to.v, &v}}) {
      auto const& [entry, at, rows] = pages[number];
      std::size_t const bytes = static_cast<std::size_t>(from->layout.shape[3]) * problem::size_of(from->type);
      for (std::int64_t h = 0; h < heads; ++h)
        for (std::int64_t i = 0; i < rows && bytes > 0; ++i)
          std::memcpy(row_of(*pool, place[number], h, i), row_of(*from, entry, h, at * page + i), bytes);
    }
  std::int64_t const width = (m + page - 1) / page + how.more_columns;
  constexpr std::int32_t largest = std::numeric_limits<std::int32_t>::max();
  std::array<std::int32_t, 3> const no_page{-1, largest, static_cast<std::int32_t>(place.size())};
  auto table = owned_tensor::compact(problem::element_type::i32, {entries, width});
  for (std::int64_t e = 0; e < entries; ++e)
    for (std::int64_t column = 0; column < width; ++column) {
      auto const& of_entry = needed[static_cast<std::size_t>(e)];
      table.as<std::int32_t>()[e * width + column] =
          column < std::ssize(of_entry) ? place[static_cast<std::size_t>(of_entry[static_cast<std::size_t>(column)])]
                                        : no_page[static_cast<std::size_t>((e + column) % std::ssize(no_page))];
    }
  to.k = std::move(k), to.v = std::move(v), to.block_table = std::move(table);
  if (!to.k_lengths) to.k_lengths = list_of({used.begin(), used.end()});
  widen(to.mask, width * page, std::byte{1}), widen(to.keep, width * page, std::byte{1});
  widen(to.bias, width * page, std::byte{nobody});
  if (to.block_k > 0) widen(to.block_mask, (width * page + to.block_k - 1) / to.block_k, std::byte{1});
}

}  // namespace attest::audit
