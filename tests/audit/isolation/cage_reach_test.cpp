// The files and sockets that a kernel can reach, and the needs of a device. As root, and as another user.
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/audit/isolation/cage.hpp"

namespace attest::tests::cage_reach_test {
namespace {

std::string text_of(fs::path const& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// A socket that waits without being waited for; whatever has been said to it.
struct listener {
  int kind, descriptor;

  listener(int family, int of_kind, void const* at, socklen_t bytes)
      : kind(of_kind), descriptor(::socket(family, of_kind | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    REQUIRE(::bind(descriptor, static_cast<sockaddr const*>(at), bytes) == 0);
    if (kind != SOCK_DGRAM) REQUIRE(::listen(descriptor, 4) == 0);
  }
  listener(listener const&) = delete;
  ~listener() { ::close(descriptor); }

  bool was_reached() const {
    char said[8];
    if (kind == SOCK_DGRAM) return ::recv(descriptor, said, sizeof said, 0) >= 0;
    int const connection = ::accept(descriptor, nullptr, nullptr);
    if (connection >= 0) ::close(connection);
    return connection >= 0;
  }
};

/// kernel/kernel.so, and kernel/program, whose library lies in another folder: each answers 42. Where nothing can be
/// compiled, a sentence says so. All lies below a folder that one user alone may enter.
bool made_of_two_folders(fs::path const& closed, unsigned user) {
  for (char const* name : {"kernel", "library"}) fs::create_directories(closed / name);
  std::ofstream(closed / "library.c") << "int answer(void) { return 42; }\n";
  std::ofstream(closed / "kernel.c") << "int answer(void);\nint attest_attention(void) { return answer(); }\n"
                                        "int main(void) { return answer(); }\n";
  if (std::system("command -v cc >/dev/null") != 0) {
    WARN("there is no C compiler `cc` here: no kernel of two folders is tried");
    return false;
  }
  auto const compile =
      "umask 022 && cd " + closed.native() + R"( && cc -shared -fPIC -o library/libanswer.so library.c &&
    for form in '-shared -fPIC -o kernel/kernel.so' '-o kernel/program'; do
      cc $form kernel.c -Llibrary -lanswer '-Wl,-rpath,$ORIGIN/../library' || exit 1
    done)";
  REQUIRE(std::system(compile.c_str()) == 0);
  fs::permissions(closed, fs::perms::owner_all);
  REQUIRE(::chown(closed.c_str(), user, static_cast<gid_t>(-1)) == 0);
  return true;
}

}  // namespace

TEST_CASE("what a kernel is made of may lie in folders that its judge alone may enter", "[unit]") {
  for (trial const& at : trials()) {
    open_folder const folder;
    auto const closed = folder.path / "closed";
    if (!made_of_two_folders(closed, at.user)) return;
    INFO(words(at));
    CHECK(judge_says(at, [&] {
            auto kernel =
                isolated_kernel::open(closed / "kernel/kernel.so", "attest_attention", {}, test_files_here.runner);
            if (!kernel) return 1;
            return run_once(kernel.value(), small_problem()).outcome == call_outcome::unknown_status ? 0 : 2;
          }) == 0);
    CHECK(judge_says(at, [&] {
            kernel_library const program{.path = closed / "kernel/program", .arguments = {{}}};
            auto const kernel = isolated_kernel::open(program, {}, test_files_here.runner);
            return !kernel && kernel.why().message().find("exited with code 42 while") != std::string::npos ? 0 : 1;
          }) == 0);
  }
}

TEST_CASE("what a kernel's process may not enter is named, with what to do", "[unit]") {
  if (::geteuid() != 0) {
    WARN("not root: a kernel's process is who runs the test");
    return;
  }
  open_folder const folder;
  auto const closed = folder.path / "closed";
  if (!made_of_two_folders(closed, 0)) return;
  for (char const* path : {"kernel/kernel.so", "kernel/program"})
    for (bool const is_closed : {true, false}) {
      INFO(path << (is_closed ? ", closed" : ", open"));
      if (!is_closed) fs::permissions(closed, fs::perms::others_exec, fs::perm_options::add);
      CHECK(judge_says({0, system_kind::no_namespaces}, [&] {
              for (int const capability : {CAP_DAC_READ_SEARCH, CAP_DAC_OVERRIDE})
                if (::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0) return 1;
              kernel_library which{.path = closed / path};
              if (which.path.filename() == "program") which.arguments.emplace();
              auto const kernel = isolated_kernel::open(which, {}, test_files_here.runner);
              auto const why = kernel ? std::string() : kernel.why().message();
              auto const says = [&](std::string const& words) { return why.find(words) != why.npos; };
              if (says("open " + closed.native() + " by `chmod o+x`") != is_closed) return 2;
              return is_closed || kernel || says("exited with code 42 while") ? 0 : 3;
            }) == 0);
      fs::permissions(closed, fs::perms::owner_all);
    }
}

TEST_CASE("a kernel writes to no file, and not to the terminal of the judge", "[unit]") {
  for (trial const& at : trials())
    for (bool const device : {false, true}) {
      open_folder const folder;
      auto const report = folder.path / "report.json", log = folder.path / "log";
      INFO(words(at));
      CHECK(judge_says(at, [&] {
              std::ofstream(report) << "refuted";
              int const standard_error = ::open(log.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
              if (standard_error < 0 || ::write(standard_error, "judging\n", 8) != 8) return 9;
              for (int number = 0; number < 3; ++number) ::dup2(standard_error, number);
              ::setenv("ATTEST_TEST_FILE", report.c_str(), 1);
              auto const outcome = outcome_of("writes_files", 1, {.device = device});
              if (text_of(report) != "refuted") return 1;
              if (fs::exists(report.native() + ".forged")) return 2;
              if (text_of(log) != "judging\n") return 3;
              return outcome != call_outcome::succeeded ? 4 : 0;
            }) == 0);
    }
}

TEST_CASE("a kernel reads its own folder and what it is allowed, and nothing else", "[unit]") {
  for (trial const& at : trials()) {
    open_folder const folder;
    auto const own = folder.path / "own", other = folder.path / "other";
    for (auto const& each : {own, other}) fs::create_directory(each);
    fs::copy(library("reads_file"), own / "kernel.so");
    for (auto const& each : {own, other}) std::ofstream(each / "words") << "secret";
    INFO(words(at));
    auto const succeeds = [&](fs::path const& file, kernel_needs const& needs) {
      return judge_says(at, [&] {
        ::setenv("ATTEST_TEST_FILE", file.c_str(), 1);
        auto kernel =
            isolated_kernel::open(own / "kernel.so", "attest_attention", {.needs = needs}, test_files_here.runner);
        if (!kernel) return 2;
        owned_outputs outputs;
        auto const report = kernel.value().run(small_problem(), {}, outputs);
        if (!report) return 3;
        if (report.value().outcome == call_outcome::succeeded) return 1;
        return report.value().sentence == "exited with code 3 after it said '" + file.native() + ": Permission denied'"
                   ? 0
                   : 4;
      });
    };
    CHECK(succeeds(own / "words", {}) == 1);
    CHECK(succeeds(other / "words", {}) == 0);
    CHECK(succeeds(other / "words", {.readable = {other}}) == 1);
    CHECK(succeeds(other / "words", {.readable = {other / "words"}}) == 1);
    ::setenv("PYTHONPATH", ("relative:/:" + other.native() + ":").c_str(), 1);
    CHECK(succeeds(other / "words", {}) == 1);
    CHECK(succeeds("/etc/shadow", {}) == 0);
    ::unsetenv("PYTHONPATH");
    CHECK(succeeds("/etc/shadow", {}) == 0);
    CHECK(succeeds("/etc/passwd", {}) == 1);
  }
}

TEST_CASE("a kernel reaches no network, and no socket of the file system", "[unit]") {
  sockaddr_in address{};
  socklen_t bytes = sizeof address;
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  listener const port(AF_INET, SOCK_STREAM, &address, bytes);
  REQUIRE(::getsockname(port.descriptor, reinterpret_cast<sockaddr*>(&address), &bytes) == 0);
  ::setenv("ATTEST_TEST_PORT", std::to_string(ntohs(address.sin_port)).c_str(), 1);
  open_folder const folder;
  ::setenv("ATTEST_TEST_SOCKETS", folder.path.c_str(), 1);
  auto const in_folder = [&](int kind) {
    sockaddr_un file{};
    file.sun_family = AF_UNIX;
    auto const path = folder.path / std::to_string(kind);
    REQUIRE(path.native().size() < sizeof file.sun_path);
    path.native().copy(file.sun_path, path.native().size());
    auto made = std::make_unique<listener>(AF_UNIX, kind, &file, sizeof file);
    fs::permissions(path, fs::perms::all);
    return made;
  };
  auto const stream = in_folder(SOCK_STREAM), datagrams = in_folder(SOCK_DGRAM), packets = in_folder(SOCK_SEQPACKET);
  std::vector<listener const*> const all{&port, stream.get(), datagrams.get(), packets.get()};
  for (trial const& at : trials()) {
    INFO(words(at));
    auto const says = [&](kernel_needs const& needs) {
      return judge_says(at, [&] { return outcome_of("reaches_network", 1, needs) == call_outcome::succeeded ? 0 : 1; });
    };
    for (bool const device : {false, true}) {
      CHECK(says({.device = device}) == 0);
      for (listener const* each : all) CHECK_FALSE(each->was_reached());
    }
    CHECK(says({.network = true}) == 0);
    for (listener const* each : all) CHECK(each->was_reached());
    while (datagrams->was_reached()) continue;
  }
}

TEST_CASE("a kernel that uses a device starts as CUDA's driver does", "[unit]") {
  for (trial const& at : trials()) {
    INFO(words(at));
    auto const succeeds = [&](bool device) {
      return judge_says(at, [&] {
        auto const outcome = outcome_of("starts_as_cuda", 1, {.device = device});
        return outcome == call_outcome::succeeded ? 1 : outcome == call_outcome::exited ? 0 : 2;
      });
    };
    CHECK(succeeds(false) == 0);
    CHECK(succeeds(true) == 1);
  }
}

}  // namespace attest::tests::cage_reach_test
