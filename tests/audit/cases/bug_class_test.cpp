// The table of bug classes and docs/known_failures.md say the same.
#include "audit/cases/bug_class.hpp"

#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "tests/support/catch.hpp"

namespace attest::tests::bug_class_test {
using namespace attest::audit;

namespace {

/// Token → meaning, from the lines "| token: meaning | …" and "| token, token | …" of the page's table.
std::map<std::string, std::string, std::less<>> documented() {
  std::map<std::string, std::string, std::less<>> meanings;
  std::ifstream page(ATTEST_KNOWN_FAILURES);
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("| kind ")) break;  // the table of kinds of questions
    if (!line.starts_with("| ") || line.starts_with("| class ")) continue;
    std::string const cell = line.substr(2, line.find(" |", 2) - 2);
    auto const colon = cell.find(": ");
    std::istringstream tokens(cell.substr(0, colon));
    for (std::string token; tokens >> token;)
      meanings[token.substr(0, token.find(','))] = colon == cell.npos ? "" : cell.substr(colon + 2);
  }
  return meanings;
}

}  // namespace

TEST_CASE("the table has the classes of docs/known_failures.md, in its words, and the audit's own", "[unit]") {
  auto page = documented();
  CHECK(page.size() == 22);
  for (bug_class_row const& row : bug_class_table) {
    INFO(row.token);
    CHECK_FALSE(row.meaning.empty());
    auto const at = page.find(row.token);
    CHECK((at != page.end()) == (row.whose == bug_class_row::known_failures));
    if (at == page.end()) continue;
    if (!at->second.empty()) CHECK(at->second == row.meaning);
    page.erase(at);
  }
  CHECK(page.empty());
}

TEST_CASE("the page names the audit's own classes too", "[unit]") {
  std::ostringstream page;
  page << std::ifstream(ATTEST_KNOWN_FAILURES).rdbuf();
  for (bug_class_row const& row : bug_class_table)
    if (row.whose == bug_class_row::audit)
      CHECK(page.str().find("`" + std::string(row.token) + "`") != std::string::npos);
}

TEST_CASE("a token names its class, and no other word does", "[unit]") {
  for (bug_class_row const& row : bug_class_table) CHECK(bug_class_named(row.token) == row.id);
  for (std::string_view const word : {"", "honest", "empty-row ", "Empty-row", "empty_row"})
    CHECK_FALSE(bug_class_named(word));
}

}  // namespace attest::tests::bug_class_test
