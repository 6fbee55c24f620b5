// A million random f32 output elements: correct rounding, and the machine tier's enclosures, against MPFI at 192 bits.
#include <mpfi.h>

#include <cmath>
#include <memory>
#include <vector>

#include "audit/cases/draw.hpp"
#include "reference/machine/rounded.hpp"
#include "tests/catch.hpp"

namespace {

using namespace attest;

constexpr mpfr_prec_t bits = 192;

/// So many MPFI intervals.
class intervals {
 public:
  explicit intervals(std::size_t count) : count_(count), x_(new mpfi_t[count]) {
    for (std::size_t n = 0; n < count_; ++n) mpfi_init2(x_[n], bits);
  }
  ~intervals() {
    for (std::size_t n = 0; n < count_; ++n) mpfi_clear(x_[n]);
  }
  mpfi_ptr operator[](std::size_t n) { return x_[n]; }

 private:
  std::size_t count_;
  std::unique_ptr<mpfi_t[]> x_;
};

struct million_problem {
  std::int64_t n = 64, m, d, dv = 64;
  std::vector<float> q, k, v;

  explicit million_problem(std::uint64_t seed) {
    audit::draw random(seed, "million");
    m = 1 + random.below(8), d = 1 + random.below(5);
    // From outputs that are subnormal in f32 to outputs near its largest.
    double const size = std::pow(10.0, static_cast<double>(random.below(4) == 0 ? random.below(82) - 44 : 0));
    auto const drawn = [&](std::int64_t count, double scale) {
      std::vector<float> made;
      for (std::int64_t at = 0; at < count; ++at)
        made.push_back(static_cast<float>(std::fmin(3e38, std::fmax(-3e38, random.normal() * scale))));
      return made;
    };
    q = drawn(n * d, 2), k = drawn(m * d, 1), v = drawn(m * dv, size);
  }
  problem::instance<float> instance() const {
    using problem::layout;
    problem::arguments<float> asked;
    asked.q = {q.data(), layout::compact({n, d})};
    asked.k = {k.data(), layout::compact({m, d})};
    asked.v = {v.data(), layout::compact({m, dv})};
    return problem::instance<float>::make(asked).value();
  }
};

/// o_c of row i in `out`, from weights e^(σ·q·k) and their sum: no maximum is subtracted, MPFR's exponents are wide.
struct independent {
  million_problem const& p;
  intervals weight, few{4};

  explicit independent(million_problem const& from) : p(from), weight(static_cast<std::size_t>(from.m)) {
    mpfi_set_si(few[0], static_cast<long>(p.d));
    mpfi_sqrt(few[0], few[0]);
  }
  void row(std::int64_t i) {
    mpfi_set_si(few[1], 0);
    for (std::int64_t j = 0; j < p.m; ++j) {
      mpfi_ptr const w = weight[static_cast<std::size_t>(j)];
      mpfi_set_si(w, 0);
      for (std::int64_t t = 0; t < p.d; ++t) {
        mpfi_set_d(few[2], static_cast<double>(p.q[static_cast<std::size_t>(i * p.d + t)]));
        mpfi_mul_d(few[2], few[2], static_cast<double>(p.k[static_cast<std::size_t>(j * p.d + t)]));
        mpfi_add(w, w, few[2]);
      }
      mpfi_div(w, w, few[0]);
      mpfi_exp(w, w);
      mpfi_add(few[1], few[1], w);
    }
  }
  mpfi_ptr column(std::int64_t c) {
    mpfi_set_si(few[3], 0);
    for (std::int64_t j = 0; j < p.m; ++j) {
      mpfi_mul_d(few[2], weight[static_cast<std::size_t>(j)], static_cast<double>(p.v[static_cast<std::size_t>(j * p.dv + c)]));
      mpfi_add(few[3], few[3], few[2]);
    }
    mpfi_div(few[3], few[3], few[1]);
    return few[3];
  }
};

}  // namespace

TEST_CASE("a million random f32 outputs are correctly rounded, and enclosed, as MPFI says", "[slow]") {
  std::int64_t elements = 0, wrong = 0, open = 0, outside = 0, subnormal = 0;
  reference::machine::rounding_tally tally;
  for (std::uint64_t seed = 1; elements < 1'000'000; ++seed) {
    million_problem const made(seed);
    auto const asked = made.instance();
    independent expected(made);
    std::vector<float> rounded;
    reference::machine::row_rounder<float, float> rounder(asked, {.weights = false, .lse = false});
    rounder.each(0, 0, 0, made.n, [&](reference::machine::rounded_row<float> const& row) {
      rounded.insert(rounded.end(), row.o.begin(), row.o.end());
    });
    tally += rounder.tally();
    auto rows = reference::machine::row_source<float>::make(asked);
    REQUIRE(rows.has_value());
    rows.value().each(0, 0, 0, made.n, [&](reference::machine::certified_row const& row) {
      expected.row(row.i);
      for (std::int64_t c = 0; c < made.dv; ++c, ++elements) {
        mpfi_ptr const o = expected.column(c);
        float const low = mpfr_get_flt(&o->left, MPFR_RNDN), high = mpfr_get_flt(&o->right, MPFR_RNDN);
        float const got = rounded[static_cast<std::size_t>(row.i * made.dv + c)];
        if (low != high) ++open;
        bool const negative = mpfr_sgn(&o->right) < 0 || (mpfr_sgn(&o->right) == 0 && mpfr_sgn(&o->left) < 0);
        wrong += !(low <= got && got <= high) || negative != std::signbit(got);
        subnormal += std::abs(got) < std::numeric_limits<float>::min();
        if (row.handed_over) continue;
        auto const at = static_cast<std::size_t>(c);
        mpfi_sub_d(o, o, row.o[at]);
        outside += mpfr_cmp_d(&o->left, -row.o_radius[at]) < 0 || mpfr_cmp_d(&o->right, row.o_radius[at]) > 0;
      }
    });
  }
  INFO(elements << " elements, " << subnormal << " of them subnormal, " << tally.in_words << " by double words, "
                << tally.exactly << " by the exact tier");
  CHECK(wrong == 0);
  CHECK(open == 0);     // 192 bits always told
  CHECK(outside == 0);
  CHECK(subnormal > 1000);
  CHECK(tally.in_words > 0);
  CHECK(tally.exactly + tally.in_words < elements / 100);
}
