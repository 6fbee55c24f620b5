// The condition of a finding is named: kernels that are wrong under a known condition, asked from forms that fail.
#include "audit/condition/condition.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "audit/cases/random.hpp"
#include "tests/support/catch.hpp"

namespace attest::audit::condition_test {
namespace {

using enum feature;
using predicate = std::function<bool(call_form const&)>;

/// A form of any sizes and features.
call_form drawn_form(random_stream& random) {
  auto const between = [&](std::int64_t least, std::int64_t most) {
    double const ratio = static_cast<double>(most) / static_cast<double>(least);
    return std::min(most,
                    static_cast<std::int64_t>(static_cast<double>(least) * std::pow(ratio, random.uniform()) + 0.5));
  };
  call_form form;
  std::int64_t const kv_heads = between(1, 12), group = random.below(2) ? 1 : between(1, 12);
  form.size = {between(1, 24), kv_heads * group, kv_heads, between(1, 4096), between(1, 9000), between(1, 576), 0};
  if (random.below(3) == 0) form.size.n = form.size.m;
  form.size.dv = random.below(2) ? form.size.d : between(1, 576);
  std::int32_t const counts[]{0, 0, 0, 1, 2, 3, 4, 8, 16, 64};
  form.threads = counts[random.below(10)];
  for (feature_group const of : {feature_group::band, feature_group::mask, feature_group::bias})
    if (random.below(3) == 0) {
      std::vector<feature> all;
      for (feature_row const& row : feature_table())
        if (row.group == of) all.push_back(row.id);
      form.options.add(all[static_cast<std::size_t>(random.below(std::ssize(all)))]);
    }
  if (random.below(5) == 0) form.options.add(softcap);
  if (random.below(5) == 0) form.options.add(feature::scale);
  form.length = between(1, form.size.m);
  form.values = static_cast<value_form>(random.below(3));
  return form;
}

struct named {
  char const* sentence;
  predicate wrong;
};

std::int64_t group_of(call_form const& f) { return f.size.hq / f.size.hk; }

std::vector<named> const conditions{
    {"wrong from n = 129 on", [](auto& f) { return f.size.n > 128; }},
    {"wrong where n > 128 and m > 128", [](auto& f) { return f.size.n > 128 && f.size.m > 128; }},
    {"wrong where n·m > 20000", [](auto& f) { return f.size.n * f.size.m > 20000; }},
    {"wrong where n·m > 1000000", [](auto& f) { return f.size.n * f.size.m > 1000000; }},
    {"wrong for m from 300 to 500", [](auto& f) { return f.size.m >= 300 && f.size.m <= 500; }},
    {"wrong where m ≡ 41 mod 64", [](auto& f) { return f.size.m % 64 == 41; }},
    {"wrong where m > 300 and m is not a multiple of 8", [](auto& f) { return f.size.m > 300 && f.size.m % 8 != 0; }},
    {"wrong from m = 4301 on", [](auto& f) { return f.size.m > 4300; }},
    {"wrong from d = 257 on", [](auto& f) { return f.size.d > 256; }},
    {"wrong where d = 80", [](auto& f) { return f.size.d == 80; }},
    {"wrong from dv = 129 on", [](auto& f) { return f.size.dv > 128; }},
    {"wrong from b = 4 on", [](auto& f) { return f.size.b > 3; }},
    {"wrong where b·heads > 24", [](auto& f) { return f.size.b * f.size.hq > 24; }},
    {"wrong where b·heads > 64", [](auto& f) { return f.size.b * f.size.hq > 64; }},
    {"wrong from heads = 13 on", [](auto& f) { return f.size.hq > 12; }},
    {"wrong where heads a kv head > 6", [](auto& f) { return group_of(f) > 6; }},
    {"wrong where heads > 16 and n = 1", [](auto& f) { return f.size.n == 1 && f.size.hq > 16; }},
    {"wrong with 1 thread", [](auto& f) { return f.threads == 1; }},
    {"wrong wherever a number of threads is asked for", [](auto& f) { return f.threads != 0; }},
    {"wrong with more than 4 threads", [](auto& f) { return f.threads > 4; }},
    // Of one number.
    {"wrong up to m = 15", [](auto& f) { return f.size.m < 16; }},
    {"wrong where n = 1", [](auto& f) { return f.size.n == 1; }},
    {"wrong where d is not a multiple of 8", [](auto& f) { return f.size.d % 8 != 0; }},
    {"wrong where d is a multiple of 16", [](auto& f) { return f.size.d % 16 == 0; }},
    {"wrong where m > 31 and m is a power of two",
     [](auto& f) { return (f.size.m & (f.size.m - 1)) == 0 && f.size.m > 16; }},
    {"wrong where heads a kv head is not a power of two",
     [](auto& f) { return !std::has_single_bit(std::uint64_t(group_of(f))); }},
    {"wrong where m is not a multiple of 48", [](auto& f) { return f.size.m % 48 != 0; }},
    {"wrong where m ≡ 1 mod 80", [](auto& f) { return f.size.m % 80 == 1; }},
    {"wrong where b = 5", [](auto& f) { return f.size.b == 5; }},
    {"wrong where no number of threads is asked for", [](auto& f) { return f.threads == 0; }},
    {"wrong for d from 65 to 128", [](auto& f) { return f.size.d > 64 && f.size.d <= 128; }},
    {"wrong from m = 2 on", [](auto& f) { return f.size.m > 1; }},
    // Of two numbers.
    {"wrong where n or m > 128", [](auto& f) { return f.size.n > 128 || f.size.m > 128; }},
    {"wrong where d or dv is not a multiple of 8", [](auto& f) { return f.size.d % 8 != 0 || f.size.dv % 8 != 0; }},
    {"wrong where n < m", [](auto& f) { return f.size.n < f.size.m; }},
    {"wrong where n > m", [](auto& f) { return f.size.n > f.size.m; }},
    {"wrong where n = m", [](auto& f) { return f.size.n == f.size.m; }},
    {"wrong where n ≠ m", [](auto& f) { return f.size.n != f.size.m; }},
    {"wrong where d ≠ dv", [](auto& f) { return f.size.d != f.size.dv; }},
    {"wrong where d < dv", [](auto& f) { return f.size.d < f.size.dv; }},
    // Of features and values.
    {"wrong where causal", [](auto& f) { return f.options.has(causal); }},
    {"wrong where grouped", [](auto& f) { return f.size.hq != f.size.hk; }},
    {"wrong where not grouped", [](auto& f) { return f.size.hq == f.size.hk; }},
    {"wrong where padding and softcap", [](auto& f) { return f.options.has(padding) && f.options.has(softcap); }},
    {"wrong where no softcap", [](auto& f) { return !f.options.has(softcap); }},
    {"wrong with digits values", [](auto& f) { return f.values == value_form::digits; }},
    {"wrong in every form that was asked", [](auto&) { return true; }},
    // Conjunctions.
    {"wrong where causal and grouped and m > 96",
     [](auto& f) { return f.options.has(causal) && f.size.hq != f.size.hk && f.size.m > 96; }},
    {"wrong where causal and n < m", [](auto& f) { return f.options.has(causal) && f.size.n < f.size.m; }},
    {"wrong where window and n > 32 and m is a multiple of 64",
     [](auto& f) { return f.options.has(window) && f.size.m % 64 == 0 && f.size.n > 32; }},
    {"wrong where any bias and d = 64", [](auto& f) { return has_any(f, feature_group::bias) && f.size.d == 64; }},
    {"wrong where n = 1 and threads = 1", [](auto& f) { return f.threads == 1 && f.size.n == 1; }},
    {"wrong where grouped and heads > 12", [](auto& f) { return f.size.hq != f.size.hk && f.size.hq > 12; }},
    {"wrong where b > 1 and dv > 128", [](auto& f) { return f.size.b > 1 && f.size.dv > 128; }},
    {"wrong where n < 16 and m > 1024", [](auto& f) { return f.size.n < 16 && f.size.m > 1024; }},
    {"wrong where m > 255 and d > 64", [](auto& f) { return f.size.d > 64 && f.size.m >= 256; }},
    {"wrong where softcap and m > 40 and no causal",
     [](auto& f) { return f.options.has(softcap) && !f.options.has(causal) && f.size.m > 40; }},
};

/// A form that the predicate says is wrong.
call_form failing_form(random_stream& random, predicate const& wrong) {
  call_form form = drawn_form(random);
  for (int tries = 0; !wrong(form); ++tries) {
    REQUIRE(tries < 1000000);
    form = drawn_form(random);
  }
  return form;
}

std::vector<judged_form> judged_before(random_stream& random, predicate const& wrong, std::uint64_t calls) {
  std::vector<judged_form> earlier;
  for (std::uint64_t n = 0; n < calls; ++n) {
    call_form const form = drawn_form(random);
    earlier.push_back({form, wrong(form)});
  }
  return earlier;
}

std::string sentence(std::optional<condition> const& found) { return found ? found->sentence : "none"; }

TEST_CASE("a condition is named exactly, whatever failing form the search starts from", "[unit]") {
  for (named const& one : conditions)
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      random_stream random(seed, one.sentence);
      call_form const form = failing_form(random, one.wrong);
      auto const earlier = judged_before(random, one.wrong, 100 * (seed % 4));
      auto const found = find_condition(form, earlier, [&](question const& asked) {
        return std::optional(given_answer{one.wrong(asked.judged) ? answer::wrong : answer::right});
      });
      INFO(form.text());
      CHECK(sentence(found) == one.sentence);
      if (found) CHECK(found->questions <= 90);
    }
}

TEST_CASE("a kernel that refuses much is asked what it takes", "[unit]") {
  struct partial {
    char const* sentence;
    predicate takes, wrong;
  };
  auto const square = [](call_form const& f) { return f.size.dv == f.size.d && f.size.d % 8 == 0; };
  for (partial const& one : std::vector<partial>{
           {"wrong from n = 129 on", square, [](auto& f) { return f.size.n > 128; }},
           {"wrong where d = 80", square, [](auto& f) { return f.size.d == 80; }},
           {"wrong from d = 257 on", square, [](auto& f) { return f.size.d > 256; }},
           {"wrong from m = 101 on", [](auto& f) { return f.options.empty() && f.size.hq == f.size.hk; },
            [](auto& f) { return f.size.m > 100; }}})
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      random_stream random(seed, one.sentence);
      call_form const form = failing_form(random, [&](auto& f) { return one.takes(f) && one.wrong(f); });
      auto const found = find_condition(form, {}, [&](question const& asked) {
        call_form const& f = asked.judged;
        return std::optional(given_answer{!one.takes(f)  ? answer::refused
                                          : one.wrong(f) ? answer::wrong
                                                         : answer::right});
      });
      INFO(form.text());
      CHECK(sentence(found) == one.sentence);
    }
}

/// Calls one after another in one process: wrong(calls so far, the call).
std::optional<given_answer> in_a_process(
    question const& asked, std::function<bool(std::vector<call_form> const&, call_form const&)> const& wrong) {
  std::vector<call_form> so_far = asked.before;
  for (std::int64_t n = 0; n < asked.repeats; ++n) {
    if (wrong(so_far, asked.judged)) return given_answer{answer::wrong, std::ssize(so_far) + 1};
    so_far.push_back(asked.judged);
  }
  return given_answer{};
}

TEST_CASE("of two defects no condition is said: the one that failed would not be where the kernel is wrong", "[unit]") {
  predicate const wrong = [](call_form const& f) { return f.options.has(padding) || f.options.has(causal); };
  random_stream random(2, "two defects");
  call_form const form = failing_form(random, [](auto& f) { return f.options.has(padding) && !f.options.has(causal); });
  auto const found = find_condition(form, {}, [&](question const& asked) {
    return std::optional(given_answer{wrong(asked.judged) ? answer::wrong : answer::right});
  });
  CHECK_FALSE(found.has_value());
}

TEST_CASE("an interval above which a number is wrong again is no condition", "[unit]") {
  call_form const form{.size = {1, 1, 1, 24, 24, 8, 8}};
  auto const found = find_condition(form, {}, [&](question const& asked) {
    return std::optional(given_answer{asked.judged.size.m % 32 > 1 ? answer::wrong : answer::right});
  });
  CHECK(sentence(found).find("m from 2 to 31") == std::string::npos);
}

TEST_CASE("a condition on earlier calls is named", "[unit]") {
  auto const any = [](auto& calls, auto&& fits) { return std::any_of(calls.begin(), calls.end(), fits); };
  struct history {
    char const* sentence;
    std::function<bool(std::vector<call_form> const&, call_form const&)> wrong;
  };
  for (history const &one : std::vector<history>{
           {"wrong after a call with m = 1",
            [&](auto& calls, auto&) { return any(calls, [](auto& f) { return f.size.m == 1; }); }},
           {"wrong directly after a call with m = 1",
            [](auto& calls, auto&) { return !calls.empty() && calls.back().size.m == 1; }},
           {"wrong after a call with padding where m > 40",
            [&](auto& calls, auto& now) {
              return now.size.m > 40 && any(calls, [](auto& f) { return f.options.has(padding); });
            }},
           {"wrong from the 2nd call on", [](auto& calls, auto&) { return !calls.empty(); }},
           {"wrong from the 2001st call on", [](auto& calls, auto&) { return calls.size() >= 2000; }},
           {"wrong at every 100th call", [](auto& calls, auto&) { return calls.size() % 100 == 99; }}}) {
    random_stream random(1, one.sentence);
    auto earlier = judged_before(random, [](auto&) { return false; }, 60);
    call_form one_key = drawn_form(random), padded = one_key;
    one_key.size.m = one_key.length = 1, padded.options.add(padding);
    earlier.push_back({padded, false}), earlier.push_back({one_key, false});
    call_form const form = failing_form(random, [](auto& f) { return f.size.m > 100; });
    auto const found =
        find_condition(form, earlier, [&](question const& asked) { return in_a_process(asked, one.wrong); });
    CHECK(sentence(found) == one.sentence);
  }
}

TEST_CASE("a kernel that is wrong by chance has no condition", "[unit]") {
  for (double const chance : {0.5, 0.02, 1e-4})
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      random_stream random(seed, "chance");
      auto const by_chance = [&](call_form const&) { return random.uniform() < chance; };
      auto const earlier = judged_before(random, by_chance, 200);
      auto const found = find_condition(drawn_form(random), earlier, [&](question const& asked) {
        return in_a_process(asked, [&](auto&, call_form const& form) { return by_chance(form); });
      });
      INFO(chance << " " << seed);
      CHECK(sentence(found) == "none");
    }
}

TEST_CASE("without time the condition is what was observed", "[unit]") {
  predicate const wrong = [](call_form const& f) { return f.size.n > 128 && f.options.has(causal); };
  random_stream random(3, "observed");
  call_form const form = failing_form(random, wrong);
  auto const never = [](question const&) { return std::optional<given_answer>(); };
  CHECK(sentence(find_condition(form, {}, never)) == "none");
  auto const found = find_condition(form, judged_before(random, wrong, 2000), never);
  REQUIRE(found);
  CHECK(found->questions == 0);
  CHECK(found->sentence.starts_with("every failing input has causal and n > "));
  CHECK(found->sentence.find("; no passing input has") != std::string::npos);
}

TEST_CASE("time that ends anywhere leaves nothing said that the questions do not bear out", "[unit]") {
  predicate const wrong = [](call_form const& f) { return f.size.n > 128; };
  random_stream random(4, "late");
  call_form const form = failing_form(random, wrong);
  for (int most = 0; most < 60; ++most) {
    int asked_so_far = 0;
    auto const found = find_condition(form, {}, [&](question const& asked) {
      return asked_so_far++ == most ? std::nullopt
                                    : std::optional(given_answer{wrong(asked.judged) ? answer::wrong : answer::right});
    });
    INFO(most);
    if (found && !found->sentence.starts_with("every failing input has n > "))
      CHECK(found->sentence == "wrong from n = 129 on");
  }
}

}  // namespace
}  // namespace attest::audit::condition_test
