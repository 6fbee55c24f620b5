// Planted mistakes are named, and honest kernels are not accused of them.
#include "audit/cases/random.hpp"
#include "tests/audit/cause/known_answers.hpp"
#include "tests/support/builtin_kernel.hpp"

namespace attest::tests::planted_causes_test {

TEST_CASE("a mistake about tiles, axes or scores is named, and right answers contradict it", "[slow]") {
  struct planted {
    char const* specimen;
    std::vector<std::string> checks;
  };
  for (auto const& [specimen, checks] : {planted{"zeros_fill_last_tile", {"accuracy", "bands"}},
                                         planted{"last_tile_moved_back", {"accuracy", "bands"}},
                                         planted{"reached_last_tile_moved_back", {"accuracy", "bands"}},
                                         planted{"values_of_tile_before", {"accuracy", "bands"}},
                                         planted{"keys_swapped_in_pairs", {"accuracy"}},
                                         planted{"merges_without_maxima", {"accuracy", "bands"}},
                                         planted{"rescales_in_f16", {"accuracy", "bands"}},
                                         planted{"keys_of_tile_before", {"accuracy", "bands"}},
                                         planted{"rescales_inversely", {"accuracy", "bands"}},
                                         planted{"mask_of_first_tile", {"masks", "empty-blocks"}},
                                         planted{"diagonal_tile_unread", {"bands"}},
                                         planted{"sum_of_last_tile", {"accuracy", "bands"}},
                                         planted{"heads_clamped", {"heads"}},
                                         planted{"diagonal_without_sign", {"bands", "windows"}},
                                         planted{"left_edge_top_left", {"windows"}},
                                         planted{"bias_transposed", {"bias"}},
                                         planted{"softcap_not_multiplied", {"softcap"}},
                                         planted{"scores_clamped", {"large-scores"}},
                                         planted{"log2_e_of_three_digits", {"accuracy", "softcap"}},
                                         planted{"scale_of_whole_root", {"accuracy", "softcap"}},
                                         planted{"hidden_score_0", {"bands", "masks"}},
                                         planted{"left_0_is_none", {"windows", "bands"}},
                                         planted{"window_is_symmetric", {"windows"}},
                                         planted{"edges_exchanged", {"windows", "bands"}},
                                         planted{"diagonal_from_0", {"windows", "bands"}},
                                         planted{"diagonal_tile_unmasked", {"windows", "bands"}},
                                         planted{"left_edge_in_cut_tiles", {"windows", "bands"}},
                                         planted{"left_tile_unmasked", {"windows"}},
                                         planted{"band_of_packed_queries", {"pairs", "production"}},
                                         planted{"softcap_rational", {"softcap"}},
                                         planted{"values_of_tail_moved_back", {"accuracy", "bands"}}}) {
    CAPTURE(specimen);
    auto const answers = answers_of(specimen, checks);
    audit::named_cause const found = cause_of(answers);
    CAPTURE(audit::sentence_of(found));
    CHECK(names_of(found) == std::set{std::string(zoo::expected_cause(specimen))});
    CHECK(found.explains + found.open == found.of);
    // Two honest kernels beside it: blocks of 64 keys; all keys from the last to the first.
    audit::hypothesis const& planted_one = *audit::find_hypothesis(zoo::expected_cause(specimen));
    for (char const* honest : {"blocks_of_64", "last_key_first"}) {
      bool contradicted = false;
      for (std::size_t at = 0; at < answers.answers.size() && !contradicted; ++at) {
        audit::answered_case const& wrong = answers.answers[at];
        audit::owned_problem const& problem = wrong.calls.front().call.problem;
        audit::answered_case right;
        right.add(problem, guarded_answer_of(zoo::find_specimen(honest)->kernel, problem.draft(), 0),
                  *audit::find_contract("f32"), {});
        contradicted = wrong.is_wrong() && audit::fit_of(planted_one, right) == audit::fit::refuted;
      }
      CHECK(contradicted);
    }
  }
}

TEST_CASE("columns of O that are not rescaled are told from right ones", "[unit]") {
  audit::random_stream random(1, "columns");
  auto const problem =
      audit::owned_problem::of_valid(audit::gaussian({1, 2, 2, 5, 70, 8, 20}, problem::element_type::f32, random));
  auto const answer_of = [&](char const* specimen) {
    audit::answered_case answers;
    answers.add(problem, guarded_answer_of(zoo::find_specimen(specimen)->kernel, problem.draft(), 0),
                *audit::find_contract("f32"), {});
    return answers;
  };
  auto const wrong = answer_of("columns_behind_d_not_rescaled");
  audit::hypothesis const& planted = *audit::find_hypothesis(zoo::expected_cause("columns_behind_d_not_rescaled"));
  CHECK(wrong.is_wrong());
  CHECK(audit::fit_of(planted, wrong) == audit::fit::certified);
  CHECK(audit::fit_of(*audit::find_hypothesis("output-not-rescaled-16"), wrong) == audit::fit::refuted);
  CHECK(audit::fit_of(planted, answer_of("last_key_first")) == audit::fit::refuted);
}

TEST_CASE("weights that end at a number are named, beside finite masks and biases of -inf, too", "[unit]") {
  audit::named_cause const found =
      cause_of(answers_of("weights_from_e_minus_20", {"sharp", "additive-masks", "scale"}));
  CAPTURE(audit::sentence_of(found));
  REQUIRE(found.mistakes.size() == 1);
  CHECK(found.mistakes.front().name.starts_with("exp-from-e^-20-"));
  CHECK(found.mistakes.front().name.ends_with("-in-weights"));
  CHECK(found.unexplained.empty());
}

TEST_CASE("a sum of some keys is named, beside rows in which it is 0, too", "[unit]") {
  auto const found = cause_of(answers_of(
      [](audit::owned_problem const& problem) {
        audit::owned_outputs answers = builtin_answer(problem.draft());
        problem::sizes const& s = problem.size();
        audit::score_table const score(problem);
        for (std::int64_t row = 0; row < s.b * s.hq * s.n; ++row) {
          std::int64_t const b = row / s.n / s.hq, h = row / s.n % s.hq, i = row % s.n;
          double const most = score.largest(b, h, i);
          float whole = 0, halves = 0;
          for (std::int64_t j = 0; std::isfinite(most) && j < s.m; ++j) {
            float const weight = score.visible(b, h, i, j) ? static_cast<float>(std::exp(score(b, h, i, j) - most)) : 0;
            whole += weight, halves += j % 16 < 8 ? weight : 0;
          }
          if (halves == whole) continue;
          for (std::int64_t c = 0; c < s.dv; ++c) {
            auto const at = static_cast<std::size_t>(row * s.dv + c);
            audit::store(*answers.o, at, halves == 0 ? 0 : audit::load(*answers.o, at) * (whole / halves));
          }
          if (auto const at = static_cast<std::size_t>(row); answers.lse)
            audit::store(*answers.lse, at, audit::load(*answers.lse, at) + std::log(halves / whole));
        }
        return answers;
      },
      *audit::find_contract("f32"), {"accuracy", "sharp", "bands"}));
  CAPTURE(audit::sentence_of(found));
  REQUIRE(found.mistakes.size() == 1);
  CHECK(found.mistakes.front().name == "sum-of-first-halves-of-16");
  CHECK(found.unexplained.empty());
}

TEST_CASE("a finite number that is added to the scores of hidden keys is named", "[unit]") {
  auto const found = cause_of(answers_of(
      [](audit::owned_problem const& problem) {
        audit::problem_draft draft = problem.draft();
        audit::show(draft, problem.size(), [](auto, auto, auto, auto) { return true; });
        audit::set_bias(draft, problem.size(), [&](auto b, auto h, auto i, auto j) {
          return audit::bias_of(problem, b, h, i, j) + (audit::sees(problem, b, h, i, j) ? 0 : -65504);
        });
        return builtin_answer(draft);
      },
      *audit::find_contract("f32"), {"masks", "empty-rows", "masked-against-live"}));
  REQUIRE(found.mistakes.size() == 1);
  CHECK(found.mistakes.front().name == "hidden-score-plus-65504");
  CHECK(found.unexplained.empty());
}

TEST_CASE("a mistake whose number the answers choose explains no failing input beside another mistake", "[unit]") {
  known_answers known = answers_of("ignored_mask", {"masks"});
  audit::random_stream random(1, "lost");
  for (std::size_t const lost : {std::size_t{1}, std::size_t{3}}) {
    auto const problem = audit::owned_problem::of_valid(
        audit::draft_of(audit::call_form{{1, 1, 1, 5, 16, 1, 1}}, problem::element_type::f32, random));
    audit::owned_outputs answer = builtin_answer(problem.draft());
    audit::store(*answer.o, lost, 0), audit::store(*answer.lse, lost, 0), answer.weights.reset();
    known.answers.emplace_back().add(problem, answer, *audit::find_contract("f32"), {});
    known.failing.push_back({"tails", "lost", std::ssize(known.answers), {}});
  }
  audit::named_cause const found = cause_of(known);
  CHECK(found.mistakes.empty());
  REQUIRE(!found.partly.empty());
  CHECK(found.partly.front().name == "mask-ignored");
}

TEST_CASE("a mistake explains no input of whose wrong rows it says nothing", "[unit]") {
  audit::problem_draft draft;
  for (audit::owned_tensor* const one : {&draft.q, &draft.k, &draft.v})
    *one = audit::owned_tensor::compact(problem::element_type::f32, {1, 1, one == &draft.q ? 1 : 32, 1});
  audit::store(draft.q, 0, 1);
  for (std::size_t j = 16; j < 32; ++j) audit::store(draft.k, j, -130);  // the last tile of 16 has no weight
  auto const problem = audit::owned_problem::of_valid(std::move(draft));
  audit::owned_outputs wrong = builtin_answer(problem.draft());
  audit::store(*wrong.o, 0, 3);
  audit::answered_case answers;
  answers.add(problem, wrong, *audit::find_contract("f32"), {});
  REQUIRE(answers.is_wrong());
  CHECK(audit::fit_of(*audit::find_hypothesis("sum-of-last-tile-of-16"), answers) == audit::fit::open);
}

}  // namespace attest::tests::planted_causes_test
