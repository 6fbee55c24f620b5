#include "audit/builtin/kernel_spec.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/socket.h>
#include <unistd.h>
#include <wordexp.h>

#include "audit/builtin/builtin_sets.hpp"
#include "audit/support/locate.hpp"
#include "audit/support/printable.hpp"
#include "audit/support/words.hpp"

namespace attest::audit {
namespace {

/// The built-in kernel on the instruction set that `word` names.
problem::result<kernel_library> builtin_library(std::string const& word) {
  std::vector<std::string> known;
  for (builtin_set const& set : builtin_sets()) known.emplace_back(set.word);
  if (std::ranges::find(known, word) == known.end())
    return problem::error{problem::error_code::unsupported, "--kernel",
                          fmt::format("this machine has no built-in kernel for '{}'{}; there are: builtin, builtin:{}",
                                      printable(word), did_you_mean(word, known), fmt::join(known, ", builtin:"))};
  auto path = locate_builtin_kernel(word);
  if (!path) return path.why();
  return kernel_library{std::move(path).value()};
}

problem::error no_program(std::string const& why) {
  return {problem::error_code::missing, "--kernel", "command: " + why};
}

/// The file that a shell would run for this word.
std::optional<std::filesystem::path> program_named(std::string const& word) {
  if (word.find('/') != word.npos) return word;
  char const* const path = std::getenv("PATH");
  std::istringstream folders(path ? path : "/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    auto const file = std::filesystem::path(folder.empty() ? "." : folder) / word;
    if (::access(file.c_str(), X_OK) == 0 && !std::filesystem::is_directory(file)) return file;
  }
  return std::nullopt;
}

/// The program of a command line, split as a shell does it: quotes and backslashes count, nothing is run for it.
problem::result<kernel_library> program_of(std::string const& line) {
  wordexp_t split{};
  int const fault = ::wordexp(line.c_str(), &split, WRDE_NOCMD);
  if (fault == WRDE_NOSPACE) ::wordfree(&split);
  if (fault != 0)
    return no_program(fmt::format("'{}' {}", printable(line, 400),
                                  fault == WRDE_SYNTAX   ? "has a quote or bracket without its end"
                                  : fault == WRDE_CMDSUB ? "has a command inside a command"
                                                         : "cannot be split into words; quote | & ; < > ( ) { }"));
  std::vector<std::string> words(split.we_wordv, split.we_wordv + split.we_wordc);
  ::wordfree(&split);
  if (words.empty()) return no_program("names no program");
  constexpr std::size_t most = 256;
  if (words.size() > most) return no_program(fmt::format("has {} words, at most {} are passed", words.size(), most));
  auto const program = program_named(words.front());
  if (!program) return no_program(fmt::format("there is no program '{}' in PATH", printable(words.front())));
  words.erase(words.begin());
  return kernel_library{.path = *program, .arguments = std::move(words)};
}

}  // namespace

std::optional<problem::error> channel_fault(int channel) {
  int kind = 0;
  socklen_t size = sizeof kind;
  if (::getsockopt(channel, SOL_SOCKET, SO_TYPE, &kind, &size) == 0 && kind == SOCK_SEQPACKET &&
      ::fcntl(channel, F_SETFD, FD_CLOEXEC) == 0)
    return std::nullopt;
  return problem::error{problem::error_code::unreadable, "--channel",
                        fmt::format("descriptor {} is no socket of the kind SOCK_SEQPACKET", channel)};
}

problem::result<kernel_library> library_of(std::string const& spec, int channel) {
  if (channel >= 0) return kernel_library{.path = spec, .channel = channel};
  if (constexpr std::string_view prefix = "command:"; spec.starts_with(prefix))
    return program_of(spec.substr(prefix.size()));
  if (spec.starts_with("callable:"))
    return problem::error{problem::error_code::unsupported, "--kernel",
                          fmt::format("'{}' is a function of a Python process, which only attest_attention.audit asks "
                                      "there",
                                      printable(spec))};
  if (spec == "builtin") {
    auto path = locate_builtin_kernel();
    if (!path) return path.why();
    return kernel_library{std::move(path).value()};
  }
  if (constexpr std::string_view prefix = "builtin:"; spec.starts_with(prefix))
    return builtin_library(spec.substr(prefix.size()));
  std::error_code absent;
  bool const is_file = std::filesystem::exists(spec, absent);
  if (std::array const known{"builtin"}; !is_file && spec.find_first_of("/.:") == spec.npos)
    return problem::error{
        problem::error_code::missing, "--kernel",
        "there is no file '" + printable(spec) + "'" + did_you_mean(spec, known) + "; see `attest list kernels`"};
  auto const colon = spec.rfind(':');
  if (is_file || colon == spec.npos || colon == 0) return kernel_library{spec};
  return kernel_library{spec.substr(0, colon), spec.substr(colon + 1)};
}

problem::result<kernel_session> open_kernel(std::string const& spec, int channel, interruption const& interrupted,
                                            isolation_limits const& limits) {
  auto const library = library_of(spec, channel);
  if (!library) return library.why();
  return kernel_session::open(library.value(), interrupted, limits);
}

}  // namespace attest::audit
