// The folder of findings: names tell them apart, and only files of attest's own index are removed.
#include "audit/findings/findings_folder.hpp"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/cases/case.hpp"
#include "tests/support/catch.hpp"

namespace attest::audit::findings_folder_test {
namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

finding found_in(std::string const& check, bug_class is, std::string const& name) {
  finding found;
  found.check = check, found.case_name = name, found.what.bug_class = is;
  return found;
}

std::string name_of(std::string const& name) {
  return findings_file_name(found_in("masks", bug_class::accuracy, name));
}

class folder {
 public:
  folder() { fs::create_directory(path); }
  ~folder() { fs::remove_all(path); }

  fs::path const path = fs::temp_directory_path() / ("attest-findings-test-" + std::to_string(::getpid()));

  std::string save(findings_run const& of, std::string const& name = "masks-accuracy-one.safetensors") const {
    findings_folder saving(path, of);
    std::string const text = of.run;
    auto const saved = saving.save(name, std::as_bytes(std::span(text)));
    if (!saved) return saved.why().message();
    if (auto const why = saving.list()) return why->message();
    return saved.value().filename();
  }
  std::set<std::string> files() const {
    std::set<std::string> names;
    for (auto const& entry : fs::directory_iterator(path)) names.insert(entry.path().filename());
    return names;
  }
  void index_of(json const& names) const {
    std::ofstream(path / "attest-findings.json")
        << json{{"attest", "findings"},
                {"schema", 1},
                {"runs", {{{"run", "mine"}, {"single", ""}, {"audit", ""}, {"shard", 0}, {"files", names}}}}};
  }
};

findings_run const mine{"mine", "", "", 0}, other{"other", "", "", 0};

TEST_CASE("findings that differ have files of different names, in the folder", "[unit]") {
  CHECK(name_of("2x3-d8") == "masks-accuracy-2x3-d8.safetensors");
  std::string const long_name(300, 'x');
  std::set<std::string> names;
  std::string const all[]{
      "a/b",     "a_b",           "a.b", "a#b", "a b", "../../x", "/abs", "a\nb", std::string("a\0b", 3),
      long_name, long_name + "y", "",    "a"};
  for (std::string const& name : all) {
    std::string const file = name_of(name);
    INFO(file);
    CHECK(names.insert(file).second);
    CHECK(file.size() <= 140);
    CHECK(file.find('/') == std::string::npos);
    CHECK(fs::path(file).filename() == file);
  }
  CHECK(name_of("a/b") != findings_file_name(found_in("masks-a", bug_class::accuracy, "b")));
  CHECK(findings_file_name(found_in("a-memory-b", bug_class::memory, "c")) !=
        findings_file_name(found_in("a", bug_class::memory, "b-memory-c")));
}

TEST_CASE("where check and class end can be told from a plain name", "[unit]") {
  // A plain name is CHECK-CLASS-CASE with a check of attest, or one without '-'.
  std::set<std::string> words;
  for (check const& entry : checks()) {
    words.emplace(entry.name);
    for (std::size_t at = entry.name.find('-'); at != std::string_view::npos; at = std::string_view::npos)
      words.emplace(entry.name.substr(0, at));
  }
  std::vector<std::string> beginnings;
  for (std::string const& word : words)
    for (std::string_view const token : bug_class_tokens) beginnings.push_back(word + "-" + std::string(token) + "-");
  for (std::string const& a : beginnings)
    for (std::string const& b : beginnings)
      if (&a != &b && b.starts_with(a)) FAIL(a << " begins " << b);
}

TEST_CASE("a run removes what such a run before it wrote, and nothing else", "[unit]") {
  folder const in;
  std::ofstream(in.path / "of-the-user.safetensors") << "mine";
  REQUIRE(in.save(mine) == "masks-accuracy-one.safetensors");
  CHECK(in.save(other) == "masks-accuracy-one-2.safetensors");  // never over another's
  findings_folder(in.path, mine).remove_earlier();
  CHECK(in.files() ==
        std::set<std::string>{"attest-findings.json", "masks-accuracy-one-2.safetensors", "of-the-user.safetensors"});
  findings_folder(in.path, other).remove_earlier();
  CHECK(in.files() == std::set<std::string>{"of-the-user.safetensors"});  // nor an index that lists nothing
  findings_folder(in.path / "nowhere", mine).remove_earlier();
  findings_folder({}, mine).remove_earlier();
}

TEST_CASE("single cases and sibling shards leave the findings of the others", "[unit]") {
  folder const in;
  findings_run const replay{"mine", " --replay f", "", 0}, again{"mine", " --replay g", "", 0};
  findings_run const first{"mine", "", "--seed 1", 1}, second{"mine", "", "--seed 1", 2},
      later{"mine", "", "--seed 2", 2};
  in.save(mine), in.save(replay);
  findings_folder(in.path, again).remove_earlier();
  CHECK(in.files().size() == 3);
  findings_folder(in.path, replay).remove_earlier();
  CHECK(in.files().size() == 2);
  findings_folder(in.path, first).remove_earlier();  // a whole run of the kernel replaces one before it
  CHECK(in.files().empty());
  in.save(first), in.save(replay);
  findings_folder(in.path, second).remove_earlier();
  CHECK(in.files() == std::set<std::string>{"attest-findings.json", "masks-accuracy-one.safetensors"});
  in.save(second);
  findings_folder(in.path, first).remove_earlier();
  CHECK(in.files() == std::set<std::string>{"attest-findings.json", "masks-accuracy-one-2.safetensors"});
  findings_folder(in.path, later).remove_earlier();
  CHECK(in.files().empty());
}

TEST_CASE("a run that still works is not in the index, so that nobody removes its files", "[unit]") {
  folder const in;
  findings_folder working(in.path, mine);
  std::string const text = "x";
  REQUIRE(working.save("a.safetensors", std::as_bytes(std::span(text))));
  findings_folder(in.path, mine).remove_earlier();
  CHECK(in.files() == std::set<std::string>{"a.safetensors"});
  in.save(other, "b.safetensors");
  REQUIRE_FALSE(working.list());
  CHECK(in.files().size() == 3);
  findings_folder(in.path, mine).remove_earlier();
  CHECK(in.files() == std::set<std::string>{"attest-findings.json", "b.safetensors"});
}

TEST_CASE("a hostile index removes nothing but plain names of regular files in the folder", "[unit]") {
  folder const in;
  fs::create_directory(in.path / "kept.safetensors");
  fs::create_directory(in.path / "below");
  for (char const* name : {"below/x.safetensors", "target.safetensors-not", "user.txt", ".hidden.safetensors"})
    std::ofstream(in.path / name) << "x";
  auto const outside = fs::path(in.path.native() + "-outside.safetensors");
  std::ofstream(outside) << "x";
  fs::create_symlink(outside, in.path / "link.safetensors");
  REQUIRE(::mkfifo((in.path / "pipe.safetensors").c_str(), 0600) == 0);
  auto const before = in.files();
  in.index_of({"kept.safetensors", "below/x.safetensors", "../" + outside.filename().native(), outside.native(),
               "link.safetensors", "pipe.safetensors", "user.txt", ".hidden.safetensors", "", ".", "..",
               "a\nb.safetensors", 7, nullptr});
  findings_folder(in.path, mine).remove_earlier();
  CHECK(in.files() == before);
  CHECK(fs::exists(outside));
  CHECK(fs::exists(in.path / "below/x.safetensors"));
  fs::remove(outside);
}

TEST_CASE("an index that attest did not write removes nothing, and is no obstacle", "[unit]") {
  for (char const* text :
       {"", "{", "[]", "{\"attest\": \"findings\"}", "{\"attest\": \"findings\", \"runs\": [1, {\"run\": 1}]}",
        "{\"attest\": 1, \"runs\": []}"}) {
    folder const in;
    std::ofstream(in.path / "a.safetensors") << "x";
    std::ofstream(in.path / "attest-findings.json") << text;
    findings_folder(in.path, mine).remove_earlier();
    CHECK(fs::exists(in.path / "a.safetensors"));
    CHECK(in.save(mine) == "masks-accuracy-one.safetensors");
    findings_folder(in.path, mine).remove_earlier();
    CHECK(in.files() == std::set<std::string>{"a.safetensors"});
  }
  folder const in;
  auto const outside = fs::path(in.path.native() + "-outside");
  std::ofstream(outside) << "kept";
  fs::create_symlink(outside, in.path / "attest-findings.json");
  CHECK(in.save(mine) == (in.path / "attest-findings.json").native() + ": is not a regular file");
  CHECK(fs::file_size(outside) == 4);
  fs::remove(outside);
}

TEST_CASE("no part of a finding is seen under its name", "[unit]") {
  folder const in;
  std::vector<std::byte> const bytes(std::size_t{1} << 24);
  std::atomic<int> saved = 0;
  std::jthread const writer([&] {
    for (; saved < 4; ++saved)
      if (!findings_folder(in.path, mine).save("a.safetensors", bytes)) saved = 100;
  });
  std::set<std::uintmax_t> sizes;
  while (saved < 4)
    for (auto const& name : in.files())
      if (std::error_code gone; name.ends_with(".safetensors"))
        if (auto const size = fs::file_size(in.path / name, gone); !gone) sizes.insert(size);
  CHECK(saved == 4);
  CHECK(sizes == std::set<std::uintmax_t>{bytes.size()});
  CHECK(in.files() == std::set<std::string>{"a.safetensors", "a-2.safetensors", "a-3.safetensors", "a-4.safetensors"});
}

TEST_CASE("temporaries of a killed run are removed, those of a working one are not", "[unit]") {
  folder const in;
  for (char const* const name : {"attest-finding.attest-tmp", "attest-findings.json.attest-tmp"}) {
    std::ofstream(in.path / name) << "half";
    int const written = ::open((in.path / name).c_str(), O_WRONLY);
    REQUIRE(::flock(written, LOCK_EX) == 0);
    findings_folder(in.path, mine).remove_earlier();
    CHECK(in.files() == std::set<std::string>{name});
    ::close(written);
    findings_folder(in.path, mine).remove_earlier();
    CHECK(in.files().empty());
  }
  std::ofstream(in.path / "attest-finding.attest-tmp") << "half";
  CHECK(in.save(mine, "a.safetensors") == "a.safetensors");
  CHECK(in.files() == std::set<std::string>{"a.safetensors", "attest-findings.json"});
}

TEST_CASE("a folder that another run holds does not stop a run for long", "[unit]") {
  folder const in;
  in.save(mine);
  int const held = ::open(in.path.c_str(), O_RDONLY | O_DIRECTORY);
  REQUIRE(::flock(held, LOCK_EX) == 0);
  findings_folder(in.path, mine).remove_earlier();
  CHECK(in.files().empty());
  ::close(held);
}

}  // namespace
}  // namespace attest::audit::findings_folder_test
