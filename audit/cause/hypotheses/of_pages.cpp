// Hypotheses about where rows of packed and paged keys are read. What is supposed of them is the problem in slots, with
// the rows of K and V that a kernel with the mistake finds.
#include <algorithm>
#include <utility>

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
  std::int64_t keys(std::int64_t b) const { return keys_of(given_, b); }
  /// Page n of entry b.
  std::int64_t page(std::int64_t b, std::int64_t n) const {
    auto const& stride = table_.layout.stride;
    return table_.as<std::int32_t>()[b * stride[0] + n * stride[1]];
  }
  pool_row of(std::int64_t b, std::int64_t j) const { return {page(b, j / size()), j % size()}; }

 private:
  owned_problem const& given_;
  owned_tensor const& table_;
};

/// Key j of entry b is read where `where` says. Nothing where that is outside of the pool, or where it is right.
supposition reads_pages(pool_row (*where)(pages const& in, std::int64_t b, std::int64_t j)) {
  return [=](answered_call const& call, answered_call const*) -> calls {
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
        for (auto const& [to, from] : {std::pair{&draft.k, &given.k}, std::pair{&draft.v, &given.v}})
          for (std::int64_t h = 0; h < from->layout.shape[1]; ++h)
            for (std::int64_t c = 0; c < from->layout.shape[3]; ++c)
              store(*to, offset_of(*to, b, h, j, c), load(*from, offset_of(*from, page, h, row, c)));
      }
    return moved ? with_problem(call, std::move(draft)) : calls();
  };
}

/// Another hypothesis, where keys are paged.
supposition in_pages(supposition how) {
  return [how = std::move(how)](answered_call const& call, answered_call const* before) {
    return is_paged(call) ? how(call, before) : calls();
  };
}

/// Behind the last key of a packed entry stands the first of the next, where both have keys. The band still follows the
/// lengths of the entries.
calls sees_next_entry(answered_call const& call, answered_call const*) {
  if (!call.given || !call.given->draft().k_offsets || !is_small(call.problem)) return {};
  owned_problem const& p = call.problem;
  problem::sizes const& s = p.size();
  auto const has_next = [&](std::int64_t b) { return b + 1 < s.b && keys_of(*call.given, b + 1) > 0; };
  problem_draft draft = p.draft();
  auto const lengthened = [&](owned_tensor const& from) {
    owned_tensor to = owned_tensor::compact(from.type, {s.b, s.hk, s.m + 1, from.layout.shape[3]});
    fill(to, [&](auto b, auto h, auto j, auto c) {
      if (j == s.m) return has_next(b) ? load(from, offset_of(from, b + 1, h, 0, c)) : 0.0;
      return load(from, offset_of(from, b, h, j, c));
    });
    return to;
  };
  draft.k = lengthened(p.draft().k), draft.v = lengthened(p.draft().v);
  // It is seen where a key of the entry in this place would be.
  auto const in_band = [&](std::int64_t b, std::int64_t i) {
    return std::visit([&](auto const& of) { return reference::inside(of.band(b), i, of.keys(b)); },
                      call.given->instance());
  };
  problem::sizes wide = s;
  ++wide.m;
  draft.k_lengths.reset(), draft.align = 0;
  bool any = false;
  show(draft, wide, [&](auto b, auto h, auto i, auto j) {
    if (j < s.m) return sees(p, b, h, i, j);
    any = any || has_next(b);
    return has_next(b) && in_band(b, i);
  });
  return any ? with_problem(call, std::move(draft)) : calls();
}

}  // namespace

void add_hypotheses_of_pages(hypothesis_list& to) {
  auto const add = adds_problems_to(to);
  add("next-entry-seen", "packed entries see the first key of the next", sees_next_entry);
  add("page-table-ignored", "the block table is ignored: page n of an entry is page n of the pool",
      reads_pages([](pages const& in, auto, auto j) { return pool_row{j / in.size(), j % in.size()}; }));
  add("page-table-of-first-entry", "every entry reads the pages of entry 0",
      reads_pages([](pages const& in, auto b, auto j) { return in.of(j < in.keys(0) ? 0 : b, j); }));
  add("page-offset-by-bits", "the place of a key in its page is j & (size - 1), also where the size is no power of two",
      reads_pages([](pages const& in, auto b, auto j) { return pool_row{in.of(b, j).page, j & (in.size() - 1)}; }));
  add("page-of-16", "a page has 16 keys where it has more", reads_pages([](pages const& in, auto b, auto j) {
        return pool_row{in.of(b, j).page, j % std::min<std::int64_t>(16, in.size())};
      }));
  add("left-ignored-in-pages", "the left edge of a window is ignored where keys are paged",
      in_pages(solves([](owned_problem const& p) { return p.draft().band.left >= 0; },
                      [](problem_draft& p) { p.band.left = -1; })));
}

}  // namespace attest::audit
