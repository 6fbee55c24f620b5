// Another user under whom a test runs something, with copies of the files that this user may not reach in a build like
// one in root's home.
#pragma once

#include <filesystem>
#include <string>

#include <grp.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/audit/isolation/isolation.hpp"

namespace attest::tests {

/// This process, from now on, as `user`.
inline bool become(unsigned user) {
  return user == ::geteuid() ||
         (::setgroups(0, nullptr) == 0 && ::setresgid(user, user, user) == 0 && ::setresuid(user, user, user) == 0);
}

/// Can `user` start the runner and read the kernels?
inline bool reaches(unsigned user, test_files const& files) {
  auto const asked = ::fork();
  REQUIRE(asked >= 0);
  if (asked == 0)
    ::_exit(become(user) && ::access(files.runner.c_str(), X_OK) == 0 &&
                    ::access((files.kernels / "naive.so").c_str(), R_OK) == 0
                ? 0
                : 1);
  int status = 0;
  REQUIRE(::waitpid(asked, &status, 0) == asked);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// Copies of the runner and of the kernels in a folder that every user may enter, made once.
class open_copies {
 public:
  static test_files const& made() {
    static open_copies const copies;
    return copies.files_;
  }

 private:
  open_copies() {
    fs::create_directories(files_.kernels);
    fs::copy(ATTEST_TEST_RUNNER, files_.runner);
    fs::copy(ATTEST_TEST_KERNELS, files_.kernels);
    auto const open = fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec | fs::perms::others_read |
                      fs::perms::others_exec;
    fs::permissions(folder_, open);
    for (auto const& each : fs::recursive_directory_iterator(folder_)) fs::permissions(each, open);
  }
  ~open_copies() { fs::remove_all(folder_); }

  fs::path folder_ = fs::temp_directory_path() / ("attest-open-" + std::to_string(::getpid()));
  test_files files_{folder_ / "attest-runner", folder_ / "kernels"};
};

/// What `user` runs: the files of the build, or copies where the build cannot be entered.
inline test_files const& files_for(unsigned user) {
  static test_files const build;
  return user == ::geteuid() || reaches(user, build) ? build : open_copies::made();
}

}  // namespace attest::tests
