// Files in another order of axes, and the words that read them.
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tests/program/foreign_files.hpp"
#include "tests/program/recorded_answers.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::cli_axis_orders_test {
namespace {

struct order {
  char const *axes, *says, *word;
  std::vector<char const*> aliases;
};

TEST_CASE("a file in another order of axes is told the option that reads it", "[unit]") {
  for (order const& of : {order{"0, 2, 1, 3", "[b, n, h, d]", "bnhd", {"bnhd", "bshd", "BSHD", "bthd", "btnh"}},
                          order{"2, 0, 1, 3", "[n, b, h, d]", "nbhd", {"nbhd", "sbhd"}}}) {
    std::string const moved = std::string("all_axes(") + of.axes + ")";
    // Shapes that do not fit.
    solve(dense(12));
    make(moved);
    check_refused_file(std::string("; as ") + of.says + " the shapes fit: --layout " + of.word);
    for (char const* const alias : of.aliases) check_certified(std::string(" --layout ") + alias);
    // The same in the file's metadata.
    for (char const* const alias : of.aliases) {
      make(moved + "\nmeta[\"attest.layout\"] = \"" + alias + "\"");
      check_certified("");
    }
    // Shapes that fit by chance.
    solve(dense(8));
    make(moved);
    std::string const clause = std::string("in ") + of.says + " every element is right: --layout " + of.word;
    CHECK(has(finding_in(), clause));
    json const found = report("verify file.safetensors --findings ''");
    CHECK(found["cause"]["hypotheses"][0]["sentence"] == std::string("--layout ") + of.word + " is missing");
    check_certified(std::string(" --layout ") + of.word);
    // A wrong file in the right order is told nothing of orders.
    make("t[\"o\"][2] = bytes(16) + t[\"o\"][2][16:]");
    CHECK_FALSE(has(finding_in(), "every element is right"));
    // In another order it is told where the wrong element is.
    make(moved + "\nt[\"o\"][2] = bytes(len(t[\"o\"][2]))");
    json const wrong = report(std::string("verify file.safetensors --findings '' --layout ") + of.word)["findings"][0];
    auto const axis = [&](std::size_t n) { return wrong["index"][n].get<int>(); };
    bool const by_rows = of.says == std::string("[n, b, h, d]");
    CHECK(has(wrong["sentence"], fmt::format("; in the file, {}, it is o[{}, {}, {}, {}]", of.says,
                                             axis(by_rows ? 2 : 0), axis(by_rows ? 0 : 2), axis(1), axis(3))));
  }
}

TEST_CASE("an order of axes and a causal band that were forgotten together are named together", "[unit]") {
  solve(dense(8), " --right 0 --align top-left");
  make("all_axes(0, 2, 1, 3)");
  json const found = report("verify file.safetensors --findings ''");
  CHECK(found["cause"]["hypotheses"][0]["sentence"] == "--layout bnhd --causal top-left are missing");
  CHECK(has(finding_in(), "under --causal top-left in [b, n, h, d] every element is right: --layout bnhd --causal"));
  check_certified(" --layout bnhd --causal top-left");
}

TEST_CASE("an option for the order of axes goes before the metadata, and says so", "[unit]") {
  solve(dense(12));
  make("all_axes(0, 2, 1, 3)\nmeta[\"attest.layout\"] = \"bhnd\"");
  json const found = report("verify file.safetensors --layout bshd");
  CHECK(found["verdict"] == "certified");
  CHECK(has(found["observations"].dump(), "--layout bshd overrides 'attest.layout' = 'bhnd' of the file's metadata"));
  check_refused("", {{"verify file.safetensors --layout hbnd", "'hbnd' is none of bhnd, bnhd, thd, nbhd"},
                     {"verify file.safetensors --kv-layout bhnd", "'bhnd' is none of hnd, nhd"}});
}

TEST_CASE("the reproducer of a finding has the words that read the file", "[unit]") {
  solve(dense(12));
  make("all_axes(0, 2, 1, 3)\nrename(\"o\", \"output\")\nt[\"output\"][2] = bytes(16) + t[\"output\"][2][16:]");
  for (std::string const saves : {" --findings ''", ""}) {
    json const found = report("verify file.safetensors --layout bshd --names o=output" + saves);
    REQUIRE(found["findings"].size() == 1);
    json const again = report(found["findings"][0]["reproducer"].get<std::string>().substr(7));
    INFO(found["findings"][0]["reproducer"]);
    REQUIRE(again["findings"].size() == 1);
    CHECK(again["findings"][0]["sentence"] == found["findings"][0]["sentence"]);
  }
}

TEST_CASE("tensors of three axes have an order, too", "[unit]") {
  std::string const three =
      "for name in \"qkv\": t[name][1] = t[name][1][1:]; t[name][2] = t[name][2][:len(t[name][2]) "
      "// 2]\n";
  for (int const m : {12, 8}) {
    solve(dense(m) + "\n" + three);
    make("all_axes(1, 0, 2)");
    if (m == 12) check_refused_file("; as [n, h, d] the shapes fit: --layout bnhd");
    else CHECK(has(finding_in(), "in [n, h, d] every element is right: --layout bnhd"));
    check_certified(" --layout bnhd");
    make("all_axes(1, 0, 2)\nt[\"o\"][2] = bytes(len(t[\"o\"][2]))");
    json const wrong = report("verify file.safetensors --findings '' --layout bnhd")["findings"][0];
    auto const axis = [&](std::size_t n) { return wrong["index"][n].get<int>(); };
    CHECK(has(wrong["sentence"],
              fmt::format("; in the file, [n, h, d], it is o[{}, {}, {}]", axis(2), axis(1), axis(3))));
  }
  // Heads that share keys need the axis of the batch.
  solve("t[\"q\"] = numbers([1, 4, 8, 4], 3)\nt[\"k\"], t[\"v\"] = [numbers([1, 2, 12, 4], s) for s in (5, 7)]");
  make("all_axes(0, 2, 1, 3)\nfor name in \"qkvo\": t[name][1] = t[name][1][1:]");
  check_refused_file("as [1, n, h, d] the shapes fit: store q, k, v and o with a first axis of 1, and --layout bnhd");
}

TEST_CASE("pools in the other order are told the option that reads them", "[unit]") {
  auto const paged = [](int page, int keys) {
    std::string const size = std::to_string(page), length = std::to_string(keys);
    solve("t[\"q\"] = numbers([2, 4, 3, 4], 3)\nt[\"k\"], t[\"v\"] = [numbers([6, 2, " + size +
          ", 4], s) for s in (5, 7)]\nt[\"block_table\"] = [\"I32\", [2, 3], struct.pack(\"<6i\", 2, 0, 5, 1, 3, 4)]\n"
          "t[\"k_lengths\"] = ints(" +
          length + ", " + length + ")");
    make("for name in \"kv\": axes(name, 0, 2, 1, 3)");
  };
  paged(4, 10);
  check_refused_file("; as [pages, page, h, d] the pools fit: --kv-layout nhd");
  check_certified(" --kv-layout nhd");
  paged(2, 5);
  CHECK(has(finding_in(), "with pools [pages, page, h, d] every element is right: --kv-layout nhd"));
  check_certified(" --kv-layout NHD");
}

TEST_CASE("gen writes the orders of axes that verify reads, under the words of libraries", "[unit]") {
  for (std::string const word : {"sbhd", "bshd", "nbhd"}) {
    record("--draws 0 --only heads,scale --layout " + word, "");
    json const found = verified();
    INFO(word << found["findings"].dump(1));
    CHECK(found["verdict"] == "certified");
  }
  check_refused("", {{"gen --out x --layout hbnd", "'hbnd' is none of bhnd, bnhd, thd, nbhd"}});
}

}  // namespace
}  // namespace attest::tests::cli_axis_orders_test
