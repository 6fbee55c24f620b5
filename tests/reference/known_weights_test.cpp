// Weights that are rounded to 16 bits beside a reference point which the contract declares: docs/bound.md, section 5.
// Honest kernels stay inside, and the theorem sees what the plain bound cannot.
#include <cmath>

#include "audit/judge/element_value.hpp"
#include "audit/judge/exact_row_judge.hpp"
#include "audit/tensors/elements.hpp"
#include "tests/reference/narrow_kernel.hpp"
#include "tests/support/attacked_row.hpp"
#include "tests/support/bound_check.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::known_weights_test {
using problem::weight_reference;

namespace {

struct seen {
  double worst = 0, gain = 0;  ///< the largest |ô − o*|/B*, the largest B/B*
  int rows = 0, held = 0, outside = 0, outside_plain = 0;
};

template <class E>
seen run(narrow_kernel const& kernel, int family, std::int64_t m, int rounds, generator& random) {
  seen found;
  for (int n = 0; n < rounds; ++n) {
    auto const problem = narrow_row(family, m, random);
    bound_check<float> const check(problem);
    auto const bound = check.output_bound(check.bound(kernel.model<E>(m)));
    REQUIRE(bound.by == reference::judged_by::theorem);
    double const got = kernel.answer<E>(problem, random);
    bool const plain = bound_check<float>::error(got, check.output()) > bound.size;
    ++found.rows, found.outside_plain += plain;
    if (bound.known_size == reference::infinity) continue;
    ++found.held;
    double const ratio = std::abs(got - bound.known_center) / bound.known_size;
    found.worst = std::max(found.worst, ratio);
    found.gain = std::max(found.gain, bound.size / bound.known_size);
    found.outside += plain || ratio > 1;
  }
  return found;
}

constexpr int row_families = 6;

template <class E>
void attack(char const* type) {
  generator random(std::is_same_v<E, problem::bf16> ? 11 : 12);
  double worst = 0;
  for (auto const declared :
       {weight_reference::rising, weight_reference::falling, weight_reference::whole_row, weight_reference::own_block})
    for (std::int64_t const block : {16, 64})
      for (auto const by : {exponent::difference, exponent::fma, exponent::shared})
        for (int family = 0; family < row_families; ++family)
          for (std::int64_t const m : {7, 64, 200, 1024}) {
            narrow_kernel const kernel{block, declared, by};
            auto const found = run<E>(kernel, family, m, m > 500 ? 2 : 12, random);
            INFO("declared " << static_cast<int>(declared) << ", block " << block << ", exponent "
                             << static_cast<int>(by) << ", family " << family << ", " << m << " keys");
            CHECK(found.worst <= 1);
            CHECK(found.outside_plain == 0);
            if (declared != weight_reference::own_block) CHECK(found.held == found.rows);
            if (family == 5 && m > 7) CHECK(found.held == found.rows);
            worst = std::max(worst, found.worst);
          }
  std::cerr << "known weights in " << type << ": at most " << worst << " of the bound\n";
  CHECK(worst > 0.5);
}

}  // namespace

TEST_CASE("no honest kernel with bf16 weights beside its declared reference is outside", "[property]") {
  attack<problem::bf16>("bf16");
}
TEST_CASE("no honest kernel with f16 weights beside its declared reference is outside", "[property]") {
  attack<problem::f16>("f16");
}

TEST_CASE("small blocks of rising scores, thousands of rows", "[property]") {
  generator random(13);
  double worst = 0;
  for (int n = 0; n < 1500; ++n) {
    narrow_kernel const kernel{std::int64_t{1} << (random() % 4),
                               random() % 2 ? weight_reference::rising : weight_reference::falling,
                               static_cast<exponent>(random() % 3)};
    std::int64_t const m = kernel.block * static_cast<std::int64_t>(1 + random() % 6);
    auto const found = run<problem::bf16>(kernel, static_cast<int>(random() % row_families), m, 1, random);
    worst = std::max(worst, found.worst);
  }
  CHECK(worst <= 1);
  CHECK(worst > 0.7);
}

TEST_CASE("a rounded reference that p and r share is off at both ends of a rescale", "[unit]") {
  // exp(s − M') with M' = fl(M·c) in one rounding, and exp(M' − M'') for the rescale, in base e with c = σ. With κ_j
  // once in r_j this row reached 1.2 of B*.
  written<float> problem(2, 1, 1);
  problem.q.values = {0x1.24f40cp0f}, problem.k.values = {-0x1.c4fefep7f, -0x1.c4fef4p7f};
  problem.v.values = {1, -1}, problem.scale = 0x1.fa0aa4p-1;
  problem::kernel_model model = narrow_kernel{1, weight_reference::rising}.model<problem::bf16>(2);
  model.k_qk_base = 0, model.c_m = 1, model.large_scores = problem::large_scores::unspecified;
  float const c = 0x1.fa0aa4p-1f, first = 0x1.24f40cp0f * -0x1.c4fefep7f, second = 0x1.24f40cp0f * -0x1.c4fef4p7f;
  float const M = first * c, next = second * c;
  auto const exp_of = [](float x) { return static_cast<float>(std::exp(static_cast<double>(x))); };
  auto const narrow = [](float p) {
    return static_cast<float>(audit::as_double(audit::nearest_element<problem::bf16>(static_cast<double>(p))));
  };
  float const r = exp_of(M - next), p_first = exp_of(std::fma(first, c, -M)),
              p_second = exp_of(std::fma(second, c, -next));
  float const l = p_first * r + p_second, O = narrow(p_first) * r - narrow(p_second);
  bound_check<float> const check(problem);
  auto const bound = check.output_bound(check.bound(model));
  REQUIRE(bound.known_size < reference::infinity);
  double const ratio = std::abs(static_cast<double>(O / l) - bound.known_center) / bound.known_size;
  CHECK(ratio <= 1);
  CHECK(ratio > 0.5);
}

TEST_CASE("known weights are 20 times sharper at 512 keys, and see a lost key and cut weights", "[unit]") {
  generator random(14);
  narrow_kernel kernel;
  auto const honest = run<problem::bf16>(kernel, 0, 512, 20, random);
  CHECK(honest.gain > 20);
  CHECK(honest.outside == 0);
  kernel.wrong = fault::last_key_lost;
  auto const lost = run<problem::bf16>(kernel, 0, 512, 40, random);
  std::cerr << "of 40 rows with a lost key " << lost.outside << " are refuted, " << lost.outside_plain
            << " without known weights; B/B* up to " << honest.gain << "\n";
  CHECK(lost.outside >= lost.outside_plain + 8);
  kernel.wrong = fault::weights_cut;
  auto const cut = run<problem::bf16>(kernel, 0, 512, 40, random);
  CHECK(cut.outside >= 10);
  CHECK(cut.outside_plain == 0);
}

TEST_CASE("an accumulator that takes the keys in order sees its lost bits", "[unit]") {
  narrow_kernel kernel;
  kernel.wrong = fault::accumulator_cut;
  auto const outside = [&](bool declared) {
    generator random(16);
    kernel.one_accumulator = declared;
    return run<problem::bf16>(kernel, 0, 4096, 10, random).outside;
  };
  int const seen = outside(true), unseen = outside(false);
  std::cerr << "of 10 rows with a cut accumulator " << seen << " are refuted, " << unseen << " without its order\n";
  CHECK(seen >= 5);
  CHECK(unseen == 0);
}

TEST_CASE("the theorem is silent where a contract does not declare enough", "[unit]") {
  generator random(15);
  auto const problem = narrow_row(0, 64, random);
  bound_check<float> const check(problem);
  narrow_kernel const kernel;
  auto const holds = [&](auto&& change) {
    auto model = kernel.model<problem::bf16>(64);
    change(model);
    return check.output_bound(check.bound(model)).known_size < reference::infinity;
  };
  using problem::kernel_model;
  CHECK(holds([](kernel_model&) {}));
  CHECK(!holds([](kernel_model& m) { m.weight_reference = weight_reference::unknown; }));
  CHECK(!holds([](kernel_model& m) { m.p_shared = true; }));
  CHECK(!holds([](kernel_model& m) { m.p_normalised = problem::normalised_first::unknown; }));
  CHECK(!holds([](kernel_model& m) { m.tau = 5.6; }));
  CHECK(!holds([](kernel_model& m) { m.splits = 2; }));
  CHECK(!holds([](kernel_model& m) { m.merges = 1; }));
  CHECK(!holds([](kernel_model& m) { m.rescales = problem::rescale_count::none; }));
  CHECK(!holds([](kernel_model& m) { m.u_p = 1.01 * 0x1p-8; }));
  CHECK(!holds([](kernel_model& m) { m.merge = problem::split_merge::lse; }));
  CHECK(!holds([](kernel_model& m) { m.u_p = 0, m.omega_p = 0; }));
}

TEST_CASE("a row that H0 refuses has nothing of the known weights of the row before", "[unit]") {
  auto model = narrow_kernel{}.model<problem::bf16>(5);
  model.sink_form = problem::sink_form::rescale;
  model.u_t = 0.5;  // E_⊥ is above Θ/8: T1 refuses the second row, T2 judges it
  auto refused = with_scores({0, -0.3F, -0.6F}, {1, 2, 3});
  refused.sink.values = {3e37F};
  bound_check<float> const known(with_scores({0, -0.3F, -0.6F, -0.9F, -1.2F}, {1, 2, 3, 4, 5})), second(refused);
  reference::row_bound bound;
  reference::compiled::evaluate(bound, model, known.facts());
  REQUIRE(known.output_bound(bound).known_size < reference::infinity);
  reference::compiled::evaluate(bound, model, second.facts());
  REQUIRE(!bound.terms().judged);
  REQUIRE(bound.says_anything());
  CHECK(second.output_bound(bound).known_center == second.output_bound(second.bound(model)).known_center);
}

TEST_CASE("rounding to few bits is that of the element types", "[unit]") {
  auto const same = [](auto element) {
    using E = decltype(element);
    constexpr problem::binary_format format = problem::format_of<E>;
    double const u = reference::power_of_two(-format.fraction_bits - 1);
    double const quantum = reference::power_of_two(format.smallest());
    generator random(16);
    int midpoints = 0;
    for (std::uint32_t bits = 0; bits + 1 < format.largest_finite(); ++bits) {
      E at, next;
      at.bits = static_cast<std::uint16_t>(bits), next.bits = static_cast<std::uint16_t>(bits + 1);
      double const low = audit::as_double(at), high = audit::as_double(next), middle = (low + high) / 2;
      if (high < 0x1p-120 && bits % 64 != 0) continue;
      REQUIRE(reference::scalar::rounded_to(low, u, quantum, false) == low);
      REQUIRE(reference::scalar::rounded_to(middle, u, quantum, false) == low);
      REQUIRE(reference::scalar::rounded_to(middle, u, quantum, true) == high);
      double const x = low + (high - low) * uniform(random);
      if (x == middle) continue;
      REQUIRE(reference::scalar::rounded_to(x, u, quantum, random() % 2) == (x < middle ? low : high));
      ++midpoints;
    }
    CHECK(midpoints > 1000);
  };
  same(problem::bf16{});
  same(problem::f16{});
}

}  // namespace attest::tests::known_weights_test
