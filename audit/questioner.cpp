#include "audit/questioner.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "audit/builtin_sets.hpp"
#include "audit/cases/draw.hpp"
#include "audit/locate.hpp"
#include "audit/printable.hpp"
#include "audit/words.hpp"

namespace attest::audit {
namespace {

/// The built-in kernel on the instruction set that `word` names.
problem::result<isolated_kernel> open_builtin(std::string const& word, isolation_limits const& limits) {
  std::vector<std::string> known;
  for (builtin_set const& each : builtin_sets()) known.emplace_back(each.word);
  if (std::ranges::find(known, word) == known.end())
    return problem::error{problem::error_code::unsupported, "--kernel",
                          fmt::format("this machine has no built-in kernel for '{}'{}; there are: builtin, builtin:{}", printable(word),
                                      did_you_mean(word, known), fmt::join(known, ", builtin:"))};
  auto const path = locate_builtin_kernel(word);
  if (!path) return path.why();
  return isolated_kernel::open(path.value(), "attest_attention", limits);
}

/// "builtin", "builtin:SET", or PATH[:SYMBOL] where PATH:SYMBOL is not itself a file.
problem::result<isolated_kernel> open_kernel(std::string const& spec, isolation_limits const& limits) {
  if (spec == "builtin") {
    auto const path = locate_builtin_kernel();
    if (!path) return path.why();
    return isolated_kernel::open(path.value(), "attest_attention", limits);
  }
  if (constexpr std::string_view held = "builtin:"; spec.starts_with(held)) return open_builtin(spec.substr(held.size()), limits);
  std::error_code absent;
  if (std::array const known{"builtin"}; !std::filesystem::exists(spec, absent) && spec.find_first_of("/.:") == spec.npos)
    return problem::error{problem::error_code::missing, "--kernel",
                          "there is no file '" + printable(spec) + "'" + did_you_mean(spec, known) + "; see `attest list kernels`"};
  auto const colon = spec.rfind(':');
  std::error_code ignored;
  if (colon == spec.npos || colon == 0 || std::filesystem::exists(spec, ignored)) return isolated_kernel::open(spec, "attest_attention", limits);
  return isolated_kernel::open(spec.substr(0, colon), spec.substr(colon + 1), limits);
}

}  // namespace

problem::result<questioner> questioner::open(std::string const& spec, problem::element_type type,
                                             interruption const& when, isolation_limits const& limits) {
  auto kernel = open_kernel(spec, limits);
  if (!kernel) return kernel.why();
  questioner made(std::move(kernel).value(), when);
  draw random(0, "questioner");
  auto const small = gaussian({1, 1, 1, 2, 3, 4, 2}, type, random);
  auto const learned = made.ask(small, 0, placement::end);
  if (learned && learned.value().did.outcome == call_outcome::answered) {
    made.lse_ = learned.value().answer.lse.has_value();
    made.weights_ = learned.value().answer.weights.has_value();
  }
  return made;
}

problem::result<questioner::reply> questioner::ask(stored_problem const& asked, std::int32_t threads, placement where) {
  struct wish { bool lse, weights; };
  reply made;
  for (auto const& [lse, weights] : {wish{true, true}, wish{true, false}, wish{false, true}, wish{false, false}}) {
    if ((lse && !lse_) || (weights && !weights_)) continue;
    stored_answer got;
    call_request const request{.want_lse = lse, .want_weights = weights, .threads = threads, .where = where,
                               .output_gap = 0, .stop = when_.stop, .until = when_.until};
    auto did = kernel_.run(asked, request, got);
    if (!did) return did.why();
    made.did = std::move(did).value();
    made.seconds += made.did.seconds;
    if (made.did.outcome == call_outcome::answered)
      made.answer = {std::move(got.o), std::move(got.lse), std::move(got.weights)};
    if (made.did.outcome != call_outcome::unsupported || !made.did.broken.empty()) break;
  }
  return made;
}

}  // namespace attest::audit
