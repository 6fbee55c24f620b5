// Kernels in a process of their own: whatever one does in a call, the call is reported, and the next one works.
#include "tests/audit/isolation.hpp"

#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <limits>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace attest::tests;
namespace problem = attest::problem;
using Catch::Contains;

}  // namespace

TEST_CASE("an honest kernel answers, wherever its tensors lie", "[unit]") {
  auto kernel = opened("naive");
  CHECK(kernel.name() == "naive two-pass (C99, double)");
  CHECK(!kernel.loading_changes_environment());
  for (auto const type : {element_type::f32, element_type::f64})
    for (auto const where : everywhere)
      for (std::int64_t const gap : {0, 3}) {
        owned_outputs answer;
        auto const start = std::chrono::steady_clock::now();
        auto const report = kernel.run(small_problem(type), {true, true, 1, where, gap}, answer);
        std::chrono::duration<double> const whole = std::chrono::steady_clock::now() - start;
        REQUIRE(report);
        INFO(report.value().sentence << ", placement " << static_cast<int>(where) << ", gap " << gap);
        CHECK(report.value().outcome == call_outcome::answered);
        CHECK(report.value().broken.empty());
        CHECK(report.value().seconds > 0);
        CHECK(report.value().seconds < whole.count());
        CHECK(answer.o->where.shape == problem::layout::compact({1, 2, 2, 5}).shape);
        CHECK(answer.o->bytes.size() == 20 * problem::size_of(type));
        CHECK(answer.lse->where.rank == 3);
        REQUIRE(answer.weights->where.shape == problem::layout::compact({1, 2, 2, 3}).shape);
        double sum = 0;
        for (std::size_t j = 0; j < 3; ++j)
          sum += type == element_type::f32 ? static_cast<double>(answer.weights->as<float>()[j])
                                           : answer.weights->as<double>()[j];
        CHECK(sum == Approx(1));
      }
}

TEST_CASE("a known problem has its known answer", "[unit]") {
  auto kernel = opened("naive");
  problem_draft asked;  // two keys, scores ln 3 and 0: weights 3/4 and 1/4
  asked.q = filled(element_type::f64, {1, 1}, std::log(3.0));
  asked.k = filled(element_type::f64, {3, 1}, 0);
  asked.k.as<double>()[0] = 1;
  asked.k.as<double>()[1] = 0;
  asked.k.as<double>()[2] = std::numeric_limits<double>::quiet_NaN();  // masked: never read
  asked.v = filled(element_type::f64, {3, 1}, 0);
  asked.v.as<double>()[0] = 4;
  asked.v.as<double>()[1] = 8;
  asked.mask =
      owned_tensor{element_type::u8, problem::layout::compact({3}), {std::byte{1}, std::byte{2}, std::byte{0}}};
  asked.scale = 1.0;
  owned_outputs answer;
  auto const report = kernel.run(valid(asked), {.want_lse = true, .want_weights = true}, answer);
  REQUIRE(report);
  CHECK(report.value().sentence == "answered");
  CHECK(answer.o->where.rank == 2);
  CHECK(answer.o->as<double>()[0] == Approx(5));
  CHECK(answer.lse->where.rank == 1);
  CHECK(answer.lse->as<double>()[0] == Approx(std::log(4.0)));
  CHECK(answer.weights->as<double>()[0] == Approx(0.75));
  CHECK(answer.weights->as<double>()[2] == 0);

  asked.band.left = 0;  // key 0 only, by the band
  asked.band.right = 0;
  REQUIRE(kernel.run(valid(asked), {}, answer));
  CHECK(answer.o->as<double>()[0] == 4);
  asked.band.diagonal = std::numeric_limits<std::int64_t>::max();  // far away: an empty row
  REQUIRE(kernel.run(valid(asked), {.want_lse = true}, answer));
  CHECK(answer.o->as<double>()[0] == 0);
  CHECK(answer.lse->as<double>()[0] == -std::numeric_limits<double>::infinity());
}

TEST_CASE("one defect is one difference", "[unit]") {
  auto asked = small_draft();
  asked.band.right = 0;
  asked.band.diagonal = -1;  // query 0 sees no key, query 1 sees key 0
  auto const answer_of = [&](char const* name) {
    auto kernel = opened(name);
    owned_outputs answer;
    auto const report = kernel.run(valid(asked), {}, answer);
    REQUIRE(report);
    CHECK(report.value().outcome == call_outcome::answered);
    CHECK(report.value().broken.empty());
    auto const* first = answer.o->as<float>();
    return std::vector<float>(first, first + 10);
  };
  auto const right = answer_of("naive");
  CHECK(right[0] == 0);
  CHECK(right[5] == asked.v.as<float>()[0]);
  CHECK(std::isnan(answer_of("nan_empty_row")[0]));
  CHECK(answer_of("nan_empty_row")[5] == right[5]);
  CHECK(answer_of("mean_v")[0] ==
        Approx((asked.v.as<float>()[0] + asked.v.as<float>()[5] + asked.v.as<float>()[10]) / 3));
  CHECK(answer_of("ignores_mask")[0] != 0);
  CHECK(answer_of("noisy") == right);
}

TEST_CASE("every element type and every size passes through", "[unit]") {
  auto kernel = opened("naive");
  for (auto const type : {element_type::f16, element_type::bf16}) {
    CHECK(ask(kernel, small_problem(type)).outcome == call_outcome::unsupported);
  }
  for (auto const where : everywhere)
    for (auto const& [n, m, dv] : {std::array<std::int64_t, 3>{0, 3, 2}, {2, 0, 2}, {2, 3, 0}, {1025, 1, 1}}) {
      problem_draft asked;
      asked.q = filled(element_type::f32, {n, 4});
      asked.k = filled(element_type::f32, {m, 4});
      asked.v = filled(element_type::f32, {m, dv});
      auto const report = ask(kernel, valid(asked), {true, true, 1, where, 1});
      INFO(report.sentence << " for n = " << n << ", m = " << m << ", dv = " << dv);
      CHECK(report.outcome == call_outcome::answered);
      CHECK(report.broken.empty());
    }
}

TEST_CASE("a crash, an exit and a hang are answers, and the next call works", "[unit]") {
  auto crash = opened("crash");
  auto report = ask(crash, small_problem());
  CHECK(report.outcome == call_outcome::crashed);
  CHECK(report.code == SIGSEGV);
  CHECK(report.sentence == "crashed with SIGSEGV");
  CHECK(report.broken.empty());
  still_answers_unsupported(crash);

  auto exits = opened("exits");
  report = ask(exits, small_problem());
  CHECK(report.outcome == call_outcome::exited);
  CHECK(report.code == 0);
  CHECK(report.sentence == "exited with code 0");
  still_answers_unsupported(exits);

  auto hang = opened("hang", 0.2);
  report = ask(hang, small_problem());
  CHECK(report.outcome == call_outcome::hung);
  CHECK(report.sentence == "did not return within 0.2 s");
  still_answers_unsupported(hang);

  auto unknown = opened("unknown_status");
  report = ask(unknown, small_problem());
  CHECK(report.outcome == call_outcome::unknown_status);
  CHECK(report.code == 42);
  CHECK(report.sentence == "returned the unknown status 42");
}

TEST_CASE("a kernel that ends its process after it returned is found out", "[unit]") {
  auto kernel = opened("exits_later");
  int const process = last_child();
  REQUIRE(process > 0);
  CHECK(ask(kernel, small_problem()).outcome == call_outcome::answered);
  wait_for([&] { return is_gone(process); });
  auto const report = ask(kernel, small_problem());
  CHECK(report.outcome == call_outcome::answered);
  REQUIRE(report.broke(promise::rests_between_calls));
  CHECK(report.broken[0].sentence == "exited with code 7 after it had returned");
}

TEST_CASE("a kernel cannot answer for the runner", "[unit]") {
  auto kernel = opened("speaks_on_channel");
  CHECK(kernel.name() == "\\x1b[31mred\\xff");
  for (int i = 0; i < 2; ++i) {
    auto const report = ask(kernel, small_problem());
    CHECK(report.outcome == call_outcome::unknown_status);
    CHECK(report.sentence == "wrote to the runner's channel");
  }
}

TEST_CASE("a changed floating-point environment is reported, each time", "[unit]") {
  for (auto const* name : {"changes_rounding", "leaves_ftz"}) {
    auto kernel = opened(name);
    for (int i = 0; i < 2; ++i) {  // restored in between, or the second call would look innocent
      auto const report = ask(kernel, small_problem());
      INFO(name);
      CHECK(report.outcome == call_outcome::answered);
      REQUIRE(report.broke(promise::restores_environment));
      CHECK(report.broken[0].sentence == "leaves the floating-point environment changed (rounding mode, FTZ or DAZ)");
    }
  }
  auto on_load = opened("ftz_on_load");
  CHECK(on_load.loading_changes_environment());
  CHECK(ask(on_load, small_problem()).broken.empty());
}

TEST_CASE("touching what is not the kernel's is named", "[unit]") {
  struct expectation {
    char const* name;
    placement where;
    call_outcome outcome;
    promise broken;
    char const* argument;
    char const* sentence;
  };
  for (auto const& [name, where, outcome, broken, argument, sentence] : {
           expectation{"reads_past_k", placement::end, call_outcome::crashed, promise::stays_inside, "k",
                       "element 0 past the end of k"},
           {"reads_before_v", placement::start, call_outcome::crashed, promise::stays_inside, "v",
            "4 bytes before the start of v"},
           {"writes_past", placement::end, call_outcome::crashed, promise::stays_inside, "o",
            "element 0 past the end of o"},
           {"writes_past", placement::start, call_outcome::answered, promise::leaves_gaps, "o", "past o"},
           {"writes_past", placement::unaligned, call_outcome::answered, promise::leaves_gaps, "o", "past o"},
           {"scales_q", placement::end, call_outcome::crashed, promise::leaves_inputs, "q", "writes into the input q"},
           {"ignores_strides", placement::end, call_outcome::answered, promise::leaves_gaps, "o",
            "writes between the rows of o, at byte 20"},
           {"writes_descriptor", placement::end, call_outcome::answered, promise::leaves_descriptors, "",
            "writes to the descriptors of its call"},
           {"forgets_last_row", placement::end, call_outcome::answered, promise::writes_every_element, "o",
            "leaves 10 of 20 elements of o unwritten"},
       }) {
    auto kernel = opened(name);
    auto const report = ask(kernel, small_problem(), {.where = where, .output_gap = 2});
    INFO(name << ": " << report.sentence);
    CHECK(report.outcome == outcome);
    REQUIRE(report.broken.size() == 1);
    CHECK(report.broken[0].which == broken);
    CHECK(report.broken[0].argument == argument);
    CHECK_THAT(report.broken[0].sentence, Contains(sentence));
    if (outcome == call_outcome::crashed)
      CHECK_THAT(report.sentence, Contains("crashed with SIGSEGV: ") && Contains(sentence));
  }
}
TEST_CASE("where tensors lie does not change an answer", "[property]") {
  auto kernel = opened("naive");
  attest::tests::property("placement", [&] {
    auto const size = [](int least, int most) { return static_cast<std::int64_t>(*rc::gen::inRange(least, most)); };
    auto const type = *rc::gen::element(element_type::f32, element_type::f64);
    auto const b = size(1, 3), hk = size(1, 3), n = size(0, 5), m = size(0, 9), d = size(1, 5), dv = size(0, 4);
    auto const hq = hk * size(1, 3);
    problem_draft asked;
    asked.q = filled(type, {b, hq, n, d}, 0.5);
    asked.k = filled(type, {b, hk, m, d}, -1);
    asked.v = filled(type, {b, hk, m, dv}, 2);
    if (*rc::gen::arbitrary<bool>()) asked.bias = filled(element_type::f32, {1, n, m}, 0);
    asked.band = {size(-3, 4), size(-1, 4), size(-1, 4)};
    owned_outputs plain;
    auto const first = kernel.run(valid(asked), {.want_lse = true, .want_weights = true}, plain);
    RC_ASSERT(first && first.value().outcome == call_outcome::answered && first.value().broken.empty());
    for (auto const where : everywhere) {
      owned_outputs moved;
      auto const report = kernel.run(valid(asked), {true, true, 1, where, size(0, 5)}, moved);
      RC_ASSERT(report && report.value().outcome == call_outcome::answered && report.value().broken.empty());
      RC_ASSERT(moved.o->bytes == plain.o->bytes);
      RC_ASSERT(moved.lse->bytes == plain.lse->bytes && moved.weights->bytes == plain.weights->bytes);
    }
  });
}
