#include "audit/cases/domain/fold.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <tuple>
#include <vector>

#include "audit/cases/domain/place.hpp"
#include "audit/cases/random.hpp"

namespace attest::audit {
namespace {

using indices = std::vector<std::int64_t>;

/// What one batch entry of the result repeats: an entry, some of its heads of Q, of its heads of K and V, and of its
/// queries.
struct repeated_entry {
  std::int64_t b = 0;
  indices hq, hk, n;
};
using entries = std::vector<repeated_entry>;

indices up_to(std::int64_t count) {
  indices all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), std::int64_t{0});
  return all;
}

entries all_of(problem::sizes const& s) {
  entries all;
  for (std::int64_t b = 0; b < s.b; ++b) all.push_back({b, up_to(s.hq), up_to(s.hk), up_to(s.n)});
  return all;
}

/// A tensor of four axes: the parts of each entry, one after the other. An axis of size 1 that broadcasts stays.
owned_tensor gathered(owned_tensor const& from, entries const& of, indices repeated_entry::* heads, bool by_query,
                      bool broadcasts) {
  auto const& shape = from.layout.shape;
  auto const one = [&](std::size_t axis) { return broadcasts && shape[axis] == 1; };
  indices const zero{0};
  auto const heads_of = [&](repeated_entry const& e) -> indices const& { return one(1) ? zero : e.*heads; };
  indices const all_rows = up_to(shape[2]);
  auto const rows_of = [&](repeated_entry const& e) -> indices const& {
    return one(2) ? zero : by_query ? e.n : all_rows;
  };
  auto to = owned_tensor::compact(
      from.type, {std::ssize(of), std::ssize(heads_of(of.front())), std::ssize(rows_of(of.front())), shape[3]});
  std::size_t const bytes = problem::size_of(from.type);
  std::byte* at = to.bytes.data();
  for (repeated_entry const& e : of)
    for (std::int64_t const h : heads_of(e))
      for (std::int64_t const i : rows_of(e))
        for (std::int64_t c = 0; c < shape[3]; ++c, at += bytes)
          std::memcpy(at, from.bytes.data() + bytes * offset_of(from, one(0) ? 0 : e.b, h, i, c), bytes);
  return to;
}

owned_tensor repeated_sinks(owned_tensor const& from, entries const& of) {
  auto const& [rank, shape, stride] = from.layout;
  auto to = owned_tensor::compact(from.type, {std::ssize(of), std::ssize(of.front().hq)});
  std::size_t at = 0;
  for (repeated_entry const& e : of)
    for (std::int64_t const h : e.hq) {
      std::int64_t const b = rank == 2 && shape[0] > 1 ? e.b * stride[0] : 0;
      store(to, at++, load(from, static_cast<std::size_t>(b + h * stride[static_cast<std::size_t>(rank - 1)])));
    }
  return to;
}

owned_tensor entry_lengths(owned_tensor const& from, entries const& of) {
  auto to = owned_tensor::compact(from.type, {std::ssize(of)});
  for (std::size_t at = 0; at < of.size(); ++at)
    to.as<std::int32_t>()[at] = from.as<std::int32_t>()[of[at].b * from.layout.stride[0]];
  return to;
}

/// Queries that are there again are halved, each time once more: a head or an entry that reads the wrong one shows.
void tell_apart(owned_tensor& q, entries const& of) {
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, int> seen;
  for (std::size_t b = 0; b < of.size(); ++b)
    for (std::size_t h = 0; h < of[b].hq.size(); ++h)
      for (std::size_t i = 0; i < of[b].n.size(); ++i) {
        int const before = seen[{of[b].b, of[b].hq[h], of[b].n[i]}]++;
        if (before == 0) continue;
        for (std::int64_t t = 0; t < q.layout.shape[3]; ++t) {
          std::size_t const at =
              offset_of(q, static_cast<std::int64_t>(b), static_cast<std::int64_t>(h), static_cast<std::int64_t>(i), t);
          if (double const x = load(q, at); x == x) store(q, at, std::ldexp(x, -(before % 4)));
        }
      }
}

/// Requires  entries with the same numbers of heads and queries
owned_problem repeated(problem_draft const& from, entries const& of) {
  problem_draft to;
  static_cast<problem::parameters&>(to) = from;
  to.q = gathered(from.q, of, &repeated_entry::hq, true, false);
  tell_apart(to.q, of);
  to.k = gathered(from.k, of, &repeated_entry::hk, false, false);
  to.v = gathered(from.v, of, &repeated_entry::hk, false, false);
  for (auto const optional : {&problem_draft::mask, &problem_draft::bias, &problem_draft::keep})
    if (from.*optional) to.*optional = gathered(*(from.*optional), of, &repeated_entry::hq, true, true);
  if (from.block_mask) to.block_mask = gathered(*from.block_mask, of, &repeated_entry::hq, false, true);
  if (from.sink) to.sink = repeated_sinks(*from.sink, of);
  if (from.q_lengths) to.q_lengths = entry_lengths(*from.q_lengths, of);
  if (from.k_lengths) to.k_lengths = entry_lengths(*from.k_lengths, of);
  return owned_problem::of_valid(std::move(to));
}

/// Heads of K and V that are too many become batch entries.
std::optional<entries> heads_as_entries(problem::sizes const& s, call_domain const& domain) {
  if (!domain.kv_heads.has(1)) return std::nullopt;
  entries of;
  for (std::int64_t b = 0; b < s.b; ++b)
    for (std::int64_t h = 0; h < s.hk; ++h) {
      repeated_entry one{b, {}, {h}, up_to(s.n)};
      for (std::int64_t g = 0; g < s.hq / s.hk; ++g) one.hq.push_back(h * (s.hq / s.hk) + g);
      of.push_back(std::move(one));
    }
  return of;
}

/// More query heads for each head of K and V, or one head of K and V for each query head.
std::optional<entries> regrouped(problem::sizes const& s, call_domain const& domain) {
  std::int64_t const group = s.hq / s.hk;
  entries of = all_of(s);
  if (auto const more = domain.group.at_least(group)) {
    for (repeated_entry& e : of) {
      e.hq.clear();
      for (std::int64_t h = 0; h < s.hk; ++h)
        for (std::int64_t g = 0; g < *more; ++g) e.hq.push_back(h * group + g % group);
    }
    return of;
  }
  if (!domain.group.has(1) || !domain.kv_heads.has(s.hq)) return std::nullopt;
  for (repeated_entry& e : of) {
    e.hk.clear();
    for (std::int64_t h = 0; h < s.hq; ++h) e.hk.push_back(h / group);
  }
  return of;
}

/// The whole again until there are so many heads and entries.
entries filled_up(problem::sizes const& s, std::int64_t kv_heads, std::int64_t batch) {
  entries of = all_of(s);
  std::int64_t const group = s.hq / s.hk;
  for (repeated_entry& e : of) {
    for (std::int64_t h = s.hk; h < kv_heads; ++h) {
      e.hk.push_back(h % s.hk);
      for (std::int64_t g = 0; g < group; ++g) e.hq.push_back(h % s.hk * group + g);
    }
  }
  for (std::int64_t b = s.b; b < batch; ++b) of.push_back(of[static_cast<std::size_t>(b % s.b)]);
  return of;
}

/// Queries that are too many become batch entries over the same keys: the first, the last, and some of the others.
/// Under a band, which ties a query to its place, the last ones alone stay.
problem::result<owned_problem> fewer_queries(owned_problem const& from, call_domain const& domain,
                                             std::string_view name) {
  problem::sizes const& s = from.size();
  problem_draft const& draft = from.draft();
  auto const kept = domain.n.at_most(s.n);
  if (!kept || *kept < 1) return not_in_domain("fewer queries than the case has");
  if (draft.q_lengths || draft.block_mask) return not_in_domain("entries of several queries");
  std::int64_t const most = *kept;
  entries of = all_of(s);
  if (draft.band.left >= 0 || draft.band.right >= 0) {
    for (repeated_entry& e : of) e.n = indices(e.n.end() - most, e.n.end());
    problem_draft last = repeated(draft, of).draft();
    if (last.align == 0) last.band.diagonal += s.n - most;
    return owned_problem::of_valid(std::move(last));
  }
  constexpr std::int64_t most_rows = 8;
  random_stream random(0, fmt::format("{}/queries", name));
  indices rows{0};
  std::int64_t const count = std::max(std::min(s.n, most_rows) / most, std::int64_t{1}) * most;
  while (std::ssize(rows) < count - 1) rows.push_back(1 + random.below(s.n - 1));
  if (count > 1) rows.push_back(s.n - 1);
  entries divided;
  for (repeated_entry const& e : of)
    for (std::int64_t first = 0; first < count; first += most) {
      repeated_entry part = e;
      part.n = indices(rows.begin() + first, rows.begin() + first + most);
      divided.push_back(std::move(part));
    }
  return repeated(draft, divided);
}

}  // namespace

problem::result<folded_problem> folded(owned_problem const& from, call_domain const& domain, std::string_view name) {
  folded_problem now{from};
  auto const change = [&](owned_problem problem) { now = {std::move(problem), true}; };
  auto const sizes = [&]() -> problem::sizes const& { return now.problem.size(); };
  auto const right = [&] {
    problem::sizes const& s = sizes();
    return domain.kv_heads.has(s.hk) && (s.hk == 0 || domain.group.has(s.hq / s.hk)) && domain.batch.has(s.b) &&
           (domain.n.has(s.n) || domain.n.at_least(s.n));
  };
  if (right()) return now;
  if (!from.draft().has_slots()) return not_in_domain("other heads in packed or paged tensors");
  if (sizes().b == 0 || sizes().hk == 0) return not_in_domain("a size is 0");
  if (!domain.kv_heads.at_least(sizes().hk)) {
    auto const of = heads_as_entries(sizes(), domain);
    if (!of) return not_in_domain("more heads than the domain takes");
    change(repeated(now.problem.draft(), *of));
  }
  if (!domain.group.has(sizes().hq / sizes().hk)) {
    auto const of = regrouped(sizes(), domain);
    if (!of) return not_in_domain("more query heads for one head of K and V than the domain takes");
    change(repeated(now.problem.draft(), *of));
  }
  if (!domain.n.at_least(sizes().n)) {
    auto fewer = fewer_queries(now.problem, domain, name);
    if (!fewer) return fewer.why();
    change(std::move(fewer).value());
  }
  auto const heads = domain.kv_heads.at_least(sizes().hk), batch = domain.batch.at_least(sizes().b);
  if (!heads || !batch) return not_in_domain("more heads or batch entries than the domain takes");
  if (*heads != sizes().hk || *batch != sizes().b)
    change(repeated(now.problem.draft(), filled_up(sizes(), *heads, *batch)));
  return now;
}

}  // namespace attest::audit
