// Files other than ordinary ones that the program reads and writes: links, pipes, devices, descriptors, full disks.
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "tests/program/program.hpp"
#include "tests/program/recorded_file.hpp"
#include "tests/program/streams.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::cli_streams_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Makes a device node of a test's own, where that is allowed.
bool made_device(std::string const& name, unsigned minor) {
  return ::mknod((folder() / name).c_str(), S_IFCHR | 0666, makedev(1, minor)) == 0;
}

TEST_CASE("a device that an output names takes the report and stays a device", "[unit]") {
  start();
  if (!made_device("null", 3)) {
    WARN("no device nodes can be made here");
    return;
  }
  for (std::string const option : {"--json", "--junit", "--report"}) {
    CHECK(attest("verify right " + option + " null").status == 0);
    CHECK(S_ISCHR(about("null").st_mode));
  }
  CHECK(attest("gen --only masks --seed 1 --out null").status == 0);
  CHECK(attest("solve right --out null").status == 0);
  CHECK(attest("verify right --json null --junit null --report null").status == 0);
  CHECK(S_ISCHR(about("null").st_mode));
  CHECK(about("null").st_rdev == makedev(1, 3));
}

TEST_CASE("a named pipe hands the report to its reader", "[unit]") {
  start();
  REQUIRE(::mkfifo((folder() / "pipe").c_str(), 0600) == 0);
  outcome const ran =
      shell("{ timeout 60 cat pipe > read & " ATTEST_PROGRAM " verify right --json pipe; s=$?; wait; exit $s; }");
  CHECK(ran.status == 0);
  CHECK(S_ISFIFO(about("pipe").st_mode));
  check_report("read");
}

TEST_CASE("a named pipe that no process reads is refused before the work", "[unit]") {
  start();
  REQUIRE(::mkfifo((folder() / "pipe").c_str(), 0600) == 0);
  check_refused("", {{"verify right --json pipe", "--json: pipe: is a pipe that no process reads"},
                     {"audit --quick --report pipe", "--report: pipe: is a pipe that no process reads"}});
  CHECK(S_ISFIFO(about("pipe").st_mode));
}

TEST_CASE("descriptors of the shell are outputs", "[unit]") {
  start();
  for (std::string const name : {"/dev/fd/3", "/proc/self/fd/3"}) {
    CHECK(shell(ATTEST_PROGRAM " verify right --json " + name + " 3>three").status == 0);
    check_report("three");
  }
  CHECK(shell("{ " ATTEST_PROGRAM " verify right --json /dev/fd/3 3>&1 >text | cat > piped; }").status == 0);
  check_report("piped");
  CHECK(has(contents(folder() / "text"), "CERTIFIED"));
  CHECK(shell("bash -c \"" ATTEST_PROGRAM
              " verify right --json >(cat > substituted; touch done); until test -e done; do sleep 0.01; done\"")
            .status == 0);
  check_report("substituted");
  CHECK(json::parse(attest("verify right --json own-stdout").out)["verdict"] == "certified");
  check_refused("", {{"verify right --json /dev/fd/9", "/dev/fd/9: is no open descriptor of this process"}});
}

TEST_CASE("a verdict whose report cannot be written is status 2, and the last sentence says both", "[unit]") {
  start();
  if (!made_device("full", 7)) {
    WARN("no device nodes can be made here");
    return;
  }
  auto const last = [](outcome const& ran) {
    auto const end = ran.err.find_last_not_of('\n'), begin = ran.err.rfind('\n', end);
    return begin == std::string::npos ? ran.err : ran.err.substr(begin + 1);
  };
  struct trial {
    char const* arguments;
    char const* says;
  };
  for (auto const& [arguments, says] :
       {trial{"verify right > full",
              "attest: judged: certified, but the report could not be written: standard output: cannot be written: No "
              "space"},
        trial{"verify wrong > full", "attest: judged: refuted, but the report could not be written: standard output: "},
        trial{"verify right --json - > full",
              "attest: judged: certified, but the report could not be written: --json: standard output: "},
        trial{"verify wrong --junit full --report full",
              "attest: judged: refuted, but the report could not be written: --junit: full: cannot be written: No "
              "space left on device; --report: full: "},
        trial{"list checks > full", "attest: standard output: cannot be written: No space left on device"},
        trial{"list contracts --json > full", "attest: standard output: "},
        trial{"list zoo > full", "attest: standard output: "},
        trial{"explain right > full", "attest: standard output: "},
        trial{"solve right --digits 3 > full", "attest: standard output: "},
        trial{"solve right --out full", "attest: --out: full: cannot be written: No space left on device"},
        trial{"gen --only masks --seed 1 --out - > full",
              "attest: --out: standard output: cannot be written: No space"},
        trial{"--help > full", "attest: standard output: "}, trial{"audit --help > full", "attest: standard output: "},
        trial{"--version > full", "attest: standard output: "},
        trial{"verify right >&-", "attest: standard output: is not open for writing"},
        trial{"list checks >&-", "attest: standard output: is not open for writing"},
        trial{"verify right 1< wrong", "attest: standard output: is not open for writing"}}) {
    // A redirection behind the arguments is nearer to the program than the test's own.
    outcome const ran = shell("{ " ATTEST_PROGRAM " " + std::string(arguments) + "; }");
    INFO(arguments << '\n' << ran.err);
    CHECK(ran.status == 2);
    CHECK(last(ran).starts_with(says));
  }
}

TEST_CASE("a reader that is gone is status 2 without words, and no end by a signal", "[unit]") {
  start();
  // The reader ends after its first line; all checks have more text than a pipe holds.
  outcome const ran = shell("bash -c '" ATTEST_PROGRAM
                            " list cases | true; echo ${PIPESTATUS[0]}; "
                            "{ sleep 0.2; " ATTEST_PROGRAM " verify right --json -; echo $? >&2; } | true'");
  CHECK(ran.out == "2\n");
  CHECK(ran.err == "2\n");
}

TEST_CASE("a limit of file sizes is a sentence, and leaves no temporary", "[unit]") {
  start();
  outcome const ran = shell("sh -c 'ulimit -f 1; exec " ATTEST_PROGRAM " gen --only masks --seed 1 --out large'");
  CHECK(ran.status == 2);
  CHECK(ran.err == "attest: --out: large: cannot be written: File too large\n");
  for (auto const& entry : fs::directory_iterator(folder()))
    CHECK_FALSE(entry.path().filename().native().starts_with("large"));
}

TEST_CASE("- is standard output for every file that a command writes", "[unit]") {
  start();
  CHECK(json::parse(attest("verify right --json -").out)["verdict"] == "certified");
  CHECK(attest("verify right --junit -").out.starts_with("<?xml"));
  CHECK(attest("verify right --report -").out.starts_with("<!DOCTYPE html>"));
  outcome const both = attest("verify right --junit - --json report");
  CHECK(both.out.ends_with("</testsuites>\n"));
  check_report("report");
  CHECK(attest("gen --only masks --seed 1 --out generated").status == 0);
  CHECK(attest("gen --only masks --seed 1 --out -").out == contents(folder() / "generated"));
  CHECK(attest("solve right --out solved").status == 0);
  CHECK(attest("solve right --out -").out == contents(folder() / "solved"));
  CHECK_FALSE(fs::exists(folder() / "-"));
}

TEST_CASE("standard input and pipes are inputs", "[unit]") {
  start();
  auto const verdict = [](std::string const& command) {
    outcome const ran = shell(command);
    INFO(command << '\n' << ran.err);
    auto const report = json::parse(ran.out, nullptr, false);
    return report.is_object() ? report["verdict"].get<std::string>() : ran.err;
  };
  std::string const verify = ATTEST_PROGRAM " verify ";
  // A redirection decides that is nearer to the program than the test's own.
  CHECK(verdict("{ " + verify + "- --json - < right; }") == "certified");
  CHECK(verdict("{ cat wrong | " + verify + "- --json -; }") == "refuted");
  CHECK(verdict("{ cat right | " + verify + "/dev/stdin --json -; }") == "certified");
  CHECK(verdict("bash -c '" + verify + "<(cat wrong) --json -'") == "refuted");
  CHECK(verdict("bash -c '" + verify + "<(cat wrong) <(cat right) --json -'") == "certified");
  CHECK(verdict("{ cat right | " + verify + "wrong - --json -; }") == "certified");
  CHECK(has(shell("{ cat right | " ATTEST_PROGRAM " explain -; }").out, "query [0, 0, 0]"));
  CHECK(has(shell("{ cat right | " ATTEST_PROGRAM " solve - --digits 3; }").out, "o[0, 0, 0, 0] 2.00\n"));
  // A slow writer, and a writer that begins late.
  CHECK(verdict("{ { head -c 50 right; sleep 0.3; tail -c +51 right; } | " + verify + "- --json -; }") == "certified");
  REQUIRE(::mkfifo((folder() / "pipe").c_str(), 0600) == 0);
  CHECK(verdict("{ { sleep 0.3; cat right > pipe; } & " + verify + "pipe --json -; }") == "certified");
}

TEST_CASE("a finding in standard input is saved, so that its reproducer needs no pipe", "[unit]") {
  start();
  auto const report = json::parse(shell("{ cat wrong | " ATTEST_PROGRAM " verify - --json -; }").out);
  CHECK(report["kernel"] == "standard input");
  REQUIRE_FALSE(report["findings"].empty());
  std::string const command = report["findings"][0]["reproducer"];
  CHECK(has(command, "attest-findings/"));
  CHECK(attest(command.substr(7)).status == 1);
}

TEST_CASE("what is no file and no pipe is refused, and nothing is waited for without end", "[slow]") {
  start();
  REQUIRE(::mkfifo((folder() / "pipe").c_str(), 0600) == 0);
  check_refused("", {{"verify pipe", "pipe: is a pipe that no process writes"},
                     {"verify -", "standard input: is neither a regular file nor a pipe"},  // /dev/null
                     {"verify /dev/zero", "/dev/zero: is neither a regular file nor a pipe"},
                     {"merge pipe", "pipe: is a pipe that no process writes"}});
  outcome const directory = shell("{ " ATTEST_PROGRAM " verify - < .; }");
  CHECK(directory.status == 2);
  CHECK(directory.err == "attest: standard input: is a directory, expected a file\n");
  outcome const closed = shell("{ " ATTEST_PROGRAM " verify - <&-; }");
  CHECK(closed.status == 2);
  CHECK(closed.err == "attest: standard input: is closed\n");
  // Writers that never write: the signal ends the wait.
  for (std::string const with : {" verify pipe", " verify -"}) {
    outcome const stuck =
        shell("{ sleep 3 > pipe & writer=$!; sleep 3 | timeout -s INT 1 " ATTEST_PROGRAM + with + "; kill $writer; }");
    INFO(with << stuck.err);
    CHECK(has(stuck.err, ": was not read"));
    CHECK(has(stuck.err, ": interrupted\n"));
  }
}

}  // namespace
}  // namespace attest::tests::cli_streams_test
