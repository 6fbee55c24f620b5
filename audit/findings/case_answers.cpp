#include "audit/findings/case_answers.hpp"

#include <cmath>

#include <fmt/format.h>

#include "audit/cases/call_order.hpp"
#include "audit/judge/cross_call.hpp"
#include "audit/judge/hidden_keys.hpp"
#include "audit/support/multiplications.hpp"
#include "audit/tensors/elements.hpp"

namespace attest::audit {
namespace {

constexpr double most_tried_products = 0x1p28, most_tried_products_backward = 0x1p22;

/// The call of attention whose gradients are asked for.
owned_problem without_gradients(owned_problem const& pass) {
  problem_draft draft = pass.draft();
  draft.d_out.reset(), draft.handed_o.reset(), draft.handed_lse.reset();
  draft.of = &problem::attention;
  return owned_problem::of_valid(std::move(draft));
}

/// Adds an answer. Of a backward pass, an O and an LSE beside the gradients are answers of attention, from which the
/// gradients were formed.
void add_answer(owned_problem const& asked, owned_outputs const& given, contract const& claim,
                std::vector<row_index> const& rows, memory_form const& memory, answered_case& to) {
  owned_outputs forward, gradients;
  for (output_kind const kind : output_kinds)
    (problem::is_gradient(kind) ? gradients : forward).of(kind) = given.of(kind);
  forward.padding = gradients.padding = given.padding;
  bool const is_pass = asked.draft().d_out.has_value();
  if (!forward.empty()) to.add(is_pass ? without_gradients(asked) : asked, forward, claim, rows);
  if (gradients.empty() || !is_pass) return;
  problem_draft draft = asked.draft();
  if (forward.o && forward.lse) draft.handed_o = forward.o, draft.handed_lse = forward.lse;
  to.add(owned_problem::of_valid(std::move(draft)), gradients, claim, {}, memory);
}

}  // namespace

bool is_tried(owned_problem const& problem) {
  // The judge of a gradient asks all of it.
  double const most = problem.draft().d_out ? most_tried_products_backward : most_tried_products;
  return multiplications(problem.size()) <= most;
}

answered_case answers_of(audit_case const& of, case_outputs const& outputs, contract const& claim) {
  answered_case answers;
  for (std::size_t const call : order_of_calls(of)) {
    if (!outputs[call]) {
      answers.unanswered.push_back({.problem = of.call(call), .outputs = {}, .claim = claim});
      answers.unanswered.back().memory = of.memory_of(call);
      continue;
    }
    if (leaves_outputs_open(of.call(call), claim)) continue;
    bool const sampled = of.call(call).size() == of.problem.size();
    add_answer(of.call(call), *outputs[call], claim, sampled ? of.rows : std::vector<row_index>(), of.memory_of(call),
               answers);
  }
  for (std::size_t n = 0; outputs[0] && n < of.further.size(); ++n) {
    further_call const& further = of.further[n];
    bool const alike = further.is == relation::same_bits || further.is == relation::same_rows;
    if (alike && further.promised && outputs[n + 1] && outputs_differ(of, *outputs[0], further, *outputs[n + 1]))
      answers.events.insert(call_event::differs);
  }
  // If an answer is wrong by itself, the difference need not be the mistake.
  if (answers.is_wrong()) answers.events.erase(call_event::differs);
  return answers;
}

seen_arithmetic bits_of(std::vector<recorded_case> const& cases) {
  constexpr std::int64_t least_elements = 256;
  seen_arithmetic seen;
  for (auto const type : {problem::element_type::bf16, problem::element_type::f16}) {
    problem::binary_format const& format = problem::row_of(type).format;
    std::int64_t elements = 0;
    bool all = true;
    for (recorded_case const& each : cases)
      for (auto const& outputs : each.outputs) {
        if (!outputs || !outputs->o || problem::size_of(outputs->o->type) < 4) continue;
        std::size_t const count = outputs->o->bytes.size() / problem::size_of(outputs->o->type);
        for (std::size_t at = 0; all && at < count; ++at) {
          double const x = load(*outputs->o, at);
          if (!std::isfinite(x) || x == 0) continue;
          ++elements, all = rounded_to(x, format) == x;
        }
      }
    if (!all || elements < least_elements) continue;
    seen.try_emplace(fmt::format("outputs-in-{}", problem::name_of(type)));
    seen.try_emplace(fmt::format("outputs-cut-to-{}", problem::name_of(type)));
  }
  return seen;
}

}  // namespace attest::audit
