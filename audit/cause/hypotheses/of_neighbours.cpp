// Hypotheses about masks and biases that belong to a neighbour: another head, another entry, another tile of keys.
#include <cstdint>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "audit/cause/hypotheses/changes.hpp"
#include "audit/tensors/elements.hpp"

namespace attest::audit {
namespace {

using broadcast_tensor = std::optional<owned_tensor> problem_draft::*;

/// Element (b, h, i, j) of a mask or bias that has several entries or heads is read at from(b, h).
using neighbour =
    std::function<std::pair<std::int64_t, std::int64_t>(problem::sizes const& shape, std::int64_t b, std::int64_t h)>;
supposition reads_neighbour(broadcast_tensor which, std::size_t axis, neighbour from) {
  return solves(
      [=](owned_problem const& p) {
        auto const& of = p.draft().*which;
        return of && of->layout.shape[axis] > 1 && is_small(p);
      },
      [=](problem_draft& p) {
        owned_tensor const old = *(p.*which);
        auto const& n = old.layout.shape;
        std::int64_t const entries = p.q.layout.shape[0], heads = p.q.layout.shape[1];
        problem::sizes const shape{.b = n[0], .hq = n[1]};
        p.*which = owned_tensor::compact(old.type, {entries, heads, n[2], n[3]});
        fill(*(p.*which), [&](auto b, auto h, auto i, auto j) {
          auto const [entry, head] = from(shape, b, h);
          return element(old, entry, head, i, j);
        });
      });
}

/// The mask is not applied to the last tile of keys, if there are several.
supposition unmasks_last_tile(std::int64_t tile) {
  return solves([=](owned_problem const& p) { return p.draft().mask && p.size().m > tile && is_small(p); },
                [=](problem_draft& p) {
                  owned_tensor const old = *p.mask;
                  auto const& n = old.layout.shape;
                  std::int64_t const last = (n[3] - 1) / tile * tile;
                  p.mask = owned_tensor::compact(old.type, {n[0], n[1], n[2], n[3]});
                  fill(*p.mask,
                       [&](auto b, auto h, auto i, auto j) { return j >= last ? 1.0 : element(old, b, h, i, j); });
                });
}

}  // namespace

void add_hypotheses_of_neighbours(hypothesis_list& to) {
  for (auto const& [name, which, of_class] :
       {std::tuple("bias", broadcast_tensor(&problem_draft::bias), bug_class::accuracy),
        std::tuple("mask", broadcast_tensor(&problem_draft::mask), bug_class::mask_polarity)}) {
    auto const add = adds_problems_to(to, of_class);
    add(fmt::format("{}-of-next-head", name), fmt::format("query head h uses the {} of head h + 1", name),
        reads_neighbour(which, 1, [](problem::sizes const& shape, std::int64_t b, std::int64_t h) {
          return std::pair(b, (h + 1) % shape.hq);
        }));
    add(fmt::format("{}-of-head-before", name), fmt::format("query head h uses the {} of head h - 1", name),
        reads_neighbour(which, 1, [](problem::sizes const& shape, std::int64_t b, std::int64_t h) {
          return std::pair(b, (h + shape.hq - 1) % shape.hq);
        }));
    add(fmt::format("{}-of-entry-by-head", name), fmt::format("the {} of batch entry h is used by query head h", name),
        reads_neighbour(which, 0, [](problem::sizes const& shape, std::int64_t, std::int64_t h) {
          return std::pair(h % shape.b, h);
        }));
  }
  for (std::int64_t const tile : {8, 16, 32, 64, 128})
    adds_problems_to(to, bug_class::mask_polarity)(
        fmt::format("mask-unread-in-last-tile-of-{}", tile),
        fmt::format("the mask is not applied to the last tile of {} keys", tile), unmasks_last_tile(tile));
}

}  // namespace attest::audit
