// The cause of failing inputs in words, and joined over shards.
#include "audit/report/cause_words.hpp"

#include "tests/support/catch.hpp"

namespace attest::audit::cause_words_test {
namespace {

named_mistake mistake(std::string sentence, std::int64_t explains, std::int64_t tried_passing = 0,
                      std::int64_t contradicted = 0) {
  std::string const name = "name of " + sentence;
  return {name, std::move(sentence), explains, tried_passing, contradicted};
}

named_cause cause(std::vector<named_mistake> mistakes, std::int64_t explains, std::int64_t of, std::int64_t failed) {
  named_cause made;
  made.mistakes = std::move(mistakes);
  made.explains = explains, made.of = of, made.failed = failed;
  made.unexplained.resize(static_cast<std::size_t>(of - explains), "masks/one");
  return made;
}

report shard_with(named_cause is) {
  report shard;
  shard.failing.resize(static_cast<std::size_t>(is.failed));
  shard.cause = std::move(is);
  return shard;
}

}  // namespace

TEST_CASE("the sentence about the cause says how many failing inputs were tried, and of how many", "[unit]") {
  CHECK(sentence_of(cause({}, 0, 1, 1)) == "no known mistake explains the failing input");
  CHECK(sentence_of(cause({}, 0, 1, 200)) == "no known mistake explains the 1 failing input that was tried (of 200)");
  CHECK(sentence_of(cause({}, 0, 20, 20)) == "no known mistake explains the 20 failing inputs");
  CHECK(sentence_of(cause({}, 0, 64, 1114)) ==
        "no known mistake explains the 64 failing inputs that were tried (of 1,114)");
  CHECK(sentence_of(cause({mistake("A", 1)}, 1, 1, 1)) == "one mistake explains the failing input: A");
  CHECK(sentence_of(cause({mistake("A", 1)}, 1, 1, 200)) ==
        "one mistake explains the 1 failing input that was tried (of 200): A");
  CHECK(sentence_of(cause({mistake("A", 20)}, 20, 20, 20)) == "one mistake explains 20 of 20 failing inputs: A");
  CHECK(sentence_of(cause({mistake("A", 50), mistake("B", 14)}, 64, 64, 135)) ==
        "2 mistakes explain 64 of 64 failing inputs that were tried (of 135): A (50); B (14)");
}

TEST_CASE("mistakes that explain some of the inputs are listed below, never said to be the cause", "[unit]") {
  named_cause some = cause({}, 15, 64, 114);
  some.partly = {mistake("A", 11), mistake("B", 4, 8, 2)};
  CHECK(sentence_of(some) == "no known mistake explains all of the 64 failing inputs that were tried (of 114)");
  auto const lines = lines_of(some);
  REQUIRE(lines.size() == 4);
  CHECK(lines[1] == "in 11 of them the answers are also those of a kernel with this mistake: A");
  CHECK(lines[2] ==
        "in 4 of them the answers are also those of a kernel with this mistake: B (2 other inputs, whose answers it "
        "would change, are right)");
  CHECK(lines[3].starts_with("not explained: masks/one"));
}

TEST_CASE("mistakes that fit every input and that nothing else confirms are not said to be the cause", "[unit]") {
  named_cause fits = cause({}, 4, 4, 4);
  fits.partly = {mistake("A", 4, 8, 3)};
  CHECK(lines_of(fits) ==
        std::vector<std::string>{"the 4 failing inputs fit a known mistake, which no further answer confirms",
                                 "in all of them the answers are also those of a kernel with this mistake: A (3 other "
                                 "inputs, whose answers it would change, are right)"});
  fits.partly.push_back(mistake("B", 4));
  CHECK(sentence_of(fits) == "the 4 failing inputs fit known mistakes, which no further answer confirms");
}

TEST_CASE("a cause that there was no time to search for is said to be unknown", "[unit]") {
  CHECK(lines_of(cause({}, 0, 0, 17)) ==
        std::vector<std::string>{"not searched for: the time ended before the first failing input was tried"});
  named_cause recorded = cause({}, 0, 0, 1);
  recorded.recorded = true;
  CHECK(sentence_of(recorded).ends_with("; --budget 120 searches longer"));
}

TEST_CASE("a mistake that other inputs contradict is not said to be the cause, and recorded answers have none",
          "[unit]") {
  CHECK(sentence_of(cause({mistake("the bias is ignored", 20, 8, 8)}, 20, 20, 20)) ==
        "the answers to all of the 20 failing inputs are those of one mistake: the bias is ignored (8 other inputs, "
        "whose answers it would change, are right)");
  CHECK(sentence_of(cause({mistake("A", 20, 8, 1)}, 20, 20, 20)) ==
        "the answers to all of the 20 failing inputs are those of one mistake: A (1 other input, whose answer it would "
        "change, is right)");
  named_cause recorded = cause({mistake("A", 20)}, 20, 20, 20);
  recorded.recorded = true;
  CHECK(sentence_of(recorded) == "the recorded answers to all of the 20 failing inputs are those of one mistake: A");
}

TEST_CASE("several mistakes that fit the only input that was tried are named as such, and none as the cause",
          "[unit]") {
  CHECK(sentence_of(cause({mistake("A", 1), mistake("B", 1)}, 1, 1, 1)) ==
        "the failing input fits 2 known mistakes: A; B");
  CHECK(sentence_of(cause({mistake("A", 1), mistake("B", 1), mistake("C", 1), mistake("D", 1)}, 1, 1, 200)) ==
        "the 1 failing input that was tried (of 200) fits 4 known mistakes, among them: A; B; C");
}

TEST_CASE("a recorded call, which is its own check, is named once", "[unit]") {
  finding recorded;
  recorded.check = recorded.case_name = "layer0";
  CHECK(recorded.name() == "layer0");
  recorded.case_name = "layer1";
  CHECK(recorded.name() == "layer0/layer1");
  named_cause some = cause({}, 1, 3, 3);
  some.partly = {mistake("A", 1)};
  some.unexplained = {"layer0/layer0", "masks/one"};
  CHECK(lines_of(some).back() == "not explained: layer0, masks/one");
}

TEST_CASE("of the mistakes that fit the only input the words that accept a convention are said", "[unit]") {
  named_mistake convention = mistake("C", 1);
  convention.accepted = {"lse_base=2"};
  CHECK(accepted_by(cause({mistake("A", 1), convention}, 1, 1, 1)) == std::vector<std::string>{"lse_base=2"});
  CHECK(accepted_by(cause({mistake("A", 1), mistake("B", 1)}, 1, 1, 1)).empty());
  CHECK(accepted_by(cause({mistake("A", 30), convention}, 31, 31, 31)).empty());  // they explain different inputs
  convention.contradicted = 1;
  CHECK(accepted_by(cause({mistake("A", 1), convention}, 1, 1, 1)).empty());
}

TEST_CASE("of the mistakes that fit the only input of a shard, the one that other shards name is joined", "[unit]") {
  report const one = shard_with(cause({mistake("A", 1), mistake("B", 1)}, 1, 1, 1));
  report const many = shard_with(cause({mistake("B", 20), mistake("C", 3)}, 23, 23, 23));
  for (auto const& shards : {std::vector{one, many}, std::vector{many, one}}) {
    auto const joined = joined_cause(shards);
    REQUIRE(joined);
    CHECK(sentence_of(*joined) == "2 mistakes explain 24 of 24 failing inputs: B (21); C (3)");
  }
  // Two inputs tell them apart.
  report const other = shard_with(cause({mistake("C", 1), mistake("B", 1)}, 1, 1, 1));
  auto const two = joined_cause({one, other});
  REQUIRE(two);
  CHECK(sentence_of(*two) == "one mistake explains 2 of 2 failing inputs: B");
  // What leaves inputs of one shard open is no cause of all.
  auto const some = joined_cause({many, shard_with(cause({}, 0, 2, 2))});
  REQUIRE(some);
  CHECK(some->mistakes.empty());
  CHECK(some->partly.size() == 2);
  // One shard with failing inputs says what it said.
  auto const alone = joined_cause({one, report()});
  REQUIRE(alone);
  CHECK(sentence_of(*alone) == sentence_of(*one.cause));
}

}  // namespace attest::audit::cause_words_test
