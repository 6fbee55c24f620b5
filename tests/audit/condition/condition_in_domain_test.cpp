// The condition of a finding is named for kernels that take one domain only, where a question outside is refused.
#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <vector>

#include "audit/cases/domain/keep_form.hpp"
#include "audit/cases/forms/drawn.hpp"
#include "audit/condition/condition.hpp"
#include "tests/support/catch.hpp"

namespace attest::audit::condition_in_domain_test {
namespace {

using predicate = std::function<bool(call_form const&)>;

std::string const tutorial = "d=64,128 dv=d n%128 m=n group=1 causal=none,top-left scale>0",
                  flash = "d=64,128 dv=d causal=none,bottom-right scale>0",
                  decoding = "d=128 dv=d n=1 group=1,4,8 causal=none",
                  generating = "d=64,128 dv=d n=1,m m%16 causal=none,bottom-right,window";

struct planted {
  std::string domain;
  std::string sentence;
  predicate wrong;
};

bool has_band(call_form const& f) { return has_any(f, feature_group::band); }

std::vector<planted> const defects{
    {tutorial, "wrong in every form that was asked", [](auto&) { return true; }},
    {tutorial, "wrong where causal", has_band},
    {tutorial, "wrong where d = 128", [](auto& f) { return f.size.d == 128; }},
    {tutorial, "wrong from n = 257 on", [](auto& f) { return f.size.n > 256; }},
    {tutorial, "wrong where n = 256", [](auto& f) { return f.size.n == 256; }},
    {tutorial, "wrong where causal and d = 128", [](auto& f) { return has_band(f) && f.size.d == 128; }},
    {tutorial, "wrong from heads = 5 on", [](auto& f) { return f.size.hq > 4; }},
    {flash, "wrong from m = 129 on", [](auto& f) { return f.size.m > 128; }},
    {flash, "wrong where causal and m > 128", [](auto& f) { return has_band(f) && f.size.m > 128; }},
    {flash, "wrong where n > m", [](auto& f) { return f.size.n > f.size.m; }},
    {decoding, "wrong where heads a kv head = 8", [](auto& f) { return f.size.hq == 8 * f.size.hk; }},
    {generating, "wrong in every form that was asked", [](auto&) { return true; }},
    {generating, "wrong where n = 1", [](auto& f) { return f.size.n == 1; }},
    {generating, "wrong where any window and n = 1",
     [](auto& f) {
       return f.size.n == 1 && (f.options.has(feature::window) || f.options.has(feature::symmetric_window));
     }},
    {generating, "wrong from m = 257 on", [](auto& f) { return f.size.m > 256; }},
    {decoding, "wrong where m is not a multiple of 64", [](auto& f) { return f.size.m % 64 != 0; }},
};

}  // namespace

TEST_CASE("a condition inside a domain is named", "[unit]") {
  for (planted const& one : defects)
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      call_domain const domain = call_domain::of_text(one.domain).value();
      random_stream random(seed, one.sentence);
      auto const drawn = [&] { return drawn_form(random, problem::element_type::f32, {1 << 28, 1 << 28}, {}, domain); };
      call_form failing = drawn();
      while (!one.wrong(failing)) failing = drawn();
      std::vector<judged_form> earlier;
      for (int before = 0; before < 100; ++before) {
        call_form const form = drawn();
        earlier.push_back({form, one.wrong(form)});
      }
      int outside = 0;
      auto const found = find_condition(
          failing, earlier,
          [&](question const& asked) {
            bool const inside = takes(domain, asked.judged);
            outside += !inside;
            return std::optional(given_answer{!inside                   ? answer::refused
                                              : one.wrong(asked.judged) ? answer::wrong
                                                                        : answer::right});
          },
          4, domain);
      INFO(one.domain << "  " << failing.text());
      CHECK((found ? found->sentence : "none") == one.sentence);
      if (found) CHECK(found->questions <= 150);
    }
}

TEST_CASE("a condition that is stated holds for every wrong answer of its search", "[unit]") {
  call_domain const domain = call_domain::of_text("d=64,128 dv=d n%64 m%64 group=1 causal=none,window").value();
  auto const wrong = [](call_form const& f) {
    return has_band(f) && f.size.m > f.size.n && (f.size.m - f.size.n) % 128 == 64;
  };
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    random_stream random(seed, "odd tiles apart");
    call_form failing{.size = {1, 2, 2, 64, 128, 64, 64}};
    while (!wrong(failing)) failing = drawn_form(random, problem::element_type::f32, {1 << 28, 1 << 28}, {}, domain);
    std::vector<call_form> met;
    auto const found = find_condition(
        failing, {},
        [&](question const& asked) {
          bool const inside = takes(domain, asked.judged), is_wrong = inside && wrong(asked.judged);
          if (is_wrong) met.push_back(asked.judged);
          return std::optional(given_answer{is_wrong ? answer::wrong : inside ? answer::right : answer::refused});
        },
        4, domain);
    INFO(failing.text() << "  " << (found ? found->sentence : "none"));
    if (found) CHECK(std::ranges::all_of(met, found->holds));
  }
}

TEST_CASE("a condition speaks of the calls around one if wrong calls lie outside it", "[unit]") {
  call_form causal{.size = {1, 1, 1, 4, 4, 8, 8}}, masked = causal;
  causal.options.add(feature::causal), masked.options.add(feature::mask);
  condition const found{.sentence = "wrong where causal", .clauses = {"causal"}, .holds = has_band};
  CHECK(sentence_beside(found, std::array{judged_form{causal, true}, judged_form{masked, false}}) ==
        "wrong where causal");
  CHECK(sentence_beside(found, std::array{judged_form{causal, true}, judged_form{masked, true}}) ==
        "around this call: wrong where causal");
}

}  // namespace attest::audit::condition_in_domain_test
