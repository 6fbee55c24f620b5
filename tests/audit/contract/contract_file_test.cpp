// Contracts as files: a printed contract reads back as it was, and an error names the fault.
#include "audit/contract/contract_file.hpp"

#include <cmath>
#include <fstream>

#include <nlohmann/json.hpp>

#include "audit/contract/contract_fields.hpp"
#include "audit/contract/preset_family.hpp"
#include "reference/bound/known_weights.hpp"
#include "tests/support/property.hpp"

namespace attest::audit::contract_file_test {
namespace {

using json = nlohmann::ordered_json;

/// Fills every field with an allowed value drawn from the generator.
struct field_drawer {
  void number(char const*, double& field, range const& allowed) {
    // Ends, and anything between on a logarithmic scale.
    double const least = std::max(allowed.least, 0x1p-1074), most = std::min(allowed.most, 0x1p1023);
    double const t = static_cast<double>(*rc::gen::inRange(0, 1001)) / 1000;
    field = t == 0   ? allowed.least
            : t == 1 ? allowed.most
                     : std::exp2(std::log2(least) * (1 - t) + std::log2(most) * t);
    field = std::min(std::max(field, allowed.least), allowed.most);
  }
  void count(char const*, std::int64_t& field, range const& allowed) {
    field = *rc::gen::inRange(static_cast<std::int64_t>(allowed.least), static_cast<std::int64_t>(allowed.most) + 1);
  }
  void flag(char const*, bool& field) { field = *rc::gen::arbitrary<bool>(); }
  void word(char const*, std::span<char const* const> words, std::size_t& at) {
    at = *rc::gen::inRange<std::size_t>(0, words.size());
  }
  template <class Fields>
  void object(char const*, Fields&& fields) {
    fields(*this);
  }
  template <class Fields>
  void optional(Fields&& fields) {
    fields(*this);
  }
};

std::string complaint(std::string const& text) {
  auto const read = parse_contract(text, "mine");
  return read ? "accepted" : read.why().message();
}

bool has(std::string const& text, std::string_view part) { return text.find(part) != text.npos; }

TEST_CASE("every preset reads back from what is printed of it", "[unit]") {
  for (contract const& preset : contracts()) {
    INFO(contract_text(preset));
    auto const read = parse_contract(contract_text(preset), "fallback");
    REQUIRE(read);
    CHECK(read.value() == preset);
  }
}

TEST_CASE("a preset that 0.1 printed still reads, and means what it meant", "[unit]") {
  std::ifstream file(ATTEST_TEST_DATA "/contracts_0.1.json");
  auto const printed = nlohmann::ordered_json::parse(file);
  REQUIRE(printed.size() == 9);
  for (auto const& text : printed) {
    INFO(text.dump());
    auto const read = parse_contract(text.dump(), "fallback");
    REQUIRE(read);
    std::string const name = text.at("name").get<std::string>();
    contract const& claim = read.value();
    if (text.at("model") == "builtin") {
      CHECK(claim == *find_contract(name));
      continue;
    }
    CHECK(claim.name == name + "-0.1");  // the preset of that name says more by now
    // What 0.1 knew is as it was printed, the rest has the defaults: the kernels that 0.1 judged.
    auto const again = nlohmann::ordered_json::parse(contract_text(claim));
    for (auto const& item : text.at("model").items()) CHECK(again.at("model").at(item.key()) == item.value());
    problem::kernel_model const& model = claim.fixed;
    CHECK(model.large_scores == problem::large_scores::stable);
    CHECK(model.order == problem::key_order::any);
    CHECK_FALSE(model.bias_first);
    CHECK(model.merge_levels == 1);
    CHECK(model.returned_weights == problem::returned_weights::unrounded);
    CHECK(model.p_normalised == problem::normalised_first::no);
    CHECK(std::isinf(model.out_limit));
    CHECK(std::isinf(model.mask_limit));
  }
}

TEST_CASE("a preset of 0.1 has a second revision where its numbers changed; no contract file has one", "[unit]") {
  for (auto const& text : nlohmann::ordered_json::parse(std::ifstream(ATTEST_TEST_DATA "/contracts_0.1.json"))) {
    auto const then = parse_contract(text.dump(), "x");
    REQUIRE(then);
    contract const& now = *find_contract(text.at("name").get<std::string>());
    INFO(now.name);
    CHECK(revision_of(now) == (then.value().fixed == now.fixed ? 1 : 2));
    CHECK(revision_of(then.value()).has_value() == now.builtin);
  }
  for (contract const& preset : contracts()) {
    CHECK(revision_of(preset).has_value());
    CHECK(revision_of(parse_contract(contract_text(preset), "x").value()) == revision_of(preset));
  }
  CHECK(revision_of(*find_contract("f32-ordered")) == 1);
  CHECK_FALSE(revision_of(parse_contract(R"({"from": "f32"})", "mine").value()).has_value());
  CHECK(has(complaint(R"({"from": "f32", "revision": 2})"), "revision: there is no such key"));
  CHECK(has(complaint(R"({"from": "f32", "contract_revision": 2})"), "there is no such key"));
}

/// Fields that would say nothing beside another one get their defaults, as the reader refuses such a contract.
void without_idle_fields(problem::kernel_model& m) {
  problem::kernel_model const usual;
  bool const raw = m.merge == problem::split_merge::raw;
  if (raw) {
    m.merge_levels = usual.merge_levels, m.parts_are_keys = false;
    m.u_state = m.omega_state = 0, m.state_limit = usual.state_limit;
  }
  if (m.order == problem::key_order::any) m.merges = 0, m.least_block = usual.least_block;
  if (m.sink_form == problem::sink_form::term) m.k_sink = usual.k_sink;
  if (!raw) m.normalise = problem::normaliser::sum;
  m.block_most = usual.block_most;
  if (m.l_height_divisor == 0) m.l_height_base = 0;
  if (m.block_fma == 0) m.alignment_bits = 0;
  if (!reference::has_one_accumulator(m)) m.accumulator = usual.accumulator;
}

TEST_CASE("any contract reads back from what is printed of it", "[property]") {
  tests::property("parse_contract(contract_text(c)) == c", [] {
    contract drawn;
    field_drawer draw;
    visit_model(drawn.fixed, draw);
    visit_gradient(drawn.gradient, draw);
    visit_conventions(drawn.conventions, draw);
    drawn.name = "drawn", drawn.sentence = "a contract";
    drawn.type = *rc::gen::element(problem::element_type::f32, problem::element_type::f64, problem::element_type::bf16,
                                   problem::element_type::f16);
    if (!reference::declares_weights(drawn.fixed)) drawn.fixed.weight_reference = problem::weight_reference::unknown;
    bool const narrow = drawn.type == problem::element_type::bf16 || drawn.type == problem::element_type::f16;
    if (!narrow) drawn.fixed.block_fma = 0;
    without_idle_fields(drawn.fixed);
    if (*rc::gen::arbitrary<bool>()) drawn.builtin = true, drawn.fixed = {};
    auto const read = parse_contract(contract_text(drawn), "fallback");
    if (!read) RC_FAIL(read.why().message());
    RC_ASSERT(read.value() == drawn);
  });
}

TEST_CASE("a contract that starts from a preset differs in what it writes, and in its name", "[unit]") {
  auto const read = parse_contract(R"({"from": "f32", "model": {"eps": "0x1p-10", "format": {"u": 0.001}},
                                       "conventions": {"empty_row": "nan"}})",
                                   "mine");
  REQUIRE(read);
  contract expected = *find_contract("f32");
  expected.name = "mine";
  expected.fixed.eps = 0x1p-10, expected.fixed.format.u = 0.001;
  expected.conventions.empty_row = conventions::row::nan;
  CHECK(read.value() == expected);
  CHECK(
      has(complaint(R"({"from": "f32", "name": "f32", "model": {"eps": 0.1}})"), "name: is 'f32', which is a preset"));
}

TEST_CASE("what is wrong in a contract is named, with the nearest known word", "[unit]") {
  struct wrong {
    char const* text;
    char const* says;
  };
  auto const [text, says] = GENERATE(
      wrong{"", "is not JSON"}, wrong{"[]", "expected an object"}, wrong{"{\"a\": 1", "is not JSON"},
      wrong{R"({"form": "f32"})", "form: there is no such key, did you mean 'from'?"},
      wrong{R"({"from": "f23"})", "from: no contract is called 'f23', did you mean 'f32'?"},
      wrong{R"({"from": 32})", "from: is a number, expected a string"},
      wrong{R"({"from": "f32", "model": {"ep": 0.1}})", "model.ep: there is no such key, did you mean 'eps'?"},
      wrong{R"({"from": "f32", "model": {"format": {"w": 0.1}}})", "model.format.w: there is no such key"},
      wrong{R"({"from": "f32", "model": {"eps": "NaN"}})", "model.eps: is \"NaN\", expected a number"},
      wrong{R"({"from": "f32", "model": {"eps": "-0"}})", "model.eps: is \"-0\", expected a number"},
      wrong{R"({"from": "f32", "model": {"eps": "nan"}})", "model.eps"},
      wrong{R"({"from": "f32", "model": {"eps": NaN}})", "is not JSON"},
      wrong{R"({"from": "f32", "model": {"eps": -0.1}})", "model.eps: is"},
      wrong{R"({"from": "f32", "model": {"eps": 1e999}})", "is not JSON"},
      wrong{R"({"from": "f32", "model": {"eps": 0.5}})", "expected a number from 0 to 0.25"},
      wrong{R"({"from": "f32", "model": {"eps": "inf"}})", "model.eps: is inf"},
      wrong{R"({"from": "f32", "model": {"block": 0}})", "model.block: is 0"},
      wrong{R"({"from": "f32", "model": {"block": 1.5}})", "model.block: is 1.5, expected a whole number"},
      wrong{R"({"from": "f32", "model": {"splits": 18446744073709551615}})", "model.splits"},
      wrong{R"({"from": "f32", "model": {"merge": "sle"}})", "did you mean 'lse'?"},
      wrong{R"({"from": "f32", "model": {"fold_q": 1}})", "model.fold_q: is 1, expected true or false"},
      wrong{R"({"from": "bf16", "model": {"weight_reference": "rising", "block": 64}})",
            "model.weight_reference: contradicts"},
      wrong{R"({"from": "bf16", "model": {"weight_reference": "rising", "p_normalised": "no", "k_pre": 0}})",
            "model.block: is missing"},
      wrong{R"({"from": "f32", "model": {"merge_levels": 3}})", "model.merge_levels: contradicts merge 'raw'"},
      wrong{R"({"from": "f32", "model": {"parts_are_keys": true}})", "model.parts_are_keys: contradicts merge 'raw'"},
      wrong{R"({"from": "f32", "model": {"u_state": 0.001}})", "model.u_state: contradicts merge 'raw'"},
      wrong{R"({"from": "f32", "model": {"merges": 3}})", "model.merges: contradicts order 'any'"},
      wrong{R"({"from": "f32", "model": {"least_block": 3}})", "model.least_block: contradicts order 'any'"},
      wrong{R"({"from": "f32", "model": {"k_sink": 3}})", "model.k_sink: contradicts sink_form 'term'"},
      wrong{R"({"from": "f32-ordered", "model": {"order": "any"}})", "accepted"},
      wrong{R"({"from": "f32", "model": {"merge": "sigmoid", "normalise": "lse"}})",
            "model.normalise: 'lse' contradicts"},
      wrong{R"({"from": "f32", "model": {"merge": "lse", "normalise": "lse", "u_state": 0.001}})",
            "model.normalise: 'lse' contradicts u_state"},
      wrong{R"({"from": "f32-ring-sigmoid", "model": {"normalise": "first_pass"}})",
            "model.normalise: 'first_pass' contradicts a merge by a sigmoid"},
      wrong{R"({"from": "f32", "model": {"l_height_base": 3}})", "model.l_height_base: contradicts l_height_divisor 0"},
      wrong{R"({"from": "bf16", "model": {"alignment_bits": 1}})", "model.alignment_bits: contradicts block_fma 0"},
      wrong{R"({"from": "bf16", "model": {"alignment_bits": -1, "block_fma": 8}})", "model.alignment_bits: is -1"},
      wrong{R"({"from": "f32", "model": {"block_fma": 8}})", "model.block_fma: contradicts input f32"},
      wrong{R"({"from": "bf16", "model": {"accumulator": "one"}})",
            "model.accumulator: contradicts a weight_reference that is neither"},
      wrong{R"({"from": "bf16", "model": {"block_fma": 8, "alignment_bits": 1}})", "accepted"},
      wrong{R"({"from": "f32", "model": 7})", "model: is 7, expected an object"},
      wrong{R"({"from": "f32", "model": {"eps": 0.1, "eps": 0.2}})", "'eps' occurs twice"},
      wrong{R"({"from": "f32", "from": "f64"})", "'from' occurs twice"},
      wrong{R"({"from": "f32", "conventions": {"empty_row": "zeros"}})", "did you mean 'zero'?"},
      wrong{R"({"from": "f32", "conventions": {"empty_lse": "inf"}})",
            "conventions.empty_lse: is \"inf\", expected one of -inf, 0, +inf"},
      wrong{R"({"from": "f32", "conventions": {"lse_sink": "exclude"}})", "did you mean 'excluded'?"},
      wrong{R"({"from": "f32", "conventions": {"padding_rows": "keep"}})",
            "conventions.padding_rows: is \"keep\", expected one of any, kept, zero"},
      wrong{R"({"from": "f32", "conventions": {"lse_base": 2}})", "conventions.lse_base: is 2, expected one of e, 2"},
      wrong{R"({"from": "f32", "conventions": {"sink_inf": "limits"}})", "did you mean 'limit'?"},
      wrong{R"({"from": "f32", "conventions": {"sink_in": "limit"}})",
            "conventions.sink_in: there is no such key, did you mean 'sink_inf'?"},
      wrong{R"({"from": "f32", "conventions": {"empty_lse": 0}})", "conventions.empty_lse: is 0, expected one of"},
      wrong{R"({"from": "f32", "output": "f64"})", "output: is f64, the input f32"},
      wrong{R"({"from": "f32", "name": ""})", "name: is empty"},
      wrong{R"({"from": "f32", "input": "f33"})", "input: is 'f33', expected f32, f64, bf16 or f16"},
      wrong{R"({"model": {}})", "input: is missing"}, wrong{R"({"input": "f32"})", "model: is missing"},
      wrong{R"({"input": "f32", "model": {}})", "model.format: is missing"},
      wrong{R"({"from": "f32-blocked", "model": {"eps": 0.1}})", "model.format: is missing"},
      wrong{R"({"from": "f32", "sources": {"eps": "kernel.cpp, exp", "format": "IEEE", "nan": "read"}})", "accepted"},
      wrong{R"({"from": "f32", "sources": "kernel.cpp"})", "sources: is a string, expected an object"},
      wrong{R"({"from": "f32", "sources": {"epz": "kernel.cpp"}})",
            "sources.epz: there is no such field, did you mean 'eps'?"},
      wrong{R"({"from": "f32", "sources": {"eps": 1}})", "sources.eps: is a number, expected a string"},
      wrong{R"({"from": "f32", "sources": {"eps": ""}})", "sources.eps: is empty"},
      wrong{"{\"from\": \"f32\"}\0", "accepted"});
  INFO(text);
  CHECK(has(complaint(text), says));
}

TEST_CASE("sources are no part of a contract", "[unit]") {
  auto const with = parse_contract(R"({"from": "f32", "name": "mine", "sources": {"eps": "kernel.cpp, exp"}})", "");
  auto const without = parse_contract(R"({"from": "f32", "name": "mine"})", "");
  REQUIRE(with);
  CHECK(with.value() == without.value());
  CHECK_FALSE(has(contract_text(with.value()), "kernel.cpp"));
}

TEST_CASE("a hostile contract file ends in a sentence", "[unit]") {
  auto const source_of = [](std::size_t bytes) {
    return complaint(R"({"from": "f32", "sources": {"eps": ")" + std::string(bytes, 'a') + "\"}}");
  };
  CHECK(source_of(1000) == "accepted");
  CHECK(has(source_of(1001), "sources.eps: has 1001 bytes, expected at most 1000"));
  CHECK(has(complaint(std::string("{\"from\": \"f32\"\0}", 16)), "byte"));
  CHECK(has(complaint(std::string(2'000'000, ' ')), "bytes"));
  CHECK(has(complaint(std::string(100'000, '[')), "nested deeper"));
  std::string objects;
  for (int n = 0; n < 1000; ++n) objects += "{\"model\":";
  CHECK(has(complaint(objects), "nested deeper"));
  std::string const name = complaint("{\"from\": \"\\u001b[31m\\u202e\"}");
  CHECK_FALSE(has(name, "\x1b"));
}

TEST_CASE("a damaged contract is refused or means what it says: it never crashes", "[property]") {
  std::string const original = contract_text(*find_contract("bf16"), -1);
  tests::property("any edit of a printed contract", [&original] {
    std::string text = original;
    int const edits = *rc::gen::inRange(1, 6);
    for (int n = 0; n < edits; ++n) {
      auto const at = *rc::gen::inRange<std::size_t>(0, text.size());
      switch (*rc::gen::inRange(0, 3)) {
        case 0: text[at] = *rc::gen::arbitrary<char>(); break;
        case 1: text.erase(at, *rc::gen::inRange<std::size_t>(1, 20)); break;
        default: text.insert(at, text.substr(*rc::gen::inRange<std::size_t>(0, text.size()), 15)); break;
      }
    }
    auto const read = parse_contract(text, "mine");
    if (!read) RC_ASSERT_FALSE(read.why().reason.empty());
    else RC_ASSERT(parse_contract(contract_text(read.value()), "other").value() == read.value());
  });
}

}  // namespace
}  // namespace attest::audit::contract_file_test
