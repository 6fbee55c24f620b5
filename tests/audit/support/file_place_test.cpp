// A place means one file for as long as it lives, whatever other programs do with the name meanwhile.
#include "audit/support/file_place.hpp"

#include <filesystem>
#include <fstream>

#include "tests/support/catch.hpp"
#include "tests/support/scratch_folder.hpp"

namespace attest::tests::file_place_test {
namespace {

namespace fs = std::filesystem;
using namespace attest::audit;

void make(fs::path const& path) { std::ofstream(path) << "x"; }

}  // namespace

TEST_CASE("a new file is not one that is gone, though file systems give its number again", "[unit]") {
  attest::tests::scratch_folder const folder("file-place");
  for (int round = 0; round < 200; ++round) {
    make(folder.path / "old");
    auto const old = place_of(folder.path / "old");
    fs::remove(folder.path / "old");
    make(folder.path / "new");
    auto const made = place_of(folder.path / "new");
    fs::remove(folder.path / "new");
    REQUIRE(old);
    REQUIRE(made);
    CHECK_FALSE(is_same_file(old.value(), made.value()));
  }
}

TEST_CASE("one name is one file, also where another program replaced what is behind it", "[unit]") {
  attest::tests::scratch_folder const folder("file-place");
  make(folder.path / "report");
  auto const before = place_of(folder.path / "report");
  make(folder.path / "other");
  fs::rename(folder.path / "other", folder.path / "report");
  auto const after = place_of(folder.path / "report");
  REQUIRE(before);
  REQUIRE(after);
  CHECK(is_same_file(before.value(), after.value()));
}

TEST_CASE("two names of one file are one file", "[unit]") {
  attest::tests::scratch_folder const folder("file-place");
  make(folder.path / "file");
  fs::create_hard_link(folder.path / "file", folder.path / "hard");
  fs::create_symlink("file", folder.path / "soft");
  auto const file = place_of(folder.path / "file"), hard = place_of(folder.path / "hard"),
             soft = place_of(folder.path / "soft");
  REQUIRE(file);
  REQUIRE(hard);
  REQUIRE(soft);
  CHECK(file.value().is_regular());
  CHECK(is_same_file(file.value(), hard.value()));
  CHECK(is_same_file(file.value(), soft.value()));
}

TEST_CASE("a file that does not exist yet has its path; one whose folder does not exist is an error", "[unit]") {
  attest::tests::scratch_folder const folder("file-place");
  auto const a = place_of(folder.path / "a"), again = place_of(folder.path / "a"), b = place_of(folder.path / "b");
  REQUIRE(a);
  REQUIRE(again);
  REQUIRE(b);
  CHECK_FALSE(a.value().number);
  CHECK(is_same_file(a.value(), again.value()));
  CHECK_FALSE(is_same_file(a.value(), b.value()));
  CHECK_FALSE(place_of(folder.path / "nowhere" / "a"));
  CHECK_FALSE(place_of(""));
}

}  // namespace attest::tests::file_place_test
