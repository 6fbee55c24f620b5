// Which keys a query sees: biases, masks, empty rows and blocks, bands, windows, grouped heads.
#include <limits>
#include <string>

#include <fmt/format.h>

#include "audit/cases/random.hpp"

namespace attest::audit {
namespace {

/// The subsets of batch, head and query over which a mask or bias can broadcast, as the axes that it has.
constexpr std::string_view broadcast_forms[]{"full", "b11m", "1h1m", "11nm", "111m", "b1nm", "bh1m", "1hnm"};

/// Does a tensor of this form have the axis b, h or n?
bool has_axis(std::string_view form, char axis) { return form == "full" || form.find(axis) != form.npos; }

void add_biases(case_list& to) {
  double const minus_infinity = -std::numeric_limits<double>::infinity();
  problem::sizes const s{2, 2, 2, 16, 16, 8, 8}, odd{2, 4, 2, 6, 21, 8, 5};
  auto const with_bias = [&](std::string const& name, problem::sizes const& size, std::string_view form,
                             auto&& value) -> audit_case& {
    auto random = to.random("bias", name);
    problem_draft draft = gaussian(size, to.type(), random);
    add_bias(draft, has_axis(form, 'b') ? size.b : 1, has_axis(form, 'h') ? size.hq : 1,
             has_axis(form, 'n') ? size.n : 1, size.m,
             [&](auto b, auto h, auto i, auto j) { return value(random, b, h, i, j); });
    return to.add("bias", name, std::move(draft));
  };
  auto const normal = [](random_stream& r, auto...) { return 2 * r.normal(); };
  auto const alibi = [](random_stream&, auto, auto h, auto i, auto j) {
    return -std::ldexp(1.0, -static_cast<int>(h) - 1) * std::abs(static_cast<double>(i - j));
  };
  auto const some_minus_infinity = [&](random_stream& r, auto...) { return r.below(3) ? r.normal() : minus_infinity; };
  with_bias("normal", s, "full", normal);
  with_bias("normal-broadcast", s, "111m", normal);
  for (std::string_view const form : broadcast_forms)
    if (form != "full" && form != "111m") with_bias(fmt::format("normal-{}", form), s, form, normal);
  with_bias("alibi", s, "full", alibi);
  with_bias("large-common", s, "full", [](random_stream&, auto...) { return 1000.0; });
  with_bias("minus-infinity", s, "full", some_minus_infinity);
  with_bias("minus-infinity-row", s, "full",
            [&](random_stream& r, auto, auto, auto i, auto) { return i == 2 ? minus_infinity : r.normal(); });
  with_bias("finfo-min", s, "full", [&](random_stream& r, auto...) {
    return r.below(3) ? r.normal() : -to.limits().largest;
  }).beyond = true;
  with_bias("minus-ten-thousand", s, "full", [](random_stream& r, auto...) { return r.below(3) ? r.normal() : -1e4; });
  with_bias("all-minus-ten-thousand", s, "full",
            [](random_stream& r, auto...) { return r.below(3) ? -1e4 : -10001.0; });
  with_bias("normal" + named_sizes(odd), odd, "full", normal);
  with_bias("alibi" + named_sizes(odd), odd, "full", alibi);
  with_bias("minus-infinity" + named_sizes(odd), odd, "full", some_minus_infinity);
  // A bias in f32 beside tensors of 16 bits: numbers near 64 that 16 bits would round by up to a quarter.
  if (problem::size_of(to.type()) != 2) return;
  for (std::string_view const form : {"full", "1hnm", "b11m"}) {
    std::string const name = fmt::format("f32-{}", form);
    auto random = to.random("bias", name);
    problem_draft draft = gaussian(s, to.type(), random);
    draft.bias = owned_tensor::compact(
        problem::element_type::f32,
        {has_axis(form, 'b') ? s.b : 1, has_axis(form, 'h') ? s.hq : 1, has_axis(form, 'n') ? s.n : 1, s.m});
    fill(*draft.bias, [&](auto...) { return 62 + 4 * random.uniform(); });
    to.add("bias", name, std::move(draft));
  }
}

void add_masks(case_list& to) {
  problem::sizes const s{2, 4, 4, 16, 16, 8, 8}, odd{2, 4, 4, 7, 23, 8, 6};
  auto const masked = [&](std::string const& name, problem::sizes const& size, std::string_view form) {
    auto random = to.random("masks", name);
    problem_draft draft = gaussian(size, to.type(), random);
    add_mask(draft, has_axis(form, 'b') ? size.b : 1, has_axis(form, 'h') ? size.hq : 1,
             has_axis(form, 'n') ? size.n : 1, size.m,
             [&](auto, auto, auto, auto j) { return j == 3 || random.below(2) != 0; });
    return draft;
  };
  for (std::string_view const form : broadcast_forms) {
    std::string const name = fmt::format("random-{}", form);
    to.add("masks", name, masked(name, s, form));
  }
  for (std::string_view const form : {"full", "b11m", "1h1m"}) {
    std::string const name = fmt::format("random-{}{}", form, named_sizes(odd));
    to.add("masks", name, masked(name, odd, form));
  }
  // Every byte except 0 attends.
  for (unsigned const byte : {2u, 128u, 255u}) {
    std::string const name = fmt::format("byte-{}", byte);
    problem_draft draft = masked(name, s, "full");
    for (std::byte& attends : draft.mask->bytes)
      if (attends != std::byte{}) attends = static_cast<std::byte>(byte);
    to.add("masks", name, std::move(draft));
  }
  problem_draft drawn = masked("byte-drawn", s, "full");
  auto bytes = to.random("masks", "byte-drawn");
  for (std::byte& attends : drawn.mask->bytes)
    if (attends != std::byte{}) attends = static_cast<std::byte>(1 + bytes.below(255));
  to.add("masks", "byte-drawn", std::move(drawn));
  auto random = to.random("masks", "with-bias-and-band");
  problem_draft draft = gaussian(odd, to.type(), random);
  add_mask(draft, odd.b, 1, odd.n, odd.m, [&](auto...) { return random.below(4) != 0; });
  add_bias(draft, 1, odd.hq, 1, odd.m, [&](auto...) { return random.normal(); });
  draft.band = {odd.m - odd.n, 9, 0};
  to.add("masks", "with-bias-and-band", std::move(draft));
}

void add_empty(case_list& to) {
  problem::sizes const s{2, 2, 2, 16, 16, 8, 8}, odd{2, 2, 2, 9, 40, 8, 5};
  auto const masked = [&](char const* check, char const* name, problem::sizes const& size, auto&& attend) {
    auto random = to.random(check, name);
    problem_draft draft = gaussian(size, to.type(), random);
    add_mask(draft, 1, 1, size.n, size.m, [&](auto, auto, auto i, auto j) { return attend(i, j); });
    to.add(check, name, std::move(draft));
  };
  masked("empty-rows", "every-row", s, [](auto, auto) { return false; });
  masked("empty-rows", "first-and-last", s, [&](auto i, auto) { return i != 0 && i != s.n - 1; });
  masked("empty-rows", "every-other", s, [](auto i, auto) { return i % 2 == 0; });
  masked("empty-rows", "every-other-n9-m40-d8-dv5", odd, [](auto i, auto) { return i % 2 == 0; });
  {
    auto random = to.random("empty-rows", "band-before-keys");
    problem_draft square = gaussian({1, 2, 2, 16, 16, 8, 8}, to.type(), random);
    square.band = {-7, -1, 0};  // queries 0 … 6 see no key
    to.add("empty-rows", "band-before-keys", std::move(square));
    random = to.random("empty-rows", "band-beyond-keys");
    problem_draft draft = gaussian({1, 1, 1, 12, 5, 4, 4}, to.type(), random);
    draft.band = {0, 0, 0};  // query i sees key i alone: queries 5 … 11 see no key
    to.add("empty-rows", "band-beyond-keys", std::move(draft));
    draft = gaussian({1, 1, 1, 12, 5, 4, 4}, to.type(), random);
    draft.band = {-7, -1, 0};  // bottom-right causal with n > m: queries 0 … 6 see no key
    to.add("empty-rows", "causal-bottom-right-n-above-m", std::move(draft));
    to.add("empty-rows", "no-keys", gaussian({1, 2, 2, 3, 0, 4, 4}, to.type(), random));
  }
  // Stretches longer than any tile a kernel is likely to use.
  problem::sizes const tall{1, 1, 1, 3, 400, 8, 8};
  masked("empty-blocks", "first-300", tall, [](auto, auto j) { return j >= 300; });
  masked("empty-blocks", "last-300", tall, [](auto, auto j) { return j < 100; });
  masked("empty-blocks", "middle-300", tall, [](auto, auto j) { return j < 50 || j >= 350; });
  masked("empty-blocks", "first-64-of-row-1", tall, [](auto i, auto j) { return i != 1 || j >= 64; });
  masked("empty-blocks", "only-the-last-key", tall, [&](auto, auto j) { return j == tall.m - 1; });
  masked("empty-blocks", "only-the-first-key", tall, [](auto, auto j) { return j == 0; });
  masked("empty-blocks", "stripes-of-16", tall, [](auto i, auto j) { return (j / 16 + i) % 3 == 0; });
  std::int64_t const size = to.options().quick ? 80 : 160;
  problem::sizes const square{1, 1, 1, size, size, 8, 8};
  masked("empty-blocks", "square-first", square, [&](auto, auto j) { return j >= size - 16; });
  masked("empty-blocks", "square-last", square, [](auto, auto j) { return j < 16; });
  masked("empty-blocks", "square-middle", square, [&](auto, auto j) { return j < 8 || j >= size - 8; });
  masked("empty-blocks", "square-one-key", square, [&](auto i, auto j) { return j == i * 7 % size; });
  masked("empty-blocks", "square-stripes-of-16", square, [](auto i, auto j) { return (j / 16 + i) % 3 == 0; });
}

void add_bands(case_list& to) {
  auto const banded = [&](char const* check, std::int64_t n, std::int64_t m, problem::band const& band) {
    std::string const name =
        fmt::format("n{}-m{}-diagonal{}-left{}-right{}", n, m, band.diagonal, band.left, band.right);
    auto random = to.random(check, name);
    problem_draft draft = gaussian({1, 2, 2, n, m, 8, 8}, to.type(), random);
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
  // Diagonals that no alignment gives: negative, beyond the keys, with more keys to the right.
  for (problem::band const& band :
       {problem::band{-3, -1, 0}, problem::band{-16, -1, 0}, problem::band{5, -1, 0}, problem::band{16, -1, 0},
        problem::band{21, -1, 0}, problem::band{1'000'000, -1, 0}, problem::band{-1'000'000, -1, 0},
        problem::band{0, -1, 2}, problem::band{-5, -1, 4}, problem::band{-9, 3, -1}, problem::band{19, 9, -1}})
    banded("bands", 16, 16, band);
  for (problem::band const& band : {problem::band{-5, 2, 4}, problem::band{7, 3, 1}, problem::band{0, 0, 5},
                                    problem::band{20, 9, 2}, problem::band{-20, 1, 9}})
    banded("windows", 16, 16, band);
  for (std::int64_t const side : {0, 1, 3, 16}) {
    banded("windows", 12, 12, {0, side, 0});
    if (side > 0) banded("windows", 12, 12, {0, side, side});
    banded("windows", 6, 40, {34, side, 0});
    banded("windows", 40, 6, {-34, side, side});
  }
  // Callers promise no more, so that a kernel may compute j - (i + diagonal) in 64 bits (docs/semantics.md).
  constexpr std::int64_t largest = (std::int64_t{1} << 62) - 1;
  banded("windows", 3, 5, {0, largest, largest});
  banded("bands", 3, 5, {largest, -1, 0});   // everything is visible
  banded("bands", 3, 5, {-largest, -1, 0});  // no key is
}

void add_heads(case_list& to) {
  struct grouping {
    std::int64_t hq, hk;
  };
  // Groups of one query that are no square, no power of two, no multiple of 8, or larger than a tile of queries.
  for (auto const& [hq, hk] : {grouping{6, 2}, grouping{12, 3}, grouping{20, 1}, grouping{25, 1}, grouping{48, 2}}) {
    std::string const name = fmt::format("hq{}-hk{}-n1-m40", hq, hk);
    auto random = to.random("heads", name);
    to.add("heads", name, gaussian({2, hq, hk, 1, 40, 16, 16}, to.type(), random));
  }
  for (auto const& [hq, hk] : {grouping{4, 2}, grouping{6, 1}, grouping{6, 3}, grouping{8, 8}}) {
    std::string const name = fmt::format("hq{}-hk{}", hq, hk);
    auto random = to.random("heads", name);
    to.add("heads", name, gaussian({2, hq, hk, 9, 9, 8, 8}, to.type(), random));
    to.add("heads", name + "-n4-m9", gaussian({2, hq, hk, 4, 9, 8, 8}, to.type(), random));
    problem_draft draft = gaussian({2, hq, hk, 9, 9, 8, 8}, to.type(), random);
    add_mask(draft, 1, hq, 9, 9, [&](auto...) { return random.below(3) != 0; });
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
