// Files that a report replaces or must not replace, and outputs that cannot be written.
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "tests/program/program.hpp"
#include "tests/program/recorded_file.hpp"
#include "tests/program/streams.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::cli_replaced_files_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

TEST_CASE("a file keeps its mode and its links when a report replaces it", "[unit]") {
  start();
  write("report", "an older, longer text" + std::string(100'000, '.'));
  fs::permissions(folder() / "report", fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read);
  bool const given_away = ::chown((folder() / "report").c_str(), 1234, 1235) == 0;
  fs::create_symlink("report", folder() / "link");
  fs::create_symlink("link", folder() / "link-to-it");
  auto const before = about("report");
  CHECK(attest("verify right --json link-to-it").status == 0);
  check_report("report");
  CHECK(S_ISLNK(about("link-to-it").st_mode));
  CHECK(S_ISLNK(about("link").st_mode));
  CHECK(about("report").st_mode == before.st_mode);
  CHECK(about("report").st_ino != before.st_ino);  // replaced whole
  if (given_away) CHECK((about("report").st_uid == 1234 && about("report").st_gid == 1235));
  fs::create_symlink("made", folder() / "link-to-nothing");
  CHECK(attest("verify right --json link-to-nothing").status == 0);
  check_report("made");
}

TEST_CASE("a file that cannot be replaced is overwritten", "[unit]") {
  start();
  write("mounted", std::string(100'000, '.'));
  write("point", "");
  // A name that leaves no room for the name of the temporary, and a mount point.
  std::string const longest(255, 'n');
  CHECK(attest("verify right --json " + longest).status == 0);
  check_report(longest);
  if (shell("unshare -m mount --bind mounted point").status != 0) {
    WARN("nothing can be mounted here");
    return;
  }
  outcome const ran =
      shell("unshare -m sh -c 'mount --bind mounted point && " ATTEST_PROGRAM " verify right --json point'");
  INFO(ran.err);
  CHECK(ran.status == 0);
  check_report("mounted");
}

TEST_CASE("what a killed program left is removed, and what another one writes is waited for", "[unit]") {
  start();
  write("report.attest-tmp", "half a rep");
  CHECK(attest("verify right --json report").status == 0);
  check_report("report");
  // The lock of a program that is still writing.
  outcome const ran = shell(
      "{ flock report.attest-tmp sh -c 'touch held; sleep 1; touch released; rm report.attest-tmp' & "
      "until test -e held; do sleep 0.01; done; " ATTEST_PROGRAM " verify right --json report && test -e released; }");
  INFO(ran.err);
  CHECK(ran.status == 0);
  check_report("report");
}

TEST_CASE("programs that write one file at once leave one whole report", "[unit]") {
  start();
  // Where they do not wait for each other, some of the eighty fail.
  outcome const ran =
      shell("{ for round in 1 2 3 4 5 6 7 8 9 10; do rm -f both both.xml; for i in 1 2 3 4 5 6 7 8; do " ATTEST_PROGRAM
            " verify right --json both --junit both.xml >/dev/null || touch failed & done; wait; done; }");
  INFO(ran.err);
  CHECK(ran.err.empty());
  CHECK_FALSE(fs::exists(folder() / "failed"));
  check_report("both");
  CHECK(contents(folder() / "both.xml").ends_with("</testsuites>\n"));
}

TEST_CASE("no output goes over an input or another output", "[unit]") {
  start();
  fs::create_hard_link(folder() / "right", folder() / "hard");
  fs::create_symlink("right", folder() / "soft");
  write("mine.json", R"({"from": "f32", "name": "mine"})");
  fs::copy(ATTEST_TEST_KERNELS "/naive.so", folder() / "kernel.so");
  write("copy.attest-tmp", recorded(2));
  auto const before = contents(folder() / "right");
  check_refused("", {{"verify right --json right", "--json: right is a file that this command reads"},
                     {"verify right --junit ./right", "--junit: ./right is a file"},
                     {"verify right --report hard", "--report: hard is a file"},
                     {"verify soft --json right", "--json: right is a file"},
                     {"verify wrong right --json soft", "--json: soft is a file"},
                     {"solve right --out right", "--out: right is a file"},
                     {"verify copy.attest-tmp --json copy", "--json: copy is a file"},
                     {"verify right --contract mine.json --json mine.json", "--json: mine.json is a file"},
                     {"gen --contract mine.json --out mine.json", "--out: mine.json is a file"},
                     {"audit --kernel ./kernel.so --json kernel.so", "--json: kernel.so is a file"},
                     {"audit --kernel ./kernel.so:attest_attention --json kernel.so", "--json: kernel.so is a file"},
                     {"audit --replay right --report right", "--report: right is a file"},
                     {"merge right wrong --json wrong", "--json: wrong is a file"},
                     {"verify right --json x --junit ./x", "--junit: ./x is what --json writes"},
                     {"verify right --json - --junit -", "--junit: - is what --json writes"},
                     {"verify right --junit - --report own-stdout", "--report: own-stdout is what --junit writes"}});
  CHECK(contents(folder() / "right") == before);
  CHECK(contents(folder() / "mine.json").starts_with("{\"from\""));
  CHECK_FALSE(fs::exists(folder() / "x"));
  outcome const onto_text = attest("verify right --json out");  // where the test sends standard output
  CHECK(onto_text.status == 2);
  CHECK(has(onto_text.err, "--json: out is the file that standard output goes to"));
  CHECK(attest("verify right --contract f32 --json f32").status == 0);  // a preset is no file
  check_report("f32");
}

TEST_CASE("an output that cannot be written is refused before the work", "[unit]") {
  start();
  fs::create_symlink("circle", folder() / "circle");
  fs::create_directory(folder() / "folder");
  fs::create_directory(folder() / "closed");
  fs::permissions(folder() / "closed", fs::perms::owner_read | fs::perms::owner_exec);
  check_refused(
      "", {{"audit --report nowhere/x.html", "--report: nowhere/x.html: its folder cannot be found: No such file"},
           {"audit --json folder", "--json: folder: is a directory, expected a file"},
           {"audit --junit folder/", "--junit: folder/: is a directory, expected a file"},
           {"audit --junit right/x", "--junit: right/x: "},
           {"audit --json circle", "--json: circle: "},
           {"gen --out nowhere/x", "--out: nowhere/x: its folder cannot be found"},
           {"solve right --out nowhere/x", "--out: nowhere/x: its folder cannot be found"},
           {"vectors --out /proc", "--out: /proc: a file in it cannot be created"},
           {"verify right --json /proc/x", "--json: /proc/x: cannot be "}});
  if (::geteuid() != 0)
    check_refused("", {{"audit --json closed/x", "--json: closed/x: cannot be created: Permission denied"}});
}

}  // namespace
}  // namespace attest::tests::cli_replaced_files_test
