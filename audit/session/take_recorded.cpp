#include "audit/session/take_recorded.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "audit/files/axis_orders.hpp"
#include "audit/judge/by_law.hpp"
#include "audit/support/multiplications.hpp"
#include "audit/support/printable.hpp"
#include "audit/tensors/entry_forms.hpp"

namespace attest::audit {
namespace {

constexpr std::size_t most_refusals = 100;  // different ones that are counted apart

void add_violation(std::size_t call, bug_class kind, std::string sentence, case_result& into) {
  ++into.judged.failed;
  violation found;
  found.output = "call", found.bug_class = kind, found.sentence = std::move(sentence), found.call = call;
  found.error_in_bounds = std::numeric_limits<double>::infinity();
  into.judged.add(std::move(found));
}

void count(call_status const& status, recorded_endings& counted) {
  switch (status.as) {
    case call_status::ending::error: ++counted.errors; return;
    case call_status::ending::killed: ++counted.killed; return;
    case call_status::ending::hung: ++counted.hung; return;
    case call_status::ending::unsupported: break;
  }
  ++counted.unsupported;
  bool const listed = counted.refusals.contains(status.text) || counted.refusals.size() < most_refusals;
  ++counted.refusals[listed ? status.text : "other reasons"];
}

/// Is this O within its bound?
bool is_right(owned_problem const& problem, owned_tensor const& o, contract const& claim) {
  judgement const found = judge_by_law(problem, {.o = o}, claim);
  return found.failed == 0 && found.judged() > 0;
}

/// The order of the axes of O in a file: packed tensors are bhnd or thd, others bhnd or bnhd.
axis_order order_of_o(recorded_call const& said, owned_problem const& problem) {
  return (said.order == axis_order::thd) == problem.draft().q_offsets.has_value() ? said.order : axis_order::bhnd;
}

/// "[b, n, h, d] for [b, h, n, d]": the other order of the axes of O, and the one of the file.
std::string_view other_for(axis_order order, owned_problem const& problem) {
  if (order == axis_order::thd) return "[heads, rows, width] for [rows, heads, width]";
  if (problem.draft().q_offsets) return "[rows, heads, width] for [heads, rows, width]";
  return order == axis_order::bnhd ? "[b, h, n, d] for [b, n, h, d]" : "[b, n, h, d] for [b, h, n, d]";
}

std::string order_words(recorded_call const& said, owned_problem const& problem, owned_tensor const& o,
                        contract const& claim) {
  return fmt::format("; it has the shape of the other order of axes, {}, in which it is {}",
                     other_for(order_of_o(said, problem), problem),
                     is_right(problem, o, claim) ? "within its bound" : "outside its bound, too");
}

/// The elements of a compact O [b, h, n, d] from a file of this order, read as if the file had them in the other order.
owned_tensor in_other_order(owned_tensor o, axis_order order) {
  auto const n = o.layout.shape;
  problem::layout const of_call = o.layout;
  if (order != axis_order::bhnd) {
    o = compacted(with_swapped_axes(std::move(o)));  // as they lie in the file
    o.layout = of_call;
    return o;
  }
  o.layout = problem::layout::compact({n[0], n[2], n[1], n[3]});
  return compacted(with_swapped_axes(std::move(o)));
}

}  // namespace

std::span<output_kind const> answers_of(problem::operator_row const& of) {
  return of.handed.empty() ? of.gives.first(1) : of.gives;
}

bool has_answer(recorded_case const& entry, std::size_t call) {
  std::optional<owned_outputs> const& given = entry.outputs[call];
  return given && std::ranges::any_of(answers_of(*entry.input.call(call).draft().of),
                                      [&](output_kind which) { return given->of(which).has_value(); });
}

void take_recorded(recorded_case const& recorded, contract const& claim, case_result& into, recorded_endings& counted) {
  for (std::size_t call = 0; call < recorded.calls.size(); ++call) {
    recorded_call const& said = recorded.calls[call];
    std::string const name = printable(said.prefix.empty() ? "the call" : said.prefix);
    ++counted.calls;
    // Outputs with the status "unsupported" are an answer. With any other status they are judged, and the call counts
    // by its status.
    bool const refused = said.status && said.status->as == call_status::ending::unsupported,
               answered = recorded.outputs[call].has_value() && (!said.status || refused);
    counted.answered += answered;
    if (said.status) {
      if (!answered) count(*said.status, counted);
      if (!refused)
        add_violation(call, said.status->as == call_status::ending::hung ? bug_class::hang : bug_class::crash,
                      fmt::format("{}: {}", name, sentence_of(*said.status)), into);
    } else if (!recorded.outputs[call] && said.unusable.empty()) {
      ++counted.silent;
    }
    counted.unusable += !said.unusable.empty();
    for (unusable_output const& unusable : said.unusable)
      add_violation(call, bug_class::memory,
                    fmt::format("{} of {} cannot be judged: {}{}", unusable.role, name, unusable.says,
                                unusable.in_other_order
                                    ? order_words(said, recorded.input.call(call), *unusable.in_other_order, claim)
                                    : ""),
                    into);
    auto const answers = answers_of(*recorded.input.call(call).draft().of);
    auto const is_unusable = [&](output_kind which) {
      return std::ranges::find(said.unusable, name_of(which), &unusable_output::role) != said.unusable.end();
    };
    bool const has_it = has_answer(recorded, call),
               failed = (said.status && !refused) || std::ranges::any_of(answers, is_unusable);
    into.unsupported = into.unsupported || (!has_it && !failed);
  }
}

void tell_other_order(recorded_case const& recorded, contract const& claim, case_result& into) {
  constexpr double most_products = 0x1p26;
  std::vector<std::optional<bool>> right(recorded.calls.size());
  for (violation& wrong : into.judged.violations) {
    if (wrong.output != "o" || !recorded.outputs[wrong.call] || !recorded.outputs[wrong.call]->o) continue;
    owned_problem const& problem = recorded.input.call(wrong.call);
    problem::sizes const& s = problem.size();
    owned_tensor const& o = *recorded.outputs[wrong.call]->o;
    if (problem.rank() != 4 || s.hq < 2 || o.layout.shape[2] < 2 || multiplications(s) > most_products) continue;
    axis_order const order = order_of_o(recorded.calls[wrong.call], problem);
    std::optional<bool>& known = right[wrong.call];
    if (!known) known = is_right(problem, in_other_order(o, order), claim);
    if (*known)
      wrong.sentence +=
          fmt::format("; the O is right in the other order of axes: its elements lie as {}", other_for(order, problem));
  }
}

void tell_place_in_file(recorded_case const& recorded, case_result& into) {
  for (violation& wrong : into.judged.violations) {
    axis_order const order = recorded.calls[wrong.call].order;
    if (wrong.output != "o" || (order != axis_order::bnhd && order != axis_order::nbhd)) continue;
    int const rank = recorded.input.call(wrong.call).rank();
    auto const [b, h, i, c] = wrong.index;
    std::vector<std::int64_t> at{b, i, h, c};
    if (order == axis_order::nbhd) std::swap(at[0], at[1]);
    if (rank == 3) at = {i, h, c};
    wrong.sentence += fmt::format("; in the file, {}, it is o[{}]", axes_of(order, rank), fmt::join(at, ", "));
  }
}

std::string not_prepared(recorded_case const& recorded) {
  bool prepared = true, prepares = false;
  for (std::size_t n = 0; n < recorded.input.further.size(); ++n) {
    if (recorded.input.further[n].is != relation::warm_up) continue;
    prepares = true;
    prepared = prepared && recorded.outputs[n + 1] && !recorded.calls[n + 1].status;
  }
  if (!prepares || !recorded.outputs[0]) return "";
  if (!prepared) return "the calls before it were not answered";
  return recorded.in_order ? "" : "the file does not say in which order its calls were made";
}

std::string words_of(recorded_endings const& endings) {
  std::vector<std::string> parts;
  auto const add = [&](std::int64_t calls, char const* what) {
    if (calls > 0) parts.push_back(fmt::format("{} {}", calls, what));
  };
  add(endings.answered, "answered"), add(endings.errors, "ended in an error"), add(endings.killed, "killed");
  add(endings.hung, "hung"), add(endings.unsupported, "unsupported"), add(endings.silent, "without a word");
  add(endings.unusable, "with an output of a wrong shape or type");
  return fmt::format("of {} recorded calls: {}", endings.calls, fmt::join(parts, ", "));
}

}  // namespace attest::audit
