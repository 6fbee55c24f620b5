// A case is shrunk in the memory form of its call, inside its domain, and to no axis of 0.
#include "audit/findings/shrink.hpp"

#include "audit/tensors/elements.hpp"
#include "tests/audit/asking/asked_case.hpp"
#include "tests/audit/isolation/isolation.hpp"

namespace attest::tests::shrink_test {
namespace {

namespace problem = attest::problem;

/// The rest of a case that stays wrong while it is shrunk.
auto shrunk_while_wrong(audit_case const& asked, violation const& wrong, std::string_view domain = "") {
  auto const always_wrong = [&](audit_case const&) {
    case_result found;
    found.judged.violations.push_back(wrong);
    return found;
  };
  return shrink(asked, wrong, always_wrong, std::chrono::steady_clock::now() + std::chrono::seconds(20),
                call_domain::of_text(domain).value());
}

}  // namespace

TEST_CASE("a case of one wrong call is shrunk in the memory form of that call", "[unit]") {
  auto wrong = session("q_as_compact");
  auto asked = in_memory({}, {.heads_inside = true});
  asked.further.back().is = relation::warm_up;
  auto const found = ask(asked, wrong).judged;
  REQUIRE(found.failed > 0);
  auto const shrunk = shrink(
      asked, found.violations.front(), [&](audit_case const& smaller) { return ask(smaller, wrong); },
      std::chrono::steady_clock::now() + std::chrono::seconds(20));
  REQUIRE(shrunk);
  CHECK(shrunk->small.further.empty());
  CHECK(shrunk->small.memory.heads_inside);
}

TEST_CASE("a case in a domain is shrunk inside it", "[unit]") {
  struct domain {
    std::string_view text;
    problem::sizes whole, small;
  };
  for (domain const& one : std::vector<domain>{
           {"d=64,128 dv=d n%128 m=n group=1 scale>0", {2, 3, 3, 384, 384, 128, 128}, {1, 1, 1, 128, 128, 64, 64}},
           {"d=64,128 dv=d n=1,m m%16", {2, 3, 3, 384, 384, 128, 128}, {1, 1, 1, 1, 16, 64, 64}},
           {"d=128 dv=d n=1 group=1,4,8", {2, 8, 2, 1, 20, 128, 128}, {1, 1, 1, 1, 1, 128, 128}},
           {"d%8 dv=d n>=3 m>=n group=4 batch=2", {2, 8, 2, 5, 20, 24, 24}, {2, 4, 1, 3, 3, 8, 8}},
           {"d=576 dv=512 kv_heads=1", {2, 4, 1, 2, 9, 576, 512}, {1, 1, 1, 1, 1, 576, 512}},
           // A case that is not in the domain is shrunk as without it.
           {"d=64 dv=d", {1, 1, 1, 2, 3, 8, 8}, {1, 1, 1, 1, 1, 1, 1}}}) {
    auto const [b, hq, hk, n, m, d, dv] = one.whole;
    problem_draft draft;
    draft.q = owned_tensor::compact(element_type::f32, {b, hq, n, d});
    draft.k = owned_tensor::compact(element_type::f32, {b, hk, m, d});
    draft.v = owned_tensor::compact(element_type::f32, {b, hk, m, dv});
    audit_case const asked{.check = "drawn", .name = "1", .problem = valid(std::move(draft))};
    violation wrong;
    wrong.bug_class = attest::audit::bug_class::mask_polarity;
    auto const shrunk = shrunk_while_wrong(asked, wrong, one.text);
    REQUIRE(shrunk);
    INFO(one.text);
    CHECK(shrunk->small.problem.size() == one.small);
  }
}

TEST_CASE("weights that are read through V keep their keys and columns when their case is shrunk", "[unit]") {
  problem_draft draft;
  draft.q = owned_tensor::compact(element_type::f32, {2, 2, 3, 4});
  draft.k = owned_tensor::compact(element_type::f32, {2, 2, 6, 4});
  draft.v = owned_tensor::compact(element_type::f32, {2, 2, 6, 6});
  fill(draft.v, [](auto, auto, auto j, auto c) { return j == c ? 1.0 : 0.0; });
  audit_case asked{.check = "weights-through-v", .name = "identity", .problem = valid(std::move(draft))};
  asked.reads = reading::weights;
  violation wrong;
  wrong.bug_class = attest::audit::bug_class::mask_polarity;
  auto const shrunk = shrunk_while_wrong(asked, wrong);
  REQUIRE(shrunk);
  problem::sizes const small = shrunk->small.problem.size();
  CHECK(small.b * small.hq * small.n * small.d == 1);
  CHECK(small.m == 6);
  CHECK(small.dv == 6);
}

// A size of 0 is another problem: where d is 0 all scores are equal, and without keys every row is empty.
TEST_CASE("no axis of a case is shrunk to nothing", "[unit]") {
  for (std::int64_t const length : {2, 3, 4, 8, 9}) {
    problem_draft draft;
    draft.q = owned_tensor::compact(element_type::f32, {length, length, length, length});
    draft.k = owned_tensor::compact(element_type::f32, {length, length, length, length});
    draft.v = owned_tensor::compact(element_type::f32, {length, length, length, length});
    audit_case const asked{.check = "heads", .name = "all", .problem = valid(std::move(draft))};
    auto const shrunk = shrunk_while_wrong(asked, {});
    REQUIRE(shrunk);
    CHECK(shrunk->small.problem.size() == problem::sizes{1, 1, 1, 1, 1, 1, 1});
  }
}

}  // namespace attest::tests::shrink_test
