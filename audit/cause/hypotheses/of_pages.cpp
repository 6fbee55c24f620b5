// Hypotheses about where rows of packed and paged keys are read. What is supposed of them is the problem in slots, with
// the rows of K and V that a kernel with the mistake finds.
#include <algorithm>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "audit/cause/hypotheses/changes.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/entry_forms.hpp"
#include "reference/attention/visibility.hpp"

namespace attest::audit {
namespace {

using calls = std::vector<answered_call>;

bool is_paged(answered_call const& call) { return call.given && call.given->draft().block_table; }

/// A row of a pool of pages.
struct pool_row {
  std::int64_t page, row;
};

/// A paged problem as its kernel reads it.
class pages {
 public:
  explicit pages(owned_problem const& given) : given_(given), table_(*given.draft().block_table) {}

  std::int64_t size() const { return given_.draft().k.layout.shape[2]; }
  std::int64_t count() const { return given_.draft().k.layout.shape[0]; }
  std::int64_t slot() const { return given_.size().m; }
  std::int64_t keys(std::int64_t b) const { return keys_of(given_, b); }
  /// Page n of entry b.
  std::int64_t page(std::int64_t b, std::int64_t n) const {
    auto const& stride = table_.layout.stride;
    return table_.as<std::int32_t>()[b * stride[0] + n * stride[1]];
  }
  /// The same in a table without gaps.
  std::int64_t compact_page(std::int64_t b, std::int64_t n) const {
    return table_.as<std::int32_t>()[b * table_.layout.shape[1] + n];
  }
  pool_row of(std::int64_t b, std::int64_t j) const { return {page(b, j / size()), j % size()}; }

 private:
  owned_problem const& given_;
  owned_tensor const& table_;
};

/// Key j of entry b is read at this row of K and V as they were given.
void take_row(problem_draft& draft, std::int64_t b, std::int64_t j, problem_draft const& given, pool_row from) {
  for (auto const& [to, rows] : {std::pair{&draft.k, &given.k}, std::pair{&draft.v, &given.v}})
    for (std::int64_t h = 0; h < rows->layout.shape[1]; ++h)
      for (std::int64_t c = 0; c < rows->layout.shape[3]; ++c)
        store(*to, offset_of(*to, b, h, j, c), load(*rows, offset_of(*rows, from.page, h, from.row, c)));
}

/// Key j of entry b is read where `where` says. Nothing where that is outside of the pool, or where it is right.
using page_read = std::function<pool_row(pages const& in, std::int64_t b, std::int64_t j)>;
supposition reads_pages(page_read where) {
  return [where = std::move(where)](answered_call const& call, answered_call const*) -> calls {
    if (!is_paged(call)) return {};
    problem_draft const& given = call.given->draft();
    pages const in(*call.given);
    problem_draft draft = call.problem.draft();
    bool moved = false;
    for (std::int64_t b = 0; b < call.problem.size().b; ++b)
      for (std::int64_t j = 0; j < in.keys(b); ++j) {
        auto const [page, row] = where(in, b, j);
        if (page < 0 || page >= in.count() || row < 0 || row >= in.size()) return {};
        auto const [right_page, right_row] = in.of(b, j);
        if (page == right_page && row == right_row) continue;
        moved = true;
        take_row(draft, b, j, given, {page, row});
      }
    return moved ? with_problem(call, std::move(draft)) : calls();
  };
}

/// Entry b of packed K and V begins at row from(b), and has as many keys as `counts` says. Returns nothing if all
/// are right.
using row_of_entry = std::int64_t (*)(problem::entries const& of, std::int64_t b);
supposition reads_packed(row_of_entry from, row_of_entry counts) {
  return [=](answered_call const& call, answered_call const*) -> calls {
    if (!call.given || !call.given->draft().k_offsets || !call.given->draft().q_offsets) return {};
    problem_draft const& given = call.given->draft();
    problem::entries const entries = std::visit([](auto const& p) { return p.entries(); }, call.given->instance());
    problem_draft draft = call.problem.draft();
    problem::sizes const& s = call.problem.size();
    owned_tensor lengths = owned_tensor::compact(problem::element_type::i32, {s.b});
    bool moved = false;
    for (std::int64_t b = 0; b < s.b; ++b) {
      std::int64_t const keys = counts(entries, b);
      if (keys > s.m || keys > entries.keys.total) return {};
      // What lies behind the last row is not known: such a read is taken to end with it.
      std::int64_t const first = std::min(from(entries, b), entries.keys.total - keys);
      moved |= keys > 0 && (first != entries.keys.offsets[b] || keys != entries.keys.used(b));
      lengths.as<std::int32_t>()[b] = static_cast<std::int32_t>(keys);
      for (std::int64_t j = 0; j < keys; ++j) take_row(draft, b, j, given, {0, first + j});
    }
    draft.k_lengths = std::move(lengths);
    return moved ? with_problem(call, std::move(draft)) : calls();
  };
}

void add_packed_keys(hypothesis_list& to) {
  auto const add = adds_problems_to(to, bug_class::entries);
  row_of_entry const keys = [](problem::entries const& of, std::int64_t b) { return of.keys.used(b); };
  row_of_entry const by_queries = [](problem::entries const& of, std::int64_t b) {
    return std::int64_t{of.queries.offsets[b]};
  };
  add("keys-by-q-offsets", "packed keys are read, and counted, by q_offsets",
      reads_packed(by_queries, [](problem::entries const& of, std::int64_t b) { return of.queries.room(b); }));
  add("keys-begin-by-q-offsets", "the keys of a packed entry begin where q_offsets says",
      reads_packed(by_queries, keys));
  add("packed-keys-of-entry-0", "every packed entry reads the keys from row 0 on",
      reads_packed([](auto const&, auto) { return std::int64_t{0}; }, keys));
  add("packed-keys-one-row-late", "the keys of a packed entry are read one row too late",
      reads_packed([](problem::entries const& of, std::int64_t b) { return of.keys.offsets[b] + std::int64_t{1}; },
                   [](problem::entries const& of, std::int64_t b) {
                     return of.keys.used(b) - (of.keys.offsets[b] + 1 + of.keys.used(b) > of.keys.total);
                   }));
}

/// Another hypothesis, where keys are paged.
supposition in_pages(supposition how) {
  return [how = std::move(how)](answered_call const& call, answered_call const* before) {
    return is_paged(call) ? how(call, before) : calls();
  };
}

/// The entries have more keys than their lengths say: counts[b] of entry b, where key j behind the last is read at row
/// from(b, j) of the given pools, and is seen as the band says. Nothing beside a tensor of queries and keys.
/// Requires  a call with packed or paged keys
calls with_keys_behind(answered_call const& call, std::vector<std::int64_t> const& counts,
                       std::function<pool_row(std::int64_t b, std::int64_t j)> const& from,
                       std::vector<problem::band> const& bands) {
  owned_problem const& p = call.problem;
  problem_draft const& given = call.given->draft();
  problem::sizes wide = p.size();
  std::int64_t const m = wide.m;
  for (std::int64_t const keys : counts) wide.m = std::max(wide.m, keys);
  if (p.draft().bias || p.draft().mask || p.draft().block_mask || p.draft().keep) return {};
  problem_draft draft = p.draft();
  for (owned_tensor* const to : {&draft.k, &draft.v}) {
    owned_tensor const old = std::move(*to);
    *to = owned_tensor::compact(old.type, {wide.b, wide.hk, wide.m, old.layout.shape[3]});
    fill(*to, [&](auto b, auto h, auto j, auto c) { return j < m ? load(old, offset_of(old, b, h, j, c)) : 0.0; });
  }
  auto const is_longer = [&](std::int64_t b) { return counts[static_cast<std::size_t>(b)] > keys_of(p, b); };
  for (std::int64_t b = 0; b < wide.b; ++b)
    for (std::int64_t j = keys_of(p, b); j < counts[static_cast<std::size_t>(b)]; ++j)
      take_row(draft, b, j, given, from(b, j));
  draft.k_lengths.reset(), draft.align = 0;
  show(draft, wide, [&](auto b, auto h, auto i, auto j) {
    auto const at = static_cast<std::size_t>(b);
    if (!is_longer(b)) return j < m && sees(p, b, h, i, j);
    return j < counts[at] && i < queries_of(p, b) && reference::inside(bands[at], i, j);
  });
  return with_problem(call, std::move(draft));
}

std::vector<problem::band> bands_of(owned_problem const& p) {
  std::vector<problem::band> bands;
  for (std::int64_t b = 0; b < p.size().b; ++b) bands.push_back(band_of_entry(p, b));
  return bands;
}

/// Lengths of paged keys count up to a multiple of the tile, as far as the last page goes; bands stay.
supposition reads_last_page_on(std::int64_t tile) {
  return [=](answered_call const& call, answered_call const*) -> calls {
    if (!is_paged(call) || !is_small(call.problem)) return {};
    pages const in(*call.given);
    std::vector<std::int64_t> counts;
    bool any = false;
    for (std::int64_t b = 0; b < call.problem.size().b; ++b) {
      auto const up_to = [&](std::int64_t of) { return (in.keys(b) + of - 1) / of * of; };
      counts.push_back(std::min(up_to(tile), up_to(in.size())));
      any |= counts.back() > in.keys(b);
    }
    if (!any) return {};
    return with_keys_behind(call, counts, [&](auto b, auto j) { return in.of(b, j); }, bands_of(call.problem));
  };
}

/// Behind the last key of a packed entry stands the first of the next, where that has keys. The band still follows the
/// lengths of the entries.
calls sees_next_entry(answered_call const& call, answered_call const*) {
  if (!call.given || !call.given->draft().k_offsets || !is_small(call.problem)) return {};
  owned_problem const& p = call.problem;
  problem::entries const of = std::visit([](auto const& one) { return one.entries(); }, call.given->instance());
  std::vector<std::int64_t> counts;
  bool any = false;
  for (std::int64_t b = 0; b < p.size().b; ++b) {
    bool const has_next = b + 1 < p.size().b && keys_of(p, b + 1) > 0;
    counts.push_back(keys_of(p, b) + has_next);
    any |= has_next;
  }
  if (!any) return {};
  return with_keys_behind(call, counts, [&](auto b, auto) { return pool_row{0, of.keys.offsets[b + 1]}; }, bands_of(p));
}

/// The last packed entry goes on to the end of the tensors, whatever the last offset is: further rows are keys of it,
/// and with `queries_too` its band is aligned as if they were queries, too.
supposition goes_on_to_the_end(bool queries_too) {
  return [=](answered_call const& call, answered_call const*) -> calls {
    if (!call.given || !is_small(call.problem)) return {};
    owned_problem const& p = call.problem;
    problem_draft const& given = call.given->draft();
    problem::entries const of = std::visit([](auto const& one) { return one.entries(); }, call.given->instance());
    std::int64_t const last = p.size().b - 1;
    auto const rows_behind = [&](problem::entry_rows const& side) {
      return last < 0 || !side.is_packed() || side.lengths ? 0 : side.total - side.offsets[last] - side.used(last);
    };
    std::int64_t const more_keys = rows_behind(of.keys), more_queries = queries_too ? rows_behind(of.queries) : 0;
    bool const any = more_keys > 0 || (more_queries > 0 && given.align != 0);
    if (!any) return {};
    std::vector<std::int64_t> counts;
    for (std::int64_t b = 0; b <= last; ++b) counts.push_back(keys_of(p, b) + (b == last ? more_keys : 0));
    std::vector<problem::band> bands = bands_of(p);
    if (given.align != 0)
      bands.back().diagonal = reference::saturating_add(bands.back().diagonal, more_keys - more_queries);
    return with_keys_behind(call, counts, [&](auto b, auto j) { return pool_row{0, of.keys.offsets[b] + j}; }, bands);
  };
}

}  // namespace

void add_hypotheses_of_pages(hypothesis_list& to) {
  auto const add = adds_problems_to(to, bug_class::pages), add_entry = adds_problems_to(to, bug_class::entries),
             add_window = adds_problems_to(to, bug_class::window_edge);
  add_packed_keys(to);
  add_entry("last-entry-to-end", "the last packed entry goes on to the end of the tensors, whatever the last offset is",
            goes_on_to_the_end(true));
  add_entry("last-keys-to-end",
            "the keys of the last packed entry go on to the end of the tensor, whatever the last offset is",
            goes_on_to_the_end(false));
  add_entry("next-entry-seen", "packed entries see the first key of the next", sees_next_entry);
  add("page-table-ignored", "the block table is ignored: page n of an entry is page n of the pool",
      reads_pages([](pages const& in, auto, auto j) { return pool_row{j / in.size(), j % in.size()}; }));
  add("page-table-compact", "rows of the block table are taken to lie one behind the other, whatever the stride",
      reads_pages(
          [](pages const& in, auto b, auto j) { return pool_row{in.compact_page(b, j / in.size()), j % in.size()}; }));
  add("page-table-of-first-entry", "every entry reads the pages of entry 0",
      reads_pages([](pages const& in, auto b, auto j) { return in.of(j < in.keys(0) ? 0 : b, j); }));
  add("page-after", "a page is read at the next place of the block table",
      reads_pages([](pages const& in, auto b, auto j) {
        std::int64_t const last = (in.keys(b) - 1) / in.size();
        return pool_row{in.page(b, std::min(j / in.size() + 1, last)), j % in.size()};
      }));
  add("first-page-of-entry", "every page of an entry is its first",
      reads_pages([](pages const& in, auto b, auto j) { return pool_row{in.page(b, 0), j % in.size()}; }));
  add("pages-of-slots", "the block table is ignored: the pool is read as slots of equally many pages for each entry",
      reads_pages([](pages const& in, auto b, auto j) {
        std::int64_t const pages_before = b * ((in.slot() + in.size() - 1) / in.size());
        return pool_row{pages_before + j / in.size(), j % in.size()};
      }));
  add("page-offset-by-bits", "the place of a key in its page is j & (size - 1), also where the size is no power of two",
      reads_pages([](pages const& in, auto b, auto j) { return pool_row{in.of(b, j).page, j & (in.size() - 1)}; }));
  add("page-of-16", "a page has 16 keys where it has more", reads_pages([](pages const& in, auto b, auto j) {
        return pool_row{in.of(b, j).page, j % std::min<std::int64_t>(16, in.size())};
      }));
  for (std::int64_t const tile : {16, 32, 64, 128}) {
    add(fmt::format("page-of-{}-keys", tile),
        fmt::format("the block table is read once for {} keys, also where pages are smaller", tile),
        reads_pages(
            [=](pages const& in, auto b, auto j) { return pool_row{in.of(b, j / tile * tile).page, j % in.size()}; }));
    add(fmt::format("page-of-{}-keys-and-on", tile),
        fmt::format("the block table is read once for {} keys: smaller pages go on in the next of the pool", tile),
        reads_pages([=](pages const& in, auto b, auto j) {
          auto const [page, row] = in.of(b, j / tile * tile);
          std::int64_t const behind = row + j % tile;
          return pool_row{std::min(page + behind / in.size(), in.count() - 1), behind % in.size()};
        }));
  }
  for (std::int64_t const tile : {8, 16, 32, 64, 128, 256})
    add(fmt::format("pages-up-to-{}", tile),
        fmt::format("lengths of paged keys are rounded up to a multiple of {}, at most to the end of the page", tile),
        reads_last_page_on(tile));
  add_window("left-ignored-in-pages", "the left edge of a window is ignored where keys are paged",
             in_pages(solves([](owned_problem const& p) { return p.draft().band.left >= 0; },
                             [](problem_draft& p) { p.band.left = -1; })));
}

}  // namespace attest::audit
