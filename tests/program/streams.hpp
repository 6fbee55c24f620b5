// A small audit whose report goes to a file, a pipe or a device.
#pragma once

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "tests/program/program.hpp"
#include "tests/program/recorded_file.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests {

namespace fs = std::filesystem;
using nlohmann::json;

/// An empty folder with the files `right` and `wrong`, and a link of its own for /dev/stdout: a program that replaces
/// its output file must not replace the machine's link.
inline void start() {
  fs::remove_all(folder());
  fs::create_symlink("/proc/self/fd/1", folder() / "own-stdout");
  write("right", recorded(2));
  write("wrong", recorded(3));
}

inline struct stat about(std::string const& name) {
  struct stat found{};
  ::lstat((folder() / name).c_str(), &found);
  return found;
}

/// A file with a report in it, and what else is in its folder is not a temporary.
inline void check_report(std::string const& name) {
  INFO(name << ": " << contents(folder() / name).substr(0, 300));
  CHECK(json::parse(contents(folder() / name), nullptr, false).contains("verdict"));
  for (auto const& entry : fs::directory_iterator(folder())) CHECK_FALSE(has(entry.path().filename().native(), "tmp"));
}

}  // namespace attest::tests
