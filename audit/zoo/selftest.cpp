#include "audit/zoo/selftest.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <span>
#include <thread>

#include <fmt/format.h>

#include "audit/cases/families/backward.hpp"
#include "audit/report/cause_words.hpp"
#include "audit/support/printable.hpp"
#include "audit/support/words.hpp"
#include "audit/zoo/claim.hpp"
#include "audit/zoo/loaded.hpp"

namespace attest::audit {
namespace {

using clock = std::chrono::steady_clock;

/// The number of failing inputs after which the cause of a mutant is named.
constexpr std::int64_t failing_for_cause = 24;

double seconds_since(clock::time_point start) { return std::chrono::duration<double>(clock::now() - start).count(); }

audit_options options_for(contract const& claim, selftest_options const& options) {
  audit_options request;
  request.claim = &claim, request.seed = options.seed, request.stop = options.stop;
  request.require_concurrent_calls = true;
  request.findings.clear();  // findings of mutants need not be shrunk
  // Most kernels of the zoo are slow: production shapes are cut until a call takes them a moment.
  request.draws = 0, request.draw_products = std::int64_t{1} << 18;
  return request;
}

/// Audits a mutant up to the first finding.
std::optional<problem::error> run_up_to_finding(audit_options const& options, specimen_result& into) {
  auto const start = clock::now();
  auto const ran = run_audit(options);
  if (!ran) return ran.why();
  into.cases = ran.value().cases;
  into.verdict = ran.value().verdict;
  if (into.verdict != verdict::refuted) return std::nullopt;
  finding const& first = ran.value().findings.front();
  into.cause = ran.value().cause;
  into.killed = {first.check,
                 first.case_name,
                 std::string(first.class_token()),
                 first.number,
                 ran.value().covered.calls.asked,
                 seconds_since(start)};
  return std::nullopt;
}

/// Does the selftest ask this specimen?
bool is_chosen(zoo::specimen const& specimen, selftest_options const& options) {
  if (options.only.empty()) return specimen.family == options.family;
  return std::ranges::find(options.only, specimen.name) != options.only.end();
}

/// Audits an honest design to the end.
std::optional<problem::error> run_to_end(audit_options const& options, specimen_result& into) {
  auto const ran = run_audit(options);
  if (!ran) return ran.why();
  report const& audited = ran.value();
  into.cases = audited.cases;
  into.verdict = audited.verdict;
  if (audited.verdict == verdict::undecided) into.complaint = audited.undecided_because;
  if (!audited.findings.empty()) {
    finding const& worst = audited.findings.front();
    into.complaint = fmt::format("{}/{}: {}", worst.check, worst.case_name, worst.what.sentence);
  }
  return std::nullopt;
}

/// The table of the causes, and how many of them are the planted ones.
std::string causes_text(selftest_report const& selftest) {
  std::string text = fmt::format("\n{:<34}{:<6}{:>6}  {}\n", "mutant", "named", "s", "cause");
  std::int64_t named = 0, mutants = 0, falsely = 0;
  for (specimen_result const& tested : selftest.results) {
    if (tested.specimen->is_honest() || tested.unfinished) continue;
    ++mutants, named += tested.is_named();
    falsely += !tested.is_named() && tested.cause && !tested.cause->mistakes.empty();
    text += fmt::format("{:<34}{:<6}{:>6.1f}  {}\n", tested.specimen->name, tested.is_named() ? "yes" : "NO",
                        tested.cause ? tested.cause->seconds : 0,
                        tested.cause ? sentence_of(*tested.cause) : "no cause was searched for");
    if (tested.is_named() || !tested.cause) continue;
    auto const lines = lines_of(*tested.cause);
    for (std::size_t n = 1; n < lines.size(); ++n) text += fmt::format("{:<48}{}\n", "", lines[n]);
  }
  if (mutants == 0) return "";
  return text +
         fmt::format("\nthe cause names the planted mistake of {} of {} mutants ({:.1f} %), and another one of {}\n",
                     named, mutants, 100.0 * static_cast<double>(named) / static_cast<double>(mutants), falsely);
}

}  // namespace

bool specimen_result::is_named() const {
  if (!cause || cause->mistakes.empty()) return false;
  std::string_view expected = specimen->cause;
  while (!expected.empty()) {
    std::string_view const name = expected.substr(0, expected.find('|'));
    bool const family = name.ends_with('*');
    std::string_view const found = cause->mistakes.front().name;
    if (family ? found.starts_with(name.substr(0, name.size() - 1)) : found == name) return true;
    expected.remove_prefix(std::min(expected.size(), name.size() + 1));
  }
  return false;
}

verdict selftest_report::verdict() const {
  using audit::verdict;
  auto const wrong = [](specimen_result const& tested) { return !tested.unfinished && !tested.as_expected(); };
  if (std::ranges::any_of(results, wrong)) return verdict::refuted;
  return results.empty() || std::ranges::any_of(results, &specimen_result::unfinished) ? verdict::undecided
                                                                                       : verdict::certified;
}

problem::result<selftest_report> run_selftest(selftest_options const& options) {
  auto const loaded = zoo::load_zoo();
  if (!loaded) return loaded.why();
  auto const& [library, specimens] = loaded.value();
  std::string const zoo_path = library.native();
  auto const start = clock::now();
  selftest_report selftest;
  selftest.seed = options.seed, selftest.causes = options.causes;
  for (std::string const& name : options.only)
    if (std::ranges::find(specimens, name, &zoo::specimen::name) == specimens.end()) {
      std::vector<std::string> known;
      for (zoo::specimen const& specimen : specimens) known.emplace_back(specimen.name);
      return problem::error{problem::error_code::bad_value, "--only",
                            fmt::format("the zoo has no specimen called '{}'{}; see `attest list zoo`", printable(name),
                                        did_you_mean(name, known))};
    }
  for (zoo::specimen const& specimen : specimens) {
    if (!is_chosen(specimen, options)) continue;
    selftest.results.push_back({.specimen = &specimen, .killed = {}, .cause = {}, .complaint = {}});
  }

  std::atomic<std::size_t> next = 0;
  std::mutex guard;
  std::optional<problem::error> why;
  std::int64_t done = 0;
  auto const work = [&] {
    for (std::size_t at; (at = next++) < selftest.results.size() && !interruption{options.stop}.requested();) {
      specimen_result& mine = selftest.results[at];
      auto const began = clock::now();
      auto const claim = claim_of(*mine.specimen);
      if (!claim) {
        std::lock_guard const held(guard);
        why = claim.why();
        return;
      }
      audit_options request = options_for(claim.value(), options);
      request.kernel = fmt::format("{}:zoo_{}", zoo_path, mine.specimen->name);
      request.fail_fast = !mine.specimen->is_honest() && !options.causes;
      if (!mine.specimen->is_honest() && options.causes) {
        request.enough_failing = failing_for_cause, request.quick = true, request.conditions = false;
        request.budget = 600;  // this gives the order of the cases of an audit that may end early
      }
      if (mine.specimen->family == zoo::backward_family) request.only = {std::string(check_of_gradients)};
      if (!mine.specimen->family.empty()) request.draws = options.draws, request.draw_products = options.draw_products;
      std::optional<problem::error> fault =
          mine.specimen->is_honest() ? run_to_end(request, mine) : run_up_to_finding(request, mine);
      bool const known =
          mine.verdict == verdict::refuted || (mine.specimen->is_honest() && mine.verdict == verdict::certified);
      mine.unfinished = !known && interruption{options.stop}.requested();
      mine.seconds = seconds_since(began);
      std::lock_guard const held(guard);
      if (fault && !why) why = std::move(fault);
      options.on_progress(++done, static_cast<std::int64_t>(selftest.results.size()));
    }
  };
  int const jobs = options.jobs > 0 ? options.jobs : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  std::vector<std::jthread> others;
  for (int n = 1; n < jobs; ++n) others.emplace_back(work);
  work();
  others.clear();
  if (why) return *std::move(why);
  selftest.seconds = seconds_since(start);
  return selftest;
}

std::string as_text(selftest_report const& selftest) {
  std::string text;
  auto const add = [&]<class... A>(fmt::format_string<A...> form, A&&... a) {
    text += fmt::format(form, std::forward<A>(a)...);
  };
  std::int64_t honest = 0, mutants = 0, wrong = 0, unfinished = 0;
  add("{:<34}{:<10}{:>6}  {}\n", "honest design", "contract", "cases", "");
  for (specimen_result const& tested : selftest.results) {
    if (!tested.specimen->is_honest()) continue;
    ++honest;
    add("{:<34}{:<10}{:>6}  {}\n", tested.specimen->name, tested.specimen->contract, tested.cases,
        tested.unfinished      ? "not known: interrupted"
        : tested.as_expected() ? "lives"
                               : "CONDEMNED: " + tested.complaint);
  }
  add("\n{:<34}{:<18}{:>6}{:>8}{:>8}  {}\n", "mutant", "class", "case", "calls", "ms", "killed by");
  for (specimen_result const& tested : selftest.results) {
    if (tested.specimen->is_honest()) continue;
    ++mutants;
    if (tested.unfinished) {
      add("{:<34}{:<18}{:>22}  not known: interrupted\n", tested.specimen->name, tested.specimen->class_token(), "");
      continue;
    }
    if (!tested.killed) {
      add("{:<34}{:<18}{:>22}  SURVIVES {} cases ({})\n", tested.specimen->name, tested.specimen->class_token(), "",
          tested.cases, tested.specimen->description);
      continue;
    }
    kill const& first = *tested.killed;
    add("{:<34}{:<18}{:>6}{:>8}{:>8.0f}  {}/{}\n", tested.specimen->name, tested.specimen->class_token(), first.number,
        first.calls, 1e3 * first.seconds, first.check, first.case_name);
  }
  for (specimen_result const& tested : selftest.results)
    unfinished += tested.unfinished, wrong += !tested.unfinished && !tested.as_expected();
  if (selftest.causes) text += causes_text(selftest);
  verdict const result = selftest.verdict();
  add("\n{}: {} mutants, {} honest designs, seed {}, {:.0f} s{}{}\n",
      result == verdict::certified ? "PASSED"
      : result == verdict::refuted ? "FAILED"
                                   : "INTERRUPTED",
      mutants, honest, selftest.seed, selftest.seconds, wrong ? fmt::format("; {} not as they should be", wrong) : "",
      unfinished ? fmt::format("; {} not known", unfinished) : "");
  return text;
}

}  // namespace attest::audit
