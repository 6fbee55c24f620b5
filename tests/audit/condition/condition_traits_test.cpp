// Conditions on masks, windows, caps, memory and earlier calls are named: kernels that are wrong under a known one.
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "audit/cases/random.hpp"
#include "audit/condition/clause.hpp"
#include "audit/condition/condition.hpp"
#include "audit/condition/form.hpp"
#include "audit/tensors/elements.hpp"
#include "tests/support/catch.hpp"

namespace attest::audit::condition_traits_test {
namespace {

using enum feature;
using predicate = std::function<bool(call_form const&)>;

std::string sentence(std::optional<condition> const& found) { return found ? found->sentence : "none"; }

asker asker_of(predicate const& wrong) {
  return [&wrong](question const& asked) {
    return std::optional(given_answer{wrong(asked.judged) ? answer::wrong : answer::right});
  };
}

bool of_group(call_form const& form, feature_group group) {
  bool has = false;
  form.options.each([&](feature one) { has |= row_of(one).group == group; });
  return has;
}

/// Has the mask or bias more than one index on the axes b, hq and n?
bool is_over(call_form const& form, feature_group group, broadcast_axes const& over) {
  bool is = false;
  form.options.each([&](feature one) {
    if (row_of(one).group != group) return;
    auto const axes = axes_of(one, form);
    problem::sizes const& s = form.size;
    is = std::array{axes[0] && s.b > 1, axes[1] && s.hq > 1, axes[2] && s.n > 1} == over;
  });
  return is;
}

bool mask_is(call_form const& form, broadcast_axes const& over) { return is_over(form, feature_group::mask, over); }
bool bias_is(call_form const& form, broadcast_axes const& over) { return is_over(form, feature_group::bias, over); }

struct named {
  char const* sentence;
  call_form failing;
  predicate wrong;
};

call_form form_of_sizes(problem::sizes const& sizes, feature_set const& options = {}, std::int64_t length = 1) {
  call_form form;
  form.size = sizes, form.options = options, form.length = length;
  return form;
}

template <class Change>
call_form changed(call_form form, Change&& change) {
  change(form);
  return form;
}

call_form const large = form_of_sizes({3, 8, 4, 40, 70, 24, 16});

std::vector<named> const of_features{
    {"wrong where n = m + 1 and m > 31", form_of_sizes({1, 2, 2, 51, 50, 8, 8}),
     [](auto& f) { return f.size.n == f.size.m + 1 && f.size.n > 32; }},
    {"wrong where n > m + 64 and m > 64", form_of_sizes({2, 8, 8, 4096, 77, 40, 40}),
     [](auto& f) { return f.size.n > f.size.m + 64 && f.size.m > 64; }},
    {"wrong where n < m − 1000", form_of_sizes({1, 1, 1, 3, 5000, 8, 8}),
     [](auto& f) { return f.size.m > f.size.n + 1000; }},
    {"wrong where grouped and kv heads > 3", form_of_sizes({1, 32, 8, 20, 20, 8, 8}),
     [](auto& f) { return f.size.hk > 3 && f.size.hq > f.size.hk; }},
    {"wrong where any mask and m > 256", form_of_sizes({2, 2, 2, 9, 400, 8, 8}, {padding}, 30),
     [](auto& f) { return of_group(f, feature_group::mask) && f.size.m > 256; }},
    {"wrong where any band with a right edge", form_of_sizes({2, 2, 2, 9, 40, 8, 8}, {window, softcap}, 3),
     [](auto& f) { return of_group(f, feature_group::band); }},
    {"wrong where any window", form_of_sizes({2, 2, 2, 9, 40, 8, 8}, {symmetric_window}, 3),
     [](auto& f) { return f.options.has(window) || f.options.has(symmetric_window); }},
    {"wrong where (causal or window) and m > 256", form_of_sizes({2, 2, 2, 9, 400, 8, 8}, {causal}, 3),
     [](auto& f) { return f.size.m > 256 && (f.options.has(causal) || f.options.has(window)); }},
    {"wrong where any bias and d = 64", form_of_sizes({2, 2, 2, 9, 40, 64, 8}, {alibi}),
     [](auto& f) { return of_group(f, feature_group::bias) && f.size.d == 64; }},
    {"wrong where the mask is [1, 1, 1, m] and n > 1", form_of_sizes({1, 3, 3, 9, 40, 8, 8}, {padding}, 5),
     [](auto& f) { return f.size.n > 1 && mask_is(f, {false, false, false}); }},
    {"wrong where the mask is [b, hq, 1, m]",
     changed(form_of_sizes({2, 4, 4, 16, 20, 8, 8}, {padding}, 5), [](auto& f) { f.mask_over = {true, true, false}; }),
     [](auto& f) { return mask_is(f, {true, true, false}); }},
    {"wrong where the bias is [b, hq, n, m] and m > 40",
     changed(form_of_sizes({2, 4, 4, 16, 90, 8, 8}, {batch_bias, causal}),
             [](auto& f) { f.bias_over = {true, true, true}; }),
     [](auto& f) { return bias_is(f, {true, true, true}) && f.size.m > 40; }},
    {"wrong where any bias and m > 40",
     changed(form_of_sizes({2, 4, 4, 16, 90, 8, 8}, {alibi}), [](auto& f) { f.bias_over = {true, false, false}; }),
     [](auto& f) { return of_group(f, feature_group::bias) && f.size.m > 40; }},
    {"wrong where causal and the mask is [b or 1, hq or 1, n, m]",
     form_of_sizes({2, 4, 4, 16, 20, 8, 8}, {causal, feature::mask}),
     [](auto& f) {
       return f.options.has(causal) && (mask_is(f, {true, false, true}) || mask_is(f, {true, true, true}) ||
                                        mask_is(f, {false, true, true}) || mask_is(f, {false, false, true}));
     }},
    {"wrong where mask byte is a multiple of 2",
     changed(form_of_sizes({2, 2, 2, 9, 40, 8, 8}, {padding}, 4), [](auto& f) { f.mask_byte = 6; }),
     [](auto& f) { return of_group(f, feature_group::mask) && f.mask_byte % 2 == 0; }},
    {"wrong where softcap > 40", form_of_sizes({2, 2, 2, 9, 40, 8, 8}, {softcap, causal}),
     [](auto& f) { return f.options.has(softcap) && f.cap.value_or(50) > 40; }},
    {"wrong where left > 64", form_of_sizes({1, 2, 2, 300, 700, 8, 8}, {window}, 200),
     [](auto& f) { return value_of(f, form_number::left) > 64; }},
    {"wrong where window and left > 64", form_of_sizes({1, 2, 2, 300, 700, 8, 8}, {window}, 200),
     [](auto& f) { return f.options.has(window) && f.length > 65; }},
    {"wrong where any band with a right edge and diagonal > 1000",
     changed(form_of_sizes({1, 2, 2, 16, 16, 8, 8}, {causal}), [](auto& f) { f.diagonal = 1000000; }),
     [](auto& f) { return value_of(f, form_number::diagonal) > 1000; }},
    {"wrong where scale < 0",
     changed(form_of_sizes({1, 2, 2, 16, 16, 8, 8}, {feature::scale}), [](auto& f) { f.scale = -0.5; }),
     [](auto& f) { return f.options.has(feature::scale) && f.scale.value_or(1) < 0; }},
};

std::vector<named> const of_memory{
    {"wrong where V lies in the memory of K", changed(large, [](auto& f) { f.memory.v_in_k = true; }),
     [](auto& f) { return f.memory.v_in_k; }},
    {"wrong where an axis has stride 0", changed(large, [](auto& f) { f.memory.shared_heads = true; }),
     [](auto& f) { return (f.memory.shared_batch && f.size.b > 1) || (f.memory.shared_heads && f.size.hk > 1); }},
    {"wrong where the stride over the batch is 0", changed(large, [](auto& f) { f.memory.shared_batch = true; }),
     [](auto& f) { return f.memory.shared_batch && f.size.b > 1; }},
    {"wrong where rows overlap", changed(large, [](auto& f) { f.memory.overlap = 5; }),
     [](auto& f) { return f.memory.overlap > 0 && f.size.m > 1; }},
    {"wrong where tensors lie as [b, n, h, d] and heads > 1 and m > 1",
     changed(large, [](auto& f) { f.memory.heads_inside = true; }),
     [](auto& f) { return f.memory.heads_inside && f.size.hk > 1 && f.size.m > 1; }},
    {"wrong where byte_offset ≠ 0 and m > 1", changed(large, [](auto& f) { f.memory.unaligned = true; }),
     [](auto& f) { return f.memory.unaligned && f.size.m > 1; }},
    {"wrong where outputs have gaps", changed(large, [](auto& f) { f.memory.row_gap = 7; }),
     [](auto& f) { return f.memory.row_gap > 0; }},
    {"wrong where O is not compact", changed(large, [](auto& f) { f.memory.row_gap = 7; }),
     [](auto& f) { return f.memory.row_gap > 0 || (f.memory.heads_inside && f.size.hq > 1 && f.size.n > 1); }},
    {"wrong where a tensor reaches beyond 2^31 bytes",
     changed(large, [](auto& f) { f.memory.far_batch = std::int64_t{1} << 33; }),
     [](auto& f) { return 4 * reach_of(f) >= std::int64_t{1} << 31; }},
    {"wrong where a tensor reaches beyond 2^31 elements",
     changed(large, [](auto& f) { f.memory.far_head = std::int64_t{1} << 33; }),
     [](auto& f) { return reach_of(f) >= std::int64_t{1} << 31; }},
    {"wrong where a tensor reaches beyond 1500000000 elements",
     changed(large, [](auto& f) { f.memory.far_row = std::int64_t{1} << 33; }),
     [](auto& f) { return reach_of(f) >= 1'500'000'000; }},
};

TEST_CASE("a condition on masks, bands, caps and two lengths is named exactly", "[unit]") {
  for (named const& one : of_features) {
    REQUIRE(one.wrong(one.failing));
    auto const found = find_condition(one.failing, {}, asker_of(one.wrong));
    CHECK(sentence(found) == one.sentence);
    if (found) CHECK(found->questions <= 120);
  }
}

TEST_CASE("a condition on where the tensors lie is named exactly", "[unit]") {
  for (named const& one : of_memory) {
    REQUIRE(one.wrong(one.failing));
    auto const found = find_condition(one.failing, {}, asker_of(one.wrong));
    CHECK(sentence(found) == one.sentence);
    if (found) CHECK(found->questions <= 120);
  }
}

TEST_CASE("an error that some values hardly show is asked with those that show it", "[unit]") {
  using enum value_form;
  auto const asks = [](predicate const& wrong, std::function<double(call_form const&)> const& bounds) {
    return [=](question const& asked) {
      double const seen = wrong(asked.judged) ? bounds(asked.judged) : 0;
      return std::optional(seen > 1 ? given_answer{answer::wrong, 1, seen} : given_answer{});
    };
  };
  predicate const long_rows = [](call_form const& f) { return f.size.m >= 1025; };
  call_form const failing = form_of_sizes({1, 4, 4, 1, 1200, 64, 64});
  // Gaussian values show it a little, in short rows only.
  auto const faint = [](call_form const& f) {
    return f.values == edge_digits ? 50.0 : f.values == gaussian && f.size.m < 1500 ? 1.5 : 0.0;
  };
  CHECK(sentence(find_condition(failing, {}, asks(long_rows, faint))) == "wrong from m = 1025 on");
  for (value_form const values : {edge_digits, digits, pointed, nan_value, weightless_nan, far_block}) {
    auto const only = [values](call_form const& f) { return f.values == values ? 50.0 : 0.0; };
    std::string const says = std::string("wrong where ") + std::string(name_of(values)) + " values and m > 1024";
    CHECK(sentence(find_condition(failing, {}, asks(long_rows, only))) == says);
  }
}

TEST_CASE("values that the failing call does not have are no part of its condition", "[unit]") {
  using enum value_form;
  // It is wrong where scores are far below 0, which no form of values has, and with a NaN that this call does not have.
  predicate const wrong = [](call_form const& f) { return f.values == weightless_nan && f.size.m > 1; };
  call_form const failing = form_of_sizes({1, 1, 1, 8, 8, 8, 8});
  CHECK(sentence(find_condition(failing, {}, asker_of(wrong), 4, {}, std::array{far_block})) == "none");
  CHECK(sentence(find_condition(failing, {}, asker_of(wrong))) == "wrong where NaN-in-V-of-weight-0 values and m > 1");
}

TEST_CASE("lengths that whole blocks divide are asked, however small the failing call", "[unit]") {
  // The last tile is not masked, which a causal edge hides.
  predicate const tail = [](call_form const& f) {
    return f.size.m % 32 != 0 && !f.options.has(causal) && !f.options.has(causal_top_left);
  };
  judged_form const right{form_of_sizes({1, 2, 2, 9, 9, 8, 8}, {causal_top_left}), false};
  for (std::int64_t const m : {1, 5, 24, 70})
    CHECK(sentence(find_condition(form_of_sizes({2, 4, 4, 24, m, 16, 16}), {&right, 1}, asker_of(tail))) ==
          "wrong where m is not a multiple of 32 and no causal and no causal-top-left");
}

TEST_CASE("a form that is too large is asked in a smaller one", "[unit]") {
  auto const found =
      find_condition(form_of_sizes({2, 32, 8, 4096, 4096, 128, 128}, {causal}), {}, [](question const& asked) {
        problem::sizes const& s = asked.judged.size;
        if (s.b * s.hq * s.n * s.m * (s.d + s.dv) > 1 << 26) return std::optional(given_answer{answer::refused});
        bool const wrong = asked.judged.options.has(causal) && s.n > 1024;
        return std::optional(given_answer{wrong ? answer::wrong : answer::right});
      });
  CHECK(sentence(found) == "wrong where causal and n > 1024");
}

TEST_CASE("two calls that compare are named by how they compare", "[unit]") {
  struct history {
    char const* sentence;
    std::function<bool(problem::sizes const& before, problem::sizes const& now)> wrong;
  };
  for (history const &one : std::vector<history>{
           {"wrong directly after a call with m 1 less where n = 1",
            [](auto& before, auto& now) { return now.n == 1 && now.m == before.m + 1; }},
           {"wrong directly after a call with more than 4 times the m",
            [](auto& before, auto& now) { return 4 * now.m < before.m; }},
           {"wrong directly after a call with a larger m", [](auto& before, auto& now) { return now.m < before.m; }},
           {"wrong directly after a call with n > 16 where n = 1",
            [](auto& before, auto& now) { return now.n == 1 && before.n > 16; }},
           {"wrong directly after a call with m = 1 where m > 1",
            [](auto& before, auto& now) { return now.m > 1 && before.m == 1; }}}) {
    auto const found = find_condition(form_of_sizes({1, 2, 2, 1, 30, 16, 16}), {}, [&](question const& asked) {
      call_form const* before = asked.before.empty() ? nullptr : &asked.before.back();
      bool wrong = before && one.wrong(before->size, asked.judged.size);
      wrong |= asked.repeats > 1 && one.wrong(asked.judged.size, asked.judged.size);
      return std::optional(given_answer{wrong ? answer::wrong : answer::right});
    });
    CHECK(sentence(found) == one.sentence);
  }
}

TEST_CASE("a call may have the special values with a NaN only if its V holds one", "[unit]") {
  random_stream random(1, "special");
  problem_draft draft = draft_of(form_of_sizes({1, 2, 2, 5, 9, 8, 8}), problem::element_type::f32, random);
  CHECK(special_values_of(draft) == std::vector{value_form::far_block});
  store(draft.v, 11, std::nan(""));
  CHECK(special_values_of(draft) == std::vector(special_values.begin(), special_values.end()));
}

TEST_CASE("the form of an asked call keeps its memory, mask, window, cap and diagonal", "[unit]") {
  random_stream random(1, "form");
  problem_draft draft =
      draft_of(form_of_sizes({2, 3, 3, 5, 9, 8, 8}, {padding, window, softcap}, 4), problem::element_type::f32, random);
  draft.softcap = 30, draft.band.diagonal = 7;
  draft.mask = owned_tensor::compact(problem::element_type::u8, {2, 3, 1, 9});
  for (std::byte& byte : draft.mask->bytes) byte = std::byte{2};
  draft.bias = owned_tensor::compact(problem::element_type::f32, {2, 3, 5, 9});
  auto const [b, h, m, d] = std::array<std::int64_t, 4>{2, 3, 9, 8};
  draft.k.layout.stride[0] = m * h * d, draft.k.layout.stride[1] = d, draft.k.layout.stride[2] = h * d;
  audit_case made{.check = "strides", .name = "one", .problem = owned_problem::of_valid(draft)};
  made.further.push_back({.is = relation::warm_up, .problem = made.problem, .threads = 3});
  made.further.push_back({.problem = made.problem, .memory = {.row_gap = 4}});
  auto const form = form_asked(made, 0);
  REQUIRE(form);
  CHECK(form->mask_over == std::array{true, true, false});
  CHECK(form->bias_over == std::array{true, true, true});
  CHECK(form->mask_byte == 2);
  CHECK(form->cap == 30.0);
  CHECK(value_of(*form, form_number::left) == 3);
  CHECK(form->diagonal == 7);
  CHECK(form->memory.heads_inside);
  CHECK(form_asked(made, 2)->memory.row_gap == 4);
  auto const before = forms_before(made, 2);
  REQUIRE(before.size() == 3);  // the warm-up, and the first call twice
  CHECK(before[0].threads == 3);
  CHECK(forms_before(made, 1).empty());
  CHECK(b == 2);
}

}  // namespace
}  // namespace attest::audit::condition_traits_test
