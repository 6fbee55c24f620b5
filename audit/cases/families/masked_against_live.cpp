// Hidden keys whose scores are far above the scores of visible ones: a stand-in for −∞ must lie below every score.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "audit/cases/random.hpp"

namespace attest::audit {
namespace {

/// How far hidden scores lie above live ones: below, at and above the −10⁴ that kernels write for −∞, and far above.
std::vector<double> distances(type_limits const& limits) {
  std::vector<double> sizes{1e3, 9990, 1e4, 1.1e4, 1e6, 1e30};
  std::erase_if(sizes, [&](double size) { return std::sqrt(size) > limits.largest / 64; });
  return sizes;
}

constexpr std::int64_t square = 16;  ///< queries and keys

/// The batch entries of a problem: live scores near 0 and hidden ones near S, or live ones near −S and hidden near 0.
enum entry : std::int64_t { hidden_above, live_below, entry_count };

/// Head h has S = sizes[h]. The first dimension makes the distance, the others small differences. V: 1 at live keys and
/// −100 at hidden ones; 1 … 1 + 1/64 at live ones and −100; Gaussian.
problem_draft opposed(case_list& to, std::vector<double> const& sizes, random_stream& random,
                      std::vector<bool> const& hidden) {
  problem_draft draft =
      gaussian({entry_count, std::ssize(sizes), std::ssize(sizes), square, square, 8, 8}, to.type(), random);
  draft.scale = 1;
  auto const root = [&](std::int64_t h) {
    return std::ldexp(1.0, static_cast<int>(std::lround(std::log2(sizes[static_cast<std::size_t>(h)]) / 2)));
  };
  auto const is_hidden = [&](std::int64_t j) { return hidden[static_cast<std::size_t>(j)]; };
  fill(draft.q, [&](auto, auto h, auto, auto t) { return t == 0 ? root(h) : random.normal(); });
  fill(draft.k, [&](auto b, auto h, auto j, auto t) {
    if (t > 0) return random.normal() / 2;
    double const size = sizes[static_cast<std::size_t>(h)] / root(h);
    return b == hidden_above ? (is_hidden(j) ? size : 0.0) : (is_hidden(j) ? 0.0 : -size);
  });
  fill(draft.v, [&](auto, auto, auto j, auto c) {
    return c == 0   ? (is_hidden(j) ? -100.0 : 1.0)
           : c == 1 ? (is_hidden(j) ? -100.0 : 1 + random.uniform() / 64)
                    : random.normal();
  });
  return draft;
}

/// Under causal, every key lies S above the one before it. Query i attends to key i alone, and all keys that it may not
/// see lie above. Scores rise from 0, or to 0.
problem_draft rising(case_list& to, std::vector<double> const& sizes, random_stream& random) {
  problem_draft draft = opposed(to, sizes, random, std::vector<bool>(square));
  fill(draft.q, [&](auto, auto h, auto, auto t) {
    return t == 0 ? std::ldexp(1.0, static_cast<int>(std::lround(std::log2(sizes[static_cast<std::size_t>(h)]) / 2)))
                  : 0.0;
  });
  fill(draft.k, [&](auto b, auto h, auto j, auto t) {
    double const size = sizes[static_cast<std::size_t>(h)] / load(draft.q, offset_of(draft.q, b, h, 0, 0));
    return t > 0 ? random.normal() : size * static_cast<double>(b == hidden_above ? j : j - square + 1);
  });
  fill(draft.v, [&](auto...) { return random.normal(); });
  draft.band = {0, -1, 0};
  return draft;
}

/// Keys at one end are hidden, a tile of them or several, and all live scores lie near one level: a running maximum
/// that begins at a number, or that a hidden tile sets, loses the live keys.
void add_hidden_ends(case_list& to) {
  constexpr std::int64_t n = 3;
  for (double const level : {-1e4, -100.0, 0.0, 100.0, 1e4})
    for (std::int64_t const count : {16, 64, 128, 256})
      for (bool const first : {true, false}) {
        if (to.options().quick && count != 64 && count != 256) continue;
        std::int64_t const m = count + (first ? 21 : 33);
        auto const live = [=](std::int64_t j) { return first ? j >= count : j < m - count; };
        std::string const name = fmt::format("{}{}-hidden-level{:g}", first ? "first" : "last", count, level);
        auto random = to.random("masked-against-live", name);
        problem_draft draft = gaussian({1, 2, 2, n, m, 64, 64}, to.type(), random);
        draft.scale = 1;
        fill(draft.q, [&](auto, auto, auto, auto t) { return t == 0 ? 1.0 : t == 1 ? random.normal() : 0.0; });
        fill(draft.k, [&](auto, auto, auto j, auto t) { return t == 0 && live(j) ? level : random.normal(); });
        problem_draft biased = draft;
        add_mask(draft, 1, 1, 1, m, [&](auto, auto, auto, auto j) { return live(j); });
        to.add("masked-against-live", name, std::move(draft));
        add_bias(biased, 1, 1, 1, m, [&](auto, auto, auto, auto j) { return live(j) ? 0.0 : -HUGE_VAL; });
        to.add("masked-against-live", name + "-bias", std::move(biased));
      }
}

}  // namespace

void add_masked_against_live(case_list& to) {
  auto const sizes = distances(to.limits());
  auto drawn = to.random("masked-against-live", "hidden");
  std::vector<bool> scattered(square), tail(square);
  for (std::int64_t j = 0; j < square; ++j) {
    scattered[static_cast<std::size_t>(j)] = j != 5 && (j == 2 || drawn.below(2) != 0);
    tail[static_cast<std::size_t>(j)] = j >= 11;
  }
  auto const is_hidden = [](std::vector<bool> const& hidden, std::int64_t j) {
    return hidden[static_cast<std::size_t>(j)];
  };
  auto random = to.random("masked-against-live", "mask");
  problem_draft draft = opposed(to, sizes, random, scattered);
  add_mask(draft, 1, 1, square, square, [&](auto, auto, auto, auto j) { return !is_hidden(scattered, j); });
  to.add("masked-against-live", "mask", draft);
  random = to.random("masked-against-live", "padding");
  draft = opposed(to, sizes, random, tail);
  add_mask(draft, 1, 1, 1, square, [&](auto, auto, auto, auto j) { return !is_hidden(tail, j); });
  to.add("masked-against-live", "padding", draft);
  random = to.random("masked-against-live", "causal");
  to.add("masked-against-live", "causal", rising(to, sizes, random));
  // As biases the same masks are numbers that are added: if S exceeds them, the keys are not hidden at all.
  for (double const bias : {-1e4, -1e6, -1e9, -1e30, -to.limits().largest, -std::numeric_limits<double>::infinity()}) {
    if (bias < -to.limits().largest && std::isfinite(bias)) continue;
    std::string const name = fmt::format("bias{:.3g}", bias);
    random = to.random("masked-against-live", name);
    draft = opposed(to, sizes, random, scattered);
    add_bias(draft, 1, 1, square, square,
             [&](auto, auto, auto, auto j) { return is_hidden(scattered, j) ? bias : 0.0; });
    to.add("masked-against-live", name, draft);
  }
  add_hidden_ends(to);
}

}  // namespace attest::audit
