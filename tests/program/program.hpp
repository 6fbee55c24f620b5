// The program `attest` as its users run it, in a folder of the test's own.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <nlohmann/json.hpp>

namespace attest::tests {

struct outcome {
  int status = -1;
  std::string out, err;
};

inline std::filesystem::path folder() {
  auto const made = std::filesystem::temp_directory_path() / ("attest-test-" + std::to_string(::getpid()));
  std::filesystem::create_directories(made);
  return made;
}

inline std::string contents(std::filesystem::path const& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write(std::string const& name, std::string const& text) {
  std::ofstream(folder() / name, std::ios::binary) << text;
}

/// Runs a shell command in folder().
inline outcome shell(std::string const& command) {
  auto const whole = "cd '" + folder().string() + "' && " + command + " >out 2>err </dev/null";
  int const status = std::system(whole.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, contents(folder() / "out"), contents(folder() / "err")};
}

inline outcome attest(std::string const& arguments) { return shell(ATTEST_PROGRAM " " + arguments); }

inline std::string kernel(std::string const& name) { return " --kernel " ATTEST_TEST_KERNELS "/" + name + ".so"; }

inline bool has(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

}  // namespace attest::tests
