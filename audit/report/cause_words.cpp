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

constexpr std::size_t named_unexplained = 12;

std::string failing_inputs(named_cause const& cause) {
  std::string const which = cause.of == 1
                                ? "the failing input"
                                : fmt::format("{} of {} failing inputs", grouped(cause.explains), grouped(cause.of));
  return cause.of < cause.failed ? fmt::format("{} that were tried (of {})", which, grouped(cause.failed)) : which;
}

/// ", in some inputs only: …" where inputs that pass contradict a mistake.
std::string contradiction_of(named_mistake const& mistake) {
  if (mistake.contradicted == 0) return "";
  return fmt::format(", in some inputs only: {} of {} inputs that it would change are answered rightly",
                     mistake.contradicted, mistake.tried_passing);
}

}  // namespace

std::string sentence_of(named_cause const& cause) {
  if (cause.mistakes.empty())
    return fmt::format(
        "no known mistake explains {}",
        cause.of == 1 ? "the failing input" : fmt::format("the {} failing inputs that were tried", grouped(cause.of)));
  if (cause.mistakes.size() == 1)
    return fmt::format("one mistake explains {}: {}{}", failing_inputs(cause), cause.mistakes.front().sentence,
                       contradiction_of(cause.mistakes.front()));
  std::vector<std::string> each;
  for (named_mistake const& mistake : cause.mistakes)
    each.push_back(fmt::format("{} ({}){}", mistake.sentence, grouped(mistake.explains), contradiction_of(mistake)));
  return fmt::format("{} mistakes explain {}: {}", cause.mistakes.size(), failing_inputs(cause), fmt::join(each, "; "));
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

std::optional<named_cause> cause_in(report_object const& top) {
  if (!top.has("cause") || top.at("cause").is_null()) return std::nullopt;
  report_object const from = top.inside("cause");
  named_cause cause;
  cause.condition = from.text("condition");
  cause.explains = from.count("explains"), cause.of = from.count("of"), cause.failed = from.count("failed");
  for (json const& item : from.list("hypotheses")) {
    report_object const mistake(item, "a hypothesis");
    cause.mistakes.push_back({mistake.text("name"), mistake.text("sentence"), mistake.count("explains"),
                              mistake.count("tried_passing"), mistake.count("contradicted")});
  }
  cause.unexplained = from.texts("unexplained");
  for (named_mistake const& mistake : cause.mistakes)
    if (mistake.explains > cause.explains || mistake.contradicted > mistake.tried_passing)
      throw report_fault{
          fmt::format("contradicts itself: the mistake '{}' of 'cause' has more inputs than there are", mistake.name)};
  if (cause.explains > cause.of || cause.of > cause.failed ||
      std::ssize(cause.unexplained) != cause.of - cause.explains)
    throw report_fault{"contradicts itself: the inputs of 'cause' do not add up"};
  cause.seconds = from.seconds("seconds");
  return cause;
}

std::optional<named_cause> joined_cause(std::vector<report> const& shards) {
  std::optional<named_cause> all;
  for (report const& shard : shards) {
    if (shard.failing.empty()) continue;
    if (!shard.cause) return std::nullopt;
    named_cause const& part = *shard.cause;
    named_cause& into = all ? *all : all.emplace();
    into.explains += part.explains, into.of += part.of, into.failed += part.failed, into.seconds += part.seconds;
    if (into.condition.empty()) into.condition = part.condition;
    into.unexplained.insert(into.unexplained.end(), part.unexplained.begin(), part.unexplained.end());
    for (named_mistake const& mistake : part.mistakes) {
      auto const at = std::ranges::find(into.mistakes, mistake.name, &named_mistake::name);
      if (at == into.mistakes.end()) {
        into.mistakes.push_back(mistake);
        continue;
      }
      at->explains += mistake.explains;
      at->tried_passing += mistake.tried_passing, at->contradicted += mistake.contradicted;
    }
  }
  if (!all) return all;
  // The first to come of those that explain equally much stays first.
  sort_by(all->mistakes, [](named_mistake const& mistake) { return -mistake.explains; });
  return all;
}

}  // namespace attest::audit
