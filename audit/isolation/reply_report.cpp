#include "audit/isolation/reply_report.hpp"

#include <fmt/format.h>

#include "audit/support/bounded_text.hpp"
#include "audit/support/printable.hpp"

namespace attest::audit {

call_report report_of(runner::reply_message const& reply, double waited) {
  call_report report;
  report.seconds = reply.seconds >= 0 && reply.seconds <= waited ? reply.seconds : waited;
  report.code = reply.status;
  switch (reply.status) {
    case 0: report.outcome = call_outcome::succeeded, report.sentence = "answered"; break;
    case 1: report.outcome = call_outcome::unsupported, report.sentence = "answered UNSUPPORTED"; break;
    case 2: report.outcome = call_outcome::failed, report.sentence = "answered FAILED"; break;
    default:
      report.outcome = call_outcome::unknown_status;
      report.sentence = fmt::format("returned the unknown status {}", reply.status);
  }
  report.alone = reply.alone != 0;
  std::string text = bounded(reply.text);
  report.refusal_marked = text.starts_with(runner::refusal_mark);
  if (report.refusal_marked) text.erase(0, 1);
  if (auto const said = printable(text, runner::said_bytes); !said.empty())
    report.sentence += fmt::format(" and said '{}'", said);
  if (reply.environment_changed)
    report.broken.push_back({promise::restores_environment, "",
                             "leaves the floating-point environment changed (rounding mode, FTZ, DAZ or x87 stack)"});
  if (reply.descriptors_changed)
    report.broken.push_back({promise::leaves_descriptors, "", "writes to the descriptors of its call"});
  if (reply.outputs_changed)
    report.broken.push_back({promise::leaves_earlier_outputs, "", "the outputs of a call change in a later one"});
  return report;
}

bool has_no_function(call_report const& report) {
  auto const says = [&](char const* text) { return report.sentence.find(text) != std::string::npos; };
  return report.outcome == call_outcome::unsupported &&
         (says(runner::no_attention_said) || says(runner::no_backward_said));
}

}  // namespace attest::audit
