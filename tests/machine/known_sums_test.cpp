// Known weights: the lanes of the machine tier find o* and B* of row_bound, for one accumulator that takes the keys by
// rising and by falling index, and for none; for errors of scores that matter, and for keys whose weight is not known.
#include <cmath>
#include <cstdint>
#include <string>

#include "problem/kernel_model.hpp"
#include "reference/bound/bound.hpp"
#include "reference/compiled/row.hpp"
#include "reference/machine/rows.hpp"
#include "reference/machine/testing.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/written.hpp"

namespace attest::tests::known_sums_test {
namespace {

using problem::bf16;
using problem::weight_reference;

problem::kernel_model model_of(weight_reference order, problem::accumulator accumulator, std::int64_t block) {
  problem::kernel_model model;
  model.format = problem::formats::f32;
  model.block_fma = 8, model.alignment_bits = 1;
  model.eps = 0x1p-22, model.eps_log = 0x1p-22;
  model.u_p = 0x1p-8, model.omega_p = 0x1p-134;
  model.block = block, model.block_most = 4 * block;
  model.weight_reference = order, model.accumulator = accumulator;
  return model;
}

bool nearly(double a, double b) { return a == b || std::abs(a - b) <= 1e-7 * std::min(std::abs(a), std::abs(b)); }

/// How many columns have a B*, which row_bound gives, too.
int compared(written<bf16> const& written, problem::kernel_model const& model, bool double_words) {
  auto const p = written.instance();
  auto rows = reference::machine::row_source<bf16>::make(p, model, {.weights = true, .double_words = double_words});
  REQUIRE(rows.has_value());
  int known = 0;
  rows.value().each(0, 0, 0, p.queries(0), [&](reference::machine::certified_row const& got) {
    REQUIRE_FALSE(got.handed_over);
    reference::enclosed_row<128, bf16> exact;
    reference::compiled::enclose_row(p, 0, 0, got.i, exact);
    reference::row_bound bound;
    bound.evaluate(model, reference::machine::testing::facts_of(got));
    for (std::size_t c = 0; c < got.o.size(); ++c) {
      auto const column = static_cast<std::int64_t>(c);
      auto const o = reference::compiled::output(p, exact, column);
      auto const expected = reference::compiled::output_bound(bound, p, exact, column, o.value);
      CAPTURE(got.i, c, got.o_known_bound[c], expected.known_size);
      REQUIRE(nearly(got.o_known_bound[c], expected.known_size));
      if (!(expected.known_size < reference::infinity)) continue;
      ++known;
      REQUIRE(std::abs(got.o_known[c] - expected.known_center) <= 1e-7 * expected.known_size);
    }
  });
  return known;
}

TEST_CASE("lanes find the sums of one accumulator that one key at a time gives", "[unit]") {
  for (std::string_view const target : reference::machine::simd_targets()) {
    reference::machine::use_simd_target(target);
    for (bool const double_words : {false, true})
      for (std::int64_t const keys : {1, 70, 513}) {
        written<bf16> row({.b = 1, .hq = 1, .hk = 1, .n = 2, .m = keys, .d = 16, .dv = 21}, 5);
        for (auto const order : {weight_reference::rising, weight_reference::falling})
          for (auto const accumulator : {problem::accumulator::any, problem::accumulator::one})
            for (std::int64_t const block : {1, 16}) {
              CAPTURE(target, keys, block, static_cast<int>(order), static_cast<int>(accumulator));
              CHECK(compared(row, model_of(order, accumulator, block), double_words) > 0);
            }
      }
  }
  reference::machine::use_simd_target("");
}

/// Errors of a score are as large as a step of P, and differ from key to key; weights below e^−far are not known.
problem::kernel_model inexact_model(weight_reference reference, double far) {
  problem::kernel_model model = model_of(reference, problem::accumulator::one, 5);
  model.u_qk = 0x1p-14, model.c_m = 1, model.format.far = far;
  model.eps_rescale = 0x1p-18;
  return model;
}

/// P in a format of no element type: weights below ω_p/u_p = 1/8 are not known, which may be most of a row.
problem::kernel_model coarse_model(weight_reference reference) {
  problem::kernel_model model = model_of(reference, problem::accumulator::any, 5);
  model.omega_p = 0x1p-11;
  return model;
}

constexpr weight_reference references[] = {weight_reference::rising, weight_reference::falling,
                                           weight_reference::whole_row, weight_reference::own_block};

/// Causal rows from 200 keys to 240, without every seventh key, so that groups have fewer keys than lanes.
written<bf16> causal_rows() {
  written<bf16> rows({.b = 1, .hq = 1, .hk = 1, .n = 41, .m = 240, .d = 16, .dv = 5}, 7);
  rows.band = {.diagonal = 199, .right = 0};
  rows.mask = owned<std::uint8_t>({1, 240});
  for (std::size_t j = 0; j < 240; ++j) rows.mask.values[j] = j % 7 != 3;
  rows.scale = 0.5;
  return rows;
}

TEST_CASE("lanes find the weight of each key that one key at a time gives", "[unit]") {
  auto const rows = causal_rows();
  int const columns = 41 * 5;
  for (std::string_view const target : reference::machine::simd_targets()) {
    reference::machine::use_simd_target(target);
    for (auto const reference : references) {
      CAPTURE(target, static_cast<int>(reference));
      for (double const far : {6.0, 87.0}) CHECK(compared(rows, inexact_model(reference, far), false) > 0);
      int const some = compared(rows, coarse_model(reference), false);
      CHECK((0 < some && some < columns));
    }
  }
  reference::machine::use_simd_target("");
}

}  // namespace
}  // namespace attest::tests::known_sums_test
