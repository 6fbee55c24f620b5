// Audits of kernels that a program or another process serves.
#include "tests/program/program.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::cli_served_test {
namespace {

using nlohmann::json;

constexpr char serves[] = ATTEST_TEST_KERNELS "/serves";
constexpr char quick[] = " --quick --draws 3 --seed 1 --only masks,heads --findings ''";

std::string command(char const* library) {
  return std::string(" --kernel 'command:") + serves + " " ATTEST_TEST_KERNELS "/" + library + ".so'";
}

/// The process `serves` starts the program and answers it.
outcome asked(char const* library, std::string const& words) {
  return shell(std::string(serves) + " --ask " ATTEST_TEST_KERNELS "/" + library + ".so " ATTEST_PROGRAM " " + words +
               " --verbose");
}

TEST_CASE("a served kernel is judged as its library is", "[unit]") {
  for (char const* const library : {"naive", "ignores_mask"}) {
    auto const direct = attest(std::string("audit") + kernel(library) + quick + " --json direct.json");
    auto const caged = attest("audit" + command(library) + quick + " --json caged.json");
    auto const attached = asked(library, std::string("audit --kernel callable:mine") + quick + " --json attached.json");
    INFO(library << '\n' << direct.err << caged.err << attached.err);
    CHECK(caged.status == direct.status);
    CHECK(attached.status == direct.status);
    auto const report = [](char const* name) { return json::parse(contents(folder() / name)); };
    for (char const* const key : {"verdict", "checks"}) {
      auto const expected = report("direct.json")[key];
      CHECK(report("caged.json")[key] == expected);
      CHECK(report("attached.json")[key] == expected);
    }
    CHECK(report("caged.json")["kernel"] == "served by a program");
    CHECK(report("attached.json")["kernel"] == "served by its process");
    CHECK(has(attached.out, "without these protections: every protection (the kernel runs in the process"));
    auto const evidence = report("attached.json")["evidence"];
    CHECK(has(evidence["missing_protections"].dump(), "the process that asked for the audit"));
    CHECK(has(evidence["protections"].dump(), "no process of its own"));
    CHECK(!has(evidence["protections"].dump(), "\"a process of its own"));
  }
}

TEST_CASE("several kernels at a time are asked through one channel", "[unit]") {
  auto const ran = asked("naive", std::string("audit --kernel callable:mine --jobs 4") + quick);
  INFO(ran.err);
  CHECK(ran.status == 0);
}

TEST_CASE("the reproducer of a served kernel names what serves it", "[unit]") {
  auto const ran = attest("audit" + command("ignores_mask") + quick + " --json r.json");
  CHECK(ran.status == 1);
  std::string const reproducer = json::parse(contents(folder() / "r.json"))["findings"][0]["reproducer"];
  CHECK(has(reproducer, std::string("'command:") + serves));
  auto const again = shell(std::string(ATTEST_PROGRAM) + reproducer.substr(std::string("attest").size()));
  INFO(reproducer << '\n' << again.out << again.err);
  CHECK(again.status == 1);
}

TEST_CASE("what a served kernel says is in the finding", "[unit]") {
  auto const ran = shell(std::string("SERVES_SAYS='ValueError: no softcap' ") + ATTEST_PROGRAM " audit" +
                         command("naive") + " --quick --draws 0 --seed 1 --only softcap --findings ''");
  INFO(ran.out << ran.err);
  CHECK(ran.status == 1);
  CHECK(has(ran.out, "answered FAILED and said 'ValueError: no softcap'"));
}

TEST_CASE("words of --kernel and --channel that cannot be meant are refused", "[unit]") {
  check_refused(
      "audit ",
      {{"--kernel 'command:'", "command: names no program"},
       {"--kernel 'command:no-such-program-here x'", "there is no program 'no-such-program-here' in PATH"},
       {"--kernel 'command:true \"'", "has a quote or bracket without its end"},
       {"--kernel 'command:true $(id)'", "has a command inside a command"},
       {"--kernel 'command:true | cat'", "quote | & ; < > ( ) { }"},
       {"--kernel 'command:/bin/true'", "exited with code 0 while it was loaded"},
       {"--kernel callable:f", "is a function of a Python process"},
       {"--kernel x --channel 1", "--channel"},
       {"--kernel x --channel 17", "--channel: descriptor 17 is no socket of the kind SOCK_SEQPACKET"},
       {"--kernel x --kernel y --channel 17", "--channel: serves one kernel, several are named"},
       {"--kernel x --channel 17 --require-isolation", "--channel: a kernel in another process is not isolated"}});
}

}  // namespace
}  // namespace attest::tests::cli_served_test
