#include "audit/session/select.hpp"

#include <algorithm>
#include <iterator>
#include <map>

#include "audit/files/case_file.hpp"
#include "audit/session/real_data.hpp"
#include "audit/support/printable.hpp"
#include "audit/support/words.hpp"

namespace attest::audit {
namespace {

using problem::error;
using problem::error_code;
using problem::result;

result<std::vector<audit_case>> all_cases(audit_options const& options) {
  if (options.replay) {
    auto const file = read_safetensors(*options.replay);
    if (!file) return file.why();
    auto recorded = problem_file_of(file.value());
    if (!recorded) return recorded.why();
    auto read = cases_of(std::move(recorded).value());
    if (!read) return read.why();
    std::vector<audit_case> cases;
    for (recorded_case& entry : read.value()) cases.push_back(std::move(entry.input));
    return cases;
  }
  std::vector<audit_case> cases =
      generated_cases({.type = options.claim->type, .seed = options.seed, .quick = options.quick});
  if (options.claim->type == problem::element_type::f32) {
    auto real = real_data_cases();
    if (!real) return real.why();
    // After the worked examples.
    auto const at = std::ranges::find_if(cases, [](audit_case const& c) { return c.check != "worked-examples"; });
    cases.insert(at, std::make_move_iterator(real.value().begin()), std::make_move_iterator(real.value().end()));
  }
  return cases;
}

/// Orders the cases: the mandatory ones, then the first of every check, then the second of every check, and so on, so
/// that an audit that ends early has cases of every check.
void spread_over_checks(std::vector<audit_case>& cases) {
  std::map<std::string, std::int64_t> seen;
  std::vector<std::pair<std::int64_t, std::size_t>> order;
  for (std::size_t at = 0; at < cases.size(); ++at) {
    std::int64_t const turn = ++seen[cases[at].check];
    order.emplace_back(cases[at].mandatory ? 0 : turn, at);
  }
  std::ranges::sort(order);
  std::vector<audit_case> spread;
  for (auto const& [turn, at] : order) spread.push_back(std::move(cases[at]));
  cases = std::move(spread);
}

}  // namespace

result<std::vector<audit_case>> chosen_cases(audit_options const& options) {
  auto cases = all_cases(options);
  if (!cases) return cases;
  std::vector<audit_case>& selected = cases.value();
  for (audit_case const& kernel_case : selected) {
    if (options.replay && kernel_case.problem.type() != options.claim->type)
      return error{error_code::bad_type, "--replay",
                   "holds " + std::string(problem::name_of(kernel_case.problem.type())) + " problems, the contract " +
                       options.claim->name + " is about " + std::string(problem::name_of(options.claim->type))};
  }
  if (!options.only.empty()) {
    std::vector<std::string> known;
    for (check const& entry : checks()) known.emplace_back(entry.name);
    for (audit_case const& kernel_case : selected)
      known.push_back(kernel_case.check), known.push_back(kernel_case.full_name());
    for (std::string const& name : options.only)
      if (std::ranges::find(known, name) == known.end())
        return error{error_code::bad_value, "--only",
                     "no check or case is called '" + printable(name) + "'" + did_you_mean(name, known) +
                         "; see `attest list checks` and `attest list cases`"};
    std::erase_if(selected, [&](audit_case const& c) {
      return !options.only.contains(c.check) && !options.only.contains(c.full_name());
    });
  }
  std::int64_t number = 0;
  for (audit_case& kernel_case : selected)
    kernel_case.number = ++number, kernel_case.all = static_cast<std::int64_t>(selected.size());
  if (options.part)
    std::erase_if(selected,
                  [&](audit_case const& c) { return (c.number - 1) % options.part->of != options.part->index - 1; });
  if (options.budget) spread_over_checks(selected);
  return cases;
}

}  // namespace attest::audit
