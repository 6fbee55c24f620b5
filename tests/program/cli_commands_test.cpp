// The command line itself: words, help, time, signals, and `attest explain`.
#include <chrono>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "tests/program/program.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"

namespace attest::tests::cli_commands_test {
namespace {

using nlohmann::json;

TEST_CASE("an unknown word is told the nearest known one", "[unit]") {
  check_refused(
      "", {{"audti", "there is no command 'audti', did you mean 'audit'?"},
           {"audit --kernle builtin", "no option '--kernle', did you mean '--kernel'?"},
           {"audit --kernle=builtin", "no option '--kernle', did you mean '--kernel'?"},
           {"audit extra", "no further argument 'extra'"},
           {"audit --contract f23", "did you mean 'f32'?"},
           {"gen --out x --contract f23", "did you mean 'f32'?"},
           {"verify x --contract bf61", "did you mean 'bf16'?"},
           {"explain x --contract bf61", "did you mean 'bf16'?"},
           {"audit --kernel biultin", "did you mean 'builtin'?"},
           {"audit --only maskz", "did you mean 'masks'?"},
           {"audit --waive empty-rwos", "did you mean 'empty-rows'?"},
           {"audit --waive empty-row", "(most of this class are of empty-rows"},
           {"list chekcs", "did you mean 'checks'?"},
           {"solve x --out y --round f61", "did you mean 'f16'?"},
           {"reference x --out y --round f61", "did you mean 'f16'?"},
           {"reference x --out y --contract bf61", "did you mean 'bf16'?"},
           {"selftest --only nan_empty_rwo", "did you mean 'nan_empty_row'?"},
           {"explain " ATTEST_TEST_DATA "/minilm_attention.safetensors --problem layer00", "did you mean 'layer0'?"}});
}

TEST_CASE("the help of every command shows an example", "[unit]") {
  std::string const all = attest("--help").out;
  for (std::string const command :
       {"audit", "verify", "gen", "solve", "reference", "explain", "merge", "selftest", "list", "vectors"}) {
    INFO(command);
    CHECK(has(all, "\n  " + command));
    outcome const ran = attest(command + " --help");
    CHECK(ran.status == 0);
    CHECK(has(ran.out, "Example: attest "));
  }
}

// What ends an audit is in its report. Seconds are asserted of processors alone, which no other work adds to.

TEST_CASE("a quick audit ends soon, even with a kernel that hangs", "[nightly]") {
  for (std::string const which : {"", "hang", "spins", "wrong_then_hangs"}) {
    outcome const ran = attest("audit --quick --json -" + (which.empty() ? " --draws 20" : kernel(which)));
    INFO(which << ": " << ran.processor_seconds << " s\n" << ran.out);
    CHECK(ran.status == (which.empty() ? 0 : 1));
    CHECK(ran.processor_seconds < (which == "spins" ? 40 : 10));
    if (which.empty()) continue;
    // Each hang takes ten seconds of a processor, or rests for five; a second one, or a finding and seven seconds, is
    // enough.
    std::string const observed = json::parse(ran.out)["observations"].dump();
    bool const enough = has(observed, "enough was found");
    CHECK((enough || has(observed, "the kernel hung twice")));
    CHECK((enough || has(ran.out, which == "spins" ? "did not return within 10 s of processor time"
                                                   : "did not return, and used no processor for 5 s")));
  }
}

TEST_CASE("a budget ends an audit, whatever the kernel does", "[nightly]") {
  for (std::string const which : {"hang", "mean_v", "wrong_then_hangs", "naive"}) {
    outcome const ran = attest("audit --budget 3 --json -" + kernel(which));
    INFO(which << ": " << ran.processor_seconds << " s\n" << ran.out);
    CHECK(ran.processor_seconds < 3.3 * std::thread::hardware_concurrency());
    // A call may take ten seconds: the budget ends calls that hang before.
    CHECK_FALSE(has(ran.out, "did not return"));
    if (has(which, "hang")) CHECK(has(json::parse(ran.out)["observations"].dump(), "the budget of 3 s"));
  }
  // Each has its share: ten seconds are enough to refute the one even where its process takes seconds to start.
  outcome const two = attest("audit --budget 20" + kernel("mean_v") + kernel("hang"));
  INFO(two.out);
  CHECK(two.status == 1);
  CHECK(has(two.out, "the budget of 10 s"));
}

/// A command in the background; its report and its output go to files that no other one writes.
class background {
 public:
  explicit background(std::vector<std::string> words) {
    static int number = 0;
    std::string const stem = "signalled-" + std::to_string(++number);
    json_ = folder() / (stem + ".json"), out_ = folder() / (stem + ".out");
    words.insert(words.begin(), "attest");
    if (words[1] != "selftest") words.insert(words.end(), {"--json", json_.native()});
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    process_ = ::fork();
    if (process_ == 0) {
      int const nowhere = ::open("/dev/null", O_RDWR);
      int const out = ::open(out_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      ::dup2(nowhere, 0), ::dup2(out, 1), ::dup2(nowhere, 2);
      ::signal(SIGHUP, SIG_DFL);  // under nohup it is ignored, and the program leaves it so
      ::execv(ATTEST_PROGRAM, arguments.data());
      ::_exit(99);
    }
  }
  /// Has the kernel's process been started? Its command line names ours.
  bool has_runner() const {
    std::error_code gone;
    for (std::filesystem::directory_iterator entry("/proc", gone), end; !gone && entry != end; entry.increment(gone)) {
      std::string const words = contents(entry->path() / "cmdline");
      if (has(words, "attest-runner") &&
          has(words, std::string(1, '\0') + std::to_string(process_) + std::string(1, '\0')))
        return true;
    }
    return false;
  }
  /// Waits until the event has come, as long as it takes, or until the command has ended.
  /// Ensures   true where it has come
  template <class Event>
  bool wait_for(Event&& has_come) const {
    for (siginfo_t ended{}; !has_come(); std::this_thread::sleep_for(std::chrono::milliseconds(20)))
      if (::waitid(P_PID, static_cast<id_t>(process_), &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid != 0)
        return false;
    return true;
  }
  /// So far, with what it has waited for. /proc/ID/stat: 14 to 17, in ticks, and the name, which ends with the last
  /// ')', is 2.
  double processor_seconds() const {
    std::string const stat = contents("/proc/" + std::to_string(process_) + "/stat");
    auto const end = stat.rfind(')');
    unsigned long used[4] = {};
    if (end == stat.npos ||
        std::sscanf(stat.c_str() + end + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %lu %lu", &used[0],
                    &used[1], &used[2], &used[3]) != 4)
      return 0;
    return static_cast<double>(used[0] + used[1] + used[2] + used[3]) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  }
  /// Sends the signal and waits for the end.
  /// Ensures   the exit status; `spent` is the processor time from the signal on
  int end_with(int signal, double& spent) const {
    double const before = processor_seconds();
    ::kill(process_, signal);
    int status = 0;
    rusage used{};
    ::wait4(process_, &status, 0, &used);
    spent = tests::processor_seconds(used) - before;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  json report() const { return json::parse(contents(json_)); }
  std::string out() const { return contents(out_); }

 private:
  std::filesystem::path json_, out_;
  pid_t process_ = 0;
};

TEST_CASE("a signal that ends a session ends an audit with the report so far and no process left behind", "[unit]") {
  struct trial {
    char const* kernel;
    int signal;
    int status;
    char const* verdict;
  };
  auto const [kernel, signal, status, verdict] =
      GENERATE(trial{"hang", SIGINT, 3, "undecided"}, trial{"hang", SIGTERM, 3, "undecided"},
               trial{"hang", SIGHUP, 3, "undecided"}, trial{"wrong_then_hangs", SIGINT, 1, "refuted"},
               trial{"wrong_then_hangs", SIGTERM, 1, "refuted"});
  auto const hangs = "hangs-" + std::to_string(::getpid());
  ::setenv("ATTEST_TEST_HANGS", hangs.c_str(), 1);
  background const audit({"audit", "--seed", "1", "--findings", "", "--kernel",
                          std::string(ATTEST_TEST_KERNELS) + "/" + kernel + ".so", "--junit",
                          (folder() / "signalled.xml").native(), "--report", (folder() / "signalled.html").native()});
  ::unsetenv("ATTEST_TEST_HANGS");
  REQUIRE(audit.wait_for([&] { return !attest::tests::processes_named(hangs).empty(); }));
  CHECK(audit.has_runner());
  INFO(kernel << " signal " << signal);
  double spent = 0, planning = 0;
  CHECK(audit.end_with(signal, spent) == status);
  // An audit that is ended while it looks for the domain still plans its cases, which this one does, too.
  background const few({"audit", "--seed", "1", "--findings", "", "--draws", "0", "--shard", "1/10000", "--kernel",
                        std::string(ATTEST_TEST_KERNELS) + "/naive.so"});
  few.end_with(0, planning);
  CHECK(spent < 2 + planning);
  CHECK_FALSE(audit.has_runner());
  auto const report = audit.report();
  CHECK(report["verdict"] == verdict);
  CHECK(has(report["observations"].dump(), "interrupted"));
  CHECK(has(contents(folder() / "signalled.xml"), std::string("name=\"verdict\" value=\"") + verdict));
  CHECK(has(contents(folder() / "signalled.html"), std::string("class=\"verdict ") + verdict));
  for (auto const& finding : report["findings"]) CHECK(finding["no_pictures"] == "--findings '' asks for none");
}

TEST_CASE("SIGINT and SIGTERM end a selftest with what is known so far, and no process left behind", "[unit]") {
  int const signal = GENERATE(SIGINT, SIGTERM);
  background const selftest({"selftest", "--jobs", "1"});
  REQUIRE(selftest.wait_for([&] { return selftest.processor_seconds() > 1 && selftest.has_runner(); }));
  double spent = 0;
  CHECK(selftest.end_with(signal, spent) == 3);  // nothing was missed so far: not a failure of the audit
  CHECK(spent < 2);
  CHECK_FALSE(selftest.has_runner());
  std::string const told = selftest.out();
  INFO(told);
  CHECK(has(told, "\nINTERRUPTED: "));
  CHECK(has(told, "not known: interrupted"));
  CHECK_FALSE(has(told, "SURVIVES"));
  CHECK_FALSE(has(told, "CONDEMNED"));
}

TEST_CASE("progress shows on a terminal, and nowhere else", "[unit]") {
  write("terminal.py", R"(import os, pty, subprocess, sys
near, far = pty.openpty()
if columns := os.environ.get("COLUMNS_OF_TERMINAL"):
    import fcntl, struct, termios
    fcntl.ioctl(far, termios.TIOCSWINSZ, struct.pack("4H", 24, int(columns), 0, 0))
done = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=far)
os.close(far)
said = b""
try:
    while part := os.read(near, 4096): said += part
except OSError: pass  # the terminal's other end is closed
done.wait()
sys.stdout.buffer.write(said)
)");
  std::string const command = " audit --quick --seed 1 --only masks,bands,heads,tails";
  CHECK(attest(command).err.empty());
  if (shell("python3 -c 'import pty; pty.openpty()'").status != 0) {
    WARN("this system opens no terminal (there is no /dev/pts): what shows on one is not tried");
    return;
  }
  outcome const shown = shell("TERM=xterm python3 terminal.py " ATTEST_PROGRAM + command);
  CHECK(has(shown.out, "[0/"));
  CHECK(has(shown.out, "masks/"));
  CHECK(has(shown.out, " s left"));
  CHECK(shown.out.ends_with("\r\033[K"));  // and is wiped at the end
  for (std::string const term : {"TERM=dumb ", "env -u TERM "})
    CHECK(shell(term + "python3 terminal.py " ATTEST_PROGRAM + command).out.empty());
  // Lines are as wide as the terminal at most.
  outcome const narrow = shell("TERM=xterm COLUMNS_OF_TERMINAL=20 python3 terminal.py " ATTEST_PROGRAM + command);
  CHECK(has(narrow.out, "[0/"));
  for (std::size_t at = 0; (at = narrow.out.find("\033[K", at)) != std::string::npos;) {
    std::size_t const end = narrow.out.find('\r', at += 3);
    CHECK(narrow.out.substr(at, end - at).size() < 20);
  }
  // One problem is one step.
  outcome const one = shell("TERM=xterm python3 terminal.py " ATTEST_PROGRAM " verify " ATTEST_TEST_DATA
                            "/minilm_attention.safetensors --only layer0");
  CHECK(one.out.empty());
}

TEST_CASE("SIGINT ends verify in the middle of a large problem", "[unit]") {
  // 16 heads of 4096 queries and keys: half a minute's work. All values are 1, so all outputs are.
  write("make.py", R"(import array, json, random, struct
count = 16 * 4096 * 64
size = 4 * count
random.seed(1)
drawn = array.array("f", [random.gauss(0, 1) for _ in range(65537)] * (count // 65537 + 1))[:count].tobytes()
ones = array.array("f", [1.0]).tobytes() * count
head = {name: {"dtype": "F32", "shape": [1, 16, 4096, 64], "data_offsets": [at * size, (at + 1) * size]}
        for at, name in enumerate("qkvo")}
text = json.dumps(head).encode()
open("large.safetensors", "wb").write(struct.pack("<Q", len(text)) + text + 2 * drawn + 2 * ones)
)");
  REQUIRE(shell("python3 make.py").status == 0);
  background const verify({"verify", (folder() / "large.safetensors").native()});
  REQUIRE(verify.wait_for([&] { return verify.processor_seconds() > 2; }));
  double spent = 0;
  CHECK(verify.end_with(SIGINT, spent) == 3);
  CHECK(spent < 2 * std::thread::hardware_concurrency());
  CHECK(has(verify.report()["undecided_because"].get<std::string>(), "interrupted"));
  std::filesystem::remove(folder() / "large.safetensors");
}

}  // namespace
}  // namespace attest::tests::cli_commands_test
