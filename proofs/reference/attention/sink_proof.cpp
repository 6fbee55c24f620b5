// reference/attention/sink.hpp, dropout.hpp: small rows with a sink or dropped keys, exactly; and the merge of two
// partial results as a row without queries, whose scores are their LSEs.
#include <array>
#include <vector>

#include "proofs/worked_example.hpp"

namespace attest::proofs {
namespace {

/// N keys with the scores s (d = 0: they are biases), values v, perhaps a sink, perhaps dropout.
template <std::size_t N>
struct scored_row {
  std::array<float, N> s{}, v{};
  std::optional<float> sink{};
  std::optional<std::array<std::uint8_t, N>> keep{};
  double dropout = 0, softcap = 0;

  template <class Ask>
  constexpr auto ask(Ask&& question) const {
    float const nothing = 0, t = sink.value_or(0.0f);
    auto const scores = s, values = v;  // g++ 12 takes no address of a temporary's member for a constant
    auto const kept = keep.value_or(std::array<std::uint8_t, N>{});
    problem::arguments<float> arguments;
    arguments.q = {&nothing, problem::layout::compact({1, 0})};
    arguments.k = {&nothing, problem::layout::compact({N, 0})};
    arguments.v = {values.data(), problem::layout::compact({N, 1})};
    arguments.bias = problem::tensor<float const>{scores.data(), problem::layout::compact({N})};
    if (sink) arguments.sink = problem::tensor<float const>{&t, problem::layout::compact({1})};
    if (keep) arguments.keep = problem::tensor<std::uint8_t const>{kept.data(), problem::layout::compact({1, N})};
    arguments.scale = 1, arguments.dropout = dropout, arguments.softcap = softcap;
    auto const p = problem::instance<float>::make(arguments).value();
    reference::enclosed_row<width, float> row;
    reference::enclose_row(p, 0, 0, 0, row);
    return question(p, row);
  }
  constexpr bool output_is(double value) const {
    return ask([&](auto const& p, auto const& row) {
      return reference::output_is_exactly(p, row, 0, reference::value_of(value));
    });
  }
  constexpr bool is_uniform() const {
    return ask([](auto const&, auto const& row) { return reference::weights_are_uniform(row); });
  }
  constexpr std::size_t keys() const {
    return ask([](auto const&, auto const& row) { return row.real_keys().size(); });
  }
};

static_assert(scored_row<2>{{3, 3}, {1, 5}, 3.0f}.output_is(2),
              "two keys and a sink of one score: each weighs 1/3, and the sink has the value 0");
static_assert(scored_row<2>{{3, 3}, {1, 5}, 3.0f}.is_uniform() && scored_row<2>{{3, 3}, {1, 5}, 3.0f}.keys() == 2,
              "the sink is a key of the sum, and none of the keys");
static_assert(scored_row<2>{{3, 3}, {1, 5}, 3.0f, {}, 0, 2}.output_is(2) &&
                  !scored_row<2>{{3, 3}, {1, 5}, 2.0f, {}, 0, 2}.output_is(2),
              "a softcap does not touch a sink");
static_assert(!scored_row<2>{{3, 3}, {1, 5}, 3.0f}.output_is(3) && scored_row<2>{{3, 3}, {1, 5}}.output_is(3),
              "without the sink the same row is the mean of V");
static_assert(scored_row<2>{{3, 3}, {1, -1}, 7.5f}.output_is(0), "whatever the sink is, values that cancel give 0");
static_assert(scored_row<2>{{3, 3}, {3, 5}, {}, std::array<std::uint8_t, 2>{1, 0}, 0.25}.output_is(2),
              "dropout: (3/2)/(3/4), the second key dropped");
static_assert(scored_row<2>{{3, 3}, {3, 5}, {}, std::array<std::uint8_t, 2>{0, 0}, 0.25}.output_is(0),
              "a row whose keys are all dropped has o = 0");
static_assert(scored_row<2>{{-40, -40}, {7, 9}}.output_is(8),
              "a merge of two results with one LSE is their mean: a row with d = 0 whose scores are the LSEs");

}  // namespace
}  // namespace attest::proofs
