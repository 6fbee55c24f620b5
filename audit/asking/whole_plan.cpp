#include "audit/asking/whole_plan.hpp"

#include <iterator>
#include <set>

#include <fmt/format.h>

#include "audit/asking/kernel_speed.hpp"
#include "audit/asking/real_data.hpp"
#include "audit/cases/default_contract.hpp"
#include "audit/cases/domain/edges.hpp"
#include "audit/cases/domain/fit_case.hpp"
#include "audit/cases/domain/keep_form.hpp"
#include "audit/cases/domain/size_word.hpp"
#include "audit/cases/families/backward.hpp"
#include "audit/cases/families/backward_forms.hpp"
#include "audit/cases/families/merges.hpp"
#include "audit/cases/forms/production.hpp"
#include "audit/cases/forms/support_cases.hpp"
#include "audit/files/case_file.hpp"
#include "audit/support/sha256.hpp"

namespace attest::audit {
namespace {

using problem::error;
using problem::error_code;
using problem::result;

/// The cases of the file of --replay, and the SHA-256 of the bytes from which they were read.
struct replayed_file {
  std::vector<audit_case> cases;
  std::string sha256;
};

result<replayed_file> replayed_cases(audit_options const& options) {
  std::vector<std::string> notes;
  auto const file = read_in_words(*options.replay, options.replay_words, notes);
  if (!file) return file.why();
  std::span<std::byte const> const bytes = file.value().whole;
  std::string hash = sha256_of({reinterpret_cast<char const*>(bytes.data()), bytes.size()});
  auto recorded = problem_file_of(file.value());
  if (!recorded) return recorded.why();
  auto read = cases_of(std::move(recorded).value());
  if (!read) return read.why();
  std::vector<audit_case> cases;
  for (recorded_case& entry : read.value()) cases.push_back(std::move(entry.input));
  for (audit_case const& kernel_case : cases)
    if (kernel_case.problem.type() != options.claim->type)
      return error{error_code::bad_type, "--replay",
                   "holds " + std::string(problem::name_of(kernel_case.problem.type())) + " problems, the contract " +
                       options.claim->name + " is about " + std::string(problem::name_of(options.claim->type))};
  return replayed_file{std::move(cases), std::move(hash)};
}

/// The checks that --only names, alone or with one of their cases: cases of other checks are not made. Empty if all are
/// wanted. Also empty if a name is of no check, so that its error knows every name.
std::vector<std::string> checks_of(names const& only) {
  std::vector<std::string> wanted;
  for (std::string const& name : only) {
    wanted.push_back(name.substr(0, name.find('/')));
    if (find_check(wanted.back()) == nullptr) return {};
  }
  return wanted;
}

}  // namespace

result<audit_plan> whole_plan(audit_options const& options, kernel_domain const& of) {
  audit_plan plan{.fixed = {},
                  .type = options.claim->type,
                  .seed = options.seed,
                  .domain = of.domain,
                  .of_gradients = of.of_gradients,
                  .has_attention = of.has_attention};
  auto const add_all = [&](std::vector<audit_case>&& cases) {
    for (audit_case& made : cases) {
      put_under(*options.claim, made);
      plan.fixed.push_back(existing(std::move(made)));
    }
  };
  auto const add_fit = [&](audit_case&& made, call_domain const& domain, auto&& then) {
    unfitted_case outside{made.check, made.name, {}};
    planned_fit fits = fitted_plan(std::move(made), domain, then);
    if (fits.plan) plan.fixed.push_back(*std::move(fits.plan));
    else plan.unfitted.push_back({std::move(outside.check), std::move(outside.name), std::move(fits.why_not)});
  };
  auto const add_fitted = [&](std::vector<audit_case>&& cases) {
    if (of.domain.is_everything()) return add_all(std::move(cases));
    for (audit_case& made : cases) {
      put_under(*options.claim, made);
      add_fit(std::move(made), of.domain, [](audit_case&) {});
    }
  };
  if (options.replay) {
    auto replayed = replayed_cases(options);
    if (!replayed) return replayed.why();
    for (audit_case const& made : replayed.value().cases)
      if (auto const why = why_not_under(*options.claim, made.problem))
        return error{error_code::bad_value, "--contract", fmt::format("{}: {}", made.name, *why)};
    plan.replayed = std::move(replayed.value().sha256);
    add_all(std::move(replayed.value().cases));
    plan.shapes_from = plan.fixed.size();
    return plan;
  }
  case_options const wanted{
      .type = plan.type, .seed = options.seed, .quick = options.quick, .checks = checks_of(options.only)};
  if (is_of_merges(*options.claim)) {  // a contract of merges says nothing of attention
    add_all(merge_cases(wanted));
    plan.shapes_from = plan.fixed.size();
    return plan;
  }
  add_all(support_cases(plan.type, options.seed, of.domain));
  for (feature_row const& row : feature_table())
    if (excludes(of.domain.needs, row.id))
      plan.unfitted.push_back({"support", std::string(row.name), "an input that the kernel needs"});
  add_all(gradient_support_cases(plan.type, options.seed, of.of_gradients));
  plan.support_cases = plan.fixed.size();
  auto cases = generated_cases(wanted);
  if (plan.type == problem::element_type::f32 && wanted.wants("real-data")) {
    auto real = real_data_cases();
    if (!real) return real.why();
    // The insertion point after the worked examples.
    auto const at = std::ranges::find_if(cases, [](audit_case const& c) { return c.check != "worked-examples"; });
    cases.insert(at, std::make_move_iterator(real.value().begin()), std::make_move_iterator(real.value().end()));
  }
  add_fitted(std::move(cases));
  add_all(merge_cases(wanted));
  for (audit_case& made : backward_cases(wanted)) {
    put_under(*options.claim, made);
    problem::sizes const before = made.problem.size();
    add_fit(std::move(made), of.of_gradients, [before, seed = options.seed](audit_case& fits) {
      constexpr std::int64_t of_added_rows = std::int64_t{1} << 24;
      bool const grew = fits.problem.size() != before;
      fits = differentiated(std::move(fits), seed);
      if (grew) judge_sample(fits, of_added_rows, seed);
    });
  }
  // Calls of the check "domain", each once.
  std::vector<domain_call> calls = of.again;
  for (std::string const& word : options.required_support)
    if (auto const size = size_word::of(word))
      if (auto const within = size->within(of.domain))
        if (auto const call = small_call_of(*within)) calls.push_back(*call);
  std::set<std::string> names;
  for (domain_call const& call : calls)
    if (names.insert(call.name()).second) plan.fixed.push_back(again_plan(call, plan.type, options.seed));
  plan.shapes_from = plan.fixed.size();
  shape_limits limits = fixed_limits(options);
  limits.domain = of.domain;
  for (edge_form& edge : edge_forms(of.domain))
    plan.fixed.push_back(edge_plan(std::move(edge), plan.type, options.seed));
  for (production_shape const& row : production_shapes())
    if (auto why = why_not_asked(row, plan.type, limits))
      plan.unfitted.push_back({"production", std::string(row.name), *std::move(why)});
    else plan.fixed.push_back(production_plan(row, plan.type, options.seed));
  limits.gradients.domain = of.of_gradients;
  for (production_shape const* row : production_of_gradients())
    if (fits_gradients(*row, plan.type, limits))
      plan.fixed.push_back(gradient_production_plan(*row, plan.type, options.seed));
    else
      plan.unfitted.push_back({std::string(check_of_gradients), fmt::format("production-{}", row->name),
                               "the smallest call in the domain is too large"});
  plan.draws = true;
  return plan;
}

}  // namespace attest::audit
