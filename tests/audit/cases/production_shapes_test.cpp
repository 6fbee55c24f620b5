// The table of production shapes has what it promises, and a row cut to a limit is still that row.
#include "audit/cases/forms/production_shapes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string>

#include "tests/support/catch.hpp"

namespace attest::tests::production_shapes_test {
using namespace attest::audit;
using attest::problem::sizes;

namespace {

/// How many rows satisfy the condition.
template <class F>
long rows_with(F&& condition) {
  return std::ranges::count_if(production_shapes(), condition);
}
template <class F>
bool some_row(std::string_view family, F&& condition) {
  return rows_with([&](production_shape const& row) { return row.family == family && condition(row); }) > 0;
}

production_shape const& row_named(std::string_view name) {
  auto const rows = production_shapes();
  auto const at = std::ranges::find(rows, name, &production_shape::name);
  REQUIRE(at != rows.end());
  return *at;
}

bool has_length(masking_kind kind) { return kind != masking_kind::none && kind != masking_kind::causal; }

}  // namespace

TEST_CASE("the table has at least 60 rows that need nothing new of the operator", "[unit]") {
  CHECK(rows_with([](auto const& row) { return !row.features.needs.any(); }) >= 60);
}

TEST_CASE("names are unique", "[unit]") {
  std::set<std::string_view> names;
  for (auto const& row : production_shapes()) CHECK(names.insert(row.name).second);
}

TEST_CASE("every row is a problem, and says where it is from", "[unit]") {
  for (auto const& row : production_shapes()) {
    INFO(row.name);
    auto const& [b, hq, hk, n, m, d, dv] = row.size;
    CHECK(std::min({b, hq, hk, n, m, d, dv}) >= 1);
    CHECK(hq % hk == 0);
    CHECK((row.during == phase::cross || n <= m));
    CHECK((row.during != phase::decode || n == 1));
    CHECK((row.during != phase::chunked_prefill || (n > 1 && n < m)));
    CHECK((row.during != phase::speculative || (n > 1 && n <= 8)));
    CHECK((row.mask.length >= 1) == has_length(row.mask.kind));
    CHECK(row.mask.length <= m);
    CHECK((row.features.softcap >= 0 && row.features.scale.value_or(1) > 0));
    CHECK((!row.features.v_in_k || dv <= d));
    CHECK(row.type != attest::problem::element_type::u8);
    auto const colon = row.source.find(':');
    bool const names_a_field = row.source.find('/') < colon && row.source.find(' ', colon) != row.source.npos;
    CHECK((names_a_field || row.source.find("arXiv:") != row.source.npos));
  }
}

TEST_CASE("every family is there, with what it is known for", "[unit]") {
  std::set<std::string_view> const families{
      "Llama", "Qwen",  "Mistral", "Gemma", "GPT-OSS", "DeepSeek",         "Phi", "Falcon",
      "GPT",   "ALiBi", "BERT",    "ViT",   "Whisper", "Stable Diffusion", "T5"};
  std::set<std::string_view> met;
  for (auto const& row : production_shapes()) met.insert(row.family);
  CHECK(met == families);

  auto const kind = [](masking_kind wanted) { return [=](auto const& row) { return row.mask.kind == wanted; }; };
  CHECK(some_row("Mistral", kind(masking_kind::causal_window)));
  CHECK(some_row("BERT", kind(masking_kind::padding)));
  CHECK(some_row("BERT", kind(masking_kind::window)));
  CHECK(some_row("Gemma", kind(masking_kind::prefix)));
  CHECK(some_row("Llama", kind(masking_kind::causal_padding)));
  CHECK(some_row("Gemma", [](auto const& row) { return row.features.softcap > 0 && row.size.d == 256; }));
  CHECK(some_row("GPT-OSS", [](auto const& row) { return row.features.needs.sinks; }));
  CHECK(some_row("DeepSeek", [](auto const& row) {
    return row.size.d == 576 && row.size.dv == 512 && row.features.v_in_k && !row.features.needs.any();
  }));
  for (std::int64_t const d : {80, 96}) CHECK(some_row("Phi", [=](auto const& row) { return row.size.d == d; }));
  CHECK(some_row("Falcon", [](auto const& row) { return row.size.hk == 1 && row.size.hq > 1; }));
  for (std::int64_t const n : {197, 257, 577}) CHECK(some_row("ViT", [=](auto const& row) { return row.size.m == n; }));
  CHECK(some_row("Whisper", [](auto const& row) { return row.size.n == 448 && row.size.m == 1500; }));
  for (std::int64_t const d : {40, 80, 160})
    CHECK(some_row("Stable Diffusion", [=](auto const& row) { return row.size.d == d; }));
  CHECK(some_row("T5", [](auto const& row) { return row.features.bias == bias_kind::relative; }));
  CHECK(some_row("ALiBi", [](auto const& row) { return row.features.bias == bias_kind::alibi; }));
}

TEST_CASE("every phase is there, at the sizes at which it is run", "[unit]") {
  for (std::int64_t const m : {1, 128, 4096, 32768})
    CHECK(rows_with([=](auto const& row) { return row.during == phase::decode && row.size.m == m; }) > 0);
  for (std::int64_t const n : {4, 5, 6, 8})
    CHECK(rows_with([=](auto const& row) { return row.during == phase::speculative && row.size.n == n; }) > 0);
  for (std::int64_t const b : {1, 8, 32, 64, 128, 256})
    CHECK(rows_with([=](auto const& row) { return row.size.b == b; }) > 0);
  for (auto const during : {phase::prefill, phase::chunked_prefill, phase::encoder, phase::cross})
    CHECK(rows_with([=](auto const& row) { return row.during == during; }) > 0);
}

TEST_CASE("scales follow from the numbers of the configurations", "[unit]") {
  // Each side has at most four roundings, of 2⁻⁵³ each.
  auto const deepseek = [](double mscale) { return std::pow(0.1 * mscale * std::log(40.0) + 1, 2) / std::sqrt(192.0); };
  auto const scale_of = [](std::string_view name) { return row_named(name).features.scale.value(); };
  CHECK(std::abs(scale_of("deepseek-v3-decode-4096") / deepseek(1) - 1) < 0x1p-50);
  CHECK(std::abs(scale_of("deepseek-v2-lite-prefill") / deepseek(0.707) - 1) < 0x1p-50);
  CHECK(std::abs(scale_of("gemma-2-27b-global") / std::sqrt(1 / 144.0) - 1) < 0x1p-50);
  CHECK(std::abs(scale_of("gemma-3-27b-decode-32768") / std::sqrt(32 / 5376.0) - 1) < 0x1p-50);
}

TEST_CASE("the cost counts tensors once, masks and biases as they broadcast", "[unit]") {
  production_shape shape{.size = {2, 6, 3, 5, 7, 11, 13}, .type = attest::problem::element_type::f16};
  std::int64_t const tensors = 2 * (6 * 5 * (11 + 13) + 3 * 7 * (11 + 13));  // elements, of 2 bytes
  CHECK(cost_of(shape).bytes == 2 * tensors);
  CHECK(cost_of(shape).products == 2 * 6 * 5 * 7 * (11 + 13));
  shape.mask = {masking_kind::causal_window, 3};
  CHECK(cost_of(shape).bytes == 2 * tensors);
  shape.mask = {masking_kind::padding, 3};
  CHECK(cost_of(shape).bytes == 2 * tensors + 2 * 7);
  shape.mask = {masking_kind::prefix, 3};
  CHECK(cost_of(shape).bytes == 2 * tensors + 5 * 7);
  shape.mask = {};
  shape.features.bias = bias_kind::alibi;
  CHECK(cost_of(shape).bytes == 2 * (tensors + 6 * 7));
  shape.features.bias = bias_kind::relative;
  CHECK(cost_of(shape).bytes == 2 * (tensors + 6 * 5 * 7));
  shape.features = {.v_in_k = true};
  CHECK(cost_of(shape).bytes == 2 * (tensors - 2 * 3 * 7 * 13));
}

TEST_CASE("a scaled row fits, and keeps all but batch, groups, queries and keys", "[unit]") {
  constexpr std::array<shape_limit, 5> limits{{{std::int64_t{1} << 30, 2'000'000'000},
                                               {std::int64_t{1} << 24, 100'000'000},
                                               {std::int64_t{1} << 30, 200'000},
                                               {std::int64_t{1} << 19, std::int64_t{1} << 60},
                                               {100, 100}}};
  for (auto const& limit : limits)
    for (auto const& row : production_shapes()) {
      INFO(row.name << ", at most " << limit.bytes << " bytes and " << limit.products << " products");
      auto const result = scaled(row, limit);
      sizes const& is = result.shape.size;
      sizes const& was = row.size;
      CHECK(result.whole == was);
      CHECK(result.fits == limit.admits(cost_of(result.shape)));
      CHECK(result.fits == (limit.bytes > 100));

      CHECK((is.d == was.d && is.dv == was.dv));
      CHECK(is.hq * was.hk == was.hq * is.hk);
      CHECK((1 <= is.b && is.b <= was.b));
      CHECK((1 <= is.hk && is.hk <= was.hk));
      CHECK((1 <= is.n && is.n <= was.n));
      CHECK((1 <= is.m && is.m <= was.m));
      CHECK((row.during == phase::cross || is.n <= is.m));
      CHECK(result.shape.mask.kind == row.mask.kind);
      CHECK(result.shape.mask.length == std::min(row.mask.length, is.m));
      CHECK((result.shape.name == row.name && result.shape.type == row.type && result.shape.during == row.during));
      CHECK(result.shape.features.scale == row.features.scale);
      CHECK(result.shape.features.softcap == row.features.softcap);
      CHECK(result.shape.features.bias == row.features.bias);
      CHECK(result.shape.features.v_in_k == row.features.v_in_k);
      CHECK(result.shape.features.needs == row.features.needs);

      // What goes first is gone before what goes next is touched.
      if (is.hk < was.hk) CHECK(is.b == 1);
      if (is.n < was.n) CHECK((is.b == 1 && is.hk == 1));
      if (is.m < was.m) CHECK((is.b == 1 && is.hk == 1 && is.n == 1));

      // No more is cut than must be: with one more of what was cut last, the limit is passed.
      CHECK((limit.admits(cost_of(row)) == (is == was)));
      if (is == was) continue;
      production_shape more = result.shape;
      if (is.m < was.m) ++more.size.m;
      else if (is.n < was.n) ++more.size.n;
      else if (is.hk < was.hk) ++more.size.hk, more.size.hq += was.hq / was.hk;
      else ++more.size.b;
      CHECK_FALSE(limit.admits(cost_of(more)));
    }
}

TEST_CASE("the report can say what was cut", "[unit]") {
  production_shape const row{.size = {16, 32, 8, 4096, 4096, 128, 128}, .mask = {masking_kind::causal, 0}};
  constexpr std::int64_t no_limit = std::int64_t{1} << 60;
  std::int64_t const one_group = std::int64_t{4} * 4096 * 4096 * 256;
  auto const cut = [&](std::int64_t products) { return scaled(row, {no_limit, products}).cut(); };
  CHECK(cut(16 * 8 * one_group).empty());
  CHECK(cut(16 * 8 * one_group - 1) == "batch 16 → 15");
  CHECK(cut(8 * one_group) == "batch 16 → 1");
  CHECK(cut(3 * one_group) == "batch 16 → 1, query heads 32 → 12, key-value heads 8 → 3");
  CHECK(cut(one_group / 2) == "batch 16 → 1, query heads 32 → 4, key-value heads 8 → 1, queries 4096 → 2048");
  CHECK(cut(one_group / 8192) ==
        "batch 16 → 1, query heads 32 → 4, key-value heads 8 → 1, queries 4096 → 1, keys 4096 → 2048");
}

}  // namespace attest::tests::production_shapes_test
