// What list and why say.
#include <algorithm>
#include <set>
#include <sstream>

#include "tests/program/program.hpp"
#include "tests/program/recorded_file.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::cli_lists_test {
namespace {

using nlohmann::json;

TEST_CASE("list knows kernels, contracts, checks, cases and classes", "[unit]") {
  CHECK(has(attest("list kernels").out, "builtin"));
  CHECK(has(attest("list contracts").out, "f32-blocked"));
  CHECK(has(attest("list checks").out, "masked-read"));
  CHECK(has(attest("list cases").out, "worked-examples/e11.1"));
  CHECK(has(attest("list classes").out, "empty-row"));
  CHECK(nlohmann::json::parse(attest("list contracts --json").out).size() >= 8);
}

TEST_CASE("list contracts tells contracts apart in a line each, and says all of one", "[unit]") {
  auto const files = json::parse(attest("list contracts --json").out);
  std::istringstream listed(attest("list contracts").out);
  std::set<std::string> said;
  for (auto const& file : files) {
    std::string line;
    REQUIRE(std::getline(listed, line));
    std::string const name = file["name"], sentence = line.substr(line.find("  "));
    INFO(line);
    CHECK(line.starts_with(name + " "));
    CHECK(said.insert(sentence).second);
  }
  std::string const name = files[0]["name"], sentence = files[0]["sentence"];
  CHECK(attest("list contracts " + name).out == name + "  " + sentence + "\n");
  CHECK(json::parse(attest("list contracts --json " + name).out) == files[0]);
  outcome const wrong = attest("list contracts f23");
  CHECK(wrong.status == 2);
  CHECK(has(wrong.err, "f23"));
  CHECK(has(attest("list checks f32").err, "a name goes with 'list contracts' only"));
}

TEST_CASE("list zoo says of each specimen what is wrong with it, and of a wrong name where to look", "[unit]") {
  auto const listed = nlohmann::json::parse(attest("list zoo --json").out);
  CHECK(listed.size() >= 100);
  std::string const attest_classes = attest("list classes").out;
  std::set<std::string> names;
  for (auto const& specimen : listed) {
    CHECK(names.insert(specimen["name"]).second);
    CHECK_FALSE(specimen["sentence"].get<std::string>().empty());
    if (specimen["class"] == "honest") CHECK(specimen["checks"].empty());
    else CHECK(has(attest_classes, specimen["class"].get<std::string>() + "  "));
  }
  std::string const text = attest("list zoo").out;
  CHECK(std::count(text.begin(), text.end(), '\n') == static_cast<std::ptrdiff_t>(listed.size()));
  CHECK(has(text,
            "nan_empty_row                       0/0 where a query sees no key; looked for by empty-rows, stale "
            "[empty-row, f32]"));
  outcome const wrong = attest("selftest --only nan_empty_rows");
  CHECK(wrong.status == 2);
  CHECK(has(wrong.err,
            "the zoo has no specimen called 'nan_empty_rows', did you mean 'nan_empty_row'?; see `attest list zoo`"));
}

TEST_CASE("the classes are those of docs/known_failures.md, and the audit's own", "[unit]") {
  std::set<std::string> expected{"accuracy", "large-scores", "crash", "hang", "ignored-field"};
  std::istringstream page(contents(ATTEST_TEST_DATA "/../../docs/known_failures.md"));
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("| kind")) break;  // the table of kinds of questions
    if (!line.starts_with("| ") || line.starts_with("| class")) continue;
    std::istringstream tokens(
        line.substr(2, line.find_first_of(":|", 2) - 2));  // "mask-polarity, head-mapping, window-edge "
    for (std::string token; tokens >> token;) expected.insert(token.substr(0, token.find(',')));
  }
  CHECK(expected.size() == 27);
  std::istringstream listed(attest("list classes").out);
  std::set<std::string> known;
  for (std::string line; std::getline(listed, line);) {
    known.insert(line.substr(0, line.find(' ')));
    CHECK(has(line, "  "));  // and a sentence
  }
  CHECK(known == expected);
}

TEST_CASE("why says of every class its cause, its fix, where it shipped and a page", "[unit]") {
  std::string const page = contents(ATTEST_TEST_DATA "/../../docs/known_failures.md");
  for (auto const& entry : nlohmann::json::parse(attest("list classes --json").out)) {
    std::string const name = entry["name"], sentence = entry["sentence"];
    auto const said = nlohmann::json::parse(attest("why " + name + " --json").out);
    INFO(name << said.dump(1));
    CHECK_FALSE(sentence.empty());
    CHECK(said["sentence"] == sentence);
    for (char const* const key : {"cause", "fix"}) CHECK(said[key].get<std::string>().size() > 20);
    CHECK(std::filesystem::exists(ATTEST_TEST_DATA "/../../" + said["page"].get<std::string>()));
    // The audit's own classes have no row there.
    std::string const seen = said["seen"];
    std::istringstream lines(page);
    for (std::string line; std::getline(lines, line) && !line.starts_with("| kind");) {
      std::string const cell = line.substr(0, line.find(" |", 2));
      bool const about = line.starts_with("| ") && (cell.starts_with("| " + name + ":") || cell == "| " + name ||
                                                    has(cell + ",", " " + name + ","));
      if (about) CHECK(line.ends_with("| " + seen + " |"));
      else if (!seen.empty() && has(line, "| " + seen + " |")) CHECK(has(line, "head-mapping"));
    }
    CHECK(seen.empty() != has(page, "| " + seen + " |"));
    outcome const text = attest("why " + name);
    CHECK(text.out.starts_with(name + ": "));
    CHECK(has(text.out, "\nusual cause    "));
  }
  check_refused("", {{"why causal-alinment",
                      "no class of findings is called 'causal-alinment', did you mean "
                      "'causal-alignment'?; see `attest list classes`"},
                     {"why", "class is missing"}});
}

}  // namespace
}  // namespace attest::tests::cli_lists_test
