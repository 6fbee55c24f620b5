// reference/bound/terms.hpp: the stages of a row's terms are made in their order, and a formula reads none too early.
#include <type_traits>

#include "reference/bound/bound.hpp"

namespace attest::proofs {
namespace {

using namespace reference;
using scores_found = scalar::score_extremes<double>;
using weights_found = scalar::weight_sums<double>;
using shares_found = scalar::share_sums<double>;

template <class... Stages>
constexpr bool only_from_others = !(std::is_default_constructible_v<Stages> || ...);
static_assert(only_from_others<constant_terms, score_terms, reference_terms, rescale_terms, weight_terms>,
              "no stage can be made of nothing");
static_assert(!row_terms().judged && !row_terms().theorem_holds && !row_terms().judges(), "no row: nothing is judged");

static_assert(std::is_constructible_v<score_terms, constant_terms, scores_found, sink_reach>);
static_assert(std::is_constructible_v<rescale_terms, reference_terms, double> &&
                  !std::is_constructible_v<rescale_terms, score_terms, double>,
              "Rescales come after Reference");
static_assert(std::is_constructible_v<weight_terms, rescale_terms, weights_found, double> &&
                  !std::is_constructible_v<weight_terms, reference_terms, weights_found, double>,
              "Weights come after Rescales");
static_assert(std::is_constructible_v<row_terms, weight_terms, shares_found> &&
                  !std::is_constructible_v<row_terms, rescale_terms, shares_found>,
              "Sums come after Weights");

template <class Stage>
constexpr bool has_weight_errors = requires(Stage const& terms, scalar::key_numbers<double> const& key) {
  scalar::weight_errors(terms, key, 0.0, 0.0);
};
template <class Stage>
constexpr bool has_shares = requires(Stage const& terms) { scalar::share_of(terms, 0.0, 0.0, false); };
static_assert(has_weight_errors<rescale_terms> && !has_weight_errors<reference_terms>, "z_j is formed after R_j");
static_assert(has_shares<weight_terms> && !has_shares<rescale_terms>, "share_j is formed after D");

}  // namespace
}  // namespace attest::proofs
