// Systematic errors: outputs that are cut instead of rounded are noted although each is within its bound; honest
// outputs are not, and the sums do not depend on an order.
#include "audit/judge/systematic_error.hpp"

#include <cmath>
#include <random>

#include <nlohmann/json.hpp>
#include <tbb/global_control.h>

#include "audit/judge/judge_outputs.hpp"
#include "audit/report/file/json_write.hpp"
#include "audit/report/html/page.hpp"
#include "audit/report/text.hpp"
#include "audit/tensors/elements.hpp"
#include "audit/tensors/problem_draft.hpp"
#include "reference/machine/rows.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/one_check.hpp"

namespace attest::audit::systematic_error_test {
namespace {

bool has(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

/// One head of Gaussian q, k and v.
problem_draft gaussian(std::uint64_t seed, problem::element_type type) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  auto const draw = [&](auto...) { return normal(random); };
  problem_draft draft;
  draft.q = owned_tensor::compact(type, {1, 1, 8, 16}), draft.k = owned_tensor::compact(type, {1, 1, 24, 16});
  draft.v = owned_tensor::compact(type, {1, 1, 24, 16});
  fill(draft.q, draw), fill(draft.k, draw), fill(draft.v, draw);
  return draft;
}

/// O of the problem, each element stored(x, low) of an exact value x + low.
template <class T, class Stored>
owned_outputs answer(problem_draft const& draft, Stored&& stored) {
  auto const any = problem::make_instance(draft.arguments()).value();
  auto const& p = std::get<problem::instance<T>>(any);
  owned_outputs outputs;
  problem::sizes const& s = p.size();
  outputs.o = owned_tensor::compact(draft.q.type, {1, 1, s.n, s.dv});
  auto rows = reference::machine::row_source<T>::make(p).value();
  rows.each(0, 0, 0, s.n, [&](reference::machine::certified_row const& row) {
    REQUIRE_FALSE(row.handed_over);
    for (std::size_t c = 0; c < row.o.size(); ++c)
      store(*outputs.o, static_cast<std::size_t>(row.i * s.dv) + c,
            stored(row.o[c], row.o_low.empty() ? 0 : row.o_low[c]));
  });
  return outputs;
}

/// x + low towards zero in the format of T, as a double.
template <class T>
double cut(double x, double low) {
  double const next = rounded_to(x, problem::format_of<T>);
  if (std::abs(next) < std::abs(x) || (next == x && (low == 0 || (low < 0) == (x < 0)))) return next;
  int exponent = 0;
  std::frexp(next, &exponent);
  // One place towards 0; at a power of two the place below is half as large.
  double const ulp = std::ldexp(1.0, exponent - 1 - problem::format_of<T>.fraction_bits);
  double const below = std::abs(next) - (std::abs(next) == std::ldexp(1.0, exponent - 1) ? ulp / 2 : ulp);
  return std::copysign(below, x);
}

/// A hundred calls of one check, whose outputs are `stored`.
template <class T, class Stored>
judgement hundred_calls(char const* preset, Stored&& stored) {
  judgement sum;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    problem_draft const draft = gaussian(seed, problem::type_of<T>);
    sum.merge(
        judge(problem::make_instance(draft.arguments()).value(), answer<T>(draft, stored), *find_contract(preset)));
  }
  return sum;
}

systematic_error const& of_o(judgement const& found, problem::element_type type) {
  return found.systematic[0][static_cast<std::size_t>(type)];
}

template <class T>
void check_cut_is_noted(char const* preset) {
  INFO(preset);
  auto const type = problem::type_of<T>;
  judgement const honest = hundred_calls<T>(preset, [](double x, double) { return x; });
  CHECK(honest.failed == 0);
  CHECK(of_o(honest, type).calls.count == 100);
  CHECK(of_o(honest, type).rows == 800);
  // Those whose exact value is known to 2⁻¹⁶ ulp count: doubles do not know as much of small sums in f32. Elsewhere all
  // do but a few subnormals of f16.
  CHECK(of_o(honest, type).elements > (std::is_same_v<T, float> ? 800 * 16 * 9 / 10 : 800 * 16 - 10));
  CHECK_FALSE(of_o(honest, type).is_worth_a_note());
  report const right = tests::report_of(honest, "accuracy");
  CHECK(right.verdict == verdict::certified);
  CHECK_FALSE(has(as_text(right), "systematic"));

  judgement const off = hundred_calls<T>(preset, cut<T>);
  CHECK(off.failed == 0);
  mean_error const size = of_o(off, type).of(error_sign::away_from_0), up = of_o(off, type).of(error_sign::upwards);
  CHECK(size.mean < -0.45);
  CHECK(size.mean > -0.55);
  CHECK(size.is_systematic());
  // O has both signs: upwards, the errors cancel.
  CHECK_FALSE(up.is_systematic());
  report const noted = tests::report_of(off, "accuracy");
  CHECK(noted.verdict == verdict::certified);
  auto const note = "systematic error of o (" + std::string(problem::name_of(type)) + "), which no bound refutes";
  CHECK(has(as_text(noted), note));
  CHECK(has(as_html(std::span(&noted, 1)), note));
  CHECK(nlohmann::json::parse(as_json(noted))["evidence"]["systematic_errors"][0]["noted"] == true);
}

TEST_CASE("outputs that are cut to their type are certified and noted, rounded ones are not noted", "[unit]") {
  check_cut_is_noted<float>("f32");
  check_cut_is_noted<double>("f64");
  check_cut_is_noted<problem::bf16>("bf16");
  check_cut_is_noted<problem::f16>("f16");
}

// Summed one after the other, 128 times 1 + 2⁻⁹ + 2⁻²⁰ in f32 is too small by 6 units, in every call: that is a
// property of this number, and the drawn inputs have it in many calls.
TEST_CASE("columns of V that hold one number are not counted", "[unit]") {
  judgement sum;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    problem_draft draft = gaussian(seed, problem::element_type::f32);
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    fill(draft.v, [&](auto, auto, auto, auto c) { return c < 4 ? normal(random) : 1 + 0x1p-9 + 0x1p-20; });
    auto const outputs =
        answer<float>(draft, [](double x, double) { return x == 1 + 0x1p-9 + 0x1p-20 ? x - 6 * 0x1p-23 : x; });
    sum.merge(judge(problem::make_instance(draft.arguments()).value(), outputs, *find_contract("f32")));
  }
  CHECK(sum.failed == 0);
  CHECK(of_o(sum, problem::element_type::f32).calls.count == 100);
  CHECK(of_o(sum, problem::element_type::f32).elements <= 100 * 8 * 4);
  CHECK_FALSE(of_o(sum, problem::element_type::f32).is_worth_a_note());
}

TEST_CASE("a shift of all outputs shows in the mean error upwards", "[unit]") {
  judgement const off = hundred_calls<float>("f32", [](double x, double) {
    auto const next = static_cast<float>(x);
    return static_cast<double>(std::nextafter(next, std::numeric_limits<float>::infinity()));
  });
  CHECK(off.failed == 0);
  CHECK(of_o(off, problem::element_type::f32).of(error_sign::upwards).is_systematic());
  CHECK_FALSE(of_o(off, problem::element_type::f32).of(error_sign::away_from_0).is_systematic());
}

TEST_CASE("the unit is the call: a row that a call repeats is one observation", "[unit]") {
  call_errors call;
  for (int n = 0; n < 10'000; ++n) {
    row_errors row;
    row.add(0.5, false), row.add(0.25, true);
    call.add(row);
  }
  systematic_error sum;
  sum.add(call);
  CHECK(sum.calls.count == 1);
  CHECK(sum.rows == 10'000);
  CHECK(sum.elements == 20'000);
  CHECK(sum.calls.mean(error_sign::upwards) == 0.375);
  CHECK(sum.calls.mean(error_sign::away_from_0) == 0.125);
  CHECK_FALSE(sum.is_worth_a_note());
  sum.add({});  // a call without an element that counts
  CHECK(sum.calls.count == 1);
}

TEST_CASE("mean and standard error are those of the calls", "[unit]") {
  systematic_error sum;
  for (double const mean : {0.25, 0.75, 0.25, 0.75}) {
    row_errors row;
    row.add(mean, false);
    call_errors call;
    call.add(row);
    sum.add(call);
  }
  CHECK(sum.of(error_sign::upwards).mean == 0.5);
  CHECK(std::abs(sum.of(error_sign::upwards).standard_error - std::sqrt(0.0625 / 3)) < 1e-3);
}

TEST_CASE("an element counts at most as an error of 16 ulp", "[unit]") {
  row_errors row;
  row.add(1e9, false), row.add(-1e300, true), row.add(1, false);
  CHECK(row.sums[0] == 1);
  CHECK(row.sums[1] == 33);
}

TEST_CASE("sums are the same bits in any order, of calls and of threads", "[unit]") {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  std::vector<systematic_error> parts(50);
  for (systematic_error& part : parts) {
    row_errors row;
    for (int n = 0; n < 7; ++n) row.add(normal(random), normal(random) < 0);
    call_errors call;
    call.add(row);
    part.add(call);
  }
  systematic_error forwards, backwards;
  for (std::size_t n = 0; n < parts.size(); ++n) forwards.merge(parts[n]), backwards.merge(parts[parts.size() - 1 - n]);
  CHECK(forwards == backwards);

  problem_draft draft = gaussian(5, problem::element_type::f32);
  std::normal_distribution<double> wide(0, 2);
  draft.q = owned_tensor::compact(problem::element_type::f32, {1, 1, 700, 16});
  fill(draft.q, [&](auto...) { return wide(random); });
  auto const outputs = answer<float>(draft, cut<float>);
  auto const instance = problem::make_instance(draft.arguments()).value();
  judgement const together = judge(instance, outputs, *find_contract("f32"));
  tbb::global_control const one_thread(tbb::global_control::max_allowed_parallelism, 1);
  judgement const alone = judge(instance, outputs, *find_contract("f32"));
  CHECK(together.systematic == alone.systematic);
  CHECK(of_o(alone, problem::element_type::f32).rows == 700);
}

TEST_CASE("elements of which the truth is a subnormal or 0 do not count", "[unit]") {
  problem_draft draft = gaussian(9, problem::element_type::f32);
  fill(draft.v, [](auto, auto, auto j, auto c) { return c < 8 ? 1e-40 : c < 12 ? 0.0 : 1.0 + static_cast<double>(j); });
  judgement const found =
      judge(problem::make_instance(draft.arguments()).value(), answer<float>(draft, cut<float>), *find_contract("f32"));
  CHECK(of_o(found, problem::element_type::f32).rows == 8);
  CHECK(of_o(found, problem::element_type::f32).elements == 8 * 4);
}

}  // namespace
}  // namespace attest::audit::systematic_error_test
