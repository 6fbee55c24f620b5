// The events of a call beside a wrong number, which explain a failing case by themselves.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attest::audit {

/// What a kernel does beside a wrong number; its row is in event_hypotheses().
enum class call_event : std::uint8_t { crash, hang, outside, inputs, unusable, unwritten, environment, differs };

struct event_row {
  call_event id;
  std::string_view name, sentence;
};
std::vector<event_row> const& event_hypotheses();

/// The events that explain cases with this class of violation, whose answers are right by themselves.
std::optional<call_event> event_of(std::vector<std::string> const& classes);

}  // namespace attest::audit
