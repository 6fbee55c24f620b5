// The classes of findings that nothing but their check or one row suggests.
#include <algorithm>
#include <optional>
#include <set>
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

}  // namespace

bool audit_session::is_plain(call_form const& form) {
  return form.options.empty() && form.memory == memory_form() && form.size.hq == form.size.hk;
}

/// A class that a check suspects, or a row fits, gives way to the class of the cause. Where another check has plain
/// calls that are wrong, too, what this one adds to them is not what is wrong: the class is accuracy.
void audit_session::name_classes() {
  std::optional<bug_class> const is = class_of_cause(report_.cause);
  // What only further calls of one input show is not wrong in plain calls.
  bool const elsewhere = std::ranges::any_of(report_.failing, [](failing_case const& failing) {
    return std::ranges::any_of(failing.judged,
                               [](auto const& each) { return each.first != bug_class::nondeterminism; });
  });
  auto const plain_wrong = [&](std::string const& check) {
    return elsewhere && std::ranges::any_of(plain_wrong_, [&](std::string const& other) { return other != check; });
  };
  auto const named = [&](std::string const& check, bug_class judged, class_basis basis) {
    if (basis == class_basis::seen) return judged;
    if (is) return *is;
    // Sizes alone show no foreign memory; a check of strides changes nothing else.
    bool const of_sizes = judged == bug_class::memory && check != "strides";
    return basis == class_basis::check && (plain_wrong(check) || of_sizes) ? bug_class::accuracy : judged;
  };
  for (finding& found : report_.findings)
    found.what.bug_class = named(found.check, *found.what.bug_class, found.what.basis);
  for (failing_case& failing : report_.failing) {
    std::set<std::string> classes;
    for (auto const& [judged, basis] : failing.judged) classes.emplace(token_of(named(failing.check, judged, basis)));
    failing.classes.assign(classes.begin(), classes.end());
  }
}

}  // namespace attest::audit
