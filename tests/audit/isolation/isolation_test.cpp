// Kernels in a process of their own: whatever one does in a call, the call is reported, and the next one works.
#include "tests/audit/isolation/isolation.hpp"

#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "audit/tensors/elements.hpp"

namespace attest::tests::isolation_test {
namespace {

namespace problem = attest::problem;
using Catch::Contains;

}  // namespace

TEST_CASE("a correct kernel succeeds with every placement of its tensors", "[unit]") {
  auto kernel = opened("naive");
  CHECK(kernel.name() == "naive two-pass (C99, double)");
  CHECK(!kernel.loading_changes_environment());
  for (auto const type : {element_type::f32, element_type::f64})
    for (auto const position : all_positions)
      for (std::int64_t const gap : {0, 3}) {
        owned_outputs outputs;
        auto const start = std::chrono::steady_clock::now();
        auto const report = kernel.run(small_problem(type), {true, true, 1, position, {.row_gap = gap}}, outputs);
        std::chrono::duration<double> const whole = std::chrono::steady_clock::now() - start;
        REQUIRE(report);
        INFO(report.value().sentence << ", placement " << static_cast<int>(position) << ", gap " << gap);
        CHECK(report.value().outcome == call_outcome::succeeded);
        CHECK(report.value().broken.empty());
        CHECK(report.value().seconds > 0);
        CHECK(report.value().seconds < whole.count());
        CHECK(outputs.o->layout.shape == problem::layout::compact({1, 2, 2, 5}).shape);
        CHECK(outputs.o->bytes.size() == 20 * problem::size_of(type));
        CHECK(outputs.lse->layout.rank == 3);
        REQUIRE(outputs.weights->layout.shape == problem::layout::compact({1, 2, 2, 3}).shape);
        double sum = 0;
        for (std::size_t j = 0; j < 3; ++j)
          sum += type == element_type::f32 ? static_cast<double>(outputs.weights->as<float>()[j])
                                           : outputs.weights->as<double>()[j];
        // p/sum: sum is rounded twice, a quotient once, and their sum here twice.
        CHECK(std::abs(sum - 1) <= 5 * limits_of(type).epsilon / 2);
      }
}

TEST_CASE("a problem with known outputs has these outputs", "[unit]") {
  auto kernel = opened("naive");
  problem_draft draft;  // four keys of one score: weights 1/4, and every number is exact
  draft.q = filled(element_type::f64, {1, 1}, 0);
  draft.k = filled(element_type::f64, {5, 1}, 0);
  draft.k.as<double>()[4] = std::numeric_limits<double>::quiet_NaN();  // masked: never read
  draft.v = filled(element_type::f64, {5, 1});
  for (std::size_t j = 0; j < 4; ++j) draft.v.as<double>()[j] = j < 3 ? 4 : 8;
  draft.mask = owned_tensor{element_type::u8,
                            problem::layout::compact({5}),
                            {std::byte{1}, std::byte{2}, std::byte{1}, std::byte{255}, std::byte{0}}};
  draft.scale = 1.0;
  owned_outputs outputs;
  auto const report = kernel.run(valid(draft), {.want_lse = true, .want_weights = true}, outputs);
  REQUIRE(report);
  CHECK(report.value().sentence == "answered");
  CHECK(outputs.o->layout.rank == 2);
  CHECK(outputs.o->as<double>()[0] == 5);
  CHECK(outputs.lse->layout.rank == 1);
  CHECK(outputs.lse->as<double>()[0] == std::log(4.0));
  for (std::size_t j = 0; j < 4; ++j) CHECK(outputs.weights->as<double>()[j] == 0.25);
  CHECK(outputs.weights->as<double>()[4] == 0);

  draft.band.left = 0;  // key 0 only, by the band
  draft.band.right = 0;
  REQUIRE(kernel.run(valid(draft), {}, outputs));
  CHECK(outputs.o->as<double>()[0] == 4);
  draft.band.diagonal = std::numeric_limits<std::int64_t>::max();  // far away: an empty row
  REQUIRE(kernel.run(valid(draft), {.want_lse = true}, outputs));
  CHECK(outputs.o->as<double>()[0] == 0);
  CHECK(outputs.lse->as<double>()[0] == -std::numeric_limits<double>::infinity());
}

TEST_CASE("one defect is one difference", "[unit]") {
  auto draft = small_draft();
  draft.band.right = 0;
  draft.band.diagonal = -1;  // query 0 sees no key, query 1 sees key 0
  auto const answer_of = [&](char const* name) {
    auto kernel = opened(name);
    owned_outputs outputs;
    auto const report = kernel.run(valid(draft), {}, outputs);
    REQUIRE(report);
    CHECK(report.value().outcome == call_outcome::succeeded);
    CHECK(report.value().broken.empty());
    auto const* first = outputs.o->as<float>();
    return std::vector<float>(first, first + 10);
  };
  auto const right = answer_of("naive");
  CHECK(right[0] == 0);
  CHECK(right[5] == draft.v.as<float>()[0]);
  CHECK(std::isnan(answer_of("nan_empty_row")[0]));
  CHECK(answer_of("nan_empty_row")[5] == right[5]);
  double sum = 0;
  for (std::size_t j = 0; j < 3; ++j) sum += static_cast<double>(draft.v.as<float>()[5 * j]);
  CHECK(answer_of("mean_v")[0] == static_cast<float>(sum / 3));
  CHECK(answer_of("ignores_mask")[0] != 0);
  CHECK(answer_of("noisy") == right);
}

TEST_CASE("every element type and every size passes through", "[unit]") {
  auto kernel = opened("naive");
  for (auto const type : {element_type::f16, element_type::bf16}) {
    CHECK(run_once(kernel, small_problem(type)).outcome == call_outcome::unsupported);
  }
  for (auto const position : all_positions)
    for (auto const& [n, m, dv] : {std::array<std::int64_t, 3>{0, 3, 2}, {2, 0, 2}, {2, 3, 0}, {1025, 1, 1}}) {
      problem_draft draft;
      draft.q = filled(element_type::f32, {n, 4});
      draft.k = filled(element_type::f32, {m, 4});
      draft.v = filled(element_type::f32, {m, dv});
      auto const report = run_once(kernel, valid(draft), {true, true, 1, position, {.row_gap = 1}});
      INFO(report.sentence << " for n = " << n << ", m = " << m << ", dv = " << dv);
      CHECK(report.outcome == call_outcome::succeeded);
      CHECK(report.broken.empty());
    }
}

TEST_CASE("a crash, an exit and a hang are outcomes, and the next call works", "[unit]") {
  auto crash = opened("crash");
  auto report = run_once(crash, small_problem());
  CHECK(report.outcome == call_outcome::crashed);
  CHECK(report.code == SIGSEGV);
  CHECK(report.sentence == "crashed with SIGSEGV");
  CHECK(report.broken.empty());
  still_answers_unsupported(crash);

  auto words = opened("aborts_with_words");
  report = run_once(words, small_problem());
  CHECK(report.outcome == call_outcome::crashed);
  CHECK(report.sentence == "crashed with SIGABRT after it said 'out of \\x1b[31mscratch'");

  auto exits = opened("exits");
  report = run_once(exits, small_problem());
  CHECK(report.outcome == call_outcome::exited);
  CHECK(report.code == 0);
  CHECK(report.sentence == "exited with code 0");
  still_answers_unsupported(exits);

  auto hang = opened("hang", 0.2);
  report = run_once(hang, small_problem());
  CHECK(report.outcome == call_outcome::hung);
  CHECK(report.sentence == "did not return, and used no processor for 0.2 s");
  still_answers_unsupported(hang);

  auto spins = opened("spins", 0.2);
  report = run_once(spins, small_problem());
  CHECK(report.outcome == call_outcome::hung);
  CHECK(report.sentence == "did not return within 0.2 s of processor time");
  still_answers_unsupported(spins);

  auto unknown = opened("unknown_status");
  report = run_once(unknown, small_problem());
  CHECK(report.outcome == call_outcome::unknown_status);
  CHECK(report.code == 42);
  CHECK(report.sentence == "returned the unknown status 42");
}

TEST_CASE("a kernel that ends its process after it returned is found out", "[unit]") {
  auto kernel = opened("exits_later");
  int const process = last_child();
  REQUIRE(process > 0);
  CHECK(run_once(kernel, small_problem()).outcome == call_outcome::succeeded);
  wait_for([&] { return is_gone(process); });
  auto const report = run_once(kernel, small_problem());
  CHECK(report.outcome == call_outcome::succeeded);
  REQUIRE(report.broke(promise::rests_between_calls));
  CHECK(report.broken[0].sentence == "exited with code 7 after it had returned");
}

TEST_CASE("a kernel cannot send replies in place of the runner", "[unit]") {
  auto kernel = opened("speaks_on_channel");
  CHECK(kernel.name() == "\\x1b[31mred\\xff");
  for (int i = 0; i < 2; ++i) {
    auto const report = run_once(kernel, small_problem());
    CHECK(report.outcome == call_outcome::unknown_status);
    CHECK(report.sentence == "wrote to the runner's channel");
  }
}

TEST_CASE("a changed floating-point environment is reported, each time", "[unit]") {
  std::vector<char const*> names = {"changes_rounding", "leaves_ftz"};
#if defined(__x86_64__) || defined(__i386__)
  names.push_back("fills_x87");
#endif
  for (auto const* name : names) {
    auto kernel = opened(name);
    for (int i = 0; i < 2; ++i) {  // restored in between, or the second call would look innocent
      auto const report = run_once(kernel, small_problem());
      INFO(name);
      CHECK(report.outcome == call_outcome::succeeded);
      REQUIRE(report.broke(promise::restores_environment));
      CHECK(report.broken[0].sentence ==
            "leaves the floating-point environment changed (rounding mode, FTZ, DAZ or x87 stack)");
    }
  }
  auto on_load = opened("ftz_on_load");
  CHECK(on_load.loading_changes_environment());
  CHECK(run_once(on_load, small_problem()).broken.empty());
}

TEST_CASE("touching what is not the kernel's is named", "[unit]") {
  struct expectation {
    char const* name;
    placement position;
    call_outcome outcome;
    promise broken;
    char const* argument;
    char const* sentence;
  };
  for (auto const& [name, position, outcome, broken, argument, sentence] : {
           expectation{"reads_past_k", placement::end, call_outcome::crashed, promise::stays_inside, "k",
                       "element 0 past the end of k"},
           {"reads_before_v", placement::start, call_outcome::crashed, promise::stays_inside, "v",
            "4 bytes before the start of v"},
           {"writes_past", placement::end, call_outcome::crashed, promise::stays_inside, "o",
            "element 0 past the end of o"},
           {"writes_past", placement::start, call_outcome::succeeded, promise::leaves_gaps, "o", "past o"},
           {"writes_past", placement::unaligned, call_outcome::succeeded, promise::leaves_gaps, "o", "past o"},
           {"scales_q", placement::end, call_outcome::crashed, promise::leaves_inputs, "q", "writes into the input q"},
           {"ignores_strides", placement::end, call_outcome::succeeded, promise::leaves_gaps, "o",
            "writes between the rows of o, at byte 20"},
           {"writes_descriptor", placement::end, call_outcome::succeeded, promise::leaves_descriptors, "",
            "writes to the descriptors of its call"},
           {"forgets_last_row", placement::end, call_outcome::succeeded, promise::writes_every_element, "o",
            "leaves 10 of 20 elements of o unwritten"},
       }) {
    auto kernel = opened(name);
    auto const report = run_once(kernel, small_problem(), {.placement = position, .memory = {.row_gap = 2}});
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
TEST_CASE("outputs do not depend on the placement of tensors", "[property]") {
  auto kernel = opened("naive");
  attest::tests::property("placement", [&] {
    auto const size = [](int least, int most) { return static_cast<std::int64_t>(*rc::gen::inRange(least, most)); };
    auto const type = *rc::gen::element(element_type::f32, element_type::f64);
    auto const b = size(1, 3), hk = size(1, 3), n = size(0, 5), m = size(0, 9), d = size(1, 5), dv = size(0, 4);
    auto const hq = hk * size(1, 3);
    problem_draft draft;
    draft.q = filled(type, {b, hq, n, d}, 0.5);
    draft.k = filled(type, {b, hk, m, d}, -1);
    draft.v = filled(type, {b, hk, m, dv}, 2);
    if (*rc::gen::arbitrary<bool>()) draft.bias = filled(element_type::f32, {1, n, m}, 0);
    draft.band = {size(-3, 4), size(-1, 4), size(-1, 4)};
    owned_outputs plain;
    auto const first = kernel.run(valid(draft), {.want_lse = true, .want_weights = true}, plain);
    RC_ASSERT(first && first.value().outcome == call_outcome::succeeded && first.value().broken.empty());
    for (auto const position : all_positions) {
      owned_outputs moved;
      auto const report = kernel.run(valid(draft), {true, true, 1, position, {.row_gap = size(0, 5)}}, moved);
      RC_ASSERT(report && report.value().outcome == call_outcome::succeeded && report.value().broken.empty());
      RC_ASSERT(moved.o->bytes == plain.o->bytes);
      RC_ASSERT(moved.lse->bytes == plain.lse->bytes && moved.weights->bytes == plain.weights->bytes);
    }
  });
}

}  // namespace attest::tests::isolation_test
