#include "audit/report/cause_words.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "audit/report/number_words.hpp"
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

/// " (1 other input, whose answer it would change, is right)" if inputs that pass contradict a mistake.
std::string contradiction_of(named_mistake const& mistake) {
  if (mistake.contradicted == 0) return "";
  if (mistake.contradicted == 1) return " (1 other input, whose answer it would change, is right)";
  return fmt::format(" ({} other inputs, whose answers it would change, are right)", grouped(mistake.contradicted));
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

/// "all of " where mistakes explain some.
std::string all_of(named_cause const& cause) { return cause.partly.empty() || cause.of == 1 ? "" : "all of "; }

void add_to(std::vector<named_mistake>& all, named_mistake const& mistake) {
  auto const at = std::ranges::find(all, mistake.name, &named_mistake::name);
  if (at == all.end()) {
    all.push_back(mistake);
    return;
  }
  at->explains += mistake.explains;
  at->tried_passing += mistake.tried_passing, at->contradicted += mistake.contradicted;
}

/// "; under it the contract promises nothing about the other 2" of inputs that a mistake leaves open.
std::string left_open(named_cause const& cause) {
  if (cause.open == 0) return "";
  return fmt::format("; under it the contract promises nothing about the other{}",
                     cause.open == 1 ? "" : fmt::format(" {}", cause.open));
}

}  // namespace

std::string sentence_of(named_cause const& cause) {
  if (cause.of == 0)
    return std::string("not searched for: the time ended before the first failing input was tried") +
           (cause.recorded ? "; --budget 120 searches longer" : "");
  if (auto const fitting = std::ranges::count(cause.partly, cause.of, &named_mistake::explains); fitting > 0)
    return fmt::format("{} fit{} {}, which no further answer confirms", tried_inputs(cause), cause.of == 1 ? "s" : "",
                       fitting == 1 ? "a known mistake" : "known mistakes");
  if (cause.mistakes.empty()) return fmt::format("no known mistake explains {}{}", all_of(cause), tried_inputs(cause));
  if (cause.is_ambiguous()) return words_of_fitting(cause);
  std::size_t const count = cause.mistakes.size();
  bool const somewhere = count == 1 && cause.mistakes.front().contradicted > 0;
  if (cause.recorded || somewhere)
    return fmt::format("the {}answers to {} are those of {}: {}", cause.recorded ? "recorded " : "",
                       cause.of == 1    ? tried_inputs(cause)
                       : cause.open > 0 ? explained_inputs(cause)
                                        : "all of " + tried_inputs(cause),
                       count == 1 ? "one mistake" : fmt::format("{} mistakes", count), words_of(cause.mistakes)) +
           left_open(cause);
  return fmt::format("{} {}: {}{}", count == 1 ? "one mistake explains" : fmt::format("{} mistakes explain", count),
                     explained_inputs(cause), words_of(cause.mistakes), left_open(cause));
}

std::vector<std::string> accepted_by(named_cause const& cause) {
  // Of several mistakes that fit one input, one may be a convention.
  if ((cause.mistakes.size() != 1 && !cause.is_ambiguous()) || !cause.partly.empty() || cause.explains < cause.of)
    return {};
  for (named_mistake const& mistake : cause.mistakes)
    if (mistake.contradicted == 0 && !mistake.accepted.empty()) return mistake.accepted;
  return {};
}

std::string accepting_words(named_cause const& cause) {
  auto const accepted = accepted_by(cause);
  return accepted.empty() ? "" : fmt::format("if that is meant: --accept {}", fmt::join(accepted, ","));
}

std::vector<std::string> lines_of(named_cause const& cause) {
  std::vector<std::string> lines{sentence_of(cause)};
  // Without a cause the condition is what names the line of code.
  if (!cause.condition.empty()) lines.insert(cause.mistakes.empty() ? lines.begin() : lines.end(), cause.condition);
  for (named_mistake const& mistake : cause.partly)
    lines.push_back(fmt::format("in {} of them the answers are also those of a kernel with this mistake: {}{}",
                                mistake.explains == cause.of ? "all" : grouped(mistake.explains), mistake.sentence,
                                contradiction_of(mistake)));
  if (auto words = accepting_words(cause); !words.empty()) lines.push_back(std::move(words));
  if ((cause.mistakes.empty() && cause.partly.empty()) || cause.unexplained.empty()) return lines;
  std::vector<std::string> shown(
      cause.unexplained.begin(),
      std::next(cause.unexplained.begin(), std::min<std::ptrdiff_t>(std::ssize(cause.unexplained), named_unexplained)));
  // A recorded call is its own check.
  for (std::string& name : shown)
    if (std::size_t const half = name.size() / 2; name == name.substr(0, half) + "/" + name.substr(0, half))
      name.resize(half);
  lines.push_back(fmt::format("not explained: {}{}", fmt::join(shown, ", "),
                              cause.unexplained.size() > shown.size()
                                  ? fmt::format(" and {} more", cause.unexplained.size() - shown.size())
                                  : ""));
  return lines;
}

void put_unexplained_first(report& of) {
  if (!of.cause || (of.cause->mistakes.empty() && of.cause->partly.empty())) return;
  std::set<std::string> const left(of.cause->unexplained.begin(), of.cause->unexplained.end());
  auto const rank = [&](finding const& f) {
    return f.waived ? 2 : left.contains(fmt::format("{}/{}", f.check, f.case_name)) ? 0 : 1;
  };
  sort_by(of.findings, rank);
}

json cause_json(report const& of) {
  if (!of.cause) return json();
  auto const list_of = [](std::vector<named_mistake> const& named) {
    json mistakes = json::array();
    for (named_mistake const& mistake : named)
      mistakes.push_back({{"name", mistake.name},
                          {"sentence", mistake.sentence},
                          {"explains", mistake.explains},
                          {"tried_passing", mistake.tried_passing},
                          {"contradicted", mistake.contradicted}});
    return mistakes;
  };
  return {{"sentence", sentence_of(*of.cause)},
          {"condition", of.cause->condition},
          {"explains", of.cause->explains},
          {"of", of.cause->of},
          {"open", of.cause->open},
          {"failed", of.cause->failed},
          {"hypotheses", list_of(of.cause->mistakes)},
          {"partial", list_of(of.cause->partly)},
          {"unexplained", of.cause->unexplained},
          {"accept", accepted_by(*of.cause)},
          {"seconds", of.cause->seconds}};
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
    into.recorded = into.recorded || part.recorded;
    for (named_mistake const& mistake : part.partly) add_to(into.partly, mistake);
    into.open += part.open, into.explains += part.explains, into.of += part.of, into.failed += part.failed,
        into.seconds += part.seconds;
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
  // Mistakes that leave inputs of some shard open, or that a passing input contradicts beside others, explain a part.
  bool const contradicted = std::ranges::any_of(all->mistakes, [](auto const& one) { return one.contradicted > 0; });
  if (all->explains + all->open < all->of || (all->open > 0 && all->mistakes.size() > 1) || !all->partly.empty() ||
      (contradicted && all->mistakes.size() > 1)) {
    for (named_mistake const& mistake : all->mistakes) add_to(all->partly, mistake);
    all->mistakes.clear();
  }
  for (auto* const list : {&all->mistakes, &all->partly})
    sort_by(*list, [](named_mistake const& mistake) { return -mistake.explains; });
  return all;
}

}  // namespace attest::audit
