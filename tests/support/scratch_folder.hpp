// A folder of the test's own.
#pragma once

#include <filesystem>
#include <string>

#include <unistd.h>

namespace attest::tests {

/// Among the temporary files, gone when the object goes.
struct scratch_folder {
  std::filesystem::path path;
  explicit scratch_folder(std::string const& subject)
      : path(std::filesystem::temp_directory_path() / ("attest-" + subject + "-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(path);
  }
  scratch_folder(scratch_folder const&) = delete;
  scratch_folder& operator=(scratch_folder const&) = delete;
  ~scratch_folder() { std::filesystem::remove_all(path); }
};

}  // namespace attest::tests
