// A shard whose facts were edited is refused with a sentence, whatever its hash.
#include <functional>

#include <nlohmann/json.hpp>

#include "audit/report/builder.hpp"
#include "audit/report/file/join.hpp"
#include "audit/report/file/json_write.hpp"
#include "audit/report/html/page.hpp"
#include "tests/audit/report/shard_file.hpp"
#include "tests/support/property.hpp"

namespace attest::audit::shard_edits_test {
namespace {

TEST_CASE("a fact that cannot be is refused with its place, whatever the hash", "[unit]") {
  struct wrong {
    char const* at;
    json to;
    char const* says;
  };
  json const many(70'000, "0x0p+0");
  for (auto const& [at, to, says] : std::initializer_list<wrong>{
           {"/index", 3, "'shard.facts' has an 'index' that is not from 1 to 'of'"},
           {"/index", 0, "an 'index'"},
           {"/of", "2", "'shard.facts.of' is \"2\", expected a whole number from 0 to 1099511627776"},
           {"/reports", json::array(), "'shard.facts' has no 'reports'"},
           {"/reports", 7, "'shard.facts.reports' is 7, expected a list"},
           {"/reports/0", json::array(), "'shard.facts.reports[0]' is an array, expected an object"},
           {"/reports/0/kernel", nullptr, "'shard.facts.reports[0].kernel' is null, expected a string"},
           {"/reports/0/seed", -1, ".seed' is -1, expected a whole number"},
           {"/reports/0/theorem_revision", 5000000000, "expected a whole number from 0 to 2147483647"},
           {"/reports/0/kernel_builds", json::array(), "has more or fewer than one entry in 'kernel_builds'"},
           {"/reports/0/contract", "{}", ".contract' "},
           {"/reports/0/contract", R"({"from": "f32-any", "name": "f32"})",
            "is 'f32', which is a preset that says otherwise"},
           {"/reports/0/outside_limit", "nan", "expected a number that is not negative"},
           {"/reports/0/unanswered", json::array({json::array({1})}), ".unanswered[0]' has 1 entries, expected 2"},
           {"/reports/0/checks/1/cases", -1, ".checks[1].cases' is -1, expected a whole number"},
           {"/reports/0/checks/1/cases", 1e30, "expected a whole number"},
           {"/reports/0/checks/1/cases", std::uint64_t{1} << 63, "expected a whole number"},
           {"/reports/0/checks/0/sum/sharpness/0/0/ratios", json::array(), "' has 0 entries, expected 64"},
           {"/reports/0/checks/0/sum/systematic/0/2/squares", json::array({1}), "' has 1 entries, expected 2"},
           {"/reports/0/checks/0/sum/max_ulp", "-0x1p+0", "expected a number that is not negative"},
           {"/reports/0/checks/0/sum/max_ulp", "1.5", "expected a hex float, nan, inf or -inf in a string"},
           {"/reports/0/checks/0/sum/max_ulp", "0x1p+0 ", "expected a hex float"},
           {"/reports/0/checks/0/sum/max_ulp", 1, "expected a hex float"},
           {"/reports/0/coverage/maps/0", json::array({1}),
            "has 'maps' with another number of counts than there are classes"},
           {"/reports/0/coverage/maps", json::array(), ".maps' has 0 entries, expected 5"},
           {"/reports/0/coverage/triples", "00", ".triples' has not a hexadecimal digit for every four triples"},
           {"/reports/0/coverage/triples", std::string((coverage::triple_count + 3) / 4, 'g'),
            "has not a hexadecimal digit"},
           {"/reports/0/findings/0/what/class", "<of another year>", ".class' names no class of `attest list classes`"},
           {"/reports/0/findings/0/what/index", json::array({1, 2}), ".index' has 2 entries, expected 4"},
           {"/reports/0/findings/0/pictures/masked", "#", "has not a mark in 'masked' for every value"},
           {"/reports/0/findings/0/pictures/masked", "#x", ".masked' has another mark than # and ."},
           {"/reports/0/findings/0/pictures/applied/columns", 1,
            ".applied' has another number of 'values' than of places"},
           {"/reports/0/findings/0/pictures/applied",
            {{"first_row", 0}, {"first_column", 0}, {"rows", 1}, {"columns", 1}, {"values", {"0x0p+0"}}},
            "has an 'applied' of another size"},
           {"/reports/0/findings/0/pictures/expected/rows", 5000, "expected a whole number from 0 to 4096"},
           {"/reports/0/findings/0/pictures/errors",
            {{"first_row", 0}, {"first_column", 0}, {"rows", 70}, {"columns", 1000}, {"values", many}},
            "has more than 65536 'values'"},
           {"/reports/0/findings/0/shrunk/inputs/0/shape", json::array({1, 3}),
            "has a 'shape' that does not fit its 'values'"},
           {"/reports/0/findings/0/shrunk/inputs/0/shape", json::array({1048576, 1048576, 0, 0}),
            "has a 'shape' that does not fit"},
           {"/reports/0/findings/0/shrunk/inputs/0/shape", json::array(), "has a 'shape' that does not fit"},
           {"/reports/0/findings/0/shrunk/inputs/0/shape", json::array({1, 1, 1, 1, 1, 2}),
            "has a 'shape' that does not fit"}}) {
    INFO(at << ' ' << to.dump().substr(0, 60));
    auto const whole = joined(kind::refuted, signing(putting(std::string("/shard/facts") + at, to)));
    check_refused(whole, says);
    CHECK(whole.why().reason.ends_with("; run this shard again with this attest"));
  }
  check_refused(joined(kind::refuted,
                       signing([](json part) { return part["shard"]["facts"]["reports"][0].erase("options"), part; })),
                "1.json: 'shard.facts.reports[0].options' is missing; run this shard again with this attest", true);
}

TEST_CASE("any edit of a shard is refused with a sentence, or the whole can be drawn: nothing crashes", "[property]") {
  json const facts = json::parse(as_json(shard_of(kind::refuted, 1)))["shard"]["facts"];
  std::vector<std::string> places;
  json const flat = facts.flatten();
  for (auto const& [at, value] : flat.items()) places.push_back(at);
  tests::property("facts with the hash of what they became", [&] {
    auto const edit = [&](json part) {
      for (int n = *rc::gen::inRange(1, 4); n > 0; --n) {
        pointer at("/shard/facts" + places[*rc::gen::inRange<std::size_t>(0, places.size())]);
        for (int up = *rc::gen::inRange(0, 3); up > 0; --up) at = at.parent_pointer();
        json const values[]{0,
                            1,
                            -1,
                            json(),
                            true,
                            "",
                            "nan",
                            "inf",
                            std::int64_t{1} << 40,
                            json::array(),
                            json::object(),
                            part.contains(at) ? part[at] : json()};
        try {
          part[at] = values[*rc::gen::inRange<std::size_t>(0, std::size(values))];
        } catch (json::exception const&) {}  // its parent is a number by now
      }
      return part.contains("shard") && part["shard"].is_object() && part["shard"].contains("facts") ? signed_again(part)
                                                                                                    : part;
    };
    auto const whole = joined(kind::refuted, edit);
    if (whole) RC_ASSERT_FALSE(as_html(whole.value()).empty());
    else RC_ASSERT_FALSE(whole.why().reason.empty());
  });
  tests::property("bytes of the text", [] {
    std::string text = as_json(shard_of(kind::refuted, 1));
    for (int n = *rc::gen::inRange(1, 6); n > 0; --n) {
      auto const at = *rc::gen::inRange<std::size_t>(0, text.size());
      switch (*rc::gen::inRange(0, 3)) {
        case 0: text[at] = *rc::gen::element('-', '9', '"', '{', ']', ',', '\0', '\xff'); break;
        case 1: text.erase(at, *rc::gen::inRange<std::size_t>(1, 40)); break;
        default: text.insert(at, text.substr(*rc::gen::inRange<std::size_t>(0, text.size()), 30)); break;
      }
    }
    auto const whole = join_reports({{"1.json", text}, {"2.json", as_json(shard_of(kind::refuted, 2))}});
    if (whole) RC_ASSERT(whole.value().front().verdict == verdict::refuted);  // the damage is outside of the facts
    else RC_ASSERT_FALSE(whole.why().reason.empty());
  });
}

}  // namespace
}  // namespace attest::audit::shard_edits_test
