// The processes of this machine that have a name.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace attest::tests {

/// The ids of the processes of this name, which has at most 15 bytes.
inline std::vector<int> processes_named(std::string const& name) {
  std::vector<int> found;
  std::error_code code;
  for (std::filesystem::directory_iterator at("/proc", code), end; !code && at != end; at.increment(code)) {
    std::ifstream file(at->path() / "comm");
    std::string line;
    if (std::getline(file, line) && line == name) found.push_back(std::atoi(at->path().filename().c_str()));
  }
  return found;
}

/// The processes of attest-runner that were started for this process: its id is their first word.
inline std::vector<int> runners_of(int judge) {
  std::vector<int> found;
  std::error_code code;
  for (std::filesystem::directory_iterator at("/proc", code), end; !code && at != end; at.increment(code)) {
    std::ifstream file(at->path() / "cmdline");
    std::string program, word;
    if (std::getline(file, program, '\0') && std::getline(file, word, '\0') && program.ends_with("attest-runner") &&
        word == std::to_string(judge))
      found.push_back(std::atoi(at->path().filename().c_str()));
  }
  return found;
}

}  // namespace attest::tests
