#include "audit/findings/findings_folder.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <optional>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/cases/case.hpp"
#include "audit/support/files.hpp"
#include "audit/support/new_file.hpp"
#include "audit/support/printable.hpp"
#include "audit/support/sha256.hpp"
#include "audit/support/strict_json.hpp"
#include "audit/support/temporary_file.hpp"

namespace attest::audit {
namespace {

using json = nlohmann::ordered_json;

constexpr std::string_view index_name = "attest-findings.json", finding_name = "attest-finding",
                           ending = ".safetensors";
constexpr std::size_t longest_name = 100;

struct listed_run {
  findings_run of;
  std::vector<std::string> files;
};

/// The folder, locked against other runs that read or write its index. A folder that cannot be locked is used all the
/// same: the index may then lose an entry, whose files stay where they are.
class held_folder {
 public:
  explicit held_folder(std::filesystem::path const& path)
      : number_(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    for (int attempt = 0; attempt < 50 && number_ >= 0 && ::flock(number_, LOCK_EX | LOCK_NB) != 0; ++attempt)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  held_folder(held_folder const&) = delete;
  held_folder& operator=(held_folder const&) = delete;
  ~held_folder() {
    if (number_ >= 0) ::close(number_);
  }

  int number() const noexcept { return number_; }
  bool has_regular(std::string const& name) const {
    struct stat about{};
    return ::fstatat(number_, name.c_str(), &about, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(about.st_mode);
  }

 private:
  int number_;
};

bool is_plain(std::string const& name) {
  return name.size() <= 255 && name.ends_with(ending) && !name.starts_with('.') &&
         std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_' || c == '.'; });
}

/// One entry of the index. Returns nothing if attest does not write such an entry.
std::optional<listed_run> run_in(json const& from) {
  auto const text = [&](char const* key) -> std::optional<std::string> {
    auto const at = from.find(key);
    if (at == from.end() || !at->is_string()) return std::nullopt;
    return at->get<std::string>();
  };
  if (!from.is_object()) return std::nullopt;
  auto const run = text("run"), single = text("single"), audit = text("audit");
  auto const shard = from.find("shard"), files = from.find("files");
  if (!run || !single || !audit || shard == from.end() || !shard->is_number_unsigned() || files == from.end() ||
      !files->is_array())
    return std::nullopt;
  listed_run listed{{*run, *single, *audit, shard->get<std::int64_t>()}, {}};
  for (json const& name : *files)
    if (name.is_string() && is_plain(name.get<std::string>())) listed.files.push_back(name.get<std::string>());
  return listed;
}

/// The runs of the index. Empty if there is no index, or if attest did not write it.
std::vector<listed_run> read_index(std::filesystem::path const& folder, held_folder const& held) {
  std::vector<listed_run> runs;
  if (!held.has_regular(std::string(index_name))) return runs;
  auto const file = read_file(folder / index_name);
  if (!file) return runs;
  auto const bytes = file.value().bytes;
  auto const parsed = parse_strict({reinterpret_cast<char const*>(bytes.data()), bytes.size()});
  if (!parsed || !parsed.value().is_object() || parsed.value().value("attest", json()) != "findings") return runs;
  auto const listed = parsed.value().find("runs");
  if (listed == parsed.value().end() || !listed->is_array()) return runs;
  for (json const& entry : *listed)
    if (auto run = run_in(entry)) runs.push_back(*std::move(run));
  return runs;
}

/// Writes the index, or removes it if it would list nothing. A file that is not regular is left as it is.
std::optional<problem::error> write_index(std::filesystem::path const& folder, held_folder const& held,
                                          std::vector<listed_run> const& runs) {
  std::string const name(index_name);
  struct stat about{};
  bool const exists = ::fstatat(held.number(), name.c_str(), &about, AT_SYMLINK_NOFOLLOW) == 0;
  if (exists && !S_ISREG(about.st_mode))
    return problem::error{problem::error_code::unreadable, printable((folder / name).native(), 400),
                          "is not a regular file"};
  if (runs.empty()) {
    if (exists) ::unlinkat(held.number(), name.c_str(), 0);
    return std::nullopt;
  }
  json index{{"attest", "findings"}, {"schema", 1}, {"runs", json::array()}};
  for (listed_run const& run : runs)
    index["runs"].push_back({{"run", run.of.run},
                             {"single", run.of.single},
                             {"audit", run.of.audit},
                             {"shard", run.of.shard},
                             {"files", run.files}});
  std::string const text = index.dump(2, ' ', false, json::error_handler_t::replace) + '\n';
  return write_file(folder / name, std::as_bytes(std::span(text)));
}

/// The text as an index repeats it: JSON holds only UTF-8.
std::string as_listed(std::string const& text) {
  return json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace)).get<std::string>();
}

findings_run as_listed(findings_run const& of) {
  return {as_listed(of.run), as_listed(of.single), as_listed(of.audit), of.shard};
}

/// Does `later` look at the same as `earlier` did?
bool replaces(findings_run const& later, findings_run const& earlier) {
  if (later.run != earlier.run || (!later.single.empty() && later.single != earlier.single)) return false;
  bool const sibling = later.shard != 0 && earlier.shard != 0 && later.audit == earlier.audit;
  return !sibling || later.shard == earlier.shard;
}

}  // namespace

std::string findings_file_name(finding const& of) {
  std::string const token(of.class_token());
  std::string name = fmt::format("{}-{}-{}", of.check, token, of.case_name);
  bool plain = name.size() <= longest_name && (find_check(of.check) || of.check.find('-') == std::string::npos);
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-') plain = plain && c == '_', c = '_';
  if (plain) return name + std::string(ending);
  std::string const whole = fmt::format("{} {} {}{}{}", of.check.size(), token.size(), of.check, token, of.case_name);
  return fmt::format("{}.{}{}", name.substr(0, longest_name), sha256_of(whole).substr(0, 16), ending);
}

void findings_folder::remove_earlier() const {
  std::error_code absent;
  if (folder_.empty() || !std::filesystem::is_directory(folder_, absent)) return;
  held_folder const held(folder_);
  if (held.number() < 0) return;
  for (std::string_view const name : {finding_name, index_name})
    remove_if_abandoned(folder_ / (std::string(name) + temporary_ending));
  auto const runs = read_index(folder_, held);
  std::vector<listed_run> left;
  bool changed = false;
  for (listed_run run : runs) {
    if (replaces(as_listed(of_), run.of)) {
      std::erase_if(run.files, [&](std::string const& name) {
        return !held.has_regular(name) || ::unlinkat(held.number(), name.c_str(), 0) == 0;
      });
      changed = true;
      if (run.files.empty()) continue;
    }
    left.push_back(std::move(run));
  }
  if (changed) write_index(folder_, held, left);
}

problem::result<std::filesystem::path> findings_folder::save(std::string const& name,
                                                             std::span<std::byte const> bytes) {
  constexpr int most_of_one_name = 1000;
  std::error_code code;
  std::filesystem::create_directories(folder_, code);
  if (code)
    return problem::error{problem::error_code::unreadable, printable(folder_.native(), 400),
                          "the folder cannot be made: " + code.message()};
  std::string const stem = name.substr(0, name.size() - ending.size());
  auto const numbered = [&](int n) { return folder_ / (n == 1 ? name : fmt::format("{}-{}{}", stem, n, ending)); };
  auto written =
      write_new_file(folder_ / (std::string(finding_name) + temporary_ending), numbered, most_of_one_name, bytes);
  if (written) saved_.push_back(written.value().filename().native());
  return written;
}

std::optional<problem::error> findings_folder::list() const {
  if (saved_.empty()) return std::nullopt;
  held_folder const held(folder_);
  if (held.number() < 0) return std::nullopt;
  auto runs = read_index(folder_, held);
  runs.push_back({of_, saved_});
  return write_index(folder_, held, runs);
}

}  // namespace attest::audit
