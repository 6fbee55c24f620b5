// Problems that own their memory: which drafts they refuse, what copies share, and where a generator's mistake ends.
#include "audit/tensors/owned_problem.hpp"

#include <array>
#include <csignal>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

#include "audit/tensors/slice.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::owned_problem_test {
using audit::owned_problem;
using audit::owned_tensor;
using audit::problem_draft;
using problem::element_type;

namespace {

/// b = 2, hq = 2, hk = 1, n = 2, m = 3, d = 4, dv = 5.
problem_draft ordinary() {
  problem_draft draft;
  draft.q = owned_tensor::compact(element_type::f32, {2, 2, 2, 4});
  draft.k = owned_tensor::compact(element_type::f32, {2, 1, 3, 4});
  draft.v = owned_tensor::compact(element_type::f32, {2, 1, 3, 5});
  return draft;
}

std::string refusal(problem_draft draft) {
  auto const checked = owned_problem::make(std::move(draft));
  return checked ? "" : checked.why().message();
}

/// What `work` printed as an error before it ended, and how it ended.
struct ending {
  std::string printed;
  int status = 0;
};
ending end_of(auto&& work) {
  std::array<int, 2> ends{};
  REQUIRE(pipe(ends.data()) == 0);
  pid_t const child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    std::signal(SIGABRT, SIG_DFL);
    work();
    _exit(0);
  }
  close(ends[1]);
  ending result;
  std::array<char, 256> part{};
  for (ssize_t count = 0; (count = read(ends[0], part.data(), part.size())) > 0;)
    result.printed.append(part.data(), static_cast<std::size_t>(count));
  close(ends[0]);
  REQUIRE(waitpid(child, &result.status, 0) == child);
  return result;
}

}  // namespace

TEST_CASE("an owned problem is a checked one", "[unit]") {
  problem_draft wrong = ordinary();
  wrong.k = owned_tensor::compact(element_type::f32, {2, 1, 3, 9});
  CHECK(refusal(wrong) == "k: head dimension d is 9, q has 4");
  problem_draft const good = ordinary();
  for (auto const tensor : {&problem_draft::q, &problem_draft::k, &problem_draft::v}) {
    problem_draft cut = good;
    (cut.*tensor).bytes.pop_back();
    CHECK(refusal(cut) == "an input has fewer bytes than its layout reaches");
  }
  problem_draft masked = good;
  masked.mask = owned_tensor{element_type::u8, problem::layout::compact({3}), std::vector<std::byte>(2)};
  CHECK(refusal(masked) == "an input has fewer bytes than its layout reaches");
  masked.mask->bytes.resize(3);
  CHECK(refusal(masked).empty());
  problem_draft biased = good;
  biased.bias = owned_tensor{element_type::f32, problem::layout::compact({3}), std::vector<std::byte>(11)};
  CHECK(refusal(biased) == "an input has fewer bytes than its layout reaches");

  auto const checked = owned_problem::make(good).value();
  CHECK(checked.size() == problem::sizes{2, 2, 1, 2, 3, 4, 5});
  CHECK(checked.type() == element_type::f32);
  CHECK(checked.rank() == 4);
}

TEST_CASE("copies of an owned problem share its memory, which outlives the first", "[unit]") {
  auto const share = [] {
    problem_draft draft = ordinary();
    draft.v.as<float>()[0] = 7;
    auto const first = owned_problem::of_valid(std::move(draft));
    owned_problem const second = first;  // NOLINT(performance-unnecessary-copy-initialization): this is the subject
    CHECK(&second.draft() == &first.draft());
    return second;
  };
  owned_problem const kept = share();
  auto const& p = std::get<problem::instance<float>>(kept.instance());
  CHECK(p.v()(0, 0, 0, 0) == 7);
  CHECK(static_cast<void const*>(p.v().data) == kept.draft().v.bytes.data());
}

TEST_CASE("a draft that should have been valid ends the program with the reason", "[unit]") {
  problem_draft wrong = ordinary();
  wrong.softcap = -1;
  auto const [printed, status] = end_of([&] { static_cast<void>(owned_problem::of_valid(wrong)); });
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGABRT);
  CHECK(printed ==
        "attest: a problem that attest itself made is none: softcap: must be finite and positive, or 0 for none\n");
  CHECK(WIFEXITED(end_of([] { static_cast<void>(owned_problem::of_valid(ordinary())); }).status));
}

TEST_CASE("a part of a problem is a problem, with the parameters of the whole", "[unit]") {
  problem_draft whole = ordinary();
  whole.softcap = 3, whole.band = {1, 2, 0};
  whole.mask = owned_tensor::compact(element_type::u8, {2, 1, 1, 3});
  auto const problem = owned_problem::of_valid(whole);
  auto chosen = audit::selection::all(problem.size());
  chosen.b = {1}, chosen.n = {1}, chosen.d = {0, 2};
  auto const part = audit::sliced(problem, chosen);
  REQUIRE(part);
  CHECK(part->size() == problem::sizes{1, 2, 1, 1, 3, 2, 5});
  CHECK(part->draft().softcap == 3);
  CHECK(part->draft().scale == 0.5);                    // 1/√4, the whole's
  CHECK(part->draft().band == problem::band{2, 2, 0});  // query 1 is the first
  CHECK(part->draft().mask->layout.shape == std::array<std::int64_t, 4>{1, 1, 1, 3});
}

}  // namespace attest::tests::owned_problem_test
