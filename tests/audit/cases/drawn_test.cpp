// Drawn cases: numbered, the same for the same seed, within their limits, in forms that the kernel answers; and the
// rows of large problems that are judged.
#include "audit/cases/forms/drawn.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "audit/cases/arranged.hpp"
#include "audit/cases/forms/production.hpp"
#include "audit/cases/forms/support_cases.hpp"
#include "audit/cases/forms/value_forms.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/problem_recipe.hpp"

namespace attest::tests::drawn_test {
using namespace attest::audit;
using attest::problem::element_type;
using attest::problem::sizes;

namespace {

shape_limits small_limits() {
  shape_limits limits;
  limits.call = {.bytes = 1 << 20, .products = 1 << 20};
  return limits;
}

bool same(owned_problem const& a, owned_problem const& b) {
  auto const& x = a.draft();
  auto const& y = b.draft();
  return a.size() == b.size() && x.q.bytes == y.q.bytes && x.k.bytes == y.k.bytes && x.v.bytes == y.v.bytes &&
         x.mask.has_value() == y.mask.has_value() && (!x.mask || x.mask->bytes == y.mask->bytes);
}

}  // namespace

TEST_CASE("a draw is determined by seed, number and limits", "[unit]") {
  auto const drawn = [](std::uint64_t seed, std::int64_t number) {
    return drawn_case(element_type::f32, seed, number, small_limits());
  };
  for (std::int64_t const number : {1, 2, 64}) {
    CHECK(same(drawn(7, number).problem, drawn(7, number).problem));
    CHECK_FALSE(same(drawn(7, number).problem, drawn(8, number).problem));
    CHECK_FALSE(same(drawn(7, number).problem, drawn(7, number + 1).problem));
  }
}

TEST_CASE("draws lie in memory in every way, and each problem can", "[unit]") {
  memory_form met;
  int plain = 0, faults = 0;
  for (std::int64_t number = 1; number <= 600; ++number) {
    audit_case const drawn = drawn_case(element_type::f32, 3, number, small_limits());
    memory_form const& form = drawn.memory;
    plain += form == memory_form{};
    faults += memory_fault(drawn.problem, form).has_value();
    met.v_in_k |= form.v_in_k, met.shared_batch |= form.shared_batch, met.shared_heads |= form.shared_heads;
    met.heads_inside |= form.heads_inside, met.unaligned |= form.unaligned;
    for (auto const member : {&memory_form::overlap, &memory_form::row_gap, &memory_form::far_batch,
                              &memory_form::far_head, &memory_form::far_row})
      met.*member = std::max(met.*member, form.*member);
  }
  CHECK(faults == 0);
  CHECK((plain > 300 && plain < 550));
  CHECK((met.v_in_k && met.shared_batch && met.shared_heads && met.heads_inside && met.unaligned));
  for (auto const far : {met.far_batch, met.far_head, met.far_row}) CHECK(far > std::int64_t{1} << 31);
  CHECK((met.overlap > 0 && met.row_gap > 0));
}

TEST_CASE("the bytes of a drawn problem are within the cost of its form, where its keys are in pages too", "[unit]") {
  random_stream random(4, "bytes");
  auto const bytes_of = [](std::optional<owned_tensor> const& one) { return one ? std::ssize(one->bytes) : 0; };
  for (int draw = 0; draw < 200; ++draw) {
    call_form form = drawn_form(random, element_type::f32, {.bytes = 1 << 20, .products = 1 << 20}, {});
    form.options = {};
    if (draw % 2 == 0) form.options.add(feature::paged);
    if (draw % 4 < 2) form.options.add(feature::mask);
    if (draw % 3 == 0) form.options.add(feature::bias);
    form.memory = {};
    problem_draft const draft = draft_of(form, element_type::f32, random);
    auto const outputs = form.size.b * form.size.hq * form.size.n * form.size.dv * 4;
    INFO(form.text());
    CHECK(std::ssize(draft.q.bytes) + std::ssize(draft.k.bytes) + std::ssize(draft.v.bytes) + bytes_of(draft.mask) +
              bytes_of(draft.bias) + outputs <=
          cost_of(form, element_type::f32).bytes);
  }
}

TEST_CASE("forms stay within their limit and have at most one option of a group", "[unit]") {
  call_cost const limit{.bytes = 1 << 22, .products = 1 << 22};
  random_stream random(3, "forms");
  for (int draw = 0; draw < 3000; ++draw) {
    call_form const form = drawn_form(random, element_type::bf16, limit, {});
    INFO(form.text());
    CHECK(cost_of(form, element_type::bf16).bytes <= limit.bytes);
    CHECK(cost_of(form, element_type::bf16).products <= limit.products);
    CHECK((form.size.hk > 0 && form.size.hq % form.size.hk == 0));
    std::set<feature_group> groups;
    form.options.each([&](feature one) {
      auto const group = row_of(one).group;
      CHECK((groups.insert(group).second || group == feature_group::numbers));
    });
  }
}

TEST_CASE("draws reach lengths, widths, heads, groups and threads of every kind", "[unit]") {
  random_stream random(5, "reach");
  call_cost const limit{.bytes = 1 << 28, .products = 1 << 28};
  int long_m = 0, wide = 0, d80 = 0, many_heads = 0, wide_group = 0, one_query = 0, no_keys = 0, m_41 = 0,
      band_of_m = 0;
  std::set<std::int32_t> threads;
  feature_set met;
  for (int draw = 0; draw < 9000; ++draw) {
    call_form const form = drawn_form(random, element_type::f32, limit, {});
    auto const& s = form.size;
    long_m += s.m > 4300, wide += s.d > 256, d80 += s.d == 80, many_heads += s.b * s.hq > 64;
    wide_group += s.hq / s.hk > 6, one_query += s.n == 1, no_keys += s.m == 0, m_41 += s.m % 64 == 41;
    band_of_m += s.m >= 300 && s.m <= 500;
    threads.insert(form.threads);
    met = met | form.features();
  }
  // A thousand draws have about 3000 forms. A condition met by 7 of them on average is missed with probability e⁻⁷.
  for (int const times : {long_m, wide, d80, many_heads, wide_group, one_query, no_keys, m_41, band_of_m})
    CHECK(times >= 3 * 7);
  CHECK(threads == std::set<std::int32_t>{0, 1, 2, 3, 4, 8, 16, 64});
  CHECK(met.count() == static_cast<std::size_t>(first_of_version_2));
}

TEST_CASE("draws reach every form in which a mask or a bias broadcasts, beyond 40 keys", "[unit]") {
  random_stream random(6, "broadcast");
  std::map<std::pair<feature_group, broadcast_axes>, int> met;
  for (int draw = 0; draw < 13000; ++draw) {
    call_form const form = drawn_form(random, element_type::f32, {.bytes = 1 << 28, .products = 1 << 28}, {});
    if (form.size.b < 2 || form.size.hq < 2 || form.size.n < 2 || form.size.m <= 40) continue;
    problem_draft const drawn = draft_of({.size = {2, 2, 2, 2, 2, 1, 1},
                                          .options = form.options,
                                          .length = 1,
                                          .mask_over = form.mask_over,
                                          .bias_over = form.bias_over},
                                         element_type::f32, random);
    auto const count = [&](feature_group group, owned_tensor const& tensor) {
      auto const& shape = tensor.layout.shape;
      ++met[{group, {shape[0] > 1, shape[1] > 1, shape[2] > 1}}];
    };
    if (drawn.mask) count(feature_group::mask, *drawn.mask);
    if (drawn.bias) count(feature_group::bias, *drawn.bias);
  }
  CHECK(met.size() == 16);
  for (auto const& [form, times] : met) {
    INFO((form.first == feature_group::mask ? "mask " : "bias ") << form.second[0] << form.second[1] << form.second[2]);
    CHECK(times >= 3 * 7);  // as above
  }
}

TEST_CASE("some draws have more than 2^31 scores where so many multiplications are allowed", "[unit]") {
  auto const scores = [](shape_limits const& limits, std::int64_t number) {
    attest::problem::sizes const s = drawn_case(element_type::f32, 1, number, limits).problem.size();
    return s.b * s.hq * s.n * s.m;
  };
  shape_limits fast;
  fast.call.products = std::int64_t{1} << 32;
  for (std::int64_t const number : {128, 384}) {
    CHECK(scores(fast, number) > std::int64_t{1} << 31);
    CHECK(scores(small_limits(), number) < std::int64_t{1} << 31);
  }
}

TEST_CASE("a form has nothing that the kernel refuses, alone or in pairs", "[unit]") {
  support answers;
  for (feature const one : {feature::grouped, feature::value_width, feature::softcap}) answers.refuse(one);
  answers.refuse(feature::causal, feature::unequal);
  random_stream random(9, "support");
  bool causal = false, unequal = false;
  for (int draw = 0; draw < 2000; ++draw) {
    feature_set const features =
        drawn_form(random, element_type::f32, {.bytes = 1 << 20, .products = 1 << 20}, answers).features();
    CHECK(answers.answers(features));
    causal |= features.has(feature::causal), unequal |= features.has(feature::unequal);
  }
  CHECK((causal && unequal));
}

TEST_CASE("padding hides a key, and never all of an entry", "[unit]") {
  for (feature const side : {feature::padding, feature::left_padding})
    for (std::int64_t const batch : {1, 2, 5})
      for (std::int64_t const keys : {1, 2, 3, 17})
        for (std::int64_t length = 1; length <= keys; ++length)
          for (std::uint64_t seed = 0; seed < 20; ++seed) {
            random_stream random(seed, "padding");
            call_form form{.size = {batch, 1, 1, 4, keys, 8, 8}, .length = length};
            form.options.add(side);
            owned_tensor const mask = *draft_of(form, element_type::f32, random).mask;
            std::int64_t hidden = 0;
            for (std::int64_t b = 0; b < batch; ++b) {
              std::int64_t seen = 0;
              for (std::int64_t j = 0; j < keys; ++j) seen += load(mask, offset_of(mask, b, 0, 0, j)) != 0;
              INFO("batch " << batch << ", keys " << keys << ", length " << length << ", seed " << seed);
              REQUIRE(seen >= 1);
              hidden += keys - seen;
            }
            REQUIRE((hidden > 0) == (keys > 1));
          }
}

TEST_CASE("support cases have a mask and a bias in every shape in which they broadcast", "[unit]") {
  std::set<std::pair<bool, std::vector<std::int64_t>>> met;
  for (audit_case const& shown : support_cases(element_type::f32, 1)) {
    problem_draft const& asked = shown.problem.draft();
    auto const& tensor = asked.mask ? asked.mask : asked.bias;
    if (tensor && tensor->layout.shape[3] > 64)
      met.emplace(asked.mask.has_value(), std::vector(tensor->layout.shape.begin(), tensor->layout.shape.begin() + 3));
  }
  CHECK(met.size() == 16);
}

TEST_CASE("support cases show one or two features each, and their refusals are noted", "[unit]") {
  auto const cases = support_cases(element_type::f32, 1);
  support answers;
  int alone = 0;
  for (audit_case const& shown : cases) {
    REQUIRE(shown.form);
    std::size_t const count = shown.form->features().count();
    INFO(shown.name);
    CHECK(count == (shown.name == "plain" ? 0u : std::ranges::count(shown.name, '+') == 0 ? 1u : 2u));
    alone += count == 1;
    if (shown.name == "alibi" || shown.name == "mask+softcap" || shown.name == "bias-bhnm")
      note_refusal(answers, *shown.form);
  }
  CHECK(alone == static_cast<int>(feature_count + 2 * std::size(all_axes)));
  CHECK_FALSE(answers.answers(feature_set{feature::alibi}));
  CHECK_FALSE(answers.answers(feature_set{feature::mask, feature::softcap}));
  CHECK(answers.answers(feature_set{feature::mask}));
  CHECK(answers.answers(feature_set{feature::mask, feature::scale}));
  CHECK(answers.answers(feature_set{feature::bias}));
  CHECK_FALSE(answers.answers(feature_group::bias, {true, true, true}));
  CHECK(answers.answers(feature_group::bias, {true, true, false}));
  random_stream random(4, "refused shapes");
  for (int draw = 0; draw < 2000; ++draw)
    CHECK(drawn_form(random, element_type::f32, {.bytes = 1 << 20, .products = 1 << 20}, answers).bias_over !=
          broadcast_axes{true, true, true});
}

TEST_CASE("numbers of the large forms are nearly normal", "[unit]") {
  random_stream random(4, "normal");
  auto tensor = owned_tensor::compact(element_type::f64, {1, 1, 100, 1000});
  fill_normal(tensor, random, 3);
  double sum = 0, squares = 0, largest = 0;
  for (std::size_t at = 0; at < 100'000; ++at) {
    double const x = load(tensor, at);
    sum += x, squares += x * x, largest = std::max(largest, std::abs(x));
  }
  // Three standard errors of the mean and of the variance of 10⁵ normal numbers, at deviation 3.
  CHECK(std::abs(sum / 1e5) < 3 * 3 / std::sqrt(1e5));
  CHECK(std::abs(squares / 1e5 - 9) < 3 * 9 * std::sqrt(2 / 1e5));
  CHECK((largest > 9 && largest < 3 * 3.4642));
}

TEST_CASE("a pointed query gets most of its weight from one visible key", "[unit]") {
  call_form const form{
      .size = {1, 2, 1, 40, 40, 64, 64}, .options = {feature::causal}, .length = 1, .values = value_form::pointed};
  random_stream random(1, "pointed");
  problem_draft const p = draft_of(form, element_type::f32, random);
  for (std::int64_t h = 0; h < 2; ++h)
    for (std::int64_t i = 0; i < 40; ++i) {
      double best = -1e9;
      std::int64_t at = -1;
      for (std::int64_t j = 0; j < 40; ++j) {
        double score = 0;
        for (std::int64_t t = 0; t < 64; ++t)
          score += load(p.q, offset_of(p.q, 0, h, i, t)) * load(p.k, offset_of(p.k, 0, 0, j, t));
        if (score > best) best = score, at = j;
      }
      CHECK(at <= i);
    }
}

TEST_CASE("every row of the production table becomes a problem of its form", "[unit]") {
  for (production_shape const& row : production_shapes()) {
    if (row.features.needs.any()) continue;
    INFO(row.name);
    auto const made = production_case(row, element_type::f32, 1, small_limits());
    REQUIRE(made.form);
    problem_draft const& p = made.problem.draft();
    CHECK((p.softcap != 0) == (row.features.softcap != 0));
    CHECK(p.scale.has_value() == row.features.scale.has_value());
    CHECK(p.bias.has_value() == (row.features.bias != bias_kind::none));
    CHECK((made.problem.size() == row.size) == made.scaled.empty());
    bool const causal = row.mask.kind == masking_kind::causal || row.mask.kind == masking_kind::causal_window ||
                        row.mask.kind == masking_kind::causal_padding;
    CHECK((p.band.right == 0) == causal);
    if (causal) CHECK(p.band.diagonal == made.problem.size().m - made.problem.size().n);
  }
}

}  // namespace attest::tests::drawn_test
