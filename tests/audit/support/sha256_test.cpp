// SHA-256 by the examples of its standard.
#include "audit/support/sha256.hpp"

#include <filesystem>
#include <fstream>
#include <initializer_list>

#include <unistd.h>

#include "tests/support/catch.hpp"

namespace attest::audit::sha256_test {
namespace {

TEST_CASE("the examples of FIPS 180-4 have their hashes", "[unit]") {
  struct example {
    std::string text;
    char const* hash;
  };
  // Source    NIST, "Cryptographic Standards and Guidelines: Examples with Intermediate Values", SHA-256, and the
  //           short messages of its SHA test vectors (empty, one million times a)
  example const all[]{
      {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
      {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
      {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
       "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
      {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrst"
       "u",
       "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
      {std::string(1'000'000, 'a'), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"}};
  for (auto const& [text, hash] : all) CHECK(sha256_of(text) == hash);
}

TEST_CASE("the pieces in which bytes come do not matter, at any length around a block", "[unit]") {
  for (std::size_t const length : std::initializer_list<std::size_t>{1, 55, 56, 57, 63, 64, 65, 119, 120, 128, 1000}) {
    std::string const text(length, 'x');
    for (std::size_t const piece : std::initializer_list<std::size_t>{1, 7, 64}) {
      sha256 hash;
      for (std::size_t at = 0; at < length; at += piece)
        hash.add(std::as_bytes(std::span(text)).subspan(at, std::min(piece, length - at)));
      CHECK(hash.hex() == sha256_of(text));
    }
  }
}

TEST_CASE("a file has the hash of its bytes, and what is no file has a sentence", "[unit]") {
  auto const path = std::filesystem::temp_directory_path() / ("attest-sha256-" + std::to_string(::getpid()));
  std::ofstream(path) << "abc";
  auto const hash = sha256_of_file(path);
  std::filesystem::remove(path);
  REQUIRE(hash);
  CHECK(hash.value() == sha256_of("abc"));
  REQUIRE_FALSE(sha256_of_file(path));
  CHECK(sha256_of_file(path).why().reason == "cannot be opened: No such file or directory");
  REQUIRE_FALSE(sha256_of_file(path.parent_path()));
  CHECK(sha256_of_file(path.parent_path()).why().reason == "is not a regular file");
}

}  // namespace
}  // namespace attest::audit::sha256_test
