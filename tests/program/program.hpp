// The program `attest` as its users run it, in a folder of the test's own.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <sstream>
#include <string>

#include <nlohmann/json.hpp>
#include <sys/resource.h>
#include <sys/wait.h>

#include "tests/support/catch.hpp"
#include "tests/support/scratch_folder.hpp"

namespace attest::tests {

struct outcome {
  int status = -1;
  std::string out, err;
  double processor_seconds = 0;  ///< of the program and of all that it started and waited for
};

inline double seconds(timeval const& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

/// Processor time: no other work on the machine adds to it.
inline double processor_seconds(rusage const& used) { return seconds(used.ru_utime) + seconds(used.ru_stime); }

/// The processor time of the children that have ended.
inline double processor_seconds_of_children() {
  rusage used{};
  ::getrusage(RUSAGE_CHILDREN, &used);
  return processor_seconds(used);
}

/// A folder of this process, gone when it ends. A test may delete it; it is empty then.
inline std::filesystem::path folder() {
  static scratch_folder const own("test");
  std::filesystem::create_directories(own.path);
  return own.path;
}

/// The readable contents of a file: a file of /proc is gone with its process.
inline std::string contents(std::filesystem::path const& path) {
  std::ostringstream all;
  all << std::ifstream(path, std::ios::binary).rdbuf();
  return std::move(all).str();
}

inline void write(std::string const& name, std::string const& text) {
  std::ofstream(folder() / name, std::ios::binary) << text;
}

/// Runs a shell command in folder().
inline outcome shell(std::string const& command) {
  auto const whole = "cd '" + folder().string() + "' && " + command + " >out 2>err </dev/null";
  double const before = processor_seconds_of_children();
  int const status = std::system(whole.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, contents(folder() / "out"), contents(folder() / "err"),
          processor_seconds_of_children() - before};
}

/// Reports are whole texts, not one screen.
inline outcome attest(std::string arguments) {
  for (std::string const command : {"audit", "verify", "merge"})
    if (arguments == command || arguments.starts_with(command + " ")) arguments.insert(command.size(), " --verbose");
  return shell(ATTEST_PROGRAM " " + arguments);
}

inline std::string kernel(std::string const& name) { return " --kernel " ATTEST_TEST_KERNELS "/" + name + ".so"; }

/// A specimen of the zoo.
inline std::string zoo_kernel(std::string const& name) { return " --kernel " ATTEST_TEST_ZOO ":zoo_" + name; }

inline bool has(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

struct wrong {
  char const* arguments;
  char const* says;
};

/// Each of these is an error of use: status 2, nothing on standard output, and a sentence that says so.
inline void check_refused(std::string const& command, std::initializer_list<wrong> uses) {
  for (auto const& [arguments, says] : uses) {
    outcome const ran = shell(ATTEST_PROGRAM " " + command + arguments);
    INFO(command << arguments << '\n' << ran.err);
    CHECK(ran.status == 2);
    CHECK(has(ran.err, says));
    CHECK(ran.out.empty());
  }
}

}  // namespace attest::tests
