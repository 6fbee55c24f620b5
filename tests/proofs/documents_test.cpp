// docs/documents.md and proofs/documents/ say the same: every row is a proof, every proof a row, with the same verdict
// and the same numbers.
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

#include "tests/support/catch.hpp"

namespace {

namespace fs = std::filesystem;

std::string text_of(fs::path const& file) {
  INFO(file);
  std::ifstream from(file);
  REQUIRE(from);
  std::ostringstream text;
  text << from.rdbuf();
  return text.str();
}

bool digit_at(std::string_view text, std::size_t at) {
  return at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0;
}

/// Unsigned numbers as they are written; the separators of 16,777,216 and 16'777'216 are dropped, .05 is 0.05.
std::set<std::string> numbers_in(std::string_view text) {
  std::set<std::string> found;
  auto const separates = [&](std::size_t at) {
    return at < text.size() && (text[at] == ',' || text[at] == '\'') && digit_at(text, at + 1) &&
           digit_at(text, at + 2) && digit_at(text, at + 3) && !digit_at(text, at + 4);
  };
  auto const point = [&](std::size_t at) { return at < text.size() && text[at] == '.' && digit_at(text, at + 1); };
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!digit_at(text, at) && !point(at)) continue;
    std::string number = text[at] == '.' ? "0" : "";
    for (; digit_at(text, at) || point(at) || separates(at); ++at)
      if (!separates(at)) number += text[at];
    found.insert(number);
  }
  return found;
}

struct claim {
  std::string verdict;
  std::string text;  ///< of a proof: the whole statement; of a row: the code spans of what is printed and proven
};
using claims = std::map<std::string, claim>;

/// static_assert(…, "id: verdict: what is proven");
claims proofs() {
  claims found;
  std::regex const message(R"re("([a-z0-9]+/[a-z0-9.-]+): ([a-z]+): )re");
  for (auto const& entry : fs::directory_iterator(fs::path(ATTEST_SOURCES) / "proofs/documents")) {
    std::string const source = text_of(entry.path());
    std::string_view constexpr opening = "\nstatic_assert(", closing = "\");\n";
    for (auto at = source.find(opening); at != std::string::npos; at = source.find(opening, at + 1)) {
      auto const next = source.find(opening, at + 1);
      std::string statement = source.substr(at, next == std::string::npos ? next : next - at);
      std::smatch where;
      INFO(entry.path() << statement);
      REQUIRE(std::regex_search(statement, where, message));
      std::string const id = where[1], verdict = where[2];
      statement = statement.substr(0, statement.find(closing, static_cast<std::size_t>(where.position())));
      bool const added = found.insert({id, {verdict, statement}}).second;
      CHECK(added);
    }
  }
  return found;
}

/// | id | section, phrase | printed | proven | verdict |, where the id of what has no proof is "-".
claims rows() {
  claims found;
  std::istringstream page(text_of(fs::path(ATTEST_SOURCES) / "docs/documents.md"));
  std::regex const shape(R"re(\| ([^|]+) \|([^|]*)\|([^|]*)\|([^|]*)\| ([a-z]+) \|)re"), span("`([^`]*)`");
  for (std::string line; std::getline(page, line);) {
    std::smatch part;
    if (!std::regex_match(line, part, shape) || part[1] == "proof") continue;
    INFO(line);
    if (part[1] == "-") {
      CHECK(part[5] == "sample");
      continue;
    }
    claim statement{part[5], ""};
    for (int column : {3, 4}) {
      std::string const cell = part[static_cast<std::size_t>(column)];
      for (std::sregex_iterator at(cell.begin(), cell.end(), span), end; at != end; ++at)
        statement.text += (*at)[1].str() + " ";
    }
    bool const added = found.insert({part[1], statement}).second;
    CHECK(added);
  }
  return found;
}

}  // namespace

TEST_CASE("the page of the documents and their proofs are the same claims", "[unit]") {
  claims const proven = proofs(), listed = rows();
  CHECK(proven.size() > 90);
  for (auto const& [id, claim] : proven) {
    INFO("proofs/documents has " << id << ", docs/documents.md has not");
    CHECK(listed.count(id) == 1);
  }
  std::set<std::string> const verdicts{"right", "wrong", "answer", "holds"};
  std::regex const decimal(R"re("-?(\d+\.\d+)")re");
  for (auto const& [id, row] : listed) {
    INFO(id);
    REQUIRE(proven.count(id) == 1);
    auto const& [verdict, statement] = proven.at(id);
    CHECK(row.verdict == verdict);
    CHECK(verdicts.count(verdict) == 1);
    auto const in_row = numbers_in(row.text), in_proof = numbers_in(statement);
    for (auto const& number : in_row) {
      INFO("the page says " << number << ", the proof does not");
      CHECK(in_proof.count(number) == 1);
    }
    for (std::sregex_iterator at(statement.begin(), statement.end(), decimal), end; at != end; ++at) {
      INFO("the proof says " << (*at)[1] << ", the page does not");
      CHECK(in_row.count((*at)[1]) == 1);
    }
  }
}

TEST_CASE("numbers are read as they are written", "[unit]") {
  CHECK(numbers_in("4096² = 16,777,216 = 16·2^20, 5,10,7 and .05 -0.96.") ==
        std::set<std::string>{"4096", "16777216", "16", "2", "20", "5", "10", "7", "0.05", "0.96"});
}
