// Which keys a query sees: biases, masks, empty rows and blocks, bands, windows, grouped heads.
#include <limits>
#include <string>

#include <fmt/format.h>

#include "audit/cases/random.hpp"

namespace attest::audit {
namespace {

void add_biases(case_list& to) {
  double const minus_infinity = -std::numeric_limits<double>::infinity();
  problem::sizes const s{2, 2, 2, 6, 21, 8, 5};
  auto const with_bias = [&](char const* name, bool broadcast, auto&& value) {
    auto random = to.random("bias", name);
    problem_draft draft = gaussian(s, to.type(), random);
    add_bias(draft, broadcast ? 1 : s.b, broadcast ? 1 : s.hq, broadcast ? 1 : s.n, s.m,
             [&](auto, auto h, auto i, auto j) { return value(random, h, i, j); });
    to.add("bias", name, std::move(draft));
  };
  with_bias("normal", false, [](random_stream& r, auto...) { return 2 * r.normal(); });
  with_bias("normal-broadcast", true, [](random_stream& r, auto...) { return 2 * r.normal(); });
  with_bias("alibi", false, [](random_stream&, auto h, auto i, auto j) {
    return -std::ldexp(1.0, -static_cast<int>(h) - 1) * std::abs(static_cast<double>(i - j));
  });
  with_bias("large-common", false, [](random_stream&, auto...) { return 1000.0; });
  with_bias("minus-infinity", false,
            [&](random_stream& r, auto...) { return r.below(3) ? r.normal() : minus_infinity; });
  with_bias("minus-infinity-row", false,
            [&](random_stream& r, auto, auto i, auto) { return i == 2 ? minus_infinity : r.normal(); });
  with_bias("finfo-min", false,
            [&](random_stream& r, auto...) { return r.below(3) ? r.normal() : -to.limits().largest; });
  with_bias("minus-ten-thousand", false, [&](random_stream& r, auto...) { return r.below(3) ? r.normal() : -1e4; });
  with_bias("all-minus-ten-thousand", false, [](random_stream& r, auto...) { return r.below(3) ? -1e4 : -10001.0; });
}

void add_masks(case_list& to) {
  problem::sizes const s{2, 4, 4, 7, 23, 8, 6};
  for (std::string_view const shape : {"full", "b11m", "1h1m", "11nm", "111m", "b1nm"}) {
    std::string const name = fmt::format("random-{}", shape);
    auto random = to.random("masks", name);
    problem_draft draft = gaussian(s, to.type(), random);
    auto const has = [&](char c) { return shape == "full" || shape.find(c) != shape.npos; };
    add_mask(draft, has('b') ? s.b : 1, has('h') ? s.hq : 1, has('n') ? s.n : 1, s.m,
             [&](auto, auto, auto, auto j) { return j == 3 || random.below(2) != 0; });
    to.add("masks", name, std::move(draft));
  }
  auto random = to.random("masks", "with-bias-and-band");
  problem_draft draft = gaussian(s, to.type(), random);
  add_mask(draft, s.b, 1, s.n, s.m, [&](auto...) { return random.below(4) != 0; });
  add_bias(draft, 1, s.hq, 1, s.m, [&](auto...) { return random.normal(); });
  draft.band = {s.m - s.n, 9, 0};
  to.add("masks", "with-bias-and-band", std::move(draft));
}

void add_empty(case_list& to) {
  problem::sizes const s{2, 2, 2, 9, 40, 8, 5};
  auto const masked = [&](char const* check, char const* name, problem::sizes const& size, auto&& attend) {
    auto random = to.random(check, name);
    problem_draft draft = gaussian(size, to.type(), random);
    add_mask(draft, 1, 1, size.n, size.m, [&](auto, auto, auto i, auto j) { return attend(i, j); });
    to.add(check, name, std::move(draft));
  };
  masked("empty-rows", "every-row", s, [](auto, auto) { return false; });
  masked("empty-rows", "first-and-last", s, [&](auto i, auto) { return i != 0 && i != s.n - 1; });
  masked("empty-rows", "every-other", s, [](auto i, auto) { return i % 2 == 0; });
  {
    auto random = to.random("empty-rows", "band-beyond-keys");
    problem_draft draft = gaussian({1, 1, 1, 12, 5, 4, 4}, to.type(), random);
    draft.band = {0, 0, 0};  // query i sees key i alone: queries 5 … 11 see none
    to.add("empty-rows", "band-beyond-keys", std::move(draft));
    draft = gaussian({1, 1, 1, 12, 5, 4, 4}, to.type(), random);
    draft.band = {-7, -1, 0};  // bottom-right causal with n > m: queries 0 … 6 see none
    to.add("empty-rows", "causal-bottom-right-n-above-m", std::move(draft));
    to.add("empty-rows", "no-keys", gaussian({1, 2, 2, 3, 0, 4, 4}, to.type(), random));
  }
  // Stretches longer than any tile a kernel is likely to use.
  problem::sizes const tall{1, 1, 1, 3, 400, 8, 4};
  masked("empty-blocks", "first-300", tall, [](auto, auto j) { return j >= 300; });
  masked("empty-blocks", "last-300", tall, [](auto, auto j) { return j < 100; });
  masked("empty-blocks", "middle-300", tall, [](auto, auto j) { return j < 50 || j >= 350; });
  masked("empty-blocks", "first-64-of-row-1", tall, [](auto i, auto j) { return i != 1 || j >= 64; });
  masked("empty-blocks", "only-the-last-key", tall, [&](auto, auto j) { return j == tall.m - 1; });
  masked("empty-blocks", "only-the-first-key", tall, [](auto, auto j) { return j == 0; });
  masked("empty-blocks", "stripes-of-16", tall, [](auto i, auto j) { return (j / 16 + i) % 3 == 0; });
}

void add_bands(case_list& to) {
  auto const banded = [&](char const* check, std::int64_t n, std::int64_t m, problem::band const& band) {
    std::string const name =
        fmt::format("n{}-m{}-diagonal{}-left{}-right{}", n, m, band.diagonal, band.left, band.right);
    auto random = to.random(check, name);
    problem_draft draft = gaussian({1, 2, 2, n, m, 4, 4}, to.type(), random);
    draft.band = band;
    to.add(check, name, std::move(draft));
  };
  struct shape {
    std::int64_t n, m;
  };
  for (auto const& [n, m] :
       {shape{1, 1}, shape{5, 5}, shape{4, 9}, shape{9, 4}, shape{1, 17}, shape{17, 1}, shape{33, 70}}) {
    banded("bands", n, m, {0, -1, 0});                  // causal, top-left
    if (m != n) banded("bands", n, m, {m - n, -1, 0});  // causal, bottom-right
    banded("bands", n, m, {1, -1, 0});
    banded("bands", n, m, {0, 0, -1});  // anti-causal
  }
  for (std::int64_t const side : {0, 1, 3, 16}) {
    banded("windows", 12, 12, {0, side, 0});
    if (side > 0) banded("windows", 12, 12, {0, side, side});
    banded("windows", 6, 40, {34, side, 0});
    banded("windows", 40, 6, {-34, side, side});
  }
  auto const largest = std::numeric_limits<std::int64_t>::max();
  banded("windows", 3, 5, {0, largest, largest});
  banded("bands", 3, 5, {largest, -1, 0});   // i + diagonal saturates: everything is visible
  banded("bands", 3, 5, {-largest, -1, 0});  // nothing is
}

void add_heads(case_list& to) {
  struct grouping {
    std::int64_t hq, hk;
  };
  for (auto const& [hq, hk] : {grouping{4, 2}, grouping{6, 1}, grouping{6, 3}, grouping{8, 8}}) {
    std::string const name = fmt::format("hq{}-hk{}", hq, hk);
    auto random = to.random("heads", name);
    to.add("heads", name, gaussian({2, hq, hk, 4, 9, 8, 8}, to.type(), random));
    problem_draft draft = gaussian({2, hq, hk, 4, 9, 8, 8}, to.type(), random);
    add_mask(draft, 1, hq, 4, 9, [&](auto...) { return random.below(3) != 0; });
    to.add("heads", name + "-masked", std::move(draft));
  }
}

}  // namespace

void add_visibility(case_list& to) {
  add_biases(to);
  add_masks(to);
  add_empty(to);
  add_bands(to);
  add_heads(to);
}

}  // namespace attest::audit
