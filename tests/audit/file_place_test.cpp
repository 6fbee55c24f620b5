// A place means one file for as long as it lives, whatever other programs do with the name meanwhile.
#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

#include "audit/support/file_place.hpp"
#include "tests/support/catch.hpp"

namespace {

namespace fs = std::filesystem;
using namespace attest::audit;

/// A folder that is gone after the test.
class scratch {
 public:
  scratch() { fs::create_directory(path_); }
  scratch(scratch const&) = delete;
  scratch& operator=(scratch const&) = delete;
  ~scratch() { fs::remove_all(path_); }
  fs::path operator/(std::string const& name) const { return path_ / name; }

 private:
  fs::path path_ = fs::temp_directory_path() / ("attest-file-place-" + std::to_string(::getpid()));
};

void make(fs::path const& path) { std::ofstream(path) << "x"; }

}  // namespace

TEST_CASE("a new file is not one that is gone, though file systems give its number again", "[unit]") {
  scratch const folder;
  for (int round = 0; round < 200; ++round) {
    make(folder / "old");
    auto const old = place_of(folder / "old");
    fs::remove(folder / "old");
    make(folder / "new");
    auto const made = place_of(folder / "new");
    fs::remove(folder / "new");
    REQUIRE(old);
    REQUIRE(made);
    CHECK_FALSE(is_same_file(old.value(), made.value()));
  }
}

TEST_CASE("one name is one file, also where another program replaced what is behind it", "[unit]") {
  scratch const folder;
  make(folder / "report");
  auto const before = place_of(folder / "report");
  make(folder / "other");
  fs::rename(folder / "other", folder / "report");
  auto const after = place_of(folder / "report");
  REQUIRE(before);
  REQUIRE(after);
  CHECK(is_same_file(before.value(), after.value()));
}

TEST_CASE("two names of one file are one file", "[unit]") {
  scratch const folder;
  make(folder / "file");
  fs::create_hard_link(folder / "file", folder / "hard");
  fs::create_symlink("file", folder / "soft");
  auto const file = place_of(folder / "file"), hard = place_of(folder / "hard"), soft = place_of(folder / "soft");
  REQUIRE(file);
  REQUIRE(hard);
  REQUIRE(soft);
  CHECK(file.value().is_regular());
  CHECK(is_same_file(file.value(), hard.value()));
  CHECK(is_same_file(file.value(), soft.value()));
}

TEST_CASE("a file that does not exist yet has its path; one whose folder does not exist is an error", "[unit]") {
  scratch const folder;
  auto const a = place_of(folder / "a"), again = place_of(folder / "a"), b = place_of(folder / "b");
  REQUIRE(a);
  REQUIRE(again);
  REQUIRE(b);
  CHECK_FALSE(a.value().number);
  CHECK(is_same_file(a.value(), again.value()));
  CHECK_FALSE(is_same_file(a.value(), b.value()));
  CHECK_FALSE(place_of(folder / "nowhere" / "a"));
  CHECK_FALSE(place_of(""));
}
