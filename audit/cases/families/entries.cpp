// Entries of different lengths, in slots, packed and in pages. docs/semantics.md states the rules; each family holds
// cases that known kernels get wrong.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "audit/cases/arranged.hpp"
#include "audit/cases/random.hpp"

namespace attest::audit {
namespace {

/// Fills the row (b, h, i) of a tensor with `value`.
void poison(owned_tensor& t, std::int64_t b, std::int64_t i, double value) {
  for (std::int64_t h = 0; h < t.layout.shape[1]; ++h)
    for (std::int64_t c = 0; c < t.layout.shape[3]; ++c) store(t, offset_of(t, b, h, i, c), value);
}

/// NaN in K and V behind each length. (Rows of Q behind its length are no queries.)
void poison_behind(problem_draft& draft, std::vector<std::int32_t> const& keys) {
  for (std::int64_t e = 0; e < std::ssize(keys); ++e)
    for (std::int64_t j = keys[static_cast<std::size_t>(e)]; j < draft.k.layout.shape[2]; ++j)
      poison(draft.k, e, j, std::nan("")), poison(draft.v, e, j, std::nan(""));
}

struct entry_case {
  char const* name;
  std::vector<std::int32_t> queries, keys;
};

std::vector<entry_case> const& entry_cases() {
  static std::vector<entry_case> const all{
      {"rising", {1, 2, 3, 5, 8}, {1, 5, 16, 17, 33}},
      {"falling", {8, 5, 3, 2, 1}, {33, 17, 16, 5, 1}},
      {"empty-entries", {4, 0, 3, 2, 0}, {7, 9, 0, 16, 0}},
      {"no-keys-first", {2, 3, 1, 1, 4}, {0, 12, 0, 31, 8}},
      {"one-query-each", {1, 1, 1, 1, 1, 1, 1, 1}, {257, 1, 15, 16, 32, 64, 128, 256}},
      {"block-edges", {8, 7, 8, 8, 1}, {15, 16, 17, 31, 33}},
      {"more-queries", {8, 8, 6, 8, 8}, {3, 8, 5, 1, 2}},
  };
  return all;
}

/// The bands of the entries: none, causal at each entry's own end, causal from its own beginning, a window at its end.
constexpr std::array<char const*, 4> band_names{"", "-causal", "-top-left", "-window"};
void set_band(problem_draft& draft, std::size_t which) {
  if (which == 1) draft.band = {0, -1, 0}, draft.align = 1;
  if (which == 2) draft.band = {0, -1, 0};
  if (which == 3) draft.band = {0, 4, 0}, draft.align = 1;
}

problem_draft entries_of(entry_case const& from, case_list const& to, random_stream& random) {
  auto const most = [](std::vector<std::int32_t> const& of) { return std::int64_t{*std::ranges::max_element(of)}; };
  problem_draft draft =
      gaussian({std::ssize(from.queries), 4, 2, most(from.queries), most(from.keys), 16, 16}, to.type(), random);
  set_lengths(draft, from.queries, from.keys);
  poison_behind(draft, from.keys);
  return draft;
}

/// Equal heads, n = m, dv = d: three entries of 16, 5 and 9 queries and keys.
problem_draft plain_entries(case_list const& to, random_stream& random) {
  problem_draft draft = gaussian({3, 2, 2, 16, 16, 16, 16}, to.type(), random);
  set_lengths(draft, {16, 5, 9}, {16, 5, 9});
  poison_behind(draft, {16, 5, 9});
  return draft;
}

template <class F>
void add_entry_family(case_list& to, char const* check, F&& arrange) {
  for (std::size_t at = 0; at < entry_cases().size(); ++at) {
    entry_case const& from = entry_cases()[at];
    for (std::size_t band = 0; band < band_names.size(); ++band) {
      if (to.options().quick && (at + band) % 4 != 0) continue;
      std::string const name = std::string(from.name) + band_names[band];
      auto random = to.random(check, name);
      problem_draft draft = entries_of(from, to, random);
      set_band(draft, band);
      arrange(to, check, name, std::move(draft), random);
    }
  }
}

/// Few queries and slots of 512 keys, which kernels split into parts. In shortened entries some parts have no key, and
/// with a band some queries see keys of one part only. Asked with several numbers of threads, which may decide the
/// parts.
void add_decoding(case_list& to) {
  std::vector<std::int32_t> const keys{512, 1, 0, 129, 300};
  for (auto const& [name, queries] : {std::pair{"decode", std::vector<std::int32_t>{1, 1, 1, 1, 1}},
                                      std::pair{"decode-several", std::vector<std::int32_t>{4, 1, 3, 0, 4}}})
    for (std::size_t band = 0; band < band_names.size(); ++band) {
      std::string const named = std::string(name) + band_names[band];
      auto random = to.random("lengths", named);
      problem_draft draft = entries_of({name, queries, keys}, to, random);
      set_band(draft, band);
      to.add("lengths", named, std::move(draft)).also_with_threads({1, 2, 7, 64});
    }
}

}  // namespace

void add_entries(case_list& to) {
  for (char const* const check : {"lengths", "packed"}) {
    auto random = to.random(check, "plain");
    problem_draft draft = plain_entries(to, random);
    if (std::string(check) == "packed") pack_queries(draft, 0), pack_keys(draft, 0);
    to.add(check, "plain", std::move(draft));
  }
  add_entry_family(
      to, "lengths",
      [](case_list& list, char const* check, std::string const& name, problem_draft draft, random_stream&) {
        // Many kernels have lengths of keys alone.
        problem_draft of_keys = draft;
        of_keys.q_lengths.reset();
        list.add(check, name, std::move(draft));
        list.add(check, name + "-keys", std::move(of_keys));
      });
  add_decoding(to);
  add_entry_family(
      to, "packed",
      [](case_list& list, char const* check, std::string const& name, problem_draft draft, random_stream& random) {
        problem_draft queries_only = draft, keys_only = draft;
        pack_queries(draft, 1 + random.below(3)), pack_keys(draft, 1 + random.below(3));
        list.add(check, name, std::move(draft));
        pack_queries(queries_only, 0);
        list.add(check, name + "-queries", std::move(queries_only));
        pack_keys(keys_only, 2);
        list.add(check, name + "-keys", std::move(keys_only));
      });
  // One entry is NaN throughout; its neighbours in the packed tensors are not.
  auto random = to.random("packed", "poisoned-neighbour");
  problem_draft draft = entries_of(entry_cases()[0], to, random);
  for (std::int64_t i = 0; i < 3; ++i) poison(draft.q, 2, i, std::nan(""));
  for (std::int64_t j = 0; j < 16; ++j) poison(draft.k, 2, j, std::nan("")), poison(draft.v, 2, j, std::nan(""));
  pack_queries(draft, 1), pack_keys(draft, 1);
  to.add("packed", "poisoned-neighbour", std::move(draft));
}

void add_pages(case_list& to) {
  {
    auto random = to.random("pages", "plain");
    problem_draft draft = plain_entries(to, random);
    page_keys(draft, {.page = 16, .more_columns = 0, .more_pages = 0}, random);
    to.add("pages", "plain", std::move(draft));
  }
  {
    // Rows of the table lie apart.
    auto random = to.random("pages", "gaps-in-table");
    problem_draft draft = plain_entries(to, random);
    constexpr std::int64_t gap = 3;
    page_keys(draft, {.page = 16, .more_columns = gap, .more_pages = 2}, random);
    draft.block_table->layout.shape[1] -= gap;
    to.add("pages", "gaps-in-table", std::move(draft));
  }
  constexpr std::array<std::int64_t, 6> sizes{1, 7, 16, 64, 128, 256};
  std::size_t at = 0;
  add_entry_family(
      to, "pages",
      [&](case_list& list, char const* check, std::string const& name, problem_draft draft, random_stream& random) {
        std::int64_t const page = sizes[at++ % sizes.size()];
        page_keys(draft, {.page = page, .more_columns = 2, .more_pages = 3}, random);
        if (random.below(2) == 0) pack_queries(draft, 1);
        list.add(check, fmt::format("{}-of-{}", name, page), std::move(draft));
      });
  for (std::int64_t const page : {4, 16}) {
    std::string const name = fmt::format("shared-prefix-of-{}", page);
    auto random = to.random("pages", name);
    problem_draft draft = gaussian({4, 4, 2, 1, 3 * page + 2, 16, 16}, to.type(), random);
    for (std::int64_t e = 1; e < 4; ++e)  // the first two pages of all entries are the same
      for (std::int64_t h = 0; h < 2; ++h)
        for (std::int64_t j = 0; j < 2 * page; ++j)
          for (std::int64_t c = 0; c < 16; ++c) {
            store(draft.k, offset_of(draft.k, e, h, j, c), load(draft.k, offset_of(draft.k, 0, h, j, c)));
            store(draft.v, offset_of(draft.v, e, h, j, c), load(draft.v, offset_of(draft.v, 0, h, j, c)));
          }
    set_lengths(draft, {1, 1, 1, 1},
                {static_cast<std::int32_t>(3 * page + 2), static_cast<std::int32_t>(2 * page),
                 static_cast<std::int32_t>(2 * page + 1), static_cast<std::int32_t>(3 * page)});
    page_keys(draft, {.page = page, .shared = true}, random);
    to.add("pages", name, std::move(draft));
  }
  // A window that begins in the middle of a page, and a window whose first pages no query needs.
  auto random = to.random("pages", "window-over-pages");
  problem_draft draft = gaussian({2, 2, 2, 3, 45, 16, 16}, to.type(), random);
  draft.band = {0, 20, 0}, draft.align = 1;
  set_lengths(draft, {3, 2}, {45, 30});
  page_keys(draft, {.page = 16}, random);
  to.add("pages", "window-over-pages", std::move(draft));
}

}  // namespace attest::audit
