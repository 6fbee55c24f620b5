// The classes of findings that nothing but their check suggests.
#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "audit/cause/hypotheses/hypothesis.hpp"
#include "audit/session/audit_session.hpp"

namespace attest::audit {
namespace {

/// The class of the one mistake that explains every failing input that was tried.
std::optional<bug_class> class_of_cause(std::optional<named_cause> const& cause) {
  if (!cause || cause->mistakes.size() != 1) return std::nullopt;
  hypothesis const* const mistake = find_hypothesis(cause->mistakes.front().name);
  return mistake ? mistake->bug_class : std::nullopt;  // none: an event, or a mistake of any class
}

/// A compact call without masks, grouped heads or other features.
bool is_plain(call_form const& form) {
  return form.options.empty() && form.memory == memory_form() && form.size.hq == form.size.hk;
}

}  // namespace

/// A class that a check suspects gives way to the class of the cause. Where plain calls are wrong, too, what a check
/// adds to them is not what is wrong: the class is accuracy.
void audit_session::name_classes() {
  std::optional<bug_class> is = class_of_cause(report_.cause);
  bool const plain_wrong =
      std::ranges::any_of(judged_, [](judged_form const& call) { return call.wrong && is_plain(call.form); });
  if (!is && plain_wrong) is = bug_class::accuracy;
  std::map<std::string, bug_class> seen;  // by check: what was suspected
  for (finding& found : report_.findings) {
    auto& of = found.what.bug_class;
    // Sizes alone show no foreign memory; a check of strides changes nothing else.
    bool const of_sizes = of == bug_class::memory && found.check != "strides";
    if (!found.what.suspected || (!is && !of_sizes)) continue;
    seen.emplace(found.check, *of);
    of = is.value_or(bug_class::accuracy);
  }
  for (failing_case& failing : report_.failing)
    if (auto const at = seen.find(failing.check); at != seen.end()) {
      std::ranges::replace(failing.classes, std::string(token_of(at->second)),
                           std::string(token_of(is.value_or(bug_class::accuracy))));
      std::ranges::sort(failing.classes);
      auto const twice = std::ranges::unique(failing.classes);
      failing.classes.erase(twice.begin(), twice.end());
    }
}

}  // namespace attest::audit
