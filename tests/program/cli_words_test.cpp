// The words that the program knows, wrong words of a command line, and hostile names that must not reach a terminal or
// break a report.
#include <algorithm>

#include "tests/program/program.hpp"
#include "tests/program/recorded_file.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::cli_words_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

void start() {
  fs::remove_all(folder());
  write("right", recorded(2));
}

TEST_CASE("words behind -- are asked for or refused, never dropped", "[unit]") {
  start();
  write("-leading", recorded(3));
  check_refused("", {{"audit --quick -- --kernel ./mean.so", "there is no further argument '--kernel'"},
                     {"audit -- --kernel", "there is no further argument '--kernel'"},
                     {"selftest -- --only x", "there is no further argument '--only'"},
                     {"vectors --out folder -- x", "there is no further argument 'x'"},
                     {"audit --quick -- --", "-- stands twice; the path of a file of that name is ./--"},
                     {"verify -- right --", "-- stands twice"},
                     {"gen --out x -- --quick", "there is no further argument '--quick'"},
                     {"verify -- right right right", "there is no further argument 'right'"},
                     {"verify right -- right x", "there is no further argument 'x'"},
                     {"solve right --digits 3 -- x", "there is no further argument 'x'"},
                     {"explain right -- x", "there is no further argument 'x'"},
                     {"list contracts f32 -- --json", "there is no further argument '--json'"},
                     {"merge -- nosuch", "nosuch: cannot be opened"},
                     {"-- audti", "there is no command 'audti', did you mean 'audit'?"}});
  CHECK(attest("verify -- right").status == 0);
  CHECK(attest("verify right --").status == 0);
  CHECK(attest("verify -- -leading").status == 1);
  CHECK_FALSE(fs::exists(folder() / "x"));
}

TEST_CASE("an empty word is refused by the option's name", "[unit]") {
  start();
  std::string const says = ": the word is empty (an unset variable?), expected a value; see `attest ";
  for (std::string const option : {"--json", "--junit", "--report", "--contract", "--scale", "--only", "--waive"})
    for (std::string const& form : {option + " ''", option + "="}) {
      outcome const ran = attest("verify right " + form);
      INFO(form << '\n' << ran.err);
      CHECK(ran.status == 2);
      CHECK(ran.err == "attest: " + option + says + "verify --help`\n");
      CHECK(ran.out.empty());
    }
  for (std::string const option : {"--seed", "--shard", "--kernel", "--replay", "--jobs", "--budget", "--draws"})
    for (std::string const& form : {option + " ''", option + "="}) {
      outcome const ran = attest("audit --quick " + form);
      INFO(form << '\n' << ran.err);
      CHECK(ran.status == 2);
      CHECK(ran.err == "attest: " + option + says + "audit --help`\n");
    }
  check_refused(
      "",
      {{"solve right --digits ''",
        "--digits: the word is empty (an unset variable?), expected a value; see `attest solve"},
       {"gen --out ''", "--out: the word is empty (an unset variable?), expected a value; see `attest gen"},
       {"vectors --out=", "--out: the word is empty (an unset variable?), expected a value; see `attest vectors"},
       {"explain right --row ''",
        "--row: the word is empty (an unset variable?), expected a value; see `attest explain"},
       {"verify ''", "argument 2: the word is empty (an unset variable?), expected a value; see `attest verify"},
       {"merge right ''", "argument 3: the word is empty (an unset variable?), expected a value; see `attest merge"},
       {"list ''", "argument 2: the word is empty (an unset variable?), expected a value; see `attest list"},
       {"''", "argument 1: the word is empty (an unset variable?), expected a value; see `attest --help"},
       {"verify -- ''", "argument 3: the word is empty (an unset variable?), expected a value; see `attest verify"}});
  for (std::string const none : {"--findings ''", "--findings="}) {  // documented: none is saved
    CHECK(attest("verify right " + none).status == 0);
    CHECK(attest(none + " right").status == 2);
  }
}

TEST_CASE("every error of use is one line of attest's own, and names the help that explains", "[unit]") {
  start();
  struct trial {
    char const* arguments;
    char const* says;
  };
  for (auto const& [arguments, says] :
       {trial{"", "what to do is missing, such as audit or verify; see `attest --help`"},
        trial{"verify", "inputs is missing: file with q k v, and perhaps o; see `attest verify --help`"},
        trial{"gen", "--out is missing: the file to write; - is standard output; see `attest gen --help`"},
        trial{"audit --jobs", "--jobs: its value is missing; see `attest audit --help`"},
        trial{"audit --jobs 99", "--jobs: '99' is not in the range from 1 to 64; see `attest audit --help`"},
        trial{"audit --seed x",
              "--seed: 'x' is not a whole number from 0 to 18446744073709551615; see `attest audit --help`"},
        trial{"audit --seed -1", "--seed: '-1' is not a whole number"},
        trial{"audit --seed=-1", "--seed: '-1' is not a whole number"},
        trial{"gen --out x --seed 18446744073709551616", "--seed: '18446744073709551616' is not a whole number"},
        trial{"selftest --seed 1e3", "--seed: '1e3' is not a whole number"},
        trial{"selftest --draws -1", "--draws: '-1' is not in the range from 0 to 1000000000"},
        trial{"selftest --family x", "--family: 'x' is none of conditional"},
        trial{"solve right --digits x", "--digits: 'x' is not a number of its range; see `attest solve --help`"},
        trial{"solve right --digits 3 --round f32",
              "--round and --digits exclude each other; see `attest solve --help`"},
        trial{"audit --soak 2 --draws 5", "--draws and --soak exclude each other; see `attest audit --help`"},
        trial{"audit --budget 9 --soak 2", "--budget and --soak exclude each other; see `attest audit --help`"},
        trial{"list zoo --contract f16", "--contract: goes with 'list kernels --kernel' only"},
        trial{"list kernels --contract f16", "--contract: goes with 'list kernels --kernel' only"},
        trial{"explain right --row 0,0,9223372036854775808", "--row: '0,0,9223372036854775808' is not b,h,i"},
        trial{"explain right --row 0,,0", "--row: '0,,0' is not b,h,i"},
        trial{"gen --out x --size 18446744073709551616",
              "--size: '18446744073709551616' is not in the range of 64 bits"},
        trial{"gen --out x --size 36893488147419103232KB",
              "--size: '36893488147419103232KB' is not in the range of 64 bits"},
        trial{"verify right --json x --findings x", "--findings: x is what --json writes"},
        trial{"audit --json x --findings x", "--findings: x is what --json writes"},
        trial{"audit --report x --findings ./x", "--findings: ./x is what --report writes"},
        trial{"audit --budget nan", "--budget: nan is not a number from 0.1 to 1e+06; see `attest audit --help`"},
        trial{"list x", "what: 'x' is none of kernels, "},
        trial{"audit -q", "there is no option '-q'; see `attest audit --help`"},
        trial{"audit $'--\\e[31m'", "there is no option '--\\x1b[31m'"},
        trial{"audit --shard $'\\e[31m' --seed 1", "--shard: '\\x1b[31m' is not i/n"},
        trial{"audit --jobs $'\\e[31m'", "--jobs: '\\x1b[31m' is not in the range"}}) {
    write("run.sh", ATTEST_PROGRAM " " + std::string(arguments) + "\n");
    outcome const ran = shell("bash run.sh");
    INFO(arguments << '\n' << ran.err);
    CHECK(ran.status == 2);
    CHECK(ran.out.empty());
    CHECK(ran.err.starts_with("attest: " + std::string(says)));
    CHECK(std::ranges::count(ran.err, '\n') == 1);
  }
}

TEST_CASE("help and version are commands, too, and every command knows its version", "[unit]") {
  CHECK(attest("help").out == attest("--help").out);
  CHECK(attest("help verify").out == attest("verify --help").out);
  CHECK(attest("version").out == attest("--version").out);
  for (std::string const command :
       {"audit", "verify", "gen", "solve", "reference", "explain", "merge", "selftest", "list", "vectors"})
    CHECK(attest(command + " --version").out == attest("--version").out);
  check_refused("", {{"help verfiy", "there is no command 'verfiy', did you mean 'verify'?"},
                     {"verfiy --help", "there is no command 'verfiy'"}});
}

TEST_CASE("a seed is the number that was asked for", "[unit]") {
  std::string const gen = "gen --only masks --draws 0 --out - --seed ";
  CHECK(attest(gen + "010").out == attest(gen + "10").out);
  CHECK(attest(gen + "0x10").out == attest(gen + "16").out);
  CHECK(attest(gen + "18446744073709551615").status == 0);
}

TEST_CASE("control characters of files and names never reach the terminal raw", "[unit]") {
  start();
  std::string const red = "\x1b[31m";
  write("named", recorded(3, red + "x."));
  fs::copy_file(folder() / "named", folder() / ("e" + red + "vil"));
  for (std::string const arguments : {"verify named",
                                      "solve named --digits 3",
                                      "explain named",
                                      "verify named --only $'\\e[31mx'",
                                      "verify named --only $'\\e[31my'",
                                      "verify $'e\\e[31mvil'",
                                      "solve $'e\\e[31mvil' --digits 3",
                                      "verify $'no\\e[31mfile'",
                                      "verify right --json $'no\\e[31m/x'",
                                      "explain named --problem $'\\e[31m'",
                                      "audit --kernel $'\\e[31m'",
                                      "audit --kernel $'./\\e[31m'",
                                      "verify right --contract $'\\e[31m'",
                                      "verify right --scale $'\\e[31m'",
                                      "solve named --digits $'\\e[31m'",
                                      "list $'\\e[31m'",
                                      "$'\\e[31m'",
                                      "verify --$'\\e[31m'",
                                      "gen --out $'no\\e[31m/x'",
                                      "audit --only $'\\e[31m' --quick",
                                      "audit --seed 1 --replay $'\\e[31m'",
                                      "merge $'e\\e[31mvil'"}) {
    write("run.sh", ATTEST_PROGRAM " " + arguments + "\n");
    outcome const ran = shell("bash run.sh");
    INFO(arguments << '\n' << ran.out << ran.err);
    CHECK((ran.out + ran.err).find('\x1b') == std::string::npos);
    CHECK(has(ran.out + ran.err, "\\x1b"));
  }
}

TEST_CASE("the reproducer of a file with a hostile name finds the finding when it is pasted", "[unit]") {
  start();
  for (std::string const name : {"e\x1b[31mvil", "a'b\\c\x01", "\xff\xfe",
                                 "\xe2\x80\xae"
                                 "back",
                                 "two\nlines", "ü \x7f", "$(touch pwned)\x1b", "plain"}) {
    write(name, recorded(3));
    write("run.sh", ATTEST_PROGRAM " verify \"$NAME\" --json -\n");
    ::setenv("NAME", name.c_str(), 1);
    auto const report = json::parse(shell("bash run.sh").out);
    std::string const command = report["findings"][0]["reproducer"];
    INFO(command);
    CHECK(std::ranges::none_of(command, [](unsigned char c) { return c < 0x20 || c == 0x7F; }));
    write("again.sh", "attest() { " ATTEST_PROGRAM " \"$@\"; }\n" + command + "\n");
    outcome const again = shell("bash again.sh");
    INFO(again.err);
    CHECK(again.status == 1);
    CHECK_FALSE(fs::exists(folder() / "pwned"));
  }
  ::unsetenv("NAME");
}

TEST_CASE("every report is XML, whatever the names are", "[unit]") {
  start();
  write("read.py", "import sys, xml.etree.ElementTree as tree\ntree.parse(sys.argv[1])\n");
  for (std::string const name :
       {"\xef\xbf\xbe", "\xef\xbf\xbf", "\xef\xb7\x90", "\xf0\x9f\xbf\xbf", "\x01", "\x0b", "]]>", "\xc2\x85"}) {
    write("named", recorded(3, name + "."));
    attest("verify named --junit junit.xml --report page.html");
    outcome const junit = shell("python3 read.py junit.xml");
    INFO(json(name).dump() << junit.err);
    CHECK(junit.status == 0);
    CHECK(contents(folder() / "page.html").find(name.size() > 1 && name != "]]>" ? name : "\x01") == std::string::npos);
  }
}

TEST_CASE("names of foreign tensors are listed to a limit", "[unit]") {
  start();
  write("make.py", R"(import json, struct
content = open("right", "rb").read()
length = struct.unpack("<Q", content[:8])[0]
head, data = json.loads(content[8:8 + length]), content[8 + length:]
for n in range(30000):
    head["layer%d.weight" % n] = {"dtype": "F32", "shape": [0], "data_offsets": [len(data), len(data)]}
text = json.dumps(head).encode()
open("many", "wb").write(struct.pack("<Q", len(text)) + text + data)
)");
  REQUIRE(shell("python3 make.py").status == 0);
  outcome const ran = attest("verify many");
  CHECK(ran.status == 0);
  CHECK(has(ran.out, "ignored: layer0.weight"));
  CHECK(has(ran.out, "ignored: 29980 further tensors"));
  CHECK(ran.out.size() < 5000);
}

TEST_CASE("an error in the first of two files names the file", "[unit]") {
  start();
  std::string other = recorded(2);
  other.replace(other.find("F32"), 3, "I32");  // of q
  write("inputs", other);
  CHECK(attest("verify inputs right").err.starts_with("attest: inputs: q: "));
}

nlohmann::json refused_all(std::string const& options, std::string const& name, std::string const& says,
                           std::string const& symbol = "attention") {
  outcome const ran = shell(ATTEST_PROGRAM " audit --seed 1 --findings '' --json found.json" + options + kernel(name) +
                            ":attest_" + symbol);
  CHECK(ran.status == 3);
  CHECK_FALSE(has(ran.out, "takes "));
  auto const found = nlohmann::json::parse(contents(folder() / "found.json"));
  INFO(found["undecided_because"]);
  CHECK(found["verdict"] == "undecided");
  CHECK(found["undecided_because"].get<std::string>().starts_with(says));
  return found;
}

TEST_CASE("an audit that was refused every call says what the kernel answers", "[unit]") {
  refused_all(" --quick --draws 0", "only_bf16",
              "the kernel refused every float32 call; it answers bfloat16: --contract bf16");
  refused_all(" --quick --draws 0", "only_bf16", "the kernel refused every float32 call; it answers bfloat16",
              "capped");
}

// No type is answered: two thousand calls look for a domain.
TEST_CASE("an audit that was refused every call says so, and asks no draws", "[nightly]") {
  auto const found = refused_all(
      "", "refuses", "the kernel refused every float32 call; --domain states calls that the search did not");
  CHECK(has(found["evidence"]["not_asked"].dump(), "the kernel answered no call of attention"));
}

}  // namespace
}  // namespace attest::tests::cli_words_test
