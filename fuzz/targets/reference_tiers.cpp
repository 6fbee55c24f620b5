// The oracle against itself: every tier encloses the same exact number.
//
// One problem, enclosed by the machine tier (on a SIMD target of the input's choice), by the
// ball tier at 64, 128 and 256 bits, and by Arb where it is installed. All enclose one exact number, so all overlap.

#include "fuzz/support/problem_bytes.hpp"
#include "fuzz/support/require.hpp"
#include "reference/compiled/row.hpp"
#include "reference/machine/rows.hpp"
#include "reference/machine/testing.hpp"
#ifdef ATTEST_HAS_ARB
#include "oracles/arb.hpp"
#include "tests/support/oracle_head.hpp"
#endif

namespace {

using namespace attest;
using fuzz::require;
using reference::ball;
using reference::row_kind;
using reference::value_kind;

template <unsigned Narrow, unsigned Wide>
bool meets(ball<Narrow> const& a, ball<Wide> const& b) {
  return reference::overlap(reference::widened<Wide>(a), b);
}

template <unsigned W, class T>
struct enclosed {
  reference::enclosed_row<W, T> row;
  enclosed(problem::instance<T> const& p, std::int64_t b, std::int64_t h, std::int64_t i) {
    reference::compiled::enclose_row(p, b, h, i, row);
  }
};

template <unsigned Narrow, unsigned Wide, class T>
void compare_widths(problem::instance<T> const& p, reference::enclosed_row<Narrow, T> const& a,
                    reference::enclosed_row<Wide, T> const& b) {
  require(a.kind == b.kind && a.keys.size() == b.keys.size() && a.without_weight == b.without_weight,
          "a row's kind and keys do not depend on the width");
  for (std::int64_t c = 0; c < p.size().dv; ++c) {
    auto const x = reference::compiled::output(p, a, c);
    auto const y = reference::compiled::output(p, b, c);
    require(x.kind == y.kind, "an output's kind does not depend on the width");
    require(x.kind != value_kind::finite || meets(x.value, y.value), "outputs overlap");
  }
  if (a.kind != row_kind::finite) return;
  require(meets(reference::compiled::log_sum_exp(a), reference::compiled::log_sum_exp(b)), "LSEs overlap");
  for (std::size_t n = 0; n < a.keys.size(); ++n)
    require(meets(reference::compiled::weight(a, n), reference::compiled::weight(b, n)), "weights overlap");
}

/// mid + low ± radius against the ball tier's ball. `low` belongs to a double word, in f64.
template <unsigned W>
bool contains(double mid, double low, double radius, ball<W> const& exact) {
  ball<W> machine = ball<W>::from(reference::value_of(mid)) + ball<W>::from(reference::value_of(low));
  reference::element const size = reference::value_of(radius);
  machine.radius = machine.radius + reference::magnitude(static_cast<std::uint64_t>(size.significand), size.exponent);
  return reference::overlap(machine, exact);
}

template <class T>
void compare_machine(problem::instance<T> const& p, reference::machine::certified_row const& got,
                     reference::enclosed_row<128, T> const& exact) {
  if (got.handed_over) return;
  require(exact.kind == row_kind::finite && exact.real_keys().size() == got.keys.size(),
          "the machine tier answers finite rows");
  require(contains(got.lse, got.lse_low, got.lse_radius, reference::compiled::log_sum_exp(exact)),
          "the machine tier's LSE contains the exact one");
  for (std::size_t n = 0; n < got.keys.size(); ++n) {
    ball<128> const truth = reference::compiled::weight(exact, n);
    require(got.keys[n] == exact.keys[n].j, "the machine tier sees the same keys");
    require(got.weight_lower[n] <= reference::upper(truth) && reference::lower(truth) <= got.weight_upper[n],
            "the machine tier's weights contain the exact ones");
  }
  for (std::size_t c = 0; c < got.o.size(); ++c) {
    if (!(got.o_radius[c] < reference::infinity)) continue;
    auto const truth = reference::compiled::output(p, exact, static_cast<std::int64_t>(c));
    require(truth.kind == value_kind::finite, "the machine tier answers finite columns");
    require(contains(got.o[c], got.o_low.empty() ? 0 : got.o_low[c], got.o_radius[c], truth.value),
            "the machine tier's outputs contain the exact ones");
  }
}

#ifdef ATTEST_HAS_ARB
template <class T>
void compare_arb(problem::instance<T> const& p, reference::enclosed_row<128, T> const& exact) {
  if (exact.kind != row_kind::finite) return;
  tests::oracle_row const row(p, exact);
  oracles::arb_attention arb(row.head, 192);
  arb.row(row.q, row.bias);
  auto const overlaps = [](oracles::arb_ball const& a, ball<128> const& b) {
    return !(a.low().rounded_down() > reference::upper(b)) && !(a.high().rounded_up() < reference::lower(b));
  };
  require(overlaps(arb.log_sum_exp(), reference::compiled::log_sum_exp(exact)), "Arb's LSE overlaps");
  for (std::size_t n = 0; n < exact.keys.size(); ++n)
    require(overlaps(arb.weight(n), reference::compiled::weight(exact, n)), "Arb's weights overlap");
  ball<128> const kept = reference::kept_part<128>(p);
  for (std::int64_t c = 0; c < p.size().dv; ++c) {
    auto const o = reference::compiled::output(p, exact, c);
    require(o.kind != value_kind::finite || overlaps(arb.output(static_cast<std::size_t>(c)), o.value * kept),
            "Arb's outputs overlap");
  }
}
#else
template <class T>
void compare_arb(problem::instance<T> const&, reference::enclosed_row<128, T> const&) {}
#endif

template <class T>
void compare(problem::instance<T> const& p) {
  auto rows = reference::machine::row_source<T>::make(p);
  problem::sizes const& s = p.size();
  for (std::int64_t b = 0; b < s.b; ++b)
    for (std::int64_t h = 0; h < s.hq; ++h)
      for (std::int64_t i = 0; i < p.queries(b); ++i) {
        enclosed<128, T> const exact(p, b, h, i);
        compare_widths(p, enclosed<64, T>(p, b, h, i).row, exact.row);
        compare_widths(p, exact.row, enclosed<256, T>(p, b, h, i).row);
        compare_arb(p, exact.row);
        if (rows) rows.value().each(b, h, i, i + 1, [&](auto const& got) { compare_machine(p, got, exact.row); });
      }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  fuzz::decoded const in =
      fuzz::decode({data, size}, {.b = 1, .groups = 2, .hk = 1, .n = 3, .m = 24, .d = 8, .dv = 5, .f64_part = 1});
  auto const targets = reference::machine::simd_targets();
  reference::machine::use_simd_target(targets[in.header[fuzz::choice] % targets.size()]);
  fuzz::in_each_base(in.problem, [](auto const& p) { compare(p); });
  return 0;
}
