// Hypotheses about sinks, lengths, alignment, block masks and dropout. (Packed and paged calls are in slots here, so that
// what a kernel does to offsets and tables shows as what it does to lengths.)
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "audit/judge/hypotheses/changes.hpp"
#include "audit/tensors/elements.hpp"

namespace attest::audit {
namespace {

bool has_sink(owned_problem const& p) { return p.draft().sink.has_value(); }
bool has_blocks(owned_problem const& p) { return p.draft().block_mask.has_value(); }
bool has_keep(owned_problem const& p) { return p.draft().keep.has_value(); }
bool is_aligned(owned_problem const& p) {
  return p.draft().align != 0 && (p.draft().band.left >= 0 || p.draft().band.right >= 0);
}
bool is_shortened(owned_problem const& p) { return p.draft().k_lengths.has_value(); }

using number_change = std::function<double(problem_draft const& p, std::int64_t b, std::int64_t h, double t)>;

/// The sink of every entry and head through `f`, in f32 (f64 beside f64). Requires a sink.
void map_sink(problem_draft& p, number_change const& f) {
  std::int64_t const entries = p.q.layout.shape[0], heads = p.q.layout.shape[1];
  auto const& [rank, shape, stride] = p.sink->layout;
  auto const last = static_cast<std::size_t>(rank - 1);
  owned_tensor to = owned_tensor::compact(
      p.q.type == problem::element_type::f64 ? problem::element_type::f64 : problem::element_type::f32, {entries, heads});
  for (std::int64_t b = 0; b < entries; ++b)
    for (std::int64_t h = 0; h < heads; ++h) {
      std::int64_t const from = (rank == 2 && shape[0] > 1 ? b * stride[0] : 0) + h * stride[last];
      store(to, static_cast<std::size_t>(b * heads + h), f(p, b, h, load(*p.sink, static_cast<std::size_t>(from))));
    }
  p.sink = std::move(to);
}

/// The sink of another head, of the same entry.
double sink_of(problem_draft const& p, std::int64_t b, std::int64_t h) {
  auto const& [rank, shape, stride] = p.sink->layout;
  std::int64_t const from = (rank == 2 && shape[0] > 1 ? b * stride[0] : 0) + h * stride[static_cast<std::size_t>(rank - 1)];
  return load(*p.sink, static_cast<std::size_t>(from));
}

void map_keys(problem_draft& p, std::function<std::int64_t(std::int32_t const* lengths, std::int64_t e)> const& f) {
  std::int64_t const entries = p.q.layout.shape[0];
  owned_tensor to = owned_tensor::compact(problem::element_type::i32, {entries});
  for (std::int64_t e = 0; e < entries; ++e)
    to.as<std::int32_t>()[e] = static_cast<std::int32_t>(f(p.k_lengths->as<std::int32_t>(), e));
  p.k_lengths = std::move(to);
}

void map_bytes(owned_tensor& of, std::byte (*f)(std::byte)) {
  for (std::byte& element : of.bytes) element = f(element);
}
std::byte inverted(std::byte x) { return x == std::byte{0} ? std::byte{1} : std::byte{0}; }
std::byte low_bit(std::byte x) { return x & std::byte{1}; }

}  // namespace

void add_hypotheses_of_entries(hypothesis_list& to) {
  auto const add = [&](std::string name, std::string sentence, problem_question concerned, draft_change change) {
    to.push_back({std::move(name), std::move(sentence), hypothesis_kind::problem,
                  solves(std::move(concerned), std::move(change))});
  };
  // --- sinks ---
  add("sink-ignored", "the sink is ignored", has_sink, [](problem_draft& p) { p.sink.reset(); });
  add("sink-ignored-but-in-decoding", "the sink counts only where a call has one query",
      [](owned_problem const& p) { return has_sink(p) && p.size().n != 1; }, [](problem_draft& p) { p.sink.reset(); });
  add("sink-scaled", "the sink is multiplied by the scale", has_sink, [](problem_draft& p) {
    map_sink(p, [](problem_draft const& of, auto, auto, double t) {
      return t * of.scale.value_or(1 / std::sqrt(static_cast<double>(of.q.layout.shape[3])));
    });
  });
  add("sink-softcapped", "the sink is softcapped",
      [](owned_problem const& p) { return has_sink(p) && p.draft().softcap > 0; }, [](problem_draft& p) {
        map_sink(p, [](problem_draft const& of, auto, auto, double t) {
          return of.softcap * std::tanh(t / of.softcap);
        });
      });
  add("sink-twice", "the sink is counted twice", has_sink,
      [](problem_draft& p) { map_sink(p, [](auto const&, auto, auto, double t) { return t + std::log(2.0); }); });
  add("sink-of-kv-head", "a query head has the sink of its key-value head",
      [](owned_problem const& p) { return has_sink(p) && p.size().hq != p.size().hk; }, [](problem_draft& p) {
        map_sink(p, [](problem_draft const& of, auto b, auto h, double) {
          return sink_of(of, b, h / (of.q.layout.shape[1] / of.k.layout.shape[1]));
        });
      });
  add("sink-interleaved", "query head h has the sink h mod hk",
      [](owned_problem const& p) { return has_sink(p) && p.size().hq != p.size().hk; }, [](problem_draft& p) {
        map_sink(p, [](problem_draft const& of, auto b, auto h, double) { return sink_of(of, b, h % of.k.layout.shape[1]); });
      });
  add("sink-of-first-head", "every head has the sink of head 0",
      [](owned_problem const& p) { return has_sink(p) && p.size().hq > 1; }, [](problem_draft& p) {
        map_sink(p, [](problem_draft const& of, auto b, auto, double) { return sink_of(of, b, 0); });
      });
  add("sink-in-bf16", "the sink passes through bf16", has_sink, [](problem_draft& p) {
    map_sink(p, [](auto const&, auto, auto, double t) {
      return static_cast<double>(std::bit_cast<float>(std::bit_cast<std::uint32_t>(static_cast<float>(t)) & 0xffff0000u));
    });
  });
  add("sink-at-most-20", "a sink above 20 counts as 20", has_sink,
      [](problem_draft& p) { map_sink(p, [](auto const&, auto, auto, double t) { return t > 20 ? 20 : t; }); });
  // The LSE alone, of the keys.
  to.push_back({"sink-not-in-lse", "the LSE leaves the sink out", hypothesis_kind::problem,
                [](answered_call const& call, answered_call const*) -> std::vector<answered_call> {
                  if (!has_sink(call.problem) || !call.outputs.lse) return {};
                  answered_call others = call;
                  others.outputs.lse.reset();
                  problem_draft draft = call.problem.draft();
                  draft.sink.reset();
                  auto supposed = with_problem(call, std::move(draft));
                  if (supposed.empty()) return {};
                  supposed.front().outputs.o.reset(), supposed.front().outputs.weights.reset();
                  supposed.push_back(std::move(others));
                  return supposed;
                }});
  // --- lengths and alignment ---
  add("lengths-ignored", "lengths of keys are ignored: every entry has all keys of its slot", is_shortened,
      [](problem_draft& p) { p.k_lengths.reset(); });
  add("length-one-more", "each shortened entry has one key more",
      is_shortened, [](problem_draft& p) {
        std::int64_t const slot = p.k.layout.shape[2];
        map_keys(p, [slot](auto const* of, auto e) { return std::min<std::int64_t>(of[e] + 1, slot); });
      });
  add("length-one-less", "the last key of each shortened entry is lost", is_shortened, [](problem_draft& p) {
    std::int64_t const slot = p.k.layout.shape[2];
    map_keys(p, [slot](auto const* of, auto e) {
      return of[e] > 0 && of[e] < slot ? std::int64_t{of[e]} - 1 : std::int64_t{of[e]};
    });
  });
  add("length-of-first-entry", "no entry has more keys than the first", is_shortened, [](problem_draft& p) {
    map_keys(p, [](auto const* of, auto e) { return std::min<std::int64_t>(of[0], of[e]); });
  });
  add("alignment-ignored", "the alignment of the band is ignored", is_aligned, [](problem_draft& p) { p.align = 0; });
  add("alignment-at-slots", "bands are aligned at the end of the slots, not of the entries", is_aligned,
      [](problem_draft& p) {
        p.align = 0, p.band.diagonal += p.k.layout.shape[2] - p.q.layout.shape[2];
      });
  // --- block masks ---
  add("block-mask-ignored", "the block mask is ignored", has_blocks, [](problem_draft& p) { p.block_mask.reset(); });
  add("block-mask-low-bit", "of a byte of the block mask only the lowest bit counts", has_blocks,
      [](problem_draft& p) { map_bytes(*p.block_mask, low_bit); });
  for (auto const& [axis, name, whose] :
       {std::tuple{std::size_t{1}, "head", "every head uses the block mask of head 0"},
        std::tuple{std::size_t{0}, "batch", "every entry uses the block mask of entry 0"}})
    add(fmt::format("block-mask-of-first-{}", name), whose,
        [at = axis](owned_problem const& p) { return has_blocks(p) && p.draft().block_mask->layout.shape[at] > 1; },
        [at = axis](problem_draft& p) { p.block_mask->layout.shape[at] = 1; });
  add("block-mask-or-band", "a set block shows keys outside the band",
      [](owned_problem const& p) { return has_blocks(p) && is_small(p) && p.draft().band != problem::band{}; },
      [](problem_draft& p) {
        // In the band by its own block, outside the band where its block is set: without the band, that is.
        p.band = {}, p.align = 0;
      });
  // --- dropout ---
  add("dropout-not-divided", "kept weights are not divided by 1 - p",
      [](owned_problem const& p) { return p.draft().dropout > 0; }, [](problem_draft& p) { p.dropout = 0; });
  add("dropout-divided-twice", "kept weights are divided by 1 - p twice",
      [](owned_problem const& p) { return p.draft().dropout > 0; },
      [](problem_draft& p) { p.dropout = 1 - (1 - p.dropout) * (1 - p.dropout); });
  add("dropout-divided-by-p", "kept weights are divided by p",
      [](owned_problem const& p) { return p.draft().dropout > 0; }, [](problem_draft& p) { p.dropout = 1 - p.dropout; });
  add("keep-inverted", "what keep names is dropped", has_keep, [](problem_draft& p) { map_bytes(*p.keep, inverted); });
  add("keep-of-first-head", "every head drops what head 0 drops",
      [](owned_problem const& p) { return has_keep(p) && p.draft().keep->layout.shape[1] > 1; },
      [](problem_draft& p) { p.keep->layout.shape[1] = 1; });
  add("dropout-before-sum", "dropped weights are missing in the sum of the row",
      [](owned_problem const& p) { return has_keep(p) && is_small(p); }, [](problem_draft& p) {
        auto const whole = owned_problem::of_valid(p);
        owned_tensor const keep = *p.keep;
        show(p, whole.size(),
             [&](auto b, auto h, auto i, auto j) { return sees(whole, b, h, i, j) && element(keep, b, h, i, j) != 0; });
        p.align = 0;
      });
}

}  // namespace attest::audit
