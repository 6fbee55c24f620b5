#include "audit/support/locate.hpp"

#include <cstdlib>
#include <initializer_list>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "audit/support/printable.hpp"

namespace attest::audit {
namespace {

namespace fs = std::filesystem;
using problem::error;
using problem::error_code;
using problem::result;

fs::path program_folder() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored).parent_path();
}

result<fs::path> first_of(std::string_view name, std::initializer_list<fs::path> candidates) {
  std::string tried;
  std::error_code ignored;
  auto const folder = program_folder();
  for (auto const& candidate : candidates) {
    auto const path = (folder / candidate).lexically_normal();
    if (fs::is_regular_file(path, ignored)) return path;
    tried += (tried.empty() ? "" : ", ") + printable(path.native(), 200);
  }
  return error{error_code::missing, std::string(name), "was not found; looked at " + tried};
}

/// A library that only some commands need, so that a build of the program alone may lack it.
result<fs::path> located_module(std::string const& name, std::string_view target) {
  auto found = first_of(name, {name, ATTEST_LIBRARY_FOLDER "/attest/" + name, "../lib/attest/" + name});
  if (found) return found;
  error why = found.why();
  why.reason += fmt::format(" (the build target {} makes it)", target);
  return why;
}

}  // namespace

result<fs::path> locate_runner() {
  if (char const* const named = std::getenv("ATTEST_RUNNER"); named && *named) {
    std::error_code ignored;
    if (fs::is_regular_file(named, ignored)) return fs::path(named);
    return error{error_code::missing, "ATTEST_RUNNER", fmt::format("names no file: {}", printable(named, 200))};
  }
  return first_of("attest-runner", {"attest-runner", "../libexec/attest/attest-runner"});
}

result<fs::path> locate_builtin_kernel() {
  return first_of("libattest_kernel.so", {"libattest_kernel.so", ATTEST_LIBRARY_FOLDER "/libattest_kernel.so",
                                          "../lib/libattest_kernel.so", "../fast/libattest_kernel.so"});
}

result<fs::path> locate_builtin_kernel(std::string_view set) {
  std::string const name = fmt::format("libattest_kernel_{}.so", set);
  return first_of(name, {name, ATTEST_LIBRARY_FOLDER "/attest/" + name, "../lib/attest/" + name});
}

result<fs::path> locate_real_data() {
  return first_of("minilm_attention.safetensors", {"../share/attest/minilm_attention.safetensors"});
}

result<fs::path> locate_contracts() {
  std::error_code ignored;
  auto const folder = (program_folder() / "../share/attest/contracts").lexically_normal();
  if (fs::is_directory(folder, ignored)) return folder;
  return error{error_code::missing, "contracts", "was not found; looked at " + printable(folder.native(), 200)};
}

result<fs::path> locate_zoo() { return located_module("libattest_zoo.so", "attest_zoo"); }
result<fs::path> locate_vectors() { return located_module("libattest_vectors.so", "attest_vectors"); }
result<fs::path> locate_answers() { return located_module("libattest_answers.so", "attest_answers"); }

}  // namespace attest::audit
