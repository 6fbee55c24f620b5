// The conditions under which a refuted kernel is wrong, for its first findings.
#include <algorithm>

#include <fmt/format.h>

#include "audit/condition/condition.hpp"
#include "audit/condition/form.hpp"
#include "audit/findings/ask_kernel.hpp"
#include "audit/session/audit_session.hpp"

namespace attest::audit {
namespace {

/// "gradients wrong where causal" for "wrong where causal".
condition of_gradients(condition found) {
  found.sentence = (found.sentence.starts_with("wrong") ? "gradients " : "gradients: ") + found.sentence;
  return found;
}

}  // namespace

/// Searches for the conditions under which the kernel is wrong, for the first findings that refute. A condition stands
/// under a finding only if it is true of its call. It stands above all of them only if every failing call that was
/// judged is inside it and every passing one outside.
void audit_session::name_conditions() {
  if (!options_.conditions) return;
  // With --replay or --only CHECK/CASE the user is reproducing a known finding: skip the search.
  bool const single = options_.replay ||
                      std::ranges::any_of(options_.only, [](auto const& name) { return name.find('/') != name.npos; });
  if (single) return;
  constexpr int most = 3;
  auto const until = search_end(10, 0.93);
  // Cases that were made from a form can be made from it again: they come first.
  std::vector<finding*> ordered;
  for (bool const of_form : {true, false})
    for (finding& found : report_.findings)
      if ((std::ranges::find(checks_of_forms, found.check) != checks_of_forms.end()) == of_form)
        ordered.push_back(&found);
  int named = 0;
  for (finding* const each : ordered) {
    finding& found = *each;
    if (found.waived || found.what.bug_class == bug_class::hang || named == most || clock::now() >= until) continue;
    if (found.what.callers > 0) {
      if (found.what.callers > 1)
        found.condition = fmt::format("wrong where {} threads call at the same time", found.what.callers);
      continue;
    }
    auto const failing = plan_.make(found.check, found.case_name, pool_.limits());
    if (!failing) continue;
    auto const form = form_asked(*failing, found.what.call, pool_.limits().domain.needs);
    if (!form) continue;
    ++named;
    problem_draft const& call = failing->call(found.what.call).draft();
    bool const is_pass = call.d_out.has_value();
    std::vector<judged_form> const &asked = is_pass ? judged_passes_ : judged_,
                                   &others = is_pass ? judged_ : judged_passes_;
    std::vector<judged_form> earlier = asked;
    for (call_form& before : forms_before(*failing, found.what.call, pool_.limits().domain.needs))
      earlier.push_back({std::move(before), false});
    auto const where = find_condition(*form, earlier,
                                      ask_kernel(options_, until, found.what.row(), pool_.limits().domain,
                                                 is_pass ? asked_pass::backward : asked_pass::forward),
                                      static_cast<std::int64_t>(problem::size_of(options_.claim->type)),
                                      pool_.limits().domain, special_values_of(call));
    if (!where || (where->holds && !where->holds(*form))) continue;
    if (where->holds) conditions_[&found] = where->holds;
    found.condition = sentence_beside(is_pass ? of_gradients(*where) : *where, asked);
    bool const of_all =
        where->holds && std::ranges::none_of(others, &judged_form::wrong) &&
        std::ranges::all_of(asked, [&](judged_form const& call) { return call.wrong == where->holds(call.form); });
    if (report_.cause && report_.cause->condition.empty() && of_all) report_.cause->condition = found.condition;
  }
}

void audit_session::check_condition(finding& found, audit_case const& smaller) {
  auto const at = conditions_.find(&found);
  if (at == conditions_.end() || !found.shrunk) return;
  auto const form = form_asked(smaller, found.shrunk->what.call, pool_.limits().domain.needs);
  if (!form || at->second(*form)) return;
  if (report_.cause && report_.cause->condition == found.condition) report_.cause->condition.clear();
  found.condition.clear();
}

}  // namespace attest::audit
