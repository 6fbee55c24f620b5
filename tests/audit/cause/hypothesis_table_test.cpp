// The table of hypotheses by itself: names, and conventions in the words of --accept.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "audit/cause/call_event.hpp"
#include "audit/cause/hypotheses/hypothesis.hpp"
#include "audit/contract/contract.hpp"
#include "audit/zoo/zoo.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::hypothesis_table_test {

TEST_CASE("a convention is named in the words of --accept", "[unit]") {
  constexpr std::string_view begin = "(the convention ";
  int named = 0;
  for (audit::hypothesis const& each : audit::hypotheses()) {
    auto const at = each.sentence.find(begin);
    if (at == std::string::npos) continue;
    std::string words = each.sentence.substr(at + begin.size());
    words.erase(words.find(')'));
    words.replace(words.find(": "), 2, "=");
    CHECK(each.accepted == std::vector{words});
    ++named;
  }
  CHECK(named > 10);
}

TEST_CASE("hypotheses and events have names of their own, and what the zoo expects is one of them", "[unit]") {
  std::set<std::string, std::less<>> names;
  for (audit::hypothesis const& row : audit::hypotheses()) CHECK(names.insert(row.name).second);
  for (audit::event_row const& row : audit::event_hypotheses()) CHECK(names.emplace(row.name).second);
  for (audit::contract const& preset : audit::contracts()) names.insert("contract-" + preset.name);
  for (zoo::specimen const& specimen : zoo::specimens()) {
    std::string_view expected = specimen.cause;
    CAPTURE(specimen.name);
    while (!expected.empty()) {
      std::string_view const name = expected.substr(0, expected.find('|'));
      if (!name.ends_with('*')) CHECK(names.contains(name));
      expected.remove_prefix(std::min(expected.size(), name.size() + 1));
    }
  }
}

TEST_CASE("no hypothesis names an order of axes: a file or a function may have another", "[unit]") {
  for (audit::hypothesis const& each : audit::hypotheses()) {
    CAPTURE(each.sentence);
    CHECK(each.sentence.find("[b, ") == std::string::npos);
  }
}

}  // namespace attest::tests::hypothesis_table_test
