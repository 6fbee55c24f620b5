#include "audit/report/cause_words.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "audit/report/text.hpp"
#include "audit/support/sort_by.hpp"

namespace attest::audit {
namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t named_unexplained = 12, named_fitting = 3;

/// " that were tried (of 114)" if there are more failing inputs than were tried.
std::string tried_of_all(named_cause const& cause) {
  if (cause.of == cause.failed) return "";
  return fmt::format(" that {} tried (of {})", cause.of == 1 ? "was" : "were", grouped(cause.failed));
}

/// "the 64 failing inputs that were tried (of 114)"
std::string tried_inputs(named_cause const& cause) {
  if (cause.of == 1 && cause.failed == 1) return "the failing input";
  return fmt::format("the {} failing input{}{}", grouped(cause.of), cause.of == 1 ? "" : "s", tried_of_all(cause));
}

/// "49 of 64 failing inputs that were tried (of 114)"
std::string explained_inputs(named_cause const& cause) {
  if (cause.of == 1) return tried_inputs(cause);
  return fmt::format("{} of {} failing inputs{}", grouped(cause.explains), grouped(cause.of), tried_of_all(cause));
}

/// ", but not everywhere: …" if inputs that pass contradict a mistake.
std::string contradiction_of(named_mistake const& mistake) {
  if (mistake.contradicted == 0) return "";
  if (mistake.contradicted == 1) return ", but not everywhere: 1 other input, whose answer it would change, is right";
  return fmt::format(", but not everywhere: {} other inputs, whose answers it would change, are right",
                     grouped(mistake.contradicted));
}

/// Each mistake with the number of inputs that it explains, if there are several.
std::string words_of(std::vector<named_mistake> const& mistakes) {
  std::vector<std::string> each;
  for (named_mistake const& mistake : mistakes)
    each.push_back(mistake.sentence +
                   (mistakes.size() > 1 ? fmt::format(" ({})", grouped(mistake.explains)) : std::string()) +
                   contradiction_of(mistake));
  return fmt::format("{}", fmt::join(each, "; "));
}

std::string words_of_fitting(named_cause const& cause) {
  std::vector<std::string> each;
  for (named_mistake const& mistake : cause.mistakes)
    if (each.size() < named_fitting) each.push_back(mistake.sentence + contradiction_of(mistake));
  return fmt::format("{} fits {} known mistakes{}: {}", tried_inputs(cause), cause.mistakes.size(),
                     each.size() < cause.mistakes.size() ? ", among them" : "", fmt::join(each, "; "));
}

void add_to(std::vector<named_mistake>& all, named_mistake const& mistake) {
  auto const at = std::ranges::find(all, mistake.name, &named_mistake::name);
  if (at == all.end()) {
    all.push_back(mistake);
    return;
  }
  at->explains += mistake.explains;
  at->tried_passing += mistake.tried_passing, at->contradicted += mistake.contradicted;
}

}  // namespace

std::string sentence_of(named_cause const& cause) {
  if (cause.mistakes.empty()) return fmt::format("no known mistake explains {}", tried_inputs(cause));
  if (cause.is_ambiguous()) return words_of_fitting(cause);
  std::size_t const count = cause.mistakes.size();
  if (2 * cause.explains < cause.of)
    return fmt::format("no known mistake explains most of {}; in {} of them the answers fit {}: {}",
                       tried_inputs(cause), grouped(cause.explains), count == 1 ? "a known mistake" : "known mistakes",
                       words_of(cause.mistakes));
  return fmt::format("{} {}: {}", count == 1 ? "one mistake explains" : fmt::format("{} mistakes explain", count),
                     explained_inputs(cause), words_of(cause.mistakes));
}

std::vector<std::string> lines_of(named_cause const& cause) {
  std::vector<std::string> lines{sentence_of(cause)};
  if (!cause.condition.empty()) lines.push_back(cause.condition);
  if (cause.mistakes.empty() || cause.unexplained.empty()) return lines;
  std::vector<std::string> const shown(
      cause.unexplained.begin(),
      std::next(cause.unexplained.begin(), std::min<std::ptrdiff_t>(std::ssize(cause.unexplained), named_unexplained)));
  lines.push_back(fmt::format("not explained: {}{}", fmt::join(shown, ", "),
                              cause.unexplained.size() > shown.size()
                                  ? fmt::format(" and {} more", cause.unexplained.size() - shown.size())
                                  : ""));
  return lines;
}

void put_unexplained_first(report& of) {
  if (!of.cause || of.cause->mistakes.empty()) return;
  std::set<std::string> const left(of.cause->unexplained.begin(), of.cause->unexplained.end());
  auto const rank = [&](finding const& f) {
    return f.waived ? 2 : left.contains(fmt::format("{}/{}", f.check, f.case_name)) ? 0 : 1;
  };
  sort_by(of.findings, rank);
}

json cause_json(report const& of) {
  if (!of.cause) return json();
  json mistakes = json::array();
  for (named_mistake const& mistake : of.cause->mistakes)
    mistakes.push_back({{"name", mistake.name},
                        {"sentence", mistake.sentence},
                        {"explains", mistake.explains},
                        {"tried_passing", mistake.tried_passing},
                        {"contradicted", mistake.contradicted}});
  return {{"sentence", sentence_of(*of.cause)},   {"condition", of.cause->condition},
          {"explains", of.cause->explains},       {"of", of.cause->of},
          {"failed", of.cause->failed},           {"hypotheses", std::move(mistakes)},
          {"unexplained", of.cause->unexplained}, {"seconds", of.cause->seconds}};
}

std::optional<named_cause> joined_cause(std::vector<report> const& shards) {
  std::optional<named_cause> all;
  std::vector<named_mistake> counted;                     // with the inputs of all shards that the mistake explains
  std::vector<std::vector<named_mistake> const*> fitted;  // of shards whose single input fits several mistakes
  for (report const& shard : shards) {
    if (shard.failing.empty()) continue;
    if (!shard.cause) return std::nullopt;
    named_cause const& part = *shard.cause;
    named_cause& into = all ? *all : all.emplace();
    into.explains += part.explains, into.of += part.of, into.failed += part.failed, into.seconds += part.seconds;
    if (into.condition.empty()) into.condition = part.condition;
    into.unexplained.insert(into.unexplained.end(), part.unexplained.begin(), part.unexplained.end());
    for (named_mistake const& mistake : part.mistakes) add_to(counted, mistake);
    if (part.is_ambiguous()) fitted.push_back(&part.mistakes);
    else
      for (named_mistake const& mistake : part.mistakes) add_to(into.mistakes, mistake);
  }
  if (!all) return all;
  for (auto const* const mistakes : fitted) {
    // If the input is the only one, its mistakes stay; else it counts for the mistake that explains the most inputs.
    if (all->of == 1) all->mistakes = *mistakes;
    else
      add_to(all->mistakes, *std::ranges::max_element(*mistakes, {}, [&](named_mistake const& mistake) {
               return std::ranges::find(counted, mistake.name, &named_mistake::name)->explains;
             }));
  }
  // Mistakes that explain equally much stay in the order in which they came.
  sort_by(all->mistakes, [](named_mistake const& mistake) { return -mistake.explains; });
  return all;
}

}  // namespace attest::audit
