// Hypotheses about lengths, alignment, block masks and dropout. (Packed and paged calls are in slots here, so that
// what a kernel does to offsets and tables shows as what it does to lengths.)
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "audit/cause/hypotheses/changes.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/entry_forms.hpp"
#include "reference/attention/visibility.hpp"

namespace attest::audit {
namespace {

bool has_blocks(owned_problem const& p) { return p.draft().block_mask.has_value(); }
bool has_keep(owned_problem const& p) { return p.draft().keep.has_value(); }
bool is_aligned(owned_problem const& p) {
  return p.draft().align != 0 && (p.draft().band.left >= 0 || p.draft().band.right >= 0);
}
bool is_shortened(owned_problem const& p) { return p.draft().k_lengths.has_value(); }

/// The number of keys of entry e by a mistake; `slot` is the most that an entry may have.
using mistaken_length =
    std::function<std::int64_t(std::vector<std::int64_t> const& lengths, std::size_t e, std::int64_t slot)>;

std::vector<std::int64_t> lengths_by(owned_problem const& p, mistaken_length const& by) {
  std::vector<std::int64_t> right, mistaken;
  for (std::int64_t e = 0; e < p.size().b; ++e) right.push_back(keys_of(p, e));
  for (std::size_t e = 0; e < right.size(); ++e) mistaken.push_back(by(right, e, p.size().m));
  return mistaken;
}

void set_lengths(problem_draft& p, std::vector<std::int64_t> const& lengths) {
  owned_tensor to = owned_tensor::compact(problem::element_type::i32, {std::ssize(lengths)});
  std::ranges::transform(lengths, to.as<std::int32_t>(), [](std::int64_t x) { return static_cast<std::int32_t>(x); });
  p.k_lengths = std::move(to);
}

/// Bands stay where the right lengths put them.
void keep_bands(owned_problem const& right, problem_draft& p) {
  show(p, right.size(),
       [&](auto b, auto h, auto i, auto j) { return sees_in_band(right, band_of_entry(right, b), b, h, i, j); });
  p.align = 0;
}

bool is_any(answered_call const&) { return true; }
/// What lies behind the last key of an entry is known: tensors are not packed, and not in pages.
bool is_in_slots(answered_call const& call) {
  return !call.given || (!call.given->draft().k_offsets && !call.given->draft().block_table);
}

/// Other numbers of keys: bands are aligned by them, or stay where they were.
void add_lengths(hypothesis_list& to, std::string const& name, std::string const& sentence,
                 bool (*concerned)(answered_call const&), mistaken_length const& by) {
  for (bool const kept : {false, true})
    adds_problems_to(to, bug_class::entries)(
        name + (kept ? "-band-kept" : ""), sentence + (kept ? "; bands stay where they were" : ""),
        [=](answered_call const& call, answered_call const*) -> std::vector<answered_call> {
          owned_problem const& p = call.problem;
          if (!is_shortened(p) || !concerned(call)) return {};
          problem_draft draft = p.draft();
          set_lengths(draft, lengths_by(p, by));
          // In slots, what lies behind the last key was left out of them.
          if (call.given && is_in_slots(call)) draft.k = call.given->draft().k, draft.v = call.given->draft().v;
          if (kept && is_aligned(p)) {
            if (!is_small(p)) return {};
            keep_bands(p, draft);
          }
          return with_problem(call, std::move(draft));
        });
}

void map_bytes(owned_tensor& of, std::byte (*f)(std::byte)) {
  for (std::byte& element : of.bytes) element = f(element);
}
std::byte inverted(std::byte x) { return x == std::byte{0} ? std::byte{1} : std::byte{0}; }
std::byte low_bit(std::byte x) { return x & std::byte{1}; }

/// The last column of the block mask, which reaches beyond the last key, is not set, or set.
bool has_partial_block(owned_problem const& p) { return has_blocks(p) && p.size().m % p.draft().block_k != 0; }
draft_change sets_partial_block(double to) {
  return [=](problem_draft& p) {
    fill(*p.block_mask, [given = *p.block_mask, to](auto b, auto h, auto i, auto j) {
      return j + 1 < given.layout.shape[3] ? element(given, b, h, i, j) : to;
    });
  };
}

/// Dropped keys are not seen. A row without a kept key is 0/0 where it has no sink: a NaN there is O = 0. The returned
/// weights of dropped keys, which are divided by another sum, are left out.
std::vector<answered_call> sums_kept_weights(answered_call const& call, answered_call const*) {
  owned_problem const& p = call.problem;
  problem::sizes const& s = p.size();
  if (!has_keep(p) || !is_small(p)) return {};
  owned_tensor const& keep = *p.draft().keep;
  auto const is_dropped = [&](auto b, auto h, auto i, auto j) {
    return sees(p, b, h, i, j) && element(keep, b, h, i, j) == 0;
  };
  problem_draft draft = p.draft();
  show(draft, s, [&](auto b, auto h, auto i, auto j) { return sees(p, b, h, i, j) && !is_dropped(b, h, i, j); });
  draft.align = 0;
  auto supposed = with_problem(call, std::move(draft));
  if (supposed.empty()) return {};
  for (std::int64_t row = 0; row < s.b * s.hq * s.n; ++row) {
    std::int64_t const b = row / s.n / s.hq, h = row / s.n % s.hq, i = row % s.n;
    bool kept = false, any = false;
    for (std::int64_t j = 0; j < s.m; ++j) {
      bool const dropped = is_dropped(b, h, i, j);
      any = any || dropped, kept = kept || (!dropped && sees(p, b, h, i, j));
      if (auto& weights = supposed.front().outputs.weights; weights && dropped)
        store(*weights, static_cast<std::size_t>(row * s.m + j), 0);
    }
    for (std::int64_t c = 0; any && !kept && !p.draft().sink && supposed.front().outputs.o && c < s.dv; ++c) {
      owned_tensor& o = *supposed.front().outputs.o;
      if (auto const at = static_cast<std::size_t>(row * s.dv + c); std::isnan(load(o, at))) store(o, at, 0);
    }
  }
  return supposed;
}

/// Kept weights are divided by 1 − p before they are summed: the factor is in the LSE, and not in O.
std::vector<answered_call> sums_divided_weights(answered_call const& call, answered_call const* before) {
  double const p = call.problem.draft().dropout;
  auto supposed = sums_kept_weights(call, before);
  for (answered_call& each : supposed) {
    problem_draft draft = each.problem.draft();
    draft.dropout = 0;
    each.problem = owned_problem::of_valid(std::move(draft));
    auto moved = with_lse(each, [&](auto, auto, auto, double got) { return got + std::log(1 - p); });
    if (moved) each = *std::move(moved);
  }
  return supposed;
}

/// A NaN, and the right number in its place, are exchanged.
void exchange_nan(owned_tensor& of, std::int64_t index, double right) {
  auto const at = static_cast<std::size_t>(index);
  store(of, at, std::isnan(load(of, at)) ? right : std::nan(""));
}

/// Queries of an entry without keys get NaN, where other queries that see no key get 0.
std::vector<answered_call> is_nan_without_keys(answered_call const& call, answered_call const*) {
  problem::sizes const& s = call.problem.size();
  if (!is_shortened(call.problem) || !call.outputs.o) return {};
  answered_call supposed = call;
  bool any = false;
  for (std::int64_t b = 0; b < s.b; ++b) {
    if (call.problem.draft().k_lengths->as<std::int32_t>()[b] != 0) continue;
    std::int64_t const entry = s.hq * s.n * s.dv;
    any = any || entry > 0;
    for (std::int64_t at = b * entry; at < (b + 1) * entry; ++at) exchange_nan(*supposed.outputs.o, at, 0);
  }
  return any ? std::vector{std::move(supposed)} : std::vector<answered_call>();
}

/// Queries that see no key get NaN, in O and in the LSE, where their sink is NaN or +∞.
std::vector<answered_call> is_nan_beside_sink(answered_call const& call, answered_call const*) {
  owned_problem const& p = call.problem;
  problem::sizes const& s = p.size();
  if (!p.draft().sink || !is_small(p) || !call.outputs.o) return {};
  score_table const score(p);
  answered_call supposed = call;
  bool any = false;
  for (std::int64_t row = 0; row < s.b * s.hq * s.n; ++row) {
    std::int64_t const b = row / s.n / s.hq, h = row / s.n % s.hq, i = row % s.n;
    double const sink = sink_of(p.draft(), b, h);
    if (!score.is_empty(b, h, i) || !(std::isnan(sink) || sink == HUGE_VAL)) continue;
    any = true;
    for (std::int64_t c = 0; c < s.dv; ++c) exchange_nan(*supposed.outputs.o, row * s.dv + c, 0);
    if (supposed.outputs.lse && sink == HUGE_VAL) exchange_nan(*supposed.outputs.lse, row, sink);
  }
  return any ? std::vector{std::move(supposed)} : std::vector<answered_call>();
}

void add_mistaken_lengths(hypothesis_list& to) {
  add_lengths(to, "lengths-ignored", "lengths of keys are ignored: every entry has all keys of its slot", is_in_slots,
              [](auto const&, auto, auto slot) { return slot; });
  add_lengths(to, "length-one-more", "each shortened entry has one key more", is_in_slots,
              [](auto const& of, auto e, auto slot) { return std::min(of[e] + 1, slot); });
  add_lengths(to, "length-one-less", "the last key of each shortened entry is lost", is_any,
              [](auto const& of, auto e, auto slot) { return of[e] > 0 && of[e] < slot ? of[e] - 1 : of[e]; });
  for (std::int64_t const tile : {8, 16, 32, 64, 128})
    add_lengths(to, fmt::format("length-up-to-{}", tile),
                fmt::format("lengths of keys are rounded up to a multiple of {}", tile), is_in_slots,
                [=](auto const& lengths, std::size_t e, std::int64_t slot) {
                  return std::min((lengths[e] + tile - 1) / tile * tile, slot);
                });
  add_lengths(to, "length-of-first-entry", "no entry has more keys than the first", is_any,
              [](auto const& of, auto e, auto) { return std::min(of[0], of[e]); });
  add_lengths(to, "length-of-entry-0", "every entry has as many keys as entry 0", is_in_slots,
              [](auto const& of, auto, auto slot) { return std::min(of[0], slot); });
  add_lengths(to, "length-of-last-entry", "every entry has as many keys as the last", is_in_slots,
              [](auto const& of, auto, auto slot) { return std::min(of.back(), slot); });
  add_lengths(to, "length-of-longest-entry", "every entry has as many keys as the longest", is_in_slots,
              [](auto const& of, auto, auto slot) { return std::min(std::ranges::max(of), slot); });
  add_lengths(to, "length-of-next-entry", "an entry has as many keys as the next", is_in_slots,
              [](auto const& of, auto e, auto slot) { return std::min(of[std::min(e + 1, of.size() - 1)], slot); });
  add_lengths(to, "length-of-entry-before", "an entry has as many keys as the one before", is_in_slots,
              [](auto const& of, auto e, auto slot) { return std::min(of[e > 0 ? e - 1 : 0], slot); });
}

void add_alignments_of_entries(hypothesis_list& to) {
  auto const add = adds_changes_to(to, bug_class::causal_alignment);
  add("alignment-ignored", "the alignment of the band is ignored", is_aligned, [](problem_draft& p) { p.align = 0; });
  add("alignment-at-slots", "bands are aligned at the end of the slots, not of the entries", is_aligned,
      [](problem_draft& p) { p.align = 0, p.band.diagonal += p.k.layout.shape[2] - p.q.layout.shape[2]; });
  adds_problems_to(to, bug_class::causal_alignment)(
      "alignment-at-totals", "bands are aligned at the end of all packed rows, not of the entries",
      [](answered_call const& call, answered_call const*) -> std::vector<answered_call> {
        if (!call.given || !call.given->draft().q_offsets || !call.given->draft().k_offsets) return {};
        if (!is_aligned(call.problem)) return {};
        problem_draft draft = call.problem.draft();
        draft.align = 0;
        draft.band.diagonal += call.given->draft().k.layout.shape[2] - call.given->draft().q.layout.shape[2];
        return with_problem(call, std::move(draft));
      });
}

void add_block_masks(hypothesis_list& to) {
  auto const add = adds_changes_to(to, bug_class::mask_polarity);
  add("block-mask-ignored", "the block mask is ignored", has_blocks, [](problem_draft& p) { p.block_mask.reset(); });
  add(
      "masks-ignored", "neither a mask nor a block mask is read",
      [](owned_problem const& p) { return p.draft().mask || p.draft().block_mask; },
      [](problem_draft& p) {
        p.mask.reset(), p.block_mask.reset();
        p.block_q = p.block_k = 0;
      });
  add("block-mask-low-bit", "of a byte of the block mask only the lowest bit counts", has_blocks,
      [](problem_draft& p) { map_bytes(*p.block_mask, low_bit); });
  add("partial-block-unread", "the last block of keys is lost, where it is partial", has_partial_block,
      sets_partial_block(0));
  add("partial-block-set", "the last block of keys is taken as set, where it is partial", has_partial_block,
      sets_partial_block(1));
  for (auto const& [axis, name, whose] :
       {std::tuple{std::size_t{1}, "head", "every head uses the block mask of head 0"},
        std::tuple{std::size_t{0}, "batch", "every entry uses the block mask of entry 0"}})
    add(
        fmt::format("block-mask-of-first-{}", name), whose,
        [at = axis](owned_problem const& p) { return has_blocks(p) && p.draft().block_mask->layout.shape[at] > 1; },
        [at = axis](problem_draft& p) { p.block_mask->layout.shape[at] = 1; });
  add(
      "block-mask-or-band", "a set block shows keys outside the band",
      [](owned_problem const& p) { return has_blocks(p) && is_small(p) && p.draft().band != problem::band{}; },
      [](problem_draft& p) {
        // In the band by its own block, outside the band where its block is set: without the band, that is.
        p.band = {}, p.align = 0;
      });
}

void add_dropped_weights(hypothesis_list& to) {
  auto const add = adds_changes_to(to, bug_class::dropout);
  add(
      "dropout-not-divided", "kept weights are not divided by 1 - p",
      [](owned_problem const& p) { return p.draft().dropout > 0; }, [](problem_draft& p) { p.dropout = 0; });
  add(
      "dropout-divided-twice", "kept weights are divided by 1 - p twice",
      [](owned_problem const& p) { return p.draft().dropout > 0; },
      [](problem_draft& p) { p.dropout = 1 - (1 - p.dropout) * (1 - p.dropout); });
  add(
      "dropout-divided-by-p", "kept weights are divided by p",
      [](owned_problem const& p) { return p.draft().dropout > 0; },
      [](problem_draft& p) { p.dropout = 1 - p.dropout; });
  add("keep-inverted", "what keep names is dropped", has_keep, [](problem_draft& p) { map_bytes(*p.keep, inverted); });
  add(
      "keep-of-first-head", "every head drops what head 0 drops",
      [](owned_problem const& p) { return has_keep(p) && p.draft().keep->layout.shape[1] > 1; },
      [](problem_draft& p) { p.keep->layout.shape[1] = 1; });
  auto const add_sums = adds_problems_to(to, bug_class::dropout);
  add_sums("dropout-before-sum", "dropped weights are missing in the sum of the row", sums_kept_weights);
  add_sums("dropout-in-sum", "the sum of the row is over weights that are dropped, and divided by 1 - p, already",
           sums_divided_weights);
}

}  // namespace

void add_hypotheses_of_entries(hypothesis_list& to) {
  add_mistaken_lengths(to);
  adds_problems_to(to, bug_class::empty_row)("entry-without-keys-nan", "queries of an entry without keys get NaN",
                                             is_nan_without_keys);
  adds_problems_to(to, bug_class::sink)(
      "sink-nan-without-keys", "a sink of NaN or +inf makes NaN of a query that sees no key", is_nan_beside_sink);
  add_alignments_of_entries(to);
  add_block_masks(to);
  add_dropped_weights(to);
}

}  // namespace attest::audit
