// Draws, production shapes and the cases of features lie in the domain of a kernel, and meet all of it.
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "audit/cases/domain/keep_form.hpp"
#include "audit/cases/forms/drawn.hpp"
#include "audit/cases/forms/production.hpp"
#include "audit/cases/forms/support_cases.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::domain_forms_test {
using namespace attest::audit;
using attest::problem::element_type;
using attest::problem::sizes;

namespace {

std::string const flash = "d=64,128 dv=d causal=none,bottom-right scale>0",
                  tutorial = "d=64,128 dv=d n%128 n>=128 m=n group=1 causal=none,top-left scale>0",
                  decoding = "d=128 dv=d n=1 group=1,4,8 causal=none",
                  latent = "d=576 dv=512 n=1,2 kv_heads=1 causal=none,bottom-right",
                  padded = "d%8 d>=8 d<=256 dv=d n>=1 m>=1 causal=none,top-left,bottom-right",
                  square = "d=64 dv=d n%16 m%16 causal=none,square scale=stated",
                  generating = "d=64,128 dv=d n=1,m m%16 causal=none,bottom-right,window scale>0",
                  always_causal = "d=64 dv=d n%64 n>=64 m>=n m%128 m>=128 group=8 causal=bottom-right scale=default",
                  in_pages = "d=64,128 dv=d n=1 group=4 causal=none needs=k_lengths,block_table",
                  in_rows = "d=64,128 dv=d causal=none,bottom-right needs=q_offsets,k_offsets";
std::vector<std::string> const in_slots{flash, tutorial, decoding, latent, padded, square, generating, always_causal};

shape_limits limits_in(std::string const& text) {
  shape_limits limits;
  limits.call = {.bytes = 1 << 25, .products = 1 << 25};
  limits.domain = call_domain::of_text(text).value();
  return limits;
}

/// Packed and paged tensors have no slots: their form alone says whether they are in the domain, and they lie in memory
/// as offsets or a table say.
bool lies_in(call_domain const& domain, audit_case const& made) {
  bool all = made.form && takes(domain, *made.form);
  for (std::size_t call = 0; call <= made.further.size(); ++call) {
    problem_draft const& draft = made.call(call).draft();
    all = all && (!draft.has_slots() || domain.takes(draft, made.call(call).size()));
    all = all && !memory_fault(made.call(call), made.memory_of(call));
  }
  return all;
}

std::set<std::string> names_of(std::vector<audit_case> const& cases) {
  std::set<std::string> names;
  for (audit_case const& one : cases) names.insert(one.name);
  return names;
}

}  // namespace

TEST_CASE("every call of a drawn case is in the domain", "[unit]") {
  for (std::string const& text : in_slots) {
    shape_limits const limits = limits_in(text);
    for (std::int64_t number = 1; number <= 40; ++number) {
      audit_case const made = drawn_case(element_type::f32, 3, number, limits);
      INFO(text << "  " << made.form->text());
      CHECK(lies_in(limits.domain, made));
    }
  }
}

TEST_CASE("draws and production shapes with the offsets or the table that a kernel needs have no form in memory",
          "[unit]") {
  for (std::string const& text : {in_pages, in_rows}) {
    shape_limits const limits = limits_in(text);
    auto const check = [&](audit_case const& made) {
      INFO(text << "  " << made.name << "  " << made.form->text());
      for (std::size_t call = 0; call <= made.further.size(); ++call)
        CHECK_FALSE(memory_fault(made.call(call), made.memory_of(call)));
    };
    for (std::int64_t number = 1; number <= 200; ++number) check(drawn_case(element_type::f32, 3, number, limits));
    for (production_shape const& row : production_shapes())
      if (!why_not_asked(row, element_type::bf16, limits)) check(production_case(row, element_type::bf16, 1, limits));
  }
}

TEST_CASE("drawn calls and shown ones and production shapes have the inputs that a kernel needs", "[unit]") {
  for (char const* needed : {"mask", "bias", "softcap", "sink", "k_lengths", "q_lengths,k_lengths", "mask,block_table",
                             "q_offsets,k_offsets", "k_lengths,k_offsets", "block_table:32"}) {
    shape_limits const limits = limits_in(fmt::format("d=64 dv=d needs={}", needed));
    int of_entries = 0;
    auto const check = [&](audit_case const& made) {
      INFO(needed << "  " << made.name << "  " << made.form->text());
      CHECK(takes(limits.domain, *made.form));
      for (std::size_t call = 0; call <= made.further.size(); ++call)
        CHECK(limits.domain.needs.all_in(made.call(call).draft()));
      made.form->options.each([&](feature one) { of_entries += row_of(one).group == feature_group::entries; });
    };
    for (audit_case const& shown : support_cases(element_type::f32, 1, limits.domain)) check(shown);
    for (std::int64_t number = 1; number <= 60; ++number) check(drawn_case(element_type::f32, 3, number, limits));
    for (production_shape const& row : production_shapes())
      if (!why_not_asked(row, element_type::bf16, limits)) check(production_case(row, element_type::bf16, 1, limits));
    CHECK(of_entries > 0);
  }
}

TEST_CASE("a kernel that needs lengths of keys or pages of 32 is asked others of this kind", "[unit]") {
  auto const shown = [](char const* needs, feature one) {
    call_domain const domain = limits_in(fmt::format("d=64 dv=d needs={}", needs)).domain;
    return support_case({one}, element_type::f32, 1, domain)->problem.draft();
  };
  problem_draft const keys = shown("k_lengths", feature::lengths), queries = shown("q_lengths", feature::lengths);
  CHECK((keys.k_lengths && !keys.q_lengths && queries.q_lengths && !queries.k_lengths));
  needed_inputs lengths;
  lengths.add(needed_inputs::input::k_lengths);
  CHECK(lengths.usual_in(keys, {2, 4, 4, 24, 24, 64, 64}).empty());
  problem_draft const pages = shown("block_table:32", feature::paged);
  CHECK((pages.k.layout.shape[2] == 32 && !pages.q_lengths));
}

TEST_CASE("what cannot stand beside a needed input is no question", "[unit]") {
  auto const names = [](char const* needs) {
    return names_of(support_cases(element_type::f32, 1, limits_in(fmt::format("d=64 dv=d needs={}", needs)).domain));
  };
  CHECK((names("mask").contains("paged") && names("mask").contains("lengths") && !names("mask").contains("packed")));
  CHECK((names("k_lengths").contains("packed") && !names("block_table").contains("packed")));
  CHECK_FALSE((names("q_offsets").contains("mask") || names("q_offsets").contains("bias-1hnm")));
  CHECK_FALSE((names("q_offsets").contains("block-mask") || names("k_offsets").contains("paged")));
}

TEST_CASE("drawn forms meet one query beside many keys where a domain has both", "[unit]") {
  call_domain const domain = limits_in(generating).domain;
  random_stream random(4, "one query");
  int one = 0, window = 0;
  for (int draw = 0; draw < 400; ++draw) {
    call_form const form = drawn_form(random, element_type::f32, {1 << 26, 1 << 26}, {}, domain);
    REQUIRE(takes(domain, form));
    one += form.size.n == 1 && form.size.m > 16;
    window += form.size.n == 1 && form.options.has(feature::window);
  }
  CHECK((one > 50 && one < 200));
  CHECK(window > 0);
}

TEST_CASE("drawn forms meet each listed size, the edges and the multiples of a domain", "[unit]") {
  call_domain const domain = limits_in(tutorial).domain;
  random_stream random(2, "members");
  std::map<std::int64_t, int> widths, lengths;
  int causal = 0, same = 0;
  call_form last;
  for (int draw = 0; draw < 1000; ++draw) {
    call_form const form = drawn_form(random, element_type::f32, {1 << 26, 1 << 26}, {}, domain);
    REQUIRE(takes(domain, form));
    ++widths[form.size.d], ++lengths[form.size.n / 128];
    causal += has_any(form, feature_group::band);
    same += form.size == last.size;
    last = form;
  }
  CHECK((widths[64] > 200 && widths[128] > 200));
  for (std::int64_t const multiple : {1, 2, 3, 5}) CHECK(lengths[multiple] > 10);
  CHECK((causal > 100 && causal < 500));
  CHECK(same < 300);
}

TEST_CASE("a kernel's features are learned at sizes of its domain", "[unit]") {
  for (std::string const& text : in_slots) {
    shape_limits const limits = limits_in(text);
    for (audit_case const& shown : support_cases(element_type::f32, 1, limits.domain)) {
      INFO(text << "  " << shown.name << "  " << shown.form->text());
      CHECK(lies_in(limits.domain, shown));
    }
  }
  auto const names = [](std::string const& text) {
    return names_of(support_cases(element_type::f32, 1, limits_in(text).domain));
  };
  auto const in_flash = names(flash), in_tutorial = names(tutorial), in_decoding = names(decoding),
             in_latent = names(latent), in_always = names(always_causal);
  for (char const* name :
       {"plain", "grouped", "unequal-lengths", "causal", "grouped+causal", "mask", "softcap+lengths"})
    CHECK(in_flash.contains(name));
  for (char const* name : {"value-width", "odd-width", "window", "causal-top-left", "grouped+value-width"})
    CHECK_FALSE(in_flash.contains(name));
  CHECK((in_tutorial.contains("causal") && in_tutorial.contains("scale")));
  CHECK_FALSE((in_tutorial.contains("grouped") || in_tutorial.contains("unequal-lengths")));
  CHECK((in_decoding.contains("grouped") && in_decoding.contains("softcap") && !in_decoding.contains("causal")));
  // Every call has n ≠ m and dv ≠ d: they are no features of a question.
  CHECK((in_latent.contains("grouped") && in_latent.contains("grouped+causal") && in_latent.contains("mask")));
  CHECK_FALSE((in_latent.contains("value-width") || in_latent.contains("unequal-lengths")));
  CHECK((names(square).contains("causal") && !names(square).contains("unequal-lengths+causal")));
  CHECK_FALSE((names(square).contains("causal-top-left") || names(square).contains("scale")));
  for (char const* name : {"unequal-lengths", "unequal-lengths+window", "causal", "window+softcap"})
    CHECK(names(generating).contains(name));
  CHECK((in_always.contains("plain") && in_always.contains("mask") && !in_always.contains("causal")));
  CHECK_FALSE((in_always.contains("grouped") || in_always.contains("scale")));
}

TEST_CASE("a refusal says nothing of what every call of the domain has", "[unit]") {
  call_domain const domain = limits_in(latent).domain;
  support answers;
  for (audit_case const& shown : support_cases(element_type::f32, 1, domain))
    if (shown.name == "softcap" || shown.name == "mask+scale") note_refusal(answers, *shown.form, domain);
  CHECK_FALSE(answers.answers(feature::softcap));
  CHECK_FALSE(answers.answers(feature::mask, feature::scale));
  CHECK((answers.answers(feature::mask) && answers.answers(feature::value_width) && answers.answers(feature::unequal)));
}

TEST_CASE("production shapes are cut where causal needs as many keys as queries", "[unit]") {
  shape_limits limits = limits_in("d>=1 d<=128 dv=d causal=none,square");
  limits.call.products = std::int64_t{1} << 24;
  for (production_shape const& row : production_shapes()) {
    if (why_not_asked(row, element_type::bf16, limits)) continue;
    call_form const form = production_call_of(row, element_type::bf16, limits).form;
    auto const& [b, hq, hk, n, m, d, dv] = form.size;
    INFO(row.name << "  " << form.text());
    CHECK(b * hq * n * m * (d + dv) <= limits.call.products);
  }
}

TEST_CASE("production shapes move into the domain, and are asked once", "[unit]") {
  for (std::string const& text : in_slots) {
    shape_limits limits = limits_in(text);
    for (feature const one : {feature::padding, feature::left_padding, feature::paged, feature::softcap})
      limits.answers.refuse(one);
    int asked = 0;
    std::set<std::string> forms;
    for (production_shape const& row : production_shapes()) {
      if (why_not_asked(row, element_type::bf16, limits)) continue;
      call_form const form = production_call_of(row, element_type::bf16, limits).form;
      INFO(text << "  " << row.name << "  " << form.text());
      CHECK(takes(limits.domain, form));
      CHECK_FALSE((form.options.has(feature::padding) || form.options.has(feature::paged)));
      forms.insert(fmt::format("{} {} {}", form.text(), form.length, form.scale.value_or(0)));
      if (asked % 8 == 0) CHECK(lies_in(limits.domain, production_case(row, element_type::bf16, 1, limits)));
      ++asked;
    }
    INFO(text << ": " << asked);
    CHECK(asked >= 5);
    CHECK(std::ssize(forms) == asked);
  }
  production_shape const& first = production_shapes().front();
  CHECK_FALSE(why_not_asked(first, element_type::bf16, {}));
}

}  // namespace attest::tests::domain_forms_test
