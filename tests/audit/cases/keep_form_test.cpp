// Forms are moved into the domain of a kernel, and made inside it.
#include "audit/cases/domain/keep_form.hpp"

#include <set>
#include <string>
#include <vector>

#include "audit/cases/forms/drawn.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::keep_form_test {
using namespace attest::audit;
using attest::problem::element_type;
using attest::problem::sizes;

namespace {

call_domain domain_of(std::string const& text) { return call_domain::of_text(text).value(); }

/// The domains of typical kernels, and some with rare rules.
std::vector<std::string> const domains{
    "d=64,128 dv=d causal=none,bottom-right scale>0",
    "d=64,128 dv=d n%128 n>=128 m=n group=1 causal=none,top-left scale>0",
    "d=128 dv=d n=1 group=1,4,8 causal=none",
    "d=576 dv=512 n=1,2 kv_heads=1 causal=none,bottom-right",
    "d%8 d>=8 d<=256 dv=d n>=1 m>=1 causal=none,top-left,bottom-right",
    "d=64 dv=64 n%64 n>=64 m>=n m%128 m>=128 causal=bottom-right scale=default",
    "d=64 dv=d n%16 m%16 causal=none,square scale=stated",
    "d=64,192 dv=64,128 batch=1 group=2,6 n>=3 m<=2048 causal=window",
    "d=64 dv=d needs=k_lengths",
    "d=64,128 dv=d n=1,m m%16 causal=none,bottom-right,window",
    "d=64 dv=d n%128,1 m%64 causal=none,square",
};

call_form odd_form() {
  return {.size = {3, 10, 5, 7, 23, 13, 5}, .options = {feature::causal, feature::scale}, .length = 9, .scale = -2};
}

}  // namespace

TEST_CASE("a form that a domain takes stays as it is, and any other moves into it", "[unit]") {
  random_stream random(1, "keep");
  for (std::string const& text : domains) {
    call_domain const domain = domain_of(text);
    for (int draw = 0; draw < 300; ++draw) {
      call_form form = drawn_form(random, element_type::f32, {.bytes = 1 << 28, .products = 1 << 28}, {});
      if (draw % 3 == 0) form.options.add(feature::scale), form.scale = draw % 2 == 0 ? -0.5 : 0;
      if (draw % 5 == 0) form.diagonal = 3;
      if (draw % 7 == 0) form.size.hq = form.size.hk = 0;
      INFO(text << "  " << form.text());
      keep_to(domain, form);
      CHECK(takes(domain, form));
      call_form const kept = form;
      keep_to(domain, form);
      CHECK(form == kept);
    }
  }
  call_form form = odd_form();
  keep_to(call_domain{}, form);
  CHECK(form == odd_form());
}

TEST_CASE("sizes move to the next members, kv heads to batch entries, bands and scales to the nearest", "[unit]") {
  auto const kept = [](std::string const& text, call_form form) {
    keep_to(domain_of(text), form);
    return form;
  };
  CHECK(kept("d=64,128 dv=d", odd_form()).size == sizes{3, 10, 5, 7, 23, 64, 64});
  CHECK(kept("n%16 n>=16 m%64 m>=64", odd_form()).size == sizes{3, 10, 5, 16, 64, 13, 5});
  CHECK(kept("n%16 n>=16 m=n", odd_form()).size == sizes{3, 10, 5, 32, 32, 13, 5});
  CHECK(kept("n=1,m m%16", odd_form()).size == sizes{3, 10, 5, 32, 32, 13, 5});
  call_form one_query = odd_form();
  one_query.size.n = 1;
  CHECK(kept("n=1,m m%16", one_query).size == sizes{3, 10, 5, 1, 32, 13, 5});
  CHECK(kept("n%128,1", one_query).size == sizes{3, 10, 5, 1, 23, 13, 5});
  CHECK(kept("n=40 m>=n", odd_form()).size == sizes{3, 10, 5, 40, 40, 13, 5});
  CHECK(kept("kv_heads=1 group=1,4", odd_form()).size == sizes{15, 4, 1, 7, 23, 13, 5});
  CHECK(kept("d<=8", odd_form()).size == sizes{3, 10, 5, 7, 23, 8, 5});
  CHECK(kept("causal=none,top-left", odd_form()).options.has(feature::causal_top_left));
  CHECK_FALSE(has_any(kept("causal=none", odd_form()), feature_group::band));
  CHECK(kept("scale>0", odd_form()).scale == 2);
  CHECK_FALSE(kept("scale=default", odd_form()).options.has(feature::scale));
  CHECK(kept("scale=stated", odd_form()).scale == 2);
  call_form const square = kept("causal=none,square", odd_form());
  CHECK((square.options.has(feature::causal) && square.size.n == square.size.m));
  call_form plain = odd_form();
  plain.options = {};
  CHECK(kept("causal=bottom-right", plain).options.has(feature::causal));
  CHECK(kept("scale=stated", plain).options.has(feature::scale));
  plain.options = {feature::window};
  CHECK(kept("causal=none,bottom-right", plain).options.has(feature::causal));
  plain.options = {feature::symmetric_window};
  CHECK(kept("causal=none,bottom-right", plain).options.empty());
  // With n = m both forms of causal are one.
  plain.options = {feature::causal}, plain.size.n = plain.size.m;
  CHECK(kept("causal=none,top-left", plain).options.has(feature::causal));
}

}  // namespace attest::tests::keep_form_test
