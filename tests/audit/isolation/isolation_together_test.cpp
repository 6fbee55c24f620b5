// Calls of one process during which the tensors of all are alive: one after the other, and from several threads at
// once.
#include <algorithm>
#include <cmath>
#include <csignal>
#include <vector>

#include "tests/audit/isolation/isolation.hpp"

namespace attest::tests::isolation_together_test {
namespace {

namespace problem = attest::problem;

/// Two heads, so large that a call takes about a millisecond; `first` tells problems apart.
owned_problem large_problem(double first) {
  problem_draft draft;
  for (owned_tensor* t : {&draft.q, &draft.k, &draft.v}) *t = filled(element_type::f32, {1, 2, 40, 16}, first);
  draft.q.as<float>()[0] = static_cast<float>(-first);
  return valid(std::move(draft));
}

struct asked_group {
  std::vector<owned_problem> problems;
  std::vector<call_of_group> calls{};

  /// `count` calls of the problems in turn, dealt to `callers` threads.
  asked_group(std::vector<owned_problem> of, std::size_t count, std::uint32_t callers, call_request const& request = {})
      : problems(std::move(of)) {
    for (std::size_t n = 0; n < count; ++n)
      calls.push_back({&problems[n % problems.size()], request, static_cast<std::uint32_t>(n) % callers});
  }
};

std::vector<call_answer> answers_of(isolated_kernel& kernel, asked_group const& group) {
  auto answers = kernel.run_together(group.calls);
  if (!answers) FAIL(answers.why().message());
  REQUIRE(answers.value().size() == group.calls.size());
  return std::move(answers).value();
}

/// How many answers of a group do not have the bits of the call alone.
std::size_t different_answers(char const* name, std::size_t count, std::uint32_t callers,
                              call_request const& request = {}) {
  asked_group const group({large_problem(1), large_problem(2), large_problem(3)}, count, callers, request);
  auto honest = opened("naive"), kernel = opened(name);
  std::vector<owned_outputs> alone(group.problems.size());
  for (std::size_t n = 0; n < alone.size(); ++n) REQUIRE(honest.run(group.problems[n], request, alone[n]));
  std::size_t different = 0;
  auto const answers = answers_of(kernel, group);
  for (std::size_t n = 0; n < answers.size(); ++n) {
    CHECK(answers[n].report.outcome == call_outcome::succeeded);
    CHECK(answers[n].report.broken.empty());
    different += answers[n].outputs.o->bytes != alone[n % alone.size()].o->bytes;
  }
  return different;
}

}  // namespace

TEST_CASE("calls of a group are answered as alone, from any number of threads", "[unit]") {
  for (std::uint32_t const callers : {1u, 2u, 4u, 16u})
    for (auto const position : all_positions)
      CHECK(different_answers("naive", 16, callers, {.want_lse = true, .want_weights = true, .placement = position}) ==
            0);
  CHECK(different_answers("thread_scratch", 16, 4) == 0);
}

TEST_CASE("a scratch that calls share is right from one thread, and wrong from two at once", "[unit]") {
  CHECK(different_answers("shared_scratch", 16, 1) == 0);
  std::size_t different = 0;
  for (int tries = 0; tries < 20 && different == 0; ++tries) different = different_answers("shared_scratch", 16, 2);
  CHECK(different > 0);
}

TEST_CASE("a repeated call ends where its outputs change, and they are those that are read", "[unit]") {
  auto honest = opened("naive"), wrong = opened("wrong_fifth_call");
  asked_group group({large_problem(1)}, 2, 2);
  for (call_of_group& call : group.calls) call.repeat_seconds = 0.05;
  auto const start = std::chrono::steady_clock::now();
  auto const right = answers_of(honest, group);
  CHECK(std::chrono::steady_clock::now() - start >= std::chrono::milliseconds(50));
  CHECK(right[0].outputs.o->bytes == right[1].outputs.o->bytes);
  group.calls.resize(1);
  for (bool const first : {true, false}) {
    auto const answers = answers_of(wrong, group);
    CHECK((answers[0].outputs.o->bytes != right[0].outputs.o->bytes) == first);
    CHECK(answers[0].report.broken.empty());
  }
}

TEST_CASE("an earlier out that a later call writes is told from one that stays", "[unit]") {
  auto honest = opened("naive"), wrong = opened("writes_earlier_out");
  asked_group const group({large_problem(1), large_problem(2)}, 4, 1);
  for (call_answer const& answer : answers_of(honest, group)) CHECK(answer.report.broken.empty());
  auto const answers = answers_of(wrong, group);
  for (std::size_t n = 0; n < answers.size(); ++n) {
    CHECK(answers[n].report.broke(promise::leaves_earlier_outputs) == (n < 3));
    CHECK((answers[n].outputs.o->bytes[0] == std::byte{1}) == (n < 3));
  }
}

TEST_CASE("a group that crashes or hangs says so in every answer, and the next call works", "[unit]") {
  auto crash = opened("crash");
  asked_group const group({large_problem(1), large_problem(2)}, 4, 2);
  for (call_answer const& answer : answers_of(crash, group)) {
    CHECK(answer.report.outcome == call_outcome::crashed);
    CHECK(answer.report.code == SIGSEGV);
  }
  still_answers_unsupported(crash);

  auto waits = opened("waits_for_other_calls", 0.5);
  for (call_answer const& answer : answers_of(waits, asked_group({large_problem(1)}, 16, 1)))
    CHECK(answer.report.outcome == call_outcome::succeeded);
  for (call_answer const& answer : answers_of(waits, asked_group({large_problem(1)}, 16, 4))) {
    CHECK(answer.report.outcome == call_outcome::hung);
    CHECK(answer.report.sentence == "did not return within 0.5 s of processor time");
  }
  CHECK(run_once(waits, large_problem(1)).outcome == call_outcome::succeeded);
}

TEST_CASE("a read beyond a tensor of any call of a group is explained", "[unit]") {
  auto reads = opened("reads_past_k");
  auto const answers = answers_of(reads, asked_group({large_problem(1), large_problem(2)}, 4, 2));
  CHECK(answers[0].report.outcome == call_outcome::crashed);
  CHECK(answers[0].report.sentence == "crashed with SIGSEGV: reads element 0 past the end of k");
}

TEST_CASE("what the kernel broke in one call of a group is in the report of that call", "[unit]") {
  auto wrong = opened("writes_gap");
  auto const answers =
      answers_of(wrong, asked_group({large_problem(1), large_problem(2)}, 4, 2, {.memory = {.row_gap = 3}}));
  for (call_answer const& answer : answers) CHECK(answer.report.broke(promise::leaves_gaps));
}

}  // namespace attest::tests::isolation_together_test
