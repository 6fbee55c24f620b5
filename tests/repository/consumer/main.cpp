// Two keys that match the query equally: the answer is the mean of their values, 2. Proven while this compiles, then
// asked of the machine tier and of the fast kernel. One header is included by the name that it had before it moved.
#include <cstdio>

#include <attest/fast/attention.hpp>
#include <attest/problem/instance.hpp>
#include <attest/reference/attention/exactly.hpp>
#include <attest/reference/ball.hpp>
#include <attest/reference/machine/rows.hpp>

namespace {

using namespace attest;
using problem::layout;

constexpr float q[]{1, 2}, k[]{3, 4, 3, 4}, v[]{1, 3};

constexpr auto instance() {
  return problem::instance<float>::make(
      {.q = {q, layout::compact({1, 2})}, .k = {k, layout::compact({2, 2})}, .v = {v, layout::compact({2, 1})}});
}

static_assert(
    [] {
      auto const p = instance().value();
      reference::enclosed_row<128, float> row;
      reference::enclose_row(p, 0, 0, 0, row);
      return reference::output_is_exactly(p, row, 0, reference::value_of(2.0f));
    }(),
    "equal scores: the output is the mean of the values");

}  // namespace

int main() {
  auto const p = instance().value();
  float o = 0;
  auto const outputs = problem::outputs<float>::make(p, {.o = {&o, layout::compact({1, 1})}});
  auto const done = fast::attention(p, outputs.value());
  bool enclosed = false;
  auto rows = reference::machine::row_source<float>::make(p);
  if (rows)
    rows.value().each(0, 0, 0, 1, [&](reference::machine::certified_row const& row) {
      enclosed = !row.handed_over && reference::absolute(row.o[0] - 2) <= row.o_radius[0] && row.o_radius[0] < 1e-9;
    });
  std::printf("O = %g, %s\n", static_cast<double>(o), enclosed ? "enclosed" : "not enclosed");
  return done && o == 2 && enclosed ? 0 : 1;
}
