#include "audit/cause/call_event.hpp"

#include <algorithm>

#include "audit/cases/bug_class.hpp"

namespace attest::audit {

std::vector<event_row> const& event_hypotheses() {
  static std::vector<event_row> const rows{
      {call_event::crash, "crash", "the kernel crashes, or answers an error"},
      {call_event::hang, "hang", "the kernel does not return"},
      {call_event::inputs, "inputs-written", "the kernel writes into its inputs"},
      {call_event::outside, "memory-outside", "the kernel reads or writes memory that is not its own"},
      {call_event::unusable, "outputs-unusable",
       "an output has another shape or element type than the problem asks for"},
      {call_event::unwritten, "outputs-unwritten", "the kernel leaves elements of its outputs unwritten"},
      {call_event::environment, "environment",
       "the kernel leaves the floating-point environment changed (rounding mode, FTZ, DAZ)"},
      {call_event::differs, "answers-differ", "the kernel answers calls differently that should be answered alike"},
  };
  return rows;
}

std::optional<call_event> event_of(std::vector<std::string> const& classes) {
  auto const has = [&](bug_class which) { return std::ranges::find(classes, token_of(which)) != classes.end(); };
  if (has(bug_class::hang)) return call_event::hang;
  if (has(bug_class::crash)) return call_event::crash;
  if (has(bug_class::nondeterminism)) return call_event::differs;
  if (has(bug_class::memory)) return call_event::outside;
  return std::nullopt;
}

}  // namespace attest::audit
