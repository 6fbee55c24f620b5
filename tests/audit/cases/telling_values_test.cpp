// Cases whose values tell which keys an answer counted.
#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "audit/cases/case.hpp"
#include "audit/cases/random.hpp"
#include "audit/contract/contract.hpp"
#include "audit/judge/judge_case.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/zoo/kernel.hpp"
#include "tests/audit/cases/made_cases.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/guarded_call.hpp"

namespace attest::zoo {

/// Weights rounded to 16 bits relative to the maximum of blocks of 16 keys; the last of 512 keys and more is not read.
template <class F>
struct narrow_weights_without_the_last_key : honest_narrow<F> {
  static float for_values(float p) { return honest_narrow<F>::narrowed(p); }
  static std::int64_t keys(place const& at) { return at.keys() - (at.keys() >= 512 ? 1 : 0); }
};

}  // namespace attest::zoo

namespace attest::tests::telling_values_test {
namespace {

using audit::audit_case;
using problem::element_type;

double at(audit::owned_tensor const& t, std::int64_t h, std::int64_t i, std::int64_t j) {
  return audit::load(t, audit::offset_of(t, 0, h, i, j));
}

/// q_i·k_j. Exact where the products are integers, and where few bits of 16-bit numbers meet.
double dot(audit::problem_draft const& p, std::int64_t i, std::int64_t j) {
  double sum = 0;
  for (std::int64_t t = 0; t < p.q.layout.shape[3]; ++t) sum += at(p.q, 0, i, t) * at(p.k, 0, j, t);
  return sum;
}

using kernel = attest_status (*)(attest_call const*);

kernel specimen(std::string_view name) {
  zoo::specimen const* const found = zoo::find_specimen(name);
  REQUIRE(found != nullptr);
  return found->kernel;
}

/// bf16-ieee, and that a weight is rounded relative to a maximum of at least the 16 keys of its own aligned block.
audit::contract beside_own_block() {
  audit::contract claim = *audit::find_contract("bf16-ieee");
  claim.fixed.weight_reference = problem::weight_reference::own_block;
  claim.fixed.block = 16;
  claim.fixed.p_normalised = problem::normalised_first::no;
  claim.fixed.k_pre = 0;
  claim.fixed.omega_p = 0x1p-134;
  return claim;
}

struct judged_rows {
  std::int64_t judged = 0, failed = 0, undecided = 0;
};

enum class returned { o, o_and_lse };

/// The rows of m keys among `cases`, as one kernel answers them.
judged_rows judged_by(audit::contract const& claim, kernel asked, std::vector<audit_case> const& cases, std::int64_t m,
                      returned what) {
  judged_rows all;
  for (audit_case const& kernel_case : cases) {
    if (kernel_case.problem.size().m != m) continue;
    audit::owned_outputs answer = guarded_answer_of(asked, kernel_case.problem.draft());
    answer.weights.reset();
    if (what == returned::o) answer.lse.reset();
    audit::case_result found;
    audit::judge_case(kernel_case, {answer}, {.claim = &claim}, found);
    all.judged += found.judged.judged(), all.failed += found.judged.failed, all.undecided += found.judged.undecided;
  }
  return all;
}

}  // namespace

TEST_CASE("far blocks: every key of the far block lies 3 to 80 below the maximum, before and after it", "[unit]") {
  for (element_type const type : all_types) {
    double const most = type == element_type::f16 ? 9 : 80;
    std::set<std::int64_t> sizes;
    for (audit_case const& kernel_case : cases_of("far-blocks", "", {.type = type, .seed = 5})) {
      INFO(kernel_case.name << " in " << problem::name_of(type));
      audit::problem_draft const& p = kernel_case.problem.draft();
      problem::sizes const& s = kernel_case.problem.size();
      sizes.insert(s.m / 2);
      for (std::int64_t b = 0; b < s.b; ++b)
        for (std::int64_t h = 0; h < s.hq; ++h)
          for (std::int64_t i = 0; i < s.n; ++i) {
            double top = -1e9, far = -1e9;
            for (std::int64_t j = 0; j < s.m; ++j) {
              double score = 0;
              for (std::int64_t t = 0; t < s.d; ++t)
                score += audit::load(p.q, audit::offset_of(p.q, b, h, i, t)) *
                         audit::load(p.k, audit::offset_of(p.k, b, h, j, t));
              double& of_block = (j < s.m / 2) == (b == 0) ? far : top;
              of_block = std::max(of_block, score);
            }
            CHECK(top == 0);
            CHECK((far <= -3 && far >= -most));
            if (i == 0) CHECK(far == -3);
            if (i == s.n - 1) CHECK(far == -most);
          }
    }
    CHECK(sizes == std::set<std::int64_t>{16, 32, 64, 128});
  }
}

TEST_CASE("additive masks: every value meets every pattern, and V tells live from masked keys", "[unit]") {
  for (element_type const type : all_types) {
    INFO(problem::name_of(type));
    std::map<double, std::set<std::int64_t>> masked_counts;  // of every value
    for (audit_case const& kernel_case : cases_of("additive-masks", "", {.type = type, .seed = 3})) {
      INFO(kernel_case.name);
      if (kernel_case.name.starts_with("square-")) continue;  // two of the values, in the plain form
      audit::problem_draft const& p = kernel_case.problem.draft();
      std::int64_t const m = p.k.layout.shape[2];
      std::set<double> values;
      std::int64_t masked = 0, first_masked = -1, last_masked = -1;
      for (std::int64_t j = 0; j < m; ++j) {
        double const bias = at(*p.bias, 0, 0, j);
        for (std::int64_t i = 1; i < p.q.layout.shape[2]; ++i) CHECK(at(*p.bias, 0, i, j) == bias);
        CHECK(at(p.v, 0, j, 0) == (bias == 0 ? 1 : -100));
        CHECK(at(p.v, 0, j, 1) == 1);
        if (bias == 0) continue;
        values.insert(bias), ++masked, last_masked = j;
        if (first_masked < 0) first_masked = j;
      }
      REQUIRE(values.size() == 1);
      masked_counts[*values.begin()].insert(masked);
      if (kernel_case.name.starts_with("first-")) {
        CHECK(first_masked == 0);
        CHECK(last_masked == masked - 1);
      }
      if (kernel_case.name.starts_with("half")) CHECK(std::abs(masked - m / 2) < m / 4);
    }
    auto const nearest = [&](double x) { return audit::rounded_to(x, problem::row_of(type).format); };
    std::set<double> const wanted = type == element_type::f16
                                        ? std::set{-32752.0, -65504.0}
                                        : std::set{nearest(-1e6),  nearest(-1e7),  nearest(-1e9), nearest(-1e10),
                                                   nearest(-1e20), nearest(-1e30), -0x1p123};
    std::set<double> values;
    for (auto const& [value, counts] : masked_counts) {
      values.insert(value);
      for (std::int64_t const count : {1, 16, 32, 64, 128, 149, 150}) CHECK(counts.contains(count));
      CHECK(counts.size() == 8);
    }
    CHECK(values == wanted);
  }
}

TEST_CASE("equal scores: every key of 1025, 2049 and 4200 has a digit of its own", "[unit]") {
  for (element_type const type : all_types)
    for (audit_case const& kernel_case : cases_of("every-key", "equal", {.type = type, .seed = 4})) {
      INFO(kernel_case.name << " in " << problem::name_of(type));
      audit::problem_draft const& p = kernel_case.problem.draft();
      problem::sizes const& s = kernel_case.problem.size();
      std::vector<int> places(static_cast<std::size_t>(s.m));  // columns that are not 0 at this key
      for (std::int64_t h = 0; h < s.hk; ++h)
        for (std::int64_t c = 0; c < s.dv; ++c) {
          std::set<double> digits;
          for (std::int64_t j = 0; j < s.m; ++j) {
            double const v = at(p.v, h, j, c);
            if (c == s.dv - 1) {
              CHECK(v == audit::rounded_to(1 + 0x1p-9 + 0x1p-20, problem::row_of(type).format));
            } else if (v != 0) {
              CHECK(digits.insert(v).second);
              ++places[static_cast<std::size_t>(j)];
            }
          }
          for (double const digit : digits)
            CHECK((digit >= 1 && digit <= 32 && std::exp2(std::round(std::log2(digit))) == digit));
        }
      CHECK(std::ranges::all_of(p.q.bytes, [](std::byte x) { return x == std::byte{}; }));
      bool const drawn = kernel_case.name == "equal-drawn";
      CHECK(places.front() == 1);
      CHECK(places.back() == 1);
      CHECK(std::ranges::max(places) == 1);
      if (!drawn) CHECK(std::ranges::min(places) == 1);
      CHECK((drawn ? s.m >= 1025 && s.m <= 16384 : kernel_case.name.starts_with("equal-m" + std::to_string(s.m))));
    }
}

TEST_CASE("pair rows: two keys of one score, every other at least 24 below, and V spells their numbers", "[unit]") {
  for (std::uint64_t const seed : {1, 2, 3, 4, 5})
    for (audit_case const& kernel_case : cases_of("every-key", "pairs", {.seed = seed})) {
      INFO(kernel_case.name << " of seed " << seed);
      audit::problem_draft const& p = kernel_case.problem.draft();
      problem::sizes const& s = kernel_case.problem.size();
      CHECK(p.scale == 1);
      bool first = false, last = false;
      for (std::int64_t i = 0; i < s.n; ++i) {
        std::vector<std::pair<double, std::int64_t>> scores;
        for (std::int64_t j = 0; j < s.m; ++j) scores.emplace_back(dot(p, i, j), j);
        std::ranges::partial_sort(scores, scores.begin() + 3, std::greater<>());
        CHECK(scores[0].first == scores[1].first);
        CHECK(scores[1].first - scores[2].first >= 24);
        for (std::size_t const n : {0u, 1u})
          first = first || scores[n].second == 0, last = last || scores[n].second == s.m - 1;
      }
      CHECK((first && last));
      for (std::int64_t j = 0; j < s.m; ++j) {
        std::int64_t spelled = 0;
        auto const digits = static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(s.m - 1)));
        for (std::int64_t c = 0; c < digits; ++c) {
          if (std::abs(at(p.v, 0, j, c)) != 1) FAIL("digit " << c << " of key " << j << " is neither -1 nor 1");
          if (at(p.v, 0, j, c) == 1) spelled += std::int64_t{1} << c;
        }
        if (spelled != j) FAIL("key " << j << " is spelled " << spelled);
      }
      CHECK(at(p.v, 0, s.m - 1, s.dv - 1) == 1 + 0x1p-9 + 0x1p-20);
    }
}

TEST_CASE("one-hot columns: each is 1 at one key, the first and the last among them", "[unit]") {
  for (audit_case const& kernel_case : cases_of("every-key", "one-hot", {.seed = 6})) {
    INFO(kernel_case.name);
    problem::sizes const& s = kernel_case.problem.size();
    std::set<std::int64_t> hot;
    for (std::int64_t c = 0; c < s.dv - 1; ++c) {
      double sum = 0;
      for (std::int64_t j = 0; j < s.m; ++j)
        if (double const v = at(kernel_case.problem.draft().v, 0, j, c); v != 0) sum += v, hot.insert(j);
      CHECK(sum == 1);
    }
    CHECK(std::ssize(hot) == s.dv - 1);
    CHECK(hot.contains(0));
    CHECK(hot.contains(s.m - 1));
  }
}

TEST_CASE("anchored rows: every aligned group of 16 keys holds a key whose score is the largest", "[unit]") {
  for (element_type const type : all_types) {
    auto const cases = cases_of("every-key", "anchored", {.type = type, .seed = 7});
    CHECK(cases.size() == (problem::size_of(type) == 2 ? 8 : 0));
    for (audit_case const& kernel_case : cases) {
      INFO(kernel_case.name << " in " << problem::name_of(type));
      problem::sizes const& s = kernel_case.problem.size();
      double const height = kernel_case.name.starts_with("anchored-at3") ? 24 : 0;  // before the scale of 1/8
      for (std::int64_t i = 0; i < s.n; ++i)
        for (std::int64_t first = 0; first < s.m; first += 16) {
          double largest = -1e9;
          std::int64_t anchors = 0;
          for (std::int64_t j = first; j < std::min(first + 16, s.m); ++j) {
            double const score = dot(kernel_case.problem.draft(), i, j);
            largest = std::max(largest, score), anchors += score == height;
          }
          CHECK(largest == height);
          CHECK(anchors == 1);
        }
    }
  }
}

TEST_CASE("anchored rows: beside a declared reference cut weights and a lost key show, which bf16 certifies",
          "[unit]") {
  audit::contract const declared = beside_own_block();
  audit::contract const& plain = *audit::find_contract("bf16");
  auto const cases = cases_of("every-key", "anchored", {.type = element_type::bf16, .seed = 8});
  kernel const honest = specimen("bf16_weights"), cut = specimen("bf16_weights_cut"),
               lost = zoo::run_narrow<zoo::narrow_weights_without_the_last_key>;
  for (std::int64_t const m : {64, 512, 1024, 4096}) {
    INFO(m << " keys");
    for (audit::contract const* const claim : {&declared, &plain}) {
      judged_rows const found = judged_by(*claim, honest, cases, m, returned::o_and_lse);
      CHECK(found.judged > 0);
      CHECK(found.failed == 0);
      CHECK(found.undecided == 0);
    }
    if (m < 4096)
      for (returned const what : {returned::o, returned::o_and_lse}) {
        CHECK(judged_by(declared, cut, cases, m, what).failed > 0);
        CHECK(judged_by(plain, cut, cases, m, what).failed == 0);
      }
    if (m > 64) CHECK(judged_by(declared, lost, cases, m, returned::o).failed > 0);
    if (m > 512) CHECK(judged_by(plain, lost, cases, m, returned::o).failed == 0);
  }
}

}  // namespace attest::tests::telling_values_test
