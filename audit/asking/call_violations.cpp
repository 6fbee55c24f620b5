#include "audit/asking/call_violations.hpp"

#include <limits>
#include <utility>

#include <fmt/format.h>

namespace attest::audit {
namespace {

/// The class of a broken promise of attest/kernel.h.
bug_class class_of(promise which) {
  return which == promise::restores_environment ? bug_class::fast_math : bug_class::memory;
}

bug_class class_of(call_outcome outcome) {
  return outcome == call_outcome::hung       ? bug_class::hang
         : outcome == call_outcome::exceeded ? bug_class::memory
                                             : bug_class::crash;
}

}  // namespace

void take_outcome(call_report const& did, std::size_t call, case_result& into) {
  auto const add = [&](std::string output, bug_class kind, std::string sentence) {
    ++into.judged.failed;
    violation found;
    found.output = std::move(output), found.bug_class = kind, found.sentence = std::move(sentence), found.call = call;
    found.error_in_bounds = std::numeric_limits<double>::infinity();
    into.judged.add(std::move(found));
  };
  for (broken_promise const& broken : did.broken) add(broken.argument, class_of(broken.which), broken.sentence);
  switch (did.outcome) {
    case call_outcome::succeeded: return;
    case call_outcome::unsupported:
    case call_outcome::not_asked: into.unsupported = true; return;
    case call_outcome::unanswered:
      into.unsupported = into.unanswered = true;
      into.observations.push_back(fmt::format("the kernel {}", did.sentence));
      return;
    case call_outcome::cut_short: into.cut_short = true; return;
    case call_outcome::hung: into.hung = true; break;
    case call_outcome::crashed:
      if (!did.broken.empty()) return;  // the broken promise explains the crash
      break;
    default: break;
  }
  add("call", class_of(did.outcome), "the kernel " + did.sentence);
  into.own_ends += may_be_refusal(did);
}

}  // namespace attest::audit
