// Features of version 2 of the C interface: sinks, entries of different lengths, packed and paged entries, block masks,
// and dropout with a given mask. docs/semantics.md states the rules; each family holds cases that known kernels get
// wrong.
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


/// Sinks of f32: [hq], or [b, hq] where `entries` is more than 0; sink(b, h).
template <class F>
void add_sink(problem_draft& to, std::int64_t entries, F&& sink) {
  std::int64_t const heads = to.q.layout.shape[1];
  to.sink = entries > 0 ? owned_tensor::compact(problem::element_type::f32, {entries, heads})
                        : owned_tensor::compact(problem::element_type::f32, {heads});
  for (std::int64_t b = 0; b < std::max<std::int64_t>(entries, 1); ++b)
    for (std::int64_t h = 0; h < heads; ++h) store(*to.sink, static_cast<std::size_t>(b * heads + h), sink(b, h));
}

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

void add_equal_scores_with_sink(case_list& to) {
  // Q = 0: every score is 0 and LSE_K = ln m, where a sink of this size matters most.
  for (std::int64_t const m : {1, 2, 8, 64, 512}) {
    std::string const name = fmt::format("at-lse-m{}", m);
    auto random = to.random("sinks", name);
    problem_draft draft = gaussian({2, 4, 2, 3, m, 8, 8}, to.type(), random);
    fill(draft.q, [](auto...) { return 0.0; });
    add_sink(draft, 0, [&](auto, auto h) { return std::log(static_cast<double>(m)) + static_cast<double>(h - 1) / 2; });
    to.add("sinks", name, std::move(draft));
  }
}

void add_sink_sizes(case_list& to) {
  double const lowest = -3.4e38;
  struct of {
    char const* name;
    double sink;
  };
  for (auto const& [name, sink] :
       {of{"0", 0}, of{"1", 1}, of{"minus-1", -1}, of{"5", 5}, of{"40", 40}, of{"minus-40", -40}, of{"90", 90},
        of{"1000", 1000}, of{"minus-1e4", -1e4}, of{"minus-1e9", -1e9}, of{"finfo-min", lowest},
        of{"minus-inf", -HUGE_VAL}, of{"inf", HUGE_VAL}, of{"nan", std::nan("")}}) {
    auto random = to.random("sinks", name);
    problem_draft draft = gaussian({2, 4, 2, 3, 9, 8, 8}, to.type(), random);
    if (sink >= 90) fill(draft.v, [&](auto...) { return std::ldexp(1 + random.uniform(), 10); });
    // Two heads have it, two have an ordinary one; the last query of the first entry sees no key.
    add_sink(draft, 0, [&](auto, auto h) { return h % 2 == 0 ? sink : 0.25 * static_cast<double>(h); });
    add_mask(draft, 2, 1, 3, 9, [](auto b, auto, auto i, auto) { return b != 0 || i != 2; });
    to.add("sinks", name, std::move(draft)).beyond = std::abs(sink) > 1e3;
  }
}

void add_sink_places(case_list& to) {
  auto const add = [&](char const* name, problem::sizes const& s, auto&& change) {
    auto random = to.random("sinks", name);
    problem_draft draft = gaussian(s, to.type(), random);
    add_sink(draft, 0, [&](auto, auto h) { return 1 + 0.75 * static_cast<double>(h); });
    change(draft, random);
    to.add("sinks", name, std::move(draft));
  };
  auto const nothing = [](auto&, auto&) {};
  add("plain", {1, 4, 4, 16, 16, 16, 16}, nothing);
  add("by-head", {1, 8, 8, 2, 6, 8, 8}, nothing);
  add("by-kv-group", {1, 8, 2, 2, 6, 8, 8}, nothing);
  add("decode", {3, 4, 4, 1, 40, 16, 16}, nothing);
  add("many-queries", {1, 2, 2, 70, 70, 16, 16}, [](auto& p, auto&) { p.band = {0, -1, 0}; });
  add("window", {1, 4, 2, 20, 20, 8, 8}, [](auto& p, auto&) { p.band = {0, 3, 0}; });
  add("softcap", {1, 4, 4, 3, 9, 8, 8}, [](auto& p, auto&) { p.softcap = 2; });
  add("scale", {1, 4, 4, 3, 9, 8, 8}, [](auto& p, auto&) { p.scale = 0.0625; });
  add("by-batch", {3, 2, 2, 2, 7, 8, 8}, [](auto& p, auto& random) {
    add_sink(p, 3, [&](auto, auto) { return 2 * random.normal(); });
  });
  add("own-type", {2, 4, 4, 2, 7, 8, 8}, [&](auto& p, auto&) {
    p.sink = owned_tensor::compact(to.type(), {4});
    for (std::size_t h = 0; h < 4; ++h) store(*p.sink, h, 0.5 * static_cast<double>(h));
  });
  // f32 numbers that 16 bits cannot hold, one query and one key: O = v·σ(s − t).
  add("full-f32", {1, 8, 8, 1, 1, 8, 8}, [](auto& p, auto&) {
    fill(p.q, [](auto...) { return 0.0; });
    add_sink(p, 0, [](auto, auto h) { return 1 + 0x1p-9 + 0x1p-17 * static_cast<double>(h); });
  });
  add("many-keys", {1, 2, 2, 2, 1500, 16, 16}, [](auto& p, auto& random) {
    fill(p.q, [](auto...) { return 0.0; });
    add_sink(p, 0, [&](auto, auto) { return std::log(1500.0) + 0.1 * random.normal(); });
  });
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
      {"one-query-each", {1, 1, 1, 1, 1}, {33, 1, 32, 15, 16}},
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
  problem_draft draft = gaussian(
      {std::ssize(from.queries), 4, 2, most(from.queries), most(from.keys), 16, 16}, to.type(), random);
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

void add_sinks(case_list& to) {
  add_equal_scores_with_sink(to);
  add_sink_sizes(to);
  add_sink_places(to);
}

void add_entries(case_list& to) {
  for (char const* const check : {"lengths", "packed"}) {
    auto random = to.random(check, "plain");
    problem_draft draft = plain_entries(to, random);
    if (std::string(check) == "packed") pack_queries(draft, 0), pack_keys(draft, 0);
    to.add(check, "plain", std::move(draft));
  }
  add_entry_family(to, "lengths", [](case_list& list, char const* check, std::string const& name, problem_draft draft,
                                     random_stream&) { list.add(check, name, std::move(draft)); });
  add_decoding(to);
  add_entry_family(to, "packed", [](case_list& list, char const* check, std::string const& name, problem_draft draft,
                                    random_stream& random) {
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
  constexpr std::array<std::int64_t, 6> sizes{1, 7, 16, 64, 128, 256};
  std::size_t at = 0;
  add_entry_family(to, "pages", [&](case_list& list, char const* check, std::string const& name, problem_draft draft,
                                    random_stream& random) {
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

void add_block_masks(case_list& to) {
  {
    auto random = to.random("block-masks", "plain");
    problem_draft draft = gaussian({1, 2, 2, 32, 32, 16, 16}, to.type(), random);
    draft.block_q = draft.block_k = 8;
    draft.block_mask = owned_tensor::compact(problem::element_type::u8, {1, 1, 4, 4});
    fill(*draft.block_mask, [](auto, auto, auto i, auto j) { return j <= i ? 1.0 : 0.0; });
    to.add("block-masks", "plain", std::move(draft));
  }
  struct shape {
    std::int64_t n, m, block_q, block_k;
  };
  for (auto const& [n, m, block_q, block_k] : {shape{16, 32, 16, 16}, shape{20, 45, 8, 16}, shape{33, 70, 16, 32},
                                               shape{9, 9, 4, 3}, shape{130, 130, 64, 32}, shape{5, 300, 1, 128}})
    for (char const* const how : {"drawn", "all", "causal", "masked", "bytes"}) {
      std::string const kind = how, name = fmt::format("{}-{}x{}-of-{}x{}", how, n, m, block_q, block_k);
      auto random = to.random("block-masks", name);
      problem_draft draft = gaussian({2, 4, 2, n, m, 16, 16}, to.type(), random);
      draft.block_q = block_q, draft.block_k = block_k;
      bool const all = kind == "all";
      draft.block_mask = owned_tensor::compact(
          problem::element_type::u8,
          {2, kind == "drawn" ? 4 : 1, (n + block_q - 1) / block_q, (m + block_k - 1) / block_k});
      auto* byte = draft.block_mask->as<std::uint8_t>();
      for (std::size_t at = 0; at < draft.block_mask->bytes.size(); ++at)
        byte[at] = all || random.below(2) == 0 ? static_cast<std::uint8_t>(kind == "bytes" ? 1 + random.below(255) : 1)
                                               : std::uint8_t{0};
      // Rows of blocks with all blocks set, and with none.
      std::int64_t const columns = draft.block_mask->layout.shape[3];
      if (draft.block_mask->layout.shape[2] > 1 && !all)
        std::fill_n(byte, columns, std::uint8_t{0}), std::fill_n(byte + columns, columns, std::uint8_t{1});
      if (kind == "causal") draft.band = {m - n, -1, 0};
      if (kind == "masked") add_mask(draft, 2, 1, n, m, [&](auto...) { return random.below(3) != 0; });
      to.add("block-masks", name, std::move(draft));
    }
}

void add_dropouts(case_list& to) {
  {
    auto random = to.random("dropout", "plain");
    problem_draft draft = gaussian({1, 2, 2, 16, 16, 8, 8}, to.type(), random);
    draft.dropout = 0.25;
    draft.keep = owned_tensor::compact(problem::element_type::u8, {1, 2, 16, 16});
    fill(*draft.keep, [&](auto...) { return random.below(4) != 0 ? 1.0 : 0.0; });
    to.add("dropout", "plain", std::move(draft));
  }
  for (double const p : {0.0, 0.25, 0.5, 0.90625, 1 - 0x1p-10})
    for (char const* const how : {"all", "none", "one", "checkerboard", "drawn", "with-sink", "causal", "by-head"}) {
      std::string const kind = how, name = fmt::format("{}-p{}", how, p);
      if (to.options().quick && p != 0.25 && kind != "drawn") continue;
      auto random = to.random("dropout", name);
      problem_draft draft = gaussian({2, 4, 2, 5, 11, 8, 8}, to.type(), random);
      draft.dropout = p;
      draft.keep = owned_tensor::compact(problem::element_type::u8, {2, kind == "by-head" ? 4 : 1, 5, 11});
      fill(*draft.keep, [&](auto, auto, auto i, auto j) {
        if (kind == "all") return 1.0;
        if (kind == "none") return i == 0 ? 0.0 : 1.0;
        if (kind == "one") return j == i ? 1.0 : 0.0;
        if (kind == "checkerboard") return (i + j) % 2 == 0 ? 1.0 : 0.0;
        return random.below(3) != 0 ? 1.0 : 0.0;
      });
      if (kind == "with-sink") add_sink(draft, 0, [&](auto, auto) { return 2 + random.normal(); });
      if (kind == "causal") draft.band = {6, -1, 0};
      to.add("dropout", name, std::move(draft));
    }
}

}  // namespace attest::audit
