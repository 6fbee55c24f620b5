// Classes of findings by the cause: in one report, and in reports of shards that know parts of the cause.
#include "audit/report/name_classes.hpp"

#include <set>

#include "tests/audit/report/shard_file.hpp"
#include "tests/support/catch.hpp"

namespace attest::audit::name_classes_test {
namespace {

judgement suspected(std::string const& output) {
  judgement found = judged_elements(10, 3);
  found.failed = 1;
  found.violations.push_back(
      {.output = output, .got = 1, .error_in_bounds = 3, .bug_class = std::nullopt, .sentence = "is wrong"});
  return found;
}

named_mistake mistake(std::string const& name, std::optional<bug_class> of_class) {
  return {.name = name, .sentence = name, .explains = 1, .bug_class = of_class};
}

/// Shard 1 or 2 of 2: an answer of its check that is wrong, and the mistakes that explain it.
report shard(std::int64_t index, std::string const& check, bug_class by_check, std::vector<named_mistake> mistakes) {
  report made;
  made.kernel = "drawn", made.contract = "f32", made.seed = 5, made.contract_revision = 2, made.shard = {index, 2};
  made.all_cases = 2, made.contracts = {*find_contract("f32")};
  made.kernel_builds = {{.sha256 = std::string(64, 'a'), .symbol = "attest_attention"}};
  std::set<std::string, std::less<>> const none_waived;
  report_builder collect(made, none_waived);
  collect.set_case(index);
  collect.add_judgement(collect.row_of_check(check), "case", by_check, {1, 1, 1, 1, 1, 1, 1}, suspected("o"), "attest");
  collect.finish(true, "");
  named_cause& cause = made.cause.emplace();
  cause.explains = mistakes.empty() ? 0 : 1, cause.of = cause.failed = 1, cause.mistakes = std::move(mistakes);
  name_classes(made);
  return made;
}

report joined(report const& first, report const& second) {
  auto const all = join_reports({{"1.json", as_json(first)}, {"2.json", as_json(second)}});
  if (!all) FAIL(all.why().message());
  return all.value().front();
}

std::vector<std::string_view> classes_of(report const& of) {
  std::vector<std::string_view> classes;
  for (finding const& found : of.findings) classes.push_back(found.class_token());
  return classes;
}

using tokens = std::vector<std::string_view>;
named_mistake const heads = mistake("heads-interleaved", bug_class::head_mapping),
                    window = mistake("left-ignored", bug_class::window_edge), any = mistake("key-twice", std::nullopt);

TEST_CASE("the one mistake that explains all failing inputs names the class of suspected findings", "[unit]") {
  CHECK(classes_of(shard(1, "masks", bug_class::mask_polarity, {heads})) == tokens{"head-mapping"});
  CHECK(classes_of(shard(1, "masks", bug_class::mask_polarity, {any})) == tokens{"mask-polarity"});
  CHECK(classes_of(shard(1, "masks", bug_class::mask_polarity, {heads, window})) == tokens{"mask-polarity"});
  CHECK(classes_of(shard(1, "masks", bug_class::mask_polarity, {})) == tokens{"mask-polarity"});
}

TEST_CASE("findings of one cause have one class, whatever their shards know of it", "[unit]") {
  report const knows = shard(1, "masks", bug_class::mask_polarity, {heads}),
               doubts = shard(2, "windows", bug_class::window_edge, {window, heads});
  CHECK(classes_of(doubts) == tokens{"window-edge"});
  report const all = joined(knows, doubts);
  REQUIRE(all.cause->mistakes.size() == 1);
  CHECK(classes_of(all) == tokens{"head-mapping", "head-mapping"});
  for (failing_case const& failing : all.failing) CHECK(failing.classes == std::vector<std::string>{"head-mapping"});
}

TEST_CASE("the class of a cause that explains one shard alone is given up", "[unit]") {
  report const all =
      joined(shard(1, "masks", bug_class::mask_polarity, {heads}), shard(2, "windows", bug_class::window_edge, {}));
  CHECK(all.cause->mistakes.empty());
  auto const classes = classes_of(all);
  CHECK(std::set(classes.begin(), classes.end()) == std::set<std::string_view>{"mask-polarity", "window-edge"});
}

}  // namespace
}  // namespace attest::audit::name_classes_test
