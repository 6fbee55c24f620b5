// Rows of chosen scores: what they show of kernels that round in a known place, and of right ones.
#include "audit/cause/score_rows.hpp"

#include <array>

#include "audit/zoo/claim.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/guarded_call.hpp"

namespace attest::tests::score_rows_test {
namespace {

audit::seen_arithmetic seen_of(std::string_view specimen) {
  zoo::specimen const* const found = zoo::find_specimen(specimen);
  REQUIRE(found != nullptr);
  auto const claim = audit::claim_of(*found);
  REQUIRE(claim);
  constexpr std::array shapes{problem::sizes{.b = 1, .hq = 1, .hk = 1, .n = 32, .m = 64, .d = 64, .dv = 64}};
  return audit::read_arithmetic(claim.value().type, shapes,
                                [&](audit::owned_problem const& problem) -> std::optional<audit::owned_outputs> {
                                  return guarded_answer_of(found->kernel, problem.draft(), 0);
                                });
}

}  // namespace

TEST_CASE("the rows name the step that a kernel rounds, and the type", "[unit]") {
  struct planted {
    char const *specimen, *name;
  };
  for (auto const& [specimen, name] : {planted{"weights_in_f16", "weights-in-f16"},
                                       planted{"logits_in_f16", "scores-in-f16"},
                                       planted{"logits_in_bf16", "scores-in-bf16"},
                                       planted{"sums_in_bf16", "sums-in-bf16"},
                                       planted{"sum_of_rounded_weights", "sum-of-bf16-weights"},
                                       planted{"scores_and_sums_in_f16", "scores-and-sums-in-f16"},
                                       planted{"bf16_outputs_cut", "outputs-cut-to-bf16"},
                                       planted{"bf16_weights_cut", "weights-cut-to-bf16"},
                                       planted{"bf16_sums", "sums-in-bf16"},
                                       planted{"f16_sums", "sums-in-f16"},
                                       planted{"f16_logits", "scores-in-f16"},
                                       planted{"bf16_logits", "scores-in-bf16"},
                                       planted{"double_as_float", "contract-f64-in-f32"},
                                       planted{"exp_in_float_for_double", "exp-of-float"},
                                       planted{"cubic_exp", "exp-to"},
                                       planted{"coarse_exp_in_tail", "exp-to"},
                                       planted{"exp_64_ulp", "exp-to"},
                                       planted{"drops_weights_below_a_quarter", "cutoff"},
                                       planted{"drops_small_weights", "cutoff"},
                                       planted{"exp_cut_off_at_minus_80", "cutoff"}}) {
    CAPTURE(specimen);
    auto const seen = seen_of(specimen);
    CHECK(seen.contains(name));
    for (auto const& [other, step] : seen) {
      CAPTURE(other);
      CHECK((other == name || other.starts_with("contract-")));
    }
  }
}

TEST_CASE("of a kernel with another mistake, and of every right one, the rows say nothing", "[unit]") {
  for (char const* other : {"forgets_to_rescale", "merges_without_weights", "denominator_plus_epsilon", "mean_of_v",
                            "long_rows_lose_the_last_key", "scale_in_f16", "no_scale", "softcap_ignored"}) {
    CAPTURE(other);
    CHECK(seen_of(other).empty());
  }
  for (zoo::specimen const& specimen : zoo::specimens()) {
    if (!specimen.is_honest() || !specimen.family.empty()) continue;
    CAPTURE(specimen.name);
    std::string_view const claim = specimen.contract;
    if (claim.find(' ') != claim.npos) continue;  // its fields may be seen, such as an exponential that ends
    bool const coarser = claim == "f16-scores" || claim == "bf16-throughout" || claim == "f64-in-f32";
    CHECK((coarser || seen_of(specimen.name).empty()));
  }
}

}  // namespace attest::tests::score_rows_test
