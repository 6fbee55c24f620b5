// The sentences about refusals that features do not explain.
#include "audit/report/coverage/refusal_pattern.hpp"

#include "tests/support/catch.hpp"

namespace attest::audit::refusal_pattern_test {
namespace {

constexpr call_replies refused{.call = reply::refused};

call_form with_keys(std::int64_t m, feature_set options = {}) {
  return {.size = {1, 8, 8, m, m, 64, 64}, .options = options};
}
call_form decode(std::int64_t m) { return {.size = {1, 8, 8, 1, m, 64, 64}, .options = {}}; }

/// One query for each number of keys, refused where `wrong` says so; asked twice.
template <class F>
std::vector<asked_call> asked_for(std::initializer_list<std::int64_t> keys, F&& wrong) {
  std::vector<asked_call> calls;
  for (int again = 0; again < 2; ++again)
    for (std::int64_t const m : keys) calls.push_back({decode(m), wrong(m) ? refused : call_replies{}});
  return calls;
}

using sentences = std::vector<std::string>;

TEST_CASE("a refusal from some size on is a bound", "[unit]") {
  CHECK(refusal_patterns(asked_for({1, 16, 128, 129, 4096}, [](auto m) { return m > 128; })) ==
        sentences{"the kernel refused 4 of 10 calls whose features it supports: exactly those where m is 129 or more "
                  "(answered at 128)"});
  CHECK(refusal_patterns(asked_for({1, 15, 16, 128}, [](auto m) { return m < 16; })) ==
        sentences{"the kernel refused 4 of 8 calls whose features it supports: exactly those where m is 15 or less "
                  "(answered at 16)"});
  CHECK(refusal_patterns(asked_for({0, 1, 128}, [](auto m) { return m == 0; })) ==
        sentences{"the kernel refused 2 of 6 calls whose features it supports: exactly those where m is 0 (answered at "
                  "1)"});
}

TEST_CASE("a refusal of 66 keys, and not of 65 and 67, is an interval", "[unit]") {
  CHECK(
      refusal_patterns(asked_for({1, 65, 66, 67, 130}, [](auto m) { return m == 66; })) ==
      sentences{"the kernel refused 2 of 10 calls whose features it supports: exactly those where m is 66 (answered at "
                "65 and 67)"});
  CHECK(refusal_patterns(asked_for({1, 299, 300, 400, 500, 501}, [](auto m) { return m >= 300 && m <= 500; })) ==
        sentences{"the kernel refused 6 of 12 calls whose features it supports: exactly those where m is 300 to 500 "
                  "(answered at 299 and 501)"});
}

TEST_CASE("a refusal by residue has the smallest modulus that separates", "[unit]") {
  CHECK(
      refusal_patterns(asked_for({1, 8, 12, 16, 41, 64, 65, 80}, [](auto m) { return m % 8 != 0; })) ==
      sentences{"the kernel refused 8 of 16 calls whose features it supports: exactly those where m is no multiple of "
                "8"});
  // 9, 25, 42, 49, 57, 73, 121 and 137 leave no smaller modulus than 64.
  CHECK(refusal_patterns(asked_for({1, 9, 25, 41, 42, 49, 57, 73, 105, 106, 121, 137, 169, 170},
                                   [](auto m) { return m % 64 == 41; })) ==
        sentences{"the kernel refused 6 of 28 calls whose features it supports: exactly those where m mod 64 is 41"});
}

TEST_CASE("sizes that separate equally well are named together, and a product only where no size does", "[unit]") {
  std::vector<asked_call> calls;
  for (std::int64_t const m : {16, 64, 128, 256, 512})
    calls.push_back({with_keys(m), m > 128 ? refused : call_replies{}});
  CHECK(refusal_patterns(calls) ==
        sentences{"the kernel refused 2 of 5 calls whose features it supports: exactly those where n is 256 or more "
                  "(answered at 128), or m is 256 or more (answered at 128), which the calls do not tell apart"});
  calls.clear();
  for (std::int64_t const n : {1, 10, 100, 1000})
    for (std::int64_t const m : {1, 10, 100, 1000}) {
      call_form const form{.size = {1, 8, 8, n, m, 64, 64}, .options = {}};
      calls.push_back({form, n * m > 20000 ? refused : call_replies{}});
    }
  CHECK(refusal_patterns(calls) ==
        sentences{"the kernel refused 3 of 16 calls whose features it supports: exactly those where n·m is 100,000 or "
                  "more (answered at 10,000)"});
}

TEST_CASE("an output that is withheld from some size on is seen", "[unit]") {
  std::vector<asked_call> calls;
  for (std::int64_t const m : {1, 16, 1024, 1025, 4096})
    calls.push_back({decode(m), {.lse = m > 1024 ? reply::refused : reply::answered, .weights = reply::refused}});
  CHECK(
      refusal_patterns(calls) ==
      sentences{"the kernel withheld LSE in 2 of 5 calls whose features it supports: exactly those where m is 1,025 or "
                "more (answered at 1,024)"});
}

TEST_CASE("what a feature explains is no pattern", "[unit]") {
  std::vector<asked_call> calls;
  for (std::int64_t const m : {8, 16, 32, 64}) {
    calls.push_back({with_keys(m), {}});
    calls.push_back({with_keys(m, {feature::causal}), m > 16 ? refused : call_replies{}});
    calls.push_back({with_keys(m + 1, {feature::mask}), refused});
    calls.push_back({with_keys(m + 1, {feature::softcap}), {}});
    calls.push_back({with_keys(m + 1, {feature::softcap, feature::causal}), refused});
  }
  // Causal is supported, though not at 32 and 64, where other calls were answered: no size separates.
  CHECK(refusal_patterns(calls).empty());
  for (asked_call& call : calls)
    if (call.form.features() == feature_set{feature::causal}) call.outcome = {};
  CHECK(refusal_patterns(calls).empty());
}

TEST_CASE("plain calls of a declared domain are those of features that are answered somewhere", "[unit]") {
  std::vector<asked_call> calls;
  for (std::int64_t const m : {8, 16, 32}) {
    calls.push_back({with_keys(m), {}});
    calls.push_back({with_keys(m, {feature::causal}), m == 8 ? call_replies{} : refused});
    calls.push_back({with_keys(m, {feature::symmetric_window}), refused});
    calls.push_back({with_keys(m, {feature::softcap}), refused});
  }
  CHECK(words_of_refused_plain(calls) ==
        "of 6 plain calls of the declared domain it refused 2, the first with b=1 hq=8 hk=8 n=16 m=16 d=64 dv=64");
  std::erase_if(calls, [](asked_call const& call) { return call.form.options.has(feature::causal); });
  CHECK(words_of_refused_plain(calls).empty());
  // A window that hides nothing was answered, and others were not.
  calls.push_back({with_keys(9, {feature::symmetric_window}), {}});
  CHECK(words_of_refused_plain(calls).empty());
}

TEST_CASE("without a pattern, and of a single refusal, nothing is said", "[unit]") {
  CHECK(refusal_patterns({}).empty());
  CHECK(refusal_patterns(asked_for({1, 2, 3}, [](auto) { return false; })).empty());
  CHECK(refusal_patterns(asked_for({1, 2, 3}, [](auto) { return true; })).empty());
  std::vector<asked_call> one = asked_for({1, 2, 3}, [](auto) { return false; });
  one.push_back({decode(9), refused});
  CHECK(refusal_patterns(one).empty());
  // The same call, once refused and once answered.
  std::vector<asked_call> flaky = asked_for({1, 2, 3}, [](auto m) { return m == 2; });
  for (asked_call const& call : asked_for({1, 2, 3}, [](auto) { return false; })) flaky.push_back(call);
  CHECK(refusal_patterns(flaky).empty());
}

}  // namespace
}  // namespace attest::audit::refusal_pattern_test
