// Sinks: their sizes and their places, and the features beside them. docs/semantics.md states the rule; each family
// holds cases that known kernels get wrong.
#include "audit/cases/families/sinks.hpp"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "audit/cases/random.hpp"

namespace attest::audit {
namespace {

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
  add("by-batch", {3, 2, 2, 2, 7, 8, 8},
      [](auto& p, auto& random) { add_sink(p, 3, [&](auto, auto) { return 2 * random.normal(); }); });
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

}  // namespace

void add_sinks(case_list& to) {
  add_equal_scores_with_sink(to);
  add_sink_sizes(to);
  add_sink_places(to);
}

}  // namespace attest::audit
