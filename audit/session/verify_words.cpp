#include "audit/session/verify_words.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "audit/session/take_recorded.hpp"
#include "audit/support/words.hpp"

namespace attest::audit {

std::string reproducer_of(verify_options const& options, contract const& claim) {
  std::string text = "attest verify " + shell_word(options.inputs.native());
  if (options.outputs) text += " " + shell_word(options.outputs->native());
  text += " --contract " + shell_word(options.contract_argument.empty() ? claim.name : options.contract_argument);
  problem::visit_parameters(problem::parameters{}, [&](auto const& parameter, auto const&) {
    auto const flag = options.flags.find(parameter.name);
    if (flag != options.flags.end() && flag->second)
      text += fmt::format(" --{}={}", parameter.name, shell_word(*flag->second));
  });
  text += options.words.options();
  if (!options.only.empty()) text += " --only " + shell_word(fmt::format("{}", fmt::join(options.only, ",")));
  return text + (options.reproducible ? " --reproducible" : "");
}

namespace {

/// "o", "dq or dk or dv or dbias or dsink"
std::string words_of_answers(problem::operator_row const& of) {
  std::vector<std::string_view> names;
  for (output_kind const which : answers_of(of)) names.push_back(name_of(which));
  return fmt::format("{}", fmt::join(names, " or "));
}

}  // namespace

findings_run run_of(verify_options const& options) {
  std::string run = "verify " + shell_word(options.inputs.native());
  if (options.outputs) run += " " + shell_word(options.outputs->native());
  if (!options.contract_argument.empty()) run += " --contract " + shell_word(options.contract_argument);
  return {run, options.only.empty() ? "" : fmt::format(" --only {}", fmt::join(options.only, ",")), "", 0};
}

std::string remedy_of_missing(problem::operator_row const& of, std::string const& foreign_o) {
  std::string const names = words_of_answers(of);
  if (of.does_give(output_kind::o) && !foreign_o.empty())
    return fmt::format("the file has no {0} (it has '{1}'): --names {0}={1}", names, foreign_o);
  return fmt::format("the file has no {0}: store the kernel's answer as {0}, or name a second file that has it", names);
}

std::string words_of_missing(recorded_case const& entry) {
  std::optional<owned_outputs> const& first = entry.outputs.front();
  problem::operator_row const& of = *entry.input.problem.draft().of;
  if (has_answer(entry, 0))
    return fmt::format("{}: a further call has no recorded {}", entry.input.name, words_of_answers(of));
  return fmt::format("{}.{}: there is no recorded output{}", entry.input.name, name_of(of.gives.front()),
                     first ? " beside the others" : ", nothing to judge");
}

std::vector<omission> words_of_unprepared(std::map<std::string, std::vector<std::string>> const& by_reason) {
  constexpr std::size_t named = 4;
  std::vector<omission> omissions;
  for (auto const& [why, cases] : by_reason) {
    std::vector<std::string> const shown(cases.begin(),
                                         cases.begin() + std::min<std::ptrdiff_t>(std::ssize(cases), named));
    omissions.push_back(
        {fmt::format("what earlier calls leave behind, in {} ({}{})", counted(std::ssize(cases), "case", "cases"),
                     fmt::join(shown, ", "), cases.size() > named ? ", …" : ""),
         why});
  }
  return omissions;
}

std::vector<std::string> words_of_endings(recorded_endings const& endings) {
  if (endings.answered == endings.calls && endings.unusable == 0) return {};
  constexpr std::size_t listed = 8;
  std::vector<std::string> sentences{words_of(endings)};
  std::vector<std::pair<std::int64_t, std::string>> reasons;
  for (auto const& [why, calls] : endings.refusals) reasons.emplace_back(-calls, why);
  std::ranges::sort(reasons);
  for (std::size_t n = 0; n < reasons.size() && n < listed; ++n)
    sentences.push_back(fmt::format("unsupported, {} calls: {}", -reasons[n].first,
                                    reasons[n].second.empty() ? "no reason" : reasons[n].second));
  if (reasons.size() > listed)
    sentences.push_back(fmt::format("unsupported: {} further reasons", reasons.size() - listed));
  return sentences;
}

}  // namespace attest::audit
