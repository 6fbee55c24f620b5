// Files that the program writes for other programs: contracts, shards joined, JUnit, waived findings.
#include "tests/program/json_report.hpp"
#include "tests/program/program.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::cli_reports_test {
namespace {

using nlohmann::json;

/// A Python program about a JUnit file: `body` sees the root element as `root`, and prints.
std::string read_xml(std::string const& file, std::string const& body) {
  write("read.py", "import sys, xml.etree.ElementTree as tree\nroot = tree.parse(sys.argv[1]).getroot()\n" + body);
  outcome const ran = shell("python3 read.py " + file);
  INFO(ran.err << contents(folder() / file).substr(0, 3000));
  CHECK(ran.status == 0);
  return ran.out;
}

TEST_CASE("a contract file judges by the conventions that it states, and every report names them", "[unit]") {
  write("mine.json", R"({"from": "f32", "name": "nan-rows", "conventions": {"empty_row": "nan"}})");
  CHECK(attest("audit --seed 1 --only empty-rows/every-row" + kernel("nan_empty_row")).status == 1);
  outcome const text =
      attest("audit --seed 1 --only empty-rows --contract mine.json --junit mine.xml --json reported.json" +
             kernel("nan_empty_row"));
  INFO(text.out << text.err);
  CHECK(text.status != 1);
  CHECK(has(text.out, "relaxes a convention of docs/semantics.md: empty_row: nan"));
  CHECK(has(contents(folder() / "mine.xml"), "empty_row: nan"));
  auto const found = json::parse(contents(folder() / "reported.json"));
  CHECK(found["contract"] == "nan-rows");
  CHECK(found["conventions"] == json::array({"empty_row: nan"}));
  // The other way round: who promises NaN and answers 0 breaks the contract.
  auto const zero = report("audit --seed 1 --only empty-rows/every-row --contract mine.json" + kernel("naive"));
  REQUIRE(zero["verdict"] == "refuted");
  CHECK(has(zero["findings"][0]["sentence"], "nan-rows says so"));
}

TEST_CASE("a contract whose LSE leaves the sink out refutes a kernel that counts it, and no other output", "[unit]") {
  write("keys.json", R"({"from": "f32", "name": "keys", "conventions": {"lse_sink": "excluded"}})");
  CHECK(report("audit --quick --seed 1 --only sinks")["verdict"] != "refuted");
  auto const found = report("audit --quick --seed 1 --only sinks --contract keys.json");
  CHECK(found["conventions"] == json::array({"lse_sink: excluded"}));
  REQUIRE(found["verdict"] == "refuted");
  // Two of the sinks are so far away that the bound says nothing of that mistake.
  CHECK(found["cause"]["hypotheses"].at(0).at("name") == "sink-in-lse");
  CHECK(found["cause"]["open"] == 2);
  for (auto const& finding : found["findings"]) {
    CHECK(finding["output"] == "lse");
    CHECK(has(finding["sentence"], "the contract keys says that the LSE does not count the sink"));
  }
}

TEST_CASE("a kernel whose LSE is in base 2 is certified where its contract says so, and one with a natural LSE refuted",
          "[unit]") {
  write("base2.json", R"({"from": "f32", "name": "base2", "conventions": {"lse_base": "2"}})");
  auto const audit = [](char const* contract, std::string const& of) {
    return report(std::string("audit --quick --seed 1 --findings '' --only accuracy --contract ") + contract + of);
  };
  auto const undeclared = audit("f32", zoo_kernel("lse_in_base_2"));
  REQUIRE(undeclared["verdict"] == "refuted");
  CHECK(undeclared["cause"]["hypotheses"][0]["name"] == "lse-base-2");
  auto const declared = audit("base2.json", zoo_kernel("lse_in_base_2"));
  CHECK(declared["conventions"] == json::array({"lse_base: 2"}));
  CHECK((declared["verdict"] == "certified" && declared["findings"].empty()));
  auto const natural = audit("base2.json", kernel("naive"));
  REQUIRE(natural["verdict"] == "refuted");
  CHECK(natural["cause"]["hypotheses"][0]["name"] == "lse-natural");
  for (auto const& finding : natural["findings"]) CHECK(finding["output"] == "lse");
}

TEST_CASE("merges of LSEs in base 2 are asked and judged where the contract says so, and found again", "[unit]") {
  write("base2.json", R"({"from": "f32", "name": "base2", "conventions": {"lse_base": "2"}})");
  auto const audit = [](std::string const& more, std::string const& of) {
    return report("audit --seed 1 --only merge --contract base2.json" + more + of);
  };
  auto const declared = audit("", zoo_kernel("merge_base_2"));
  CHECK((declared["verdict"] == "certified" && declared["findings"].empty()));
  auto const natural = audit(" --findings natural", zoo_kernel("merge_by_maximum"));
  REQUIRE(natural["verdict"] == "refuted");
  CHECK(natural["cause"]["hypotheses"][0]["name"] == "merge-natural");
  CHECK(natural["cause"]["explains"] == natural["cause"]["of"]);
  auto const command = natural["findings"][0]["reproducer"].get<std::string>().substr(6);
  CHECK(attest(command).status == 1);
  auto const explained = attest("explain natural/merge-lse-equal-s2.safetensors --contract base2.json").out;
  CHECK(has(explained, "its score is the LSE of the part in base 2\n"));
  CHECK(has(explained, "\nLSE in base 2 "));
  CHECK(attest("audit" + zoo_kernel("merge_base_2") + command.substr(command.find(" --contract "))).status == 0);
}

/// Of a check whose calls have rows that belong to no query.
void promises_rows_of_no_query(std::string const& check) {
  write("kept.json", R"({"from": "f32", "name": "kept", "conventions": {"padding_rows": "kept"}})");
  write("zero.json", R"({"from": "f32", "name": "zero", "conventions": {"padding_rows": "zero"}})");
  auto const kept = report("audit --quick --seed 1 --contract kept.json --only " + check);
  CHECK((kept["verdict"] == "certified" && kept["findings"].empty()));
  CHECK(kept["conventions"] == json::array({"padding_rows: kept"}));
  auto const zero = report("audit --quick --seed 1 --contract zero.json --only " + check);
  REQUIRE(zero["verdict"] == "refuted");
  REQUIRE(zero["cause"]["hypotheses"].size() > 0);
  CHECK(zero["cause"]["hypotheses"][0]["name"] == "padding-written");
  CHECK(has(zero["findings"][0]["sentence"],
            "belongs to no query, and is not 0; the contract zero says that such rows are 0"));
}

TEST_CASE("rows that belong to no query are what the contract promises", "[unit]") {
  promises_rows_of_no_query("lengths");
}

TEST_CASE("packed rows that belong to no query are, too", "[slow]") { promises_rows_of_no_query("packed"); }

TEST_CASE("list kernels --kernel says what a kernel exports, answers, refuses and ignores", "[unit]") {
  auto const of = [](std::string const& kernel) {
    return nlohmann::json::parse(attest("list kernels --json" + kernel).out);
  };
  auto const builtin = of(" --kernel builtin");
  CHECK(builtin["exports"] ==
        nlohmann::json::array({"attest_attention", "attest_merge", "attest_attention_backward", "attest_kernel_name"}));
  CHECK(builtin["features"].size() > 300);
  for (auto const& [name, is] : builtin["features"].items())
    if (name.find("dropout") == name.npos) CHECK(is == "supported");
  CHECK(builtin["features"]["dropout"] == "refused");
  auto const mask = of(zoo_kernel("ignored_mask"));
  CHECK(mask["features"]["plain"] == "supported");
  CHECK(mask["features"]["mask"] == "ignored");
  CHECK(mask["features"]["causal+mask"] == "ignored");
  CHECK(mask["features"]["sink"] == "refused");
  CHECK(of(zoo_kernel("heads_interleaved"))["features"]["grouped"] == "wrong");
  std::string const text = attest("list kernels" + zoo_kernel("ignored_mask")).out;
  CHECK(has(text, "mask              ignored\n"));
  CHECK_FALSE(has(text, "causal+mask"));
  CHECK(has(attest("list zoo --kernel builtin").err, "--kernel: goes with 'list kernels' only"));
  CHECK(has(attest("list kernels --kernel ./nothing.so").err, "nothing.so"));
}

TEST_CASE("a convention that masked values are finite takes poison out of the audit, and the check says so", "[unit]") {
  write("finite.json", R"({"from": "f32", "conventions": {"masked_values": "must_be_finite"}})");
  auto const found = report("audit --seed 1 --only poison --contract ./finite.json");
  CHECK(found["contract"] == "finite");
  REQUIRE(found["checks"][0]["name"] == "poison");
  CHECK(found["checks"][0]["conventions"] == json::array({"masked_values: must_be_finite"}));
}

TEST_CASE("a convention that masked values are finite hides no kernel that mistakes pages or a bias of −∞", "[unit]") {
  write("finite.json", R"({"from": "f32", "conventions": {"masked_values": "must_be_finite"}})");
  for (char const* broken : {"page_of_16", "table_ignored", "page_offset_by_bits"}) {
    INFO(broken);
    CHECK(attest("audit --quick --fail-fast --seed 1 --only pages --contract ./finite.json" + zoo_kernel(broken))
              .status == 1);
  }
  CHECK(attest("audit --quick --draws 0 --seed 1 --only pages,bias --contract ./finite.json").status == 0);
}

TEST_CASE("a kernel whose outputs are cut is certified with a note, one that rounds them without", "[unit]") {
  std::string const common = "audit --quick --only accuracy,scale,tails,weights-through-v --seed 1 ";
  outcome const cuts = attest(common + "--json cut.json" + kernel("cuts_outputs"));
  INFO(cuts.out << cuts.err);
  CHECK(cuts.status == 0);
  CHECK(has(cuts.out, "systematic error of o (f32), which no bound refutes: the mean error away from 0 is -0."));
  CHECK(has(cuts.out, "(too near 0, as truncation makes it)"));
  for (json const& of : json::parse(contents(folder() / "cut.json"))["evidence"]["systematic_errors"])
    if (of["output"] != "lse") CHECK(of["noted"] == true);
  outcome const honest = attest(common + kernel("naive"));
  INFO(honest.out << honest.err);
  CHECK(honest.status == 0);
  CHECK_FALSE(has(honest.out, "systematic"));
}

/// Every `step`th of them.
void reads_listed_contracts(std::size_t step) {
  auto const listed = json::parse(attest("list contracts --json").out);
  for (std::size_t at = 0; at < listed.size(); at += step) {
    json const& contract = listed[at];
    write("listed.json", contract.dump());
    outcome const ran = attest("audit --quick --seed 2 --only worked-examples --json - --contract listed.json");
    INFO(contract["name"] << ran.err);
    CHECK(json::parse(ran.out)["contract"] == contract["name"]);
  }
}

TEST_CASE("list contracts --json prints files that --contract reads", "[unit]") { reads_listed_contracts(7); }

TEST_CASE("each file that list contracts --json prints is read by --contract", "[slow]") { reads_listed_contracts(1); }

TEST_CASE("a JUnit report is XML with a test for each check and a failure for each that found something", "[unit]") {
  CHECK(
      attest("audit --quick --seed 1 --only masks/random-full,worked-examples/e11.1 --junit bad.xml" + kernel("mean_v"))
          .status == 1);
  std::string const told = read_xml("bad.xml", R"(
suite = root.find('testsuite')
cases = suite.findall('testcase')
failed = [c for c in cases if c.find('failure') is not None]
print(root.tag, sorted(c.get('name') for c in cases), sorted(c.get('name') for c in failed))
print(suite.get('tests') == str(len(cases)), suite.get('failures') == str(len(failed)), float(suite.get('time')) >= 0)
said = [c.find('failure') for c in failed]
print(any('the mean of all rows of V' in f.get('message') for f in said), 'attest audit' in said[0].text)
print({p.get('name'): p.get('value') for p in suite.find('properties')}['verdict'])
)");
  CHECK(told ==
        "testsuites ['masks', 'verdict', 'worked-examples'] ['masks', 'worked-examples']\nTrue True True\nTrue "
        "True\nrefuted\n");
  CHECK(attest("audit --quick --seed 1 --only masks --junit good.xml").status != 1);
  CHECK(read_xml("good.xml", "print(len(root.findall('.//failure')))") == "0\n");
}

TEST_CASE("with several kernels a JUnit report has a suite for each, and their sums", "[unit]") {
  CHECK(
      attest("audit --quick --seed 1 --only masks/random-full,worked-examples/e11.1 --junit both.xml --kernel builtin" +
             kernel("mean_v"))
          .status == 1);
  std::string const told = read_xml("both.xml", R"(
suites = root.findall('testsuite')
print([s.get('name').split()[1] for s in suites], [len(s.findall('.//failure')) for s in suites])
print([{p.get('name'): p.get('value') for p in s.find('properties')}['verdict'] for s in suites])
print([s.get('tests') == str(len(s.findall('testcase'))) for s in suites])
print([root.get(k) == str(sum(int(s.get(k)) for s in suites)) for k in ('tests', 'failures', 'errors', 'skipped')],
      root.get('tests'))
)");
  CHECK(told == "['attest', 'mean_v.so'] [0, 2]\n['certified', 'refuted']\n[True, True]\n[True, True, True, True] 6\n");
}

TEST_CASE("an undecided audit is an error in JUnit, not a pass", "[unit]") {
  CHECK(attest("gen --quick --seed 2 --only masks --out cases.safetensors").status == 0);
  CHECK(attest("verify cases.safetensors --junit undecided.xml").status == 3);
  CHECK(read_xml("undecided.xml",
                 "print([c.get('name') for c in root.iter('testcase') if c.find('error') is not None])") ==
        "['verdict']\n");
}

TEST_CASE("JUnit stays XML whatever the names are", "[unit]") {
  // A kernel calls itself by its file's name.
  std::string const name = "<&\"'>\x01\x1b]]>\xff";
  std::filesystem::copy_file(ATTEST_TEST_KERNELS "/mean_v.so", folder() / (name + ".so"),
                             std::filesystem::copy_options::overwrite_existing);
  outcome const ran = attest(
      "audit --quick --seed 1 --only masks/random-full --junit odd.xml --kernel ./\"$(printf "
      "'<&\\042\\047>\\001\\033]]>\\377')\".so");
  INFO(ran.err);
  CHECK(ran.status == 1);
  CHECK(
      has(read_xml("odd.xml", "print([p.get('value') for p in root.iter('property') if p.get('name') == 'kernel'][0])"),
          "<&\"'>\\x01"));
}

TEST_CASE("waived findings stand in every report, and the verdict says that there are some", "[unit]") {
  std::string const command =
      "audit --seed 3 --only empty-rows,worked-examples --waive empty-rows --junit waived.xml --json waived.json" +
      kernel("nan_empty_row");
  outcome const text = attest(command);
  CHECK(text.status != 1);
  CHECK(has(text.out, "waived [empty-row]"));
  CHECK(has(text.out, "waived findings: empty-row"));
  CHECK(has(contents(folder() / "waived.xml"), "waived:&#10;[empty-row]"));
  CHECK(read_xml("waived.xml", "print(len(root.findall('.//failure')))") == "0\n");
  auto const found = json::parse(contents(folder() / "waived.json"));
  CHECK(found["waive"] == json::array({"empty-rows"}));
  CHECK(found["waived_classes"] == json::array({"empty-row"}));
  CHECK(found["summary"]["waived"].get<int>() > 0);
}

}  // namespace
}  // namespace attest::tests::cli_reports_test
