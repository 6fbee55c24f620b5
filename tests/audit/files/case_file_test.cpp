// Case files: the numbers and words that they have for who runs the kernel, and what he may say of his calls.
#include "audit/files/case_file.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "audit/cases/random.hpp"
#include "audit/files/flag_words.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::case_file_test {
namespace {

using namespace attest::audit;
namespace problem = attest::problem;
using problem::element_type;

problem_draft drawn(problem::sizes const& s = {2, 4, 2, 3, 5, 8, 8}) {
  random_stream random(1, "case files");
  return gaussian(s, element_type::f32, random);
}

owned_problem valid(problem_draft draft) { return owned_problem::of_valid(std::move(draft)); }

/// A case whose calls are: itself, a call that prepares it, itself again.
audit_case sequence(std::string name) {
  audit_case made{.check = "stale", .name = std::move(name), .problem = valid(drawn())};
  made.threads = 3;
  made.must_equal(made.problem, "the same call again");
  made.further.push_back({.is = relation::warm_up, .problem = valid(drawn({2, 4, 2, 7, 9, 8, 8})), .says = "before"});
  return made;
}

safetensors_file written(std::vector<audit_case> const& cases, std::vector<std::byte>& bytes) {
  auto made = case_file_bytes(cases, {.seed = 7, .contract = "f32"});
  REQUIRE(made);
  bytes = std::move(made).value();
  return parse_safetensors(bytes).value();
}

std::vector<recorded_case> read(safetensors_file const& file) {
  auto recorded = problem_file_of(file);
  REQUIRE(recorded);
  auto cases = cases_of(std::move(recorded).value());
  REQUIRE(cases);
  return std::move(cases).value();
}

std::string refusal(safetensors_file const& file) {
  auto recorded = problem_file_of(file);
  REQUIRE(recorded);
  auto const cases = cases_of(std::move(recorded).value());
  return cases ? "accepted" : cases.why().message();
}

}  // namespace

TEST_CASE("in the order of their names, calls that prepare another come before it", "[unit]") {
  std::vector<std::byte> bytes;
  auto const file = written({sequence("b"), sequence("a")}, bytes);
  std::vector<std::string> names;
  for (auto const& [name, tensor] : file.tensors)
    if (name.ends_with(".q")) names.push_back(name.substr(0, name.size() - 2));
  CHECK(names == std::vector<std::string>{"00001/stale/b", "00002/stale/b", "00003/stale/b", "00004/stale/a",
                                          "00005/stale/a", "00006/stale/a"});
  CHECK(file.metadata.at("00001/stale/b.attest.expect") == "before");
  CHECK(file.metadata.at("00002/stale/b.attest.expect") == "answer threads 3");
  CHECK(file.metadata.at("00003/stale/b.attest.expect") == "same-bits");

  auto const cases = read(file);
  REQUIRE(cases.size() == 2);
  CHECK(cases[0].input.full_name() == "stale/b");
  CHECK(cases[0].in_order);
  CHECK(cases[0].input.threads == 3);
  REQUIRE(cases[0].input.further.size() == 2);
  CHECK(cases[0].input.further[0].is == relation::warm_up);
  CHECK(cases[0].input.further[0].problem.size().n == 7);
  CHECK(cases[0].input.further[1].is == relation::same_bits);
  CHECK(cases[0].calls[0].prefix == "00002/stale/b");
  CHECK(cases[0].calls[1].prefix == "00001/stale/b");
}

TEST_CASE("a file says where tensors lie in memory, and how many threads call at the same time", "[unit]") {
  audit_case made = sequence("a");
  problem_draft alike = drawn();
  alike.v = alike.k;
  made.problem = valid(std::move(alike));
  made.memory = {.v_in_k = true, .unaligned = true, .row_gap = 3, .far_head = std::int64_t{1} << 31};
  made.further[0].problem = made.problem;
  made.further[1].memory = {.heads_inside = true, .o_inside = true, .head_gap = 2, .far_batch = 5, .far_row = 7};
  made.callers = 4;
  std::vector<std::byte> bytes;
  auto file = written({made, sequence("b")}, bytes);
  CHECK(file.metadata.at("00002/stale/a.attest.memory") == "v-in-k unaligned row-gap 3 far-head 2147483648");
  CHECK(file.metadata.at("00001/stale/a.attest.memory") == "heads-inside o-inside head-gap 2 far-batch 5 far-row 7");
  CHECK_FALSE(file.metadata.contains("00003/stale/a.attest.memory"));
  auto const cases = read(file);
  REQUIRE(cases.size() == 2);
  CHECK(cases[0].input.callers == 4);
  CHECK(cases[0].input.memory == made.memory);
  CHECK(cases[0].input.further[0].memory == made.further[1].memory);
  CHECK(cases[0].input.further[1].memory == memory_form{});
  CHECK(cases[1].input.callers == 0);
  CHECK(cases[1].input.memory == memory_form{});

  auto const refused = [&](char const* key, std::string const& value) {
    safetensors_file changed = file;
    changed.metadata[std::string("00002/stale/a.attest.") + key] = value;
    return refusal(changed);
  };
  for (std::string const value : {"", " v-in-k", "v-in-K", "v-in-k v-in-k", "row-gap", "row-gap 0", "row-gap 3x",
                                  "row-gap 99999999999999999999", "unaligned v-in-k"})
    CHECK(refused("memory", value) ==
          (value.empty() ? "accepted"
                         : "00002/stale/a.attest.memory: is '" + value + "', which attest gen does not write"));
  CHECK(refused("memory", "row-gap -1") == "00002/stale/a.attest.memory: row_gap: is -1, expected 0 to 2^20");
  CHECK(refused("memory", "shared-batch") ==
        "00002/stale/a.attest.memory: k: batch entries differ, and are to share their memory");
  for (std::string const value : {"0", "17", "-1", "x", " 2", "2 "})
    CHECK(refused("together", value) ==
          "00002/stale/a.attest.together: is '" + value + "', which attest gen does not write");
}

TEST_CASE("files of attest 0.2, whose prefixes have no numbers, are read and promise no order", "[unit]") {
  std::vector<std::byte> bytes;
  auto file = written({sequence("a")}, bytes);
  auto const renamed = [](std::string name) {
    for (auto const& [now, then] : {std::pair{"00001/stale/a", "stale/a#02"}, std::pair{"00002/stale/a", "stale/a"},
                                    std::pair{"00003/stale/a", "stale/a#01"}})
      if (name.starts_with(now)) return then + name.substr(std::string_view(now).size());
    return name;
  };
  safetensors_file old;
  for (auto const& [name, tensor] : file.tensors) old.tensors[renamed(name)] = tensor;
  for (auto const& [key, value] : file.metadata)
    if (!key.ends_with(".layout") && !key.ends_with(".as")) old.metadata[renamed(key)] = value;
  auto const cases = read(old);
  REQUIRE(cases.size() == 1);
  CHECK(cases[0].input.full_name() == "stale/a");
  CHECK_FALSE(cases[0].in_order);
  CHECK(cases[0].input.further.size() == 2);
}

TEST_CASE("two first calls of one case are an error", "[unit]") {
  std::vector<std::byte> bytes;
  auto file = written({sequence("a"), sequence("b")}, bytes);
  for (auto& [key, value] : file.metadata)
    if (value == "stale/b") value = "stale/a";
  CHECK(refusal(file) == "00005/stale/b.attest.group: two problems of the file are the first call of 'stale/a'");
}

TEST_CASE("a status is one of four words, and anything else is an error that shows it", "[unit]") {
  using enum call_status::ending;
  CHECK(parse_call_status("hung") == call_status{.as = hung});
  CHECK(parse_call_status("killed: 8") == call_status{.as = killed, .signal = 8});
  CHECK(parse_call_status("error:  no \x1b[1m kernel \n") == call_status{.as = error, .text = "no \\x1b[1m kernel"});
  CHECK(parse_call_status("error") == call_status{.as = error});
  CHECK(parse_call_status("unsupported: d > 256") == call_status{.as = unsupported, .text = "d > 256"});
  CHECK(parse_call_status("error: " + std::string(1'000'000, 'x'))->text.size() < 500);
  for (char const* const other : {"", "ok", "Hung", "hung: 3", "killed", "killed: ", "killed: -1", "killed: 0",
                                  "killed: 128", "killed: 8x", "killed: 99999999999", "errors: x", "error x"}) {
    INFO(other);
    CHECK(!parse_call_status(other));
  }
  CHECK(sentence_of({.as = killed, .signal = 8}) == "it was ended by signal 8 (SIGFPE)");
  CHECK(sentence_of({.as = killed, .signal = 127}) == "it was ended by signal 127");

  std::vector<std::byte> bytes;
  auto file = written({sequence("a")}, bytes);
  file.metadata["00001/stale/a.attest.status"] = "killed: 11";
  CHECK(read(file)[0].calls[1].status == call_status{.as = killed, .signal = 11});
  file.metadata["00001/stale/a.attest.status"] = "\xff";
  CHECK(refusal(file) ==
        "00001/stale/a.attest.status: is '\\xff', expected error: TEXT, killed: SIGNAL, hung or unsupported: TEXT");
}

TEST_CASE("a file says which flags of libraries mean the same as its band, mask and bias, where they do", "[unit]") {
  problem::sizes const s{2, 4, 2, 3, 5, 8, 8}, square{2, 4, 2, 5, 5, 8, 8};
  auto const banded = [](problem::sizes const& of, problem::band band) {
    auto draft = drawn(of);
    draft.band = band;
    return flag_words(valid(std::move(draft)));
  };
  CHECK(flag_words(valid(drawn(s))) == "plain");
  CHECK(banded(s, {0, -1, 0}) == "causal-top-left");
  CHECK(banded(s, {2, -1, 0}) == "causal-bottom-right");
  CHECK(banded(square, {0, -1, 0}) == "causal-top-left");
  CHECK(banded(s, {1, -1, 0}) == std::nullopt);
  CHECK(banded(s, {2, 3, 0}) == "window 3 0");
  CHECK(banded(square, {0, 1, 2}) == "window 1 2");
  CHECK(banded(s, {2, -1, 1}) == "window -1 1");
  CHECK(banded(s, {0, 1, 2}) == std::nullopt);
  CHECK(banded(s, {7, -1, -1}) == "plain");  // a diagonal without limits is no band

  // A diagonal that counts from the end of each entry: n = 3, m = 5.
  auto const at_end = [&](problem::sizes const& of, problem::band band) {
    auto draft = drawn(of);
    draft.band = band, draft.align = 1;
    return flag_words(valid(std::move(draft)));
  };
  CHECK(at_end(s, {0, -1, 0}) == "causal-bottom-right");
  CHECK(at_end(s, {-2, -1, 0}) == "causal-top-left");
  CHECK(at_end(s, {2, -1, 0}) == std::nullopt);
  CHECK(at_end(s, {0, 3, 0}) == "window 3 0");
  CHECK(at_end(s, {2, 3, 0}) == std::nullopt);
  CHECK(at_end(square, {0, -1, 0}) == "causal-top-left");

  // Entries with numbers of queries and keys of their own have their own m - n.
  auto const with_lengths = [&](problem::band band, std::int64_t align) {
    auto draft = drawn(s);
    draft.band = band, draft.align = align;
    draft.k_lengths = owned_tensor::compact(problem::element_type::i32, {s.b});
    for (std::size_t b = 0; b < 2; ++b) draft.k_lengths->as<std::int32_t>()[b] = b == 0 ? 4 : 5;
    return flag_words(valid(std::move(draft)));
  };
  CHECK(with_lengths({0, -1, -1}, 0) == "plain");
  CHECK(with_lengths({0, -1, 0}, 0) == "causal-top-left");
  for (std::int64_t const align : {0, 1}) {
    CHECK(with_lengths({align == 0 ? 2 : 0, -1, 0}, align) == std::nullopt);
    CHECK(with_lengths({align == 0 ? 2 : 0, 3, 0}, align) == std::nullopt);
  }

  auto const masked = [&](std::int64_t h, std::int64_t n, auto&& attend) {
    auto draft = drawn(s);
    add_mask(draft, s.b, h, n, s.m, attend);
    return flag_words(valid(std::move(draft)));
  };
  auto const padding = [](auto b, auto, auto, auto j) { return j < 3 + 2 * b; };
  CHECK(masked(1, 1, padding) == "lengths 3 5");
  CHECK(masked(s.hq, s.n, padding) == "lengths 3 5");
  CHECK(masked(1, 1, [](auto...) { return false; }) == "lengths 0 0");
  CHECK(masked(1, 1, [](auto, auto, auto, auto j) { return j != 1; }) == std::nullopt);
  CHECK(masked(s.hq, 1, [](auto, auto h, auto, auto j) { return j < 4 || h < 3; }) == std::nullopt);
  CHECK(masked(1, s.n, [](auto, auto, auto i, auto j) { return j < 4 || i < 2; }) == std::nullopt);

  auto const biased = [&](std::int64_t n, auto&& bias) {
    auto draft = drawn(s);
    add_bias(draft, 1, s.hq, n, s.m, bias);
    return flag_words(valid(std::move(draft)));
  };
  auto const slope = [](std::int64_t h) { return 1.0 / static_cast<double>(4 << (2 * h)); };
  auto const alibi = [&](auto, auto h, auto i, auto j) {
    return -slope(h) * static_cast<double>(std::abs(i + s.m - s.n - j));
  };
  CHECK(biased(s.n, alibi) == "alibi 0.25 0.0625 0.015625 0.00390625");
  CHECK(biased(1, [&](auto, auto h, auto, auto j) { return slope(h) * static_cast<double>(j); }) ==
        "alibi-by-key 0.25 0.0625 0.015625 0.00390625");
  CHECK(biased(s.n, [&](auto b, auto h, auto i, auto j) { return alibi(b, h, i, j) + (h == 3 && i == 1 && j == 0); }) ==
        std::nullopt);
  CHECK(biased(s.n, [](auto...) { return 0.0; }) == std::nullopt);

  auto both = drawn(s);
  both.band = {2, -1, 0};
  add_mask(both, s.b, 1, 1, s.m, padding);
  CHECK(flag_words(valid(both)) == "causal-bottom-right + lengths 3 5");
  add_bias(both, 1, s.hq, s.n, s.m, [](auto...) { return 1.0; });
  CHECK(flag_words(valid(both)) == std::nullopt);

  std::vector<std::byte> bytes;
  auto const file = written({sequence("a")}, bytes);
  CHECK(file.metadata.at("00001/stale/a.attest.as") == "plain");
}

}  // namespace attest::tests::case_file_test
