#include "audit/builtin/kernel_spec.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

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

}  // namespace

problem::result<kernel_library> library_of(std::string const& spec) {
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

problem::result<kernel_session> open_kernel(std::string const& spec, problem::element_type type,
                                            interruption const& interrupted, isolation_limits const& limits) {
  auto const library = library_of(spec);
  if (!library) return library.why();
  return kernel_session::open(library.value(), type, interrupted, limits);
}

}  // namespace attest::audit
