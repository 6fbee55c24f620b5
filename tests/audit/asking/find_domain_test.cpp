// The domain of a kernel is found by few calls, exactly where it is a product of sets, and inside it where it is not.
#include "audit/asking/domain/find_domain.hpp"

#include <fmt/format.h>

#include "tests/audit/isolation/isolation.hpp"

namespace attest::tests::find_domain_test {
namespace {

using Catch::Contains;

found_domain found(
    char const* symbol, char const* name = "limited", isolation_limits const& limits = {},
    search_time const& time = {300}, std::function<bool()> const& gives_up = [] { return false; }) {
  ::setenv("ATTEST_RUNNER", ATTEST_TEST_RUNNER, 1);
  auto kernel = kernel_session::open({library(name), symbol}, {}, limits);
  if (!kernel) FAIL(kernel.why().message());
  return find_domain(kernel.value(), *find_contract("f32"), 1, {}, time, gives_up);
}

call_domain domain_of(char const* text) {
  auto read = call_domain::of_text(text);
  if (!read) FAIL(read.why().message());
  return std::move(read).value();
}

struct expected {
  char const *symbol, *text;
};

}  // namespace

TEST_CASE("the domains of usual kernels are found, by at most 300 calls", "[unit]") {
  auto const [symbol, text] =
      GENERATE(expected{"attest_flash", "d=64,128 dv=d n>=1 m>=1 causal=none,bottom-right scale>0"},
               expected{"attest_triton", "d=64,128 dv=d n%128 m=n group=1 causal=none,top-left scale>0"},
               expected{"attest_decode", "d=128 dv=d n=1 m>=1 group=1,4,8 causal=none scale>0"},
               expected{"attest_mla", "d=576 dv=512 n>=1 n<=2 m>=1 kv_heads=1 causal=none,bottom-right scale>0"},
               expected{"attest_cutlass", "d%8 d<=256 dv=d n>=1 m>=1 causal=none,top-left,bottom-right"});
  CAPTURE(symbol);
  found_domain const of = found(symbol);
  CHECK(of.domain.text() == text);
  CHECK(of.domain == domain_of(text));
  CHECK(of.answers.asked <= 300);
  CHECK(of.answers.wrong.empty());
  CHECK(of.answers.died.empty());
}

void check_needs(expected const& of_symbol) {
  CAPTURE(of_symbol.symbol);
  found_domain const of = found(of_symbol.symbol, "needing");
  CHECK(of.domain.text() == of_symbol.text);
  CHECK(of.answers.wrong.empty());
  CHECK(of.answers.died.empty());
}

TEST_CASE("optional inputs that every call must have are found", "[unit]") {
  check_needs(GENERATE(
      expected{"attest_windows_with_mask_or_none", "d=64,128 dv=d m>=n m>=1 causal=window"},
      expected{"attest_needs_mask_or_band", "d=64,128 dv=d needs=mask"},
      expected{"attest_needs_mask", "d=64,128 dv=d causal=none needs=mask"},
      expected{"attest_needs_mask_and_bias", "d=64,128 dv=d causal=none needs=mask,bias"},
      expected{"attest_asserts_bias", "d=64,128 dv=d causal=none needs=bias"},
      expected{"attest_biases_latents", "d=192 dv=128 causal=none needs=bias"},
      expected{"attest_caps_groups", "d=64,128 dv=d group>=2 needs=softcap"},
      expected{"attest_needs_lengths", "causal=none needs=k_lengths"},
      expected{"attest_asserts_decoding", "d=64,128 dv=d n=1 group%2 causal=none needs=k_lengths weights=never"}));
}

TEST_CASE("packed queries beside keys in pages that every call must have are found", "[slow]") {
  check_needs(GENERATE(
      expected{"attest_needs_packed_queries_and_pages", "causal=none needs=k_lengths,q_offsets,block_table"},
      expected{"attest_needs_packed_queries_and_pages_of_32", "causal=none needs=k_lengths,q_offsets,block_table:32"}));
}

TEST_CASE("groups are found as a rule where they have one, as a list otherwise", "[unit]") {
  auto const [symbol, group] =
      GENERATE(expected{"attest_groups_from_4", "group>=4"}, expected{"attest_asserts_groups_from_4", "group>=4"},
               expected{"attest_groups_in_fours", "group%4"}, expected{"attest_groups_up_to_6", "group>=1 group<=6"});
  CAPTURE(symbol);
  found_domain const of = found(symbol);
  CHECK_THAT(of.domain.text(), Contains(fmt::format("m>=1 {} causal=none,bottom-right scale>0", group)));
  CHECK(of.domain == domain_of(of.domain.text().c_str()));
  CHECK(of.answers.asked <= 300);
  CHECK(of.answers.wrong.empty());
}

TEST_CASE("rules between queries and keys are found", "[unit]") {
  auto const [symbol, text] =
      GENERATE(expected{"attest_long_keys", "m>=2n causal=none"}, expected{"attest_few_keys", "n>=m causal=none"},
               expected{"attest_generates", "d=64,128 dv=d n=1,m m%16 causal=none,top-left,bottom-right scale>0"},
               expected{"attest_prompts_are_causal", "d=64,128 dv=d n=1,m m%16 causal=none,square scale>0"},
               expected{"attest_tiles_or_one", "d=64,128 dv=d n%128,1 m>=1 causal=none scale>0"},
               expected{"attest_half_tiles_or_one", "d=64,128 dv=d n%128,1 m>=2n m>=2 causal=none scale>0"},
               expected{"attest_double_values", "d=32,64,96,128 dv=64,128,192,256 causal=none"});
  CAPTURE(symbol);
  found_domain const of = found(symbol);
  CHECK(of.domain.text() == text);
  CHECK(of.answers.wrong.empty());
  CHECK(of.answers.died.empty());
}

TEST_CASE("optional outputs that every call must ask for, or none, are found", "[unit]") {
  auto const [symbol, text] =
      GENERATE(expected{"attest_asserts_lse", "d=64,128 dv=d n>=1 m>=1 causal=none,bottom-right scale>0 lse=always"},
               expected{"attest_asserts_no_lse", "d=64,128 dv=d n>=1 m>=1 causal=none,bottom-right scale>0 lse=never"},
               expected{"attest_asserts_no_weights", "weights=never"});
  CAPTURE(symbol);
  found_domain const of = found(symbol);
  CHECK(of.domain.text() == text);
  CHECK(of.domain == domain_of(text));
  CHECK(of.answers.died.empty());
}

TEST_CASE("rules that depend on each other give a domain inside them", "[unit]") {
  found_domain const heads = found("attest_trap_of_heads");
  // Causal is taken where n = m alone, the granule of queries is the granule of the coarser head size.
  CHECK(heads.domain.text() == "d=64,128 dv=d n%128 m>=1 kv_heads>=2 causal=none,square scale>0");
  CHECK(heads.answers.asked <= 300);
  found_domain const words = found("attest_trap_of_words");
  CHECK(words.domain.text() == "d=64 dv=d n>=1 m>=1 m<=2048 group=8 causal=bottom-right scale=stated lse=always");
  CHECK(words.answers.asked <= 300);
}

TEST_CASE("a search without time is cut short and says so", "[unit]") {
  found_domain const of = found("attest_flash", "limited", {}, {0});
  CHECK(of.answers.cut_short);
  CHECK(of.answers.asked == 0);
  CHECK(!found("attest_flash").answers.cut_short);
}

TEST_CASE("a kernel without limits is asked 14 calls", "[unit]") {
  found_domain const of = found("attest_attention", "naive");
  CHECK(of.domain.is_everything());
  CHECK(of.answers.asked == 14);
  CHECK(of.answers.answered == 14);
  CHECK(of.answers.wrong.empty());
}

TEST_CASE("a kernel that answers nothing has no smaller domain", "[slow]") {
  found_domain const of = found("attest_attention", "refuses");
  CHECK(of.domain.is_everything());
  CHECK(of.answers.answered == 0);
  int asked = 0;
  found_domain const usual = found("attest_attention", "refuses", {}, {300}, [&] { return ++asked == 1; });
  CHECK(asked == 1);
  CHECK(usual.answers.asked * 4 < of.answers.asked);
  found_domain const fails = found("attest_always_fails");
  CHECK(fails.domain.is_everything());
  CHECK(fails.answers.asked == domain_questions::most_errors_before_an_answer);
}

TEST_CASE("an error outside is no part of the domain, and is kept", "[unit]") {
  found_domain const of = found("attest_fails");
  CHECK(of.domain == found("attest_flash").domain);
  REQUIRE_FALSE(of.answers.erred.empty());
  CHECK_THAT(of.answers.erred.front().sentence, Contains("FAILED"));
}

TEST_CASE("little is asked beyond an edge where the kernel dies", "[unit]") {
  found_domain const of = found("attest_dies");
  CHECK(std::ssize(of.answers.died) <= domain_questions::most_deaths);
  CHECK(of.domain == found("attest_triton").domain);
  found_domain const hangs = found("attest_hangs", "limited", {.seconds = 0.3, .resting_seconds = 1});
  CHECK(hangs.answers.asked == 1);
  CHECK(hangs.answers.died.size() == 1);
}

TEST_CASE("an end by assert() or exit() outside the domain may be a refusal, one by spoilt memory is none", "[unit]") {
  for (char const* symbol : {"attest_asserts", "attest_exits"}) {
    CAPTURE(symbol);
    found_domain const of = found(symbol);
    CHECK(of.domain == found("attest_triton").domain);
    CHECK(of.answers.died.empty());
    CHECK_FALSE(of.answers.failed.empty());
  }
  found_domain const spoilt = found("attest_aborts");
  CHECK_FALSE(spoilt.answers.died.empty());
  CHECK(spoilt.answers.failed.empty());
}

TEST_CASE("domains that are unusual in two axes are found", "[nightly]") {
  auto const [symbol, text] =
      GENERATE(expected{"attest_groups_of_3", "d=96 dv=d n%48,0 m>=2n group=3 causal=none"},
               expected{"attest_narrow_values", "d=64 dv=32 n%32,0 m=n causal=top-left"},
               expected{"attest_only_windows", "d=48 dv=d m>=n m>=1 causal=window"},
               expected{"attest_stated_windows", "d%16 d<=256 dv=d causal=window scale=stated"});
  CAPTURE(symbol);
  found_domain const of = found(symbol);
  CHECK(of.domain.text() == text);
  CHECK(of.answers.wrong.empty());
}

TEST_CASE("calls that take long are few", "[unit]") {
  found_domain const whole = found("attest_attention", "sleeps_20_ms");
  CHECK(whole.domain.is_everything());
  CHECK_FALSE(whole.answers.cut_short);
  found_domain const slow = found("attest_attention", "sleeps_20_ms", {}, {300, 0.2});
  CHECK(slow.domain.is_everything());
  CHECK((slow.answers.slow && slow.answers.cut_short));
  CHECK(slow.answers.asked < whole.answers.asked);
  // A quick answer says that others take long by their sizes.
  CHECK_FALSE(found("attest_attention", "naive", {}, {300, 1}).answers.slow);
}

TEST_CASE("what is answered wrongly is in the domain, and is kept", "[unit]") {
  found_domain const of = found("attest_forgets");
  CHECK(of.domain == found("attest_flash").domain);
  REQUIRE_FALSE(of.answers.wrong.empty());
  for (domain_call const& wrong : of.answers.wrong) CHECK(wrong.size.m % 64 != 0);
}

TEST_CASE("a call is made again from its name", "[unit]") {
  domain_call const call{{1, 4, 2, 3, 5, 6, 5}, band_form::diagonal, domain_call::scaling::zero};
  auto const again = domain_call::of_name(call.name());
  REQUIRE(again);
  CHECK(again->name() == call.name());
  CHECK(again->size == call.size);
  CHECK(case_of(call, element_type::f32, 1).problem.draft().scale == 0);
  CHECK(band_form_of(case_of(call, element_type::f32, 1).problem.draft(), call.size) == band_form::diagonal);
  domain_call with = call;
  with.needs = domain_of("needs=mask,k_lengths").needs;
  auto const supplied = domain_call::of_name(with.name());
  REQUIRE(supplied);
  CHECK(supplied->needs == with.needs);
  CHECK(case_of(*supplied, element_type::f32, 1).problem.draft().k_lengths);
  for (char const* name : {"", "plain", "b1-hq3-hk2-n1-m1-d1-dv1", "b1-hq1-hk1-n1-m1-d0-dv1",
                           "b1-hq1-hk1-n1-m1-d1-dv1x", "b9999-hq9999-hk1-n9999-m1-d1-dv1"})
    CHECK_FALSE(domain_call::of_name(name));
}

}  // namespace attest::tests::find_domain_test
