// The default text of a report: its verdict, one call, and a command, on one screen.
#include "audit/report/screen.hpp"

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "audit/contract/contract.hpp"
#include "audit/report/builder.hpp"
#include "audit/report/verdict.hpp"
#include "tests/support/catch.hpp"

namespace attest::audit::screen_test {
namespace {

using Catch::Contains;

std::vector<std::string> lines_of(std::string const& text) {
  std::vector<std::string> lines;
  std::istringstream from(text);
  for (std::string line; std::getline(from, line);) lines.push_back(line);
  return lines;
}

report report_on(std::string kernel) {
  report is;
  is.kernel = std::move(kernel), is.contract = "f32", is.seed = 5, is.contracts = {*find_contract("f32")};
  return is;
}

/// Twenty wrong inputs in twenty checks, with long words in every place that has words.
report refuted_report() {
  report is = report_on("libwrong.so");
  std::set<std::string, std::less<>> const waived;
  report_builder collect(is, waived);
  for (int n = 0; n < 20; ++n) {
    collect.set_case(n + 1);
    judgement found;
    found.failed = 1, found.by_theorem = 3;
    violation wrong;
    wrong.output = "o", wrong.sentence = "o[0, 0, 0, 0] is 1, the exact value lies in [2, 3]";
    for (int words = 0; words < 100; ++words) wrong.sentence += ", and more";
    wrong.error_in_bounds = 7;
    found.violations = {wrong};
    std::string const name = "check-of-number-" + std::to_string(n);
    collect.add_judgement(collect.row_of_check(name), "some-case", bug_class::accuracy, {1, 2, 2, 3, 4, 5, 6},
                          std::move(found), "attest audit --kernel ./libwrong.so --only " + name);
  }
  is.not_asked.assign(40, {"larger inputs, and further ones of each check", "--quick"});
  is.missing_protections.assign(9, "namespaces, which this system forbids to users");
  collect.finish(true, "");
  for (finding& found : is.findings) found.condition = "it is wrong exactly where n > 1, m > 2 and d is odd";
  return is;
}

report certified_report() {
  report is = report_on("libright.so");
  std::set<std::string, std::less<>> const waived;
  report_builder collect(is, waived);
  collect.set_case(1);
  judgement found;
  found.by_theorem = 1'234'567, found.max_error_in_bounds = 0.25;
  collect.add_judgement(collect.row_of_check("accuracy"), "a", bug_class::accuracy, {}, std::move(found), "");
  is.draws = 332, is.draw_products = 65536;
  for (int n = 0; n < is.draws; ++n) is.covered.add_draw(true);
  collect.finish(true, "");
  return is;
}

}  // namespace

TEST_CASE("a list of clauses on the screen has semicolons between them alone", "[unit]") {
  report is = certified_report();
  is.not_asked = {{"5 cases, which are not plain; sinks: --abi 2 has them", "attest gen left them out"},
                  {"draws 1 to 3", "stopped; by hand"}};
  CHECK_THAT(as_screen(is, {.columns = 200}),
             Contains("5 cases, which are not plain, sinks: --abi 2 has them (attest gen left them out); draws 1 to 3 "
                      "(stopped, by hand)"));
}

TEST_CASE("a report of any kind fits one screen of 24 lines and 100 columns", "[unit]") {
  for (report const& of : {refuted_report(), certified_report()}) {
    auto const lines = lines_of(as_screen(of, {}));
    CHECK(lines.size() <= 24);
    for (std::string const& line : lines) CHECK(line.size() <= 100 + std::string("…").size());
  }
}

TEST_CASE("a kernel that took no plain call is not said to take every size", "[unit]") {
  report of = certified_report();
  of.covered.calls = {.asked = 9, .answered = 5}, of.covered.plain = {.asked = 4, .answered = 4};
  CHECK_THAT(as_screen(of, {}), Contains("\ntakes          every size that was asked\n"));
  of.covered.plain.answered = 0;
  CHECK_THAT(as_screen(of, {}), Contains("\ntakes          no plain call; --domain can say what every call needs"));
  of.covered.plain = {};  // none was asked
  CHECK_THAT(as_screen(of, {}), Contains("\ntakes          every size that was asked\n"));
}

TEST_CASE("of a refuted kernel that took no call the screen says how to state its domain", "[unit]") {
  report of = refuted_report();
  of.covered.calls = of.covered.plain = {.asked = 9, .answered = 0};
  CHECK_THAT(as_screen(of, {}), Contains("\ntakes          no call that was asked; --domain states the sizes"));
  of.covered = {};  // none was asked
  CHECK_THAT(as_screen(of, {}), !Contains("\ntakes"));
}

TEST_CASE("a narrower terminal wraps the lines between words", "[unit]") {
  for (std::string const& line : lines_of(as_screen(refuted_report(), {.columns = 60})))
    CHECK(line.size() <= 60 + std::string("…").size());
  CHECK_THAT(as_screen(refuted_report(), {.columns = 1}), Contains("REFUTED"));
}

TEST_CASE("a refutation names one call, its fault and the command that asks it again", "[unit]") {
  std::string const screen = as_screen(refuted_report(), {});
  CHECK(lines_of(screen)[1] == "REFUTED        20 faults in 20 of 20 inputs");
  CHECK_THAT(screen, Contains("\nwhere          it is wrong exactly where n > 1, m > 2 and d is odd\n"));
  CHECK_THAT(screen, Contains("\ncall           b=1 hq=2 hk=2 n=3 m=4 d=5 dv=6\n"));
  CHECK_THAT(screen, Contains("               o[0, 0, 0, 0] is 1, the exact value lies in [2, 3]"));
  CHECK_THAT(screen, Contains("\nagain          attest audit --kernel ./libwrong.so --only check-of-number-0\n"));

  report small = refuted_report();
  small.findings.front().shrunk = {.what = small.findings.front().what,
                                   .sizes = {1, 1, 1, 1, 2, 1, 1},
                                   .file = "attest-findings/1.safetensors",
                                   .inputs = {{"q", {1, 1, 1, 1}, {0.5}}, {"k", {1, 1, 2, 1}, {0, -1}}}};
  CHECK_THAT(as_screen(small, {}), Contains("\nsmallest call  b=1 hq=1 hk=1 n=1 m=2 d=1 dv=1  q=[0.5]  k=[0, -1]\n") &&
                                       Contains("the call is in attest-findings/1.safetensors\n"));
  shrunk_finding& saved = *small.findings.front().shrunk;
  saved.explain = "attest explain attest-findings/1.safetensors --row 0,0,0 --contract f32";
  CHECK_THAT(as_screen(small, {}), Contains("\nin detail      " + saved.explain + "\n"));
  CHECK_THAT(as_screen(small, {.called = "./attest"}),
             Contains("\nin detail      ./" + saved.explain + "\n") && Contains("\nagain          ./attest audit "));
  saved.parameters = " scale=-0.5 right=0";
  CHECK_THAT(as_screen(small, {}), Contains("n=1 m=2 d=1 dv=1 scale=-0.5 right=0  q=[0.5]"));
  saved.parameters.clear();
  saved.whole = true;  // none smaller was found
  CHECK_THAT(as_screen(small, {}), Contains("\ncall           b=1 hq=1 hk=1 n=1 m=2 d=1 dv=1  q=[0.5]  k=[0, -1]\n"));
}

TEST_CASE("an audit that stopped at the first fault says that no cause was searched for", "[unit]") {
  report of = refuted_report();
  CHECK_THAT(as_screen(of, {}), !Contains("\ncause "));
  of.not_asked.push_back({"19 of 20 inputs", "--fail-fast"});
  CHECK_THAT(as_screen(of, {}), Contains("\ncause          not searched for: --fail-fast\n"));
}

TEST_CASE("a command is whole, since a part of it is of no use", "[unit]") {
  report of = refuted_report();
  std::string& command = of.findings.front().reproducer;
  for (int path = 0; path < 8; ++path) command += " --allow read:/usr/lib/of/some/interpreter/" + std::to_string(path);
  auto const lines = lines_of(as_screen(of, {}));
  CHECK(lines.size() <= 24);
  auto const last = std::ranges::find_if(lines, [](auto const& line) { return line.ends_with("interpreter/7"); });
  CHECK(last != lines.end());
}

TEST_CASE("the screen says what was not saved, however the note begins, and no other note", "[unit]") {
  report of = refuted_report();
  of.observations = {{"the saved findings are not listed: index.json: Permission denied", kind_not_saved},
                     {"a finding could not be saved: a name that a kernel chose"}};
  std::string const screen = as_screen(of, {});
  CHECK_THAT(screen, Contains("\nnot saved      the saved findings are not listed: index.json: Permission denied\n"));
  CHECK_THAT(screen, !Contains("a name that a kernel chose"));
}

TEST_CASE("a certificate says of what, and what could still be wrong", "[unit]") {
  std::string const screen = as_screen(certified_report(), {});
  CHECK(lines_of(screen)[1] == "CERTIFIED      1,234,567 elements of 1 input; the worst error is 0.2500 of its bound");
  CHECK_THAT(screen, Contains("of 332 random inputs none is wrong: at 95 % confidence fewer than 1 in 110 is\n"));
  CHECK_THAT(screen, Contains("nothing is claimed for other inputs\n"));
  CHECK_THAT(screen, Contains("\nrepeat exactly --seed 5 --draws 332 --draw-products 65536\n"));
}

TEST_CASE("outputs that a file does not have are not recorded, and say nothing of its kernel", "[unit]") {
  report is = report_on("calls.safetensors");
  std::set<std::string, std::less<>> const waived;
  report_builder collect(is, waived);
  judgement found;
  found.by_theorem = 10, found.returned = {1, 0, 0};
  collect.add_judgement(collect.row_of_check("accuracy"), "a", bug_class::accuracy, {}, std::move(found), "");
  collect.finish(true, "");
  CHECK_THAT(as_screen(is, {}), Contains("\nnot supported  lse, weights\n"));
  is.recorded.emplace();
  CHECK_THAT(as_screen(is, {}), Contains("\nnot recorded   lse, weights\n") && !Contains("not supported"));
}

TEST_CASE("a certificate has no worst error where a waived finding has it", "[unit]") {
  report is = report_on("libknown.so");
  std::set<std::string, std::less<>> const waived{"accuracy"};
  report_builder collect(is, waived);
  collect.set_case(1);
  judgement found;
  found.failed = 1, found.by_theorem = 10, found.max_error_in_bounds = 7;
  found.violations = {{.output = "o", .error_in_bounds = 7, .bug_class = bug_class::accuracy, .sentence = "wrong"}};
  collect.add_judgement(collect.row_of_check("accuracy"), "a", bug_class::accuracy, {}, std::move(found), "");
  collect.finish(true, "");
  REQUIRE(is.verdict == verdict::certified);
  CHECK(lines_of(as_screen(is, {}))[1] == "CERTIFIED      10 elements of 1 input");
  CHECK_THAT(as_screen(is, {}), Contains("\nchecks         1 waived or known: accuracy 1/1   0 ok\n"));
  CHECK_THAT(say(facts_of(is)).sentence, Contains("of f32, the waived ones apart. Nothing is claimed"));
}

TEST_CASE("only the verdict has a colour, and no name commands the terminal", "[unit]") {
  report of = certified_report();
  of.kernel = "lib\033[2Jright.so";
  CHECK(as_screen(of, {}).find('\033') == std::string::npos);
  std::string const coloured = as_screen(of, {.colour = true});
  CHECK_THAT(coloured, Contains("\033[1;32mCERTIFIED\033[0m "));
  CHECK(std::ranges::count(coloured, '\033') == 2);
}

TEST_CASE("the screens of several kernels end with the verdict on each", "[unit]") {
  std::vector<report> const both{certified_report(), refuted_report()};
  auto const lines = lines_of(as_screen(std::span(both), {}));
  CHECK(lines[lines.size() - 2] == "CERTIFIED      libright.so");
  CHECK(lines.back() == "REFUTED        libwrong.so");
}

}  // namespace attest::audit::screen_test
