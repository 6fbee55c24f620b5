#include "audit/report/name_classes.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>

namespace attest::audit {
namespace {

std::optional<bug_class> class_of_cause(std::optional<named_cause> const& cause) {
  return cause && cause->mistakes.size() == 1 ? cause->mistakes.front().bug_class : std::nullopt;
}

}  // namespace

void name_classes(report& of) {
  std::optional<bug_class> const is = class_of_cause(of.cause);
  // What only further calls of one input show is not wrong in plain calls.
  bool const elsewhere = std::ranges::any_of(of.failing, [](failing_case const& failing) {
    return std::ranges::any_of(failing.judged, [](auto const& each) { return each.is != bug_class::nondeterminism; });
  });
  auto const plain_wrong = [&](std::string const& check) {
    return elsewhere && std::ranges::any_of(of.plain_wrong, [&](std::string const& other) { return other != check; });
  };
  auto const named = [&](std::string const& check, judged_class const& judged) {
    if (judged.basis == class_basis::seen) return judged.is;
    if (is) return *is;
    // Sizes alone show no foreign memory; a check of strides changes nothing else.
    bool const of_sizes = judged.is == bug_class::memory && check != "strides";
    return judged.basis == class_basis::check && (plain_wrong(check) || of_sizes) ? bug_class::accuracy : judged.is;
  };
  for (finding& found : of.findings) {
    found.what.bug_class = named(found.check, found.judged);
    if (found.shrunk) found.shrunk->what.bug_class = found.what.bug_class;
  }
  for (failing_case& failing : of.failing) {
    std::set<std::string> classes;
    for (judged_class const& judged : failing.judged) classes.emplace(token_of(named(failing.check, judged)));
    failing.classes.assign(classes.begin(), classes.end());
  }
}

}  // namespace attest::audit
