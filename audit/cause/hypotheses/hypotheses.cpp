#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "audit/cause/hypotheses/hypothesis.hpp"

namespace attest::audit {
namespace {

/// What a name of a hypothesis says of its class; the first that it contains.
constexpr std::pair<std::string_view, bug_class> classes_by_name[]{{"empty-row-", bug_class::empty_row},
                                                                   {"exp-", bug_class::cheap_exp},
                                                                   {"dropout-", bug_class::dropout},
                                                                   {"keep-", bug_class::dropout},
                                                                   {"sink", bug_class::sink},
                                                                   {"page", bug_class::pages},
                                                                   {"length", bug_class::entries},
                                                                   {"softcap", bug_class::softcap_order},
                                                                   {"heads-", bug_class::head_mapping},
                                                                   {"window", bug_class::window_edge},
                                                                   {"left-", bug_class::window_edge},
                                                                   {"band-", bug_class::causal_alignment},
                                                                   {"diagonal-", bug_class::causal_alignment},
                                                                   {"lse-", bug_class::lse},
                                                                   {"merge", bug_class::lse},
                                                                   {"-unweighted", bug_class::lse},
                                                                   {"not-rescaled", bug_class::lse}};

std::optional<bug_class> class_of(hypothesis const& mistake) {
  if (mistake.plain) return mistake.plain->bug_class;
  if (mistake.bounds != threshold_of::nothing) return bug_class::cheap_exp;
  for (auto const& [word, is] : classes_by_name)
    if (!mistake.of_gradients && mistake.name.find(word) != std::string::npos) return is;
  if (mistake.kind == hypothesis_kind::precision) return bug_class::low_precision;
  return std::nullopt;
}

}  // namespace

hypothesis_list const& hypotheses() {
  static hypothesis_list const all = [] {
    hypothesis_list table;
    add_hypotheses_of_merges(table);
    add_hypotheses_of_parameters(table);
    add_hypotheses_of_pages(table);
    add_hypotheses_of_visibility(table);
    add_hypotheses_of_sinks(table);
    add_hypotheses_of_entries(table);
    add_hypotheses_of_parts(table);
    add_hypotheses_of_keys(table);
    add_hypotheses_of_remainders(table);
    add_hypotheses_of_hidden(table);
    add_hypotheses_of_memory(table);
    add_hypotheses_of_conventions(table);
    add_hypotheses_of_columns(table);
    add_hypotheses_of_results(table);
    add_hypotheses_of_lost_factors(table);
    add_hypotheses_of_maxima(table);
    add_hypotheses_of_rescaling(table);
    add_hypotheses_of_axes(table);
    add_hypotheses_of_edges(table);
    add_hypotheses_of_neighbours(table);
    add_hypotheses_of_shares(table);
    add_hypotheses_of_tiles(table);
    add_hypotheses_of_query_tiles(table);
    add_hypotheses_of_exponentials(table);
    add_hypotheses_of_scores(table);
    add_hypotheses_of_precision(table);
    add_hypotheses_of_deltas(table);
    add_hypotheses_of_upstream(table);
    add_hypotheses_of_loops(table);
    add_hypotheses_of_single_gradients(table);
    add_hypotheses_of_head_sums(table);
    add_hypotheses_of_lost_rows(table);
    add_hypotheses_of_half_passes(table);
    add_hypotheses_of_gradient_precision(table);
    for (hypothesis& each : table) each.bug_class = class_of(each);
    return table;
  }();
  return all;
}

hypothesis const* find_hypothesis(std::string_view name) {
  auto const at = std::ranges::find(hypotheses(), name, &hypothesis::name);
  return at == hypotheses().end() ? nullptr : &*at;
}

}  // namespace attest::audit
