// Safetensors files: a well-formed file comes back, any other gets a sentence, and nothing else happens.
#include "audit/files/safetensors.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

#include "audit/support/printable.hpp"
#include "tests/support/property.hpp"
#include "tests/support/scratch_folder.hpp"

namespace attest::tests::safetensors_test {
namespace {

using namespace attest::audit;
using attest::problem::error;
namespace fs = std::filesystem;

std::vector<std::byte> bytes_of(std::string_view text) {
  auto const* first = reinterpret_cast<std::byte const*>(text.data());
  return {first, first + text.size()};
}

/// A file with this header text and so many zero bytes of data.
std::vector<std::byte> file(std::string_view header, std::size_t data = 0) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < 8; ++i) bytes.push_back(static_cast<std::byte>(header.size() >> (8 * i)));
  auto const text = bytes_of(header);
  bytes.insert(bytes.end(), text.begin(), text.end());
  bytes.resize(bytes.size() + data);
  return bytes;
}

std::string refusal(std::vector<std::byte> const& bytes) {
  auto const parsed = parse_safetensors(bytes);
  return parsed ? "accepted" : parsed.why().message();
}

/// The sentence for one tensor t with this dtype, shape and offsets, and 8 bytes of data.
std::string refusal_of(std::string const& dtype, std::string const& shape, std::string const& offsets) {
  return refusal(
      file(R"({"t":{"dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}", 8));
}

}  // namespace

TEST_CASE("a well-formed file is read", "[unit]") {
  auto const bytes = file(R"({"__metadata__":{"scale":"0.5"},"b":{"dtype":"F32","shape":[2,0,3],"data_offsets":[4,4]},)"
                          R"("a":{"dtype":"BOOL","shape":[4],"data_offsets":[0,4]},)"
                          R"("odd":{"dtype":"F4_NEW","shape":[3],"data_offsets":[4,6]}}   )",
                          6);
  auto const parsed = parse_safetensors(bytes);
  REQUIRE(parsed);
  auto const& contents = parsed.value();
  CHECK(contents.metadata.at("scale") == "0.5");
  CHECK(contents.tensors.size() == 3);
  CHECK(contents.tensors.at("a").bytes.size() == 4);
  CHECK(contents.tensors.at("b").shape == std::vector<std::int64_t>{2, 0, 3});
  CHECK(contents.tensors.at("odd").dtype == "F4_NEW");
  CHECK(parse_safetensors(file("{}")));
}

TEST_CASE("a recorded file of a framework is read", "[unit]") {
  auto const read = read_safetensors(ATTEST_TEST_DATA "/minilm_attention.safetensors");
  REQUIRE(read);
  CHECK(read.value().tensors.at("layer0.q").shape == std::vector<std::int64_t>{2, 12, 62, 32});
  CHECK(read.value().tensors.at("layer5.mask").dtype == "BOOL");
}

TEST_CASE("a file that is too short or claims too much is refused", "[unit]") {
  CHECK(refusal({}) == "the file has 0 bytes, too few for a safetensors header");
  CHECK(refusal(bytes_of("1234567")) == "the file has 7 bytes, too few for a safetensors header");
  auto cut = file("{}");
  cut.pop_back();
  CHECK(refusal(cut) == "the header claims 2 bytes, the file has only 1 more");
  CHECK(refusal(bytes_of("\xff\xff\xff\xff\xff\xff\xff\xff{}"))
            .find("this is hardly a safetensors file: the header claims 18446744073709551615 bytes, more "
                  "than the 100000000 that are allowed") == 0);
}

TEST_CASE("a header that is not the format's JSON is refused", "[unit]") {
  using Catch::Contains;
  CHECK(refusal(file("")) == "the header does not begin with '{', so this is not a safetensors file");
  CHECK(refusal(file("[]")) == "the header does not begin with '{', so this is not a safetensors file");
  CHECK_THAT(refusal(file("{")), Contains("the header is not JSON, at its byte"));
  CHECK_THAT(refusal(file("{} x")), Contains("the header is not JSON"));
  CHECK_THAT(refusal(file("{\"\xff\":{}}")), Contains("the header is not JSON") && Contains("UTF-8"));
  CHECK(refusal(file({"{}\0x", 4})) == "the header is not JSON: its byte 2 is zero");
  CHECK(refusal(file(R"({"t":5})")) == "t: is a number, expected an object");
  CHECK(refusal(file(R"({"t":[]})")) == "t: is an array, expected an object");
  CHECK(refusal(file(R"({"t":{"x":1}})")) == "t: key 'x' is none of dtype, shape and data_offsets");
  CHECK(refusal(file(R"({"__metadata__":{"a":1}})")) == "__metadata__: key 'a' is a number, expected a string");
  CHECK(refusal(file(R"({"__metadata__":{"a":{}}})")) == "__metadata__: key 'a' is an object, expected a string");
}

TEST_CASE("nothing may occur twice", "[unit]") {
  std::string const t = R"("t":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  CHECK(refusal(file("{" + t + "," + t + "}")) == "t: the name occurs twice in the header");
  CHECK(refusal(file(R"({"__metadata__":{},"__metadata__":{}})")) ==
        "__metadata__: the name occurs twice in the header");
  CHECK(refusal(file(R"({"__metadata__":{"a":"1","a":"2"}})")) == "__metadata__: key 'a' occurs twice");
  CHECK(refusal(file(R"({"t":{"dtype":"U8","dtype":"U8"}})")) == "t: key 'dtype' occurs twice");
}

TEST_CASE("deep nesting is refused, not followed", "[unit]") {
  CHECK(refusal(file(R"({"t":)" + std::string(1'000'000, '['))) == "t: is an array, expected an object");
  CHECK(refusal(file(R"({"t":{"shape":)" + std::string(1'000'000, '['))) ==
        "t: shape holds an array, expected whole numbers");
  std::string objects = "{";
  for (int i = 0; i < 100'000; ++i) objects += R"("t":{)";
  CHECK(refusal(file(objects)) == "t: key 't' is none of dtype, shape and data_offsets");
}

TEST_CASE("a tensor's description is checked field by field", "[unit]") {
  CHECK(refusal(file(R"({"t":{"shape":[],"data_offsets":[0,0]}})")) == "t: dtype is missing");
  CHECK(refusal(file(R"({"t":{"dtype":"U8","data_offsets":[0,0]}})")) == "t: shape is missing");
  CHECK(refusal(file(R"({"t":{"dtype":"U8","shape":[0]}})")) == "t: data_offsets is missing");
  CHECK(refusal_of("7", "[1]", "[0,8]") == "t: dtype is a number, expected a string");
  CHECK(refusal_of("null", "[1]", "[0,8]") == "t: dtype is null, expected a string");
  CHECK(refusal_of("\"F64\"", "\"1\"", "[0,8]") == "t: shape is a string, expected an array of whole numbers");
  CHECK(refusal_of("\"F64\"", "{}", "[0,8]") == "t: shape is an object, expected an array of whole numbers");
  CHECK(refusal_of("\"F64\"", "[true]", "[0,8]") == "t: shape holds a truth value, expected whole numbers");
  CHECK(refusal_of("\"F64\"", "[-1]", "[0,8]") == "t: shape holds -1, which is negative");
  CHECK(refusal_of("\"F64\"", "[1.0]", "[0,8]") == "t: shape holds 1.0, which is not a whole number below 2^63");
  CHECK(refusal_of("\"F64\"", "[9223372036854775808]", "[0,8]") ==
        "t: shape holds 9223372036854775808, which is not below 2^63");
  CHECK(refusal_of("\"F64\"", "[99999999999999999999]", "[0,8]") ==
        "t: shape holds 99999999999999999999, which is not a whole number below 2^63");
  CHECK(refusal_of("\"F64\"", "[NaN]", "[0,8]").find("the header is not JSON") == 0);
  CHECK(refusal_of("\"F64\"", "[4294967296,4294967296]", "[0,8]") ==
        "t: the sizes [4294967296, 4294967296] pass 2^63 elements");
  CHECK(refusal_of("\"F64\"", "[4611686018427387904]", "[0,8]") ==
        "t: the sizes [4611686018427387904] pass 2^63 bytes");
  CHECK(refusal_of("\"F64\"", "[0,4611686018427387904]", "[0,8]") ==
        "t: the sizes [0, 4611686018427387904] pass 2^63 bytes");
  CHECK(refusal_of("\"F64\"", "[2]", "[0,8]") == "t: shape [2] of F64 takes 16 bytes, found 8");
  CHECK(refusal_of("\"U8\"", "[]", "[0,8]") == "t: shape [] of U8 takes 1 bytes, found 8");
}

TEST_CASE("data offsets must cover the data exactly", "[unit]") {
  CHECK(refusal_of("\"F64\"", "[1]", "[0]") == "t: data_offsets has 1 numbers, expected 2");
  CHECK(refusal_of("\"F64\"", "[1]", "[0,8,8]") == "t: data_offsets has more than 2 numbers");
  CHECK(refusal_of("\"F64\"", "[1]", "[8,0]") == "t: data_offsets [8, 0] run backwards");
  CHECK(refusal_of("\"F64\"", "[2]", "[0,16]") ==
        "t: data_offsets [0, 16] pass the end of the data, which has 8 bytes: the file is truncated or the header is "
        "wrong");
  CHECK(refusal_of("\"U8\"", "[4]", "[4,8]") == "t: 4 bytes before it belong to no tensor; the format allows no holes");
  CHECK(refusal_of("\"U8\"", "[4]", "[0,4]") == "4 bytes at the end of the file belong to no tensor");
  CHECK(refusal(file(R"({"s":{"dtype":"U8","shape":[5],"data_offsets":[0,5]},)"
                     R"("t":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}})",
                     8)) == "t: its bytes overlap those of 's'");
  CHECK(refusal(file("{}", 1)) == "1 bytes at the end of the file belong to no tensor");
}

TEST_CASE("text from a file cannot reach a terminal as a command", "[unit]") {
  CHECK(refusal(file(R"({"\u001b[31m":5})")) == "\\x1b[31m: is a number, expected an object");
  CHECK(printable("ok é 🙂") == "ok é 🙂");
  CHECK(printable("\xff\x80z\xc0\xaf") == "\\xff\\x80z\\xc0\\xaf");
  CHECK(printable("\xe2\x80\xae"
                  "a\xc2\x85") == "\\xe2\\x80\\xaea\\xc2\\x85");  // right-to-left override, next line
  CHECK(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80");          // a surrogate
  CHECK(printable(std::string(1000, 'a'), 10) == "aaaaaaaaaa…");
}

TEST_CASE("a path that is no readable file is refused", "[unit]") {
  attest::tests::scratch_folder const folder("safetensors");
  auto const refused = [](fs::path const& path) {
    auto const read = read_safetensors(path);
    return read ? "accepted" : read.why().message();
  };
  auto const at = [&](char const* name) { return folder.path / name; };
  CHECK(refused(at("none")) == at("none").native() + ": cannot be opened: No such file or directory");
  CHECK(refused(folder.path) == folder.path.native() + ": is a directory, expected a file");
  REQUIRE(::mkfifo(at("pipe").c_str(), 0600) == 0);
  CHECK(refused(at("pipe")) == at("pipe").native() + ": is a pipe that no process writes");
  CHECK(refused("/dev/zero") == "/dev/zero: is neither a regular file nor a pipe");
  std::ofstream(at("empty")).close();
  CHECK(refused(at("empty")) == at("empty").native() + ": the file has 0 bytes, too few for a safetensors header");
  fs::resize_file(at("empty"), std::uintmax_t{1} << 42);
  CHECK(refused(at("empty")) == at("empty").native() + ": has 4398046511104 bytes, more than this machine's memory");
  std::ofstream(at("secret")).close();
  fs::permissions(at("secret"), fs::perms::none);
  if (::geteuid() != 0) CHECK(refused(at("secret")) == at("secret").native() + ": cannot be opened: Permission denied");
}

TEST_CASE("files are written whole, aligned and always the same", "[unit]") {
  attest::tests::scratch_folder const folder("safetensors");
  auto const path = folder.path / "made.safetensors";
  std::vector<std::byte> const data(24, std::byte{7});
  std::span<std::byte const> const all(data);
  safetensor_map const tensors{{"a.mask", {"BOOL", {3}, all.first(3)}},
                               {"b.q", {"F64", {1, 2}, all.first(16)}},
                               {"a.q", {"F32", {2}, all.first(8)}},
                               {"none", {"F16", {0, 5}, {}}}};
  REQUIRE(!write_safetensors(path, tensors, {{"scale", "0.5"}}));
  auto const read = read_safetensors(path);
  REQUIRE(read);
  CHECK(read.value().metadata.at("scale") == "0.5");
  REQUIRE(read.value().tensors.size() == tensors.size());
  for (auto const& [name, tensor] : read.value().tensors) {
    INFO(name);
    CHECK(tensor.dtype == tensors.at(name).dtype);
    CHECK(tensor.shape == tensors.at(name).shape);
    CHECK(std::ranges::equal(tensor.bytes, tensors.at(name).bytes));
    if (!tensor.bytes.empty())
      CHECK((tensor.bytes.data() - read.value().owner.get()) %
                static_cast<std::ptrdiff_t>(*safetensors_element_bytes(tensor.dtype)) ==
            0);
  }
  CHECK(safetensors_bytes(tensors, {}).value() == safetensors_bytes(tensors, {}).value());
  CHECK(std::distance(fs::directory_iterator(folder.path), {}) == 1);  // no temporary file stays
}

TEST_CASE("what cannot be written is an error, and leaves nothing behind", "[unit]") {
  attest::tests::scratch_folder const folder("safetensors");
  auto const refused = [&](fs::path const& path, safetensor_map const& tensors) {
    auto const why = write_safetensors(path, tensors);
    return why ? why->message() : "accepted";
  };
  CHECK(refused(folder.path / "x", {{"t", {"F32", {2}, {}}}}) == "t: shape [2] of F32 takes 8 bytes, found 0");
  CHECK(refused(folder.path / "x", {{"t", {"F32", {-1}, {}}}}) == "t: size -1 of shape [-1] is negative");
  CHECK(refused(folder.path / "x", {{"t", {"F5", {2}, {}}}}) == "t: dtype 'F5' is not known");
  CHECK(refused(folder.path / "x", {{"__metadata__", {"U8", {0}, {}}}}) ==
        "__metadata__: is the name of the metadata, not of a tensor");
  CHECK(refused(folder.path / "x", {{"\xff", {"U8", {0}, {}}}}) == "a name or a metadata string is not UTF-8");
  CHECK(refused(folder.path / "no" / "x", {}) ==
        (folder.path / "no" / "x").native() + ": its folder cannot be found: No such file or directory");
  fs::create_directory(folder.path / "taken");
  CHECK(refused(folder.path / "taken", {}) == (folder.path / "taken").native() + ": is a directory, expected a file");
  CHECK(std::distance(fs::directory_iterator(folder.path), {}) == 1);
}

TEST_CASE("any tensors survive the way to bytes and back", "[property]") {
  attest::tests::property("safetensors round trip", [](std::map<std::string, std::vector<std::uint8_t>> const& drawn,
                                                       std::string const& value) {
    safetensor_map tensors;
    for (auto const& [name, data] : drawn)
      tensors[name] = {"U8", {1, static_cast<std::int64_t>(data.size())}, std::as_bytes(std::span(data))};
    auto const bytes = safetensors_bytes(tensors, {{"key", value}});
    if (!bytes) return bytes.why().message().size() > 0;  // a name that is not UTF-8
    auto const parsed = parse_safetensors(bytes.value());
    if (!parsed || parsed.value().metadata.at("key") != value || parsed.value().tensors.size() != drawn.size())
      return false;
    return std::ranges::all_of(parsed.value().tensors, [&](auto const& entry) {
      return std::ranges::equal(entry.second.bytes, std::as_bytes(std::span(drawn.at(entry.first))));
    });
  });
}

TEST_CASE("a damaged file is read or refused with a sentence", "[property]") {
  auto const whole = file(R"({"__metadata__":{"left":"2"},"q":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},)"
                          R"("mask":{"dtype":"BOOL","shape":[2,2],"data_offsets":[8,12]}})",
                          12);
  REQUIRE(parse_safetensors(whole));
  attest::tests::property("damage",
                          [&](std::vector<std::pair<std::uint16_t, std::uint8_t>> const& changes, std::uint16_t cut) {
                            auto damaged = whole;
                            for (auto const& [at, value] : changes)
                              damaged[at % damaged.size()] = static_cast<std::byte>(value);
                            if (cut % 3 == 0) damaged.resize(cut % (damaged.size() + 1));
                            auto const parsed = parse_safetensors(damaged);
                            return parsed || !parsed.why().message().empty();
                          });
}

}  // namespace attest::tests::safetensors_test
