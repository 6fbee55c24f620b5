#include <algorithm>
#include <string_view>

#include "audit/cause/hypotheses/hypothesis.hpp"

namespace attest::audit {

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
    return table;
  }();
  return all;
}

hypothesis const* find_hypothesis(std::string_view name) {
  auto const at = std::ranges::find(hypotheses(), name, &hypothesis::name);
  return at == hypotheses().end() ? nullptr : &*at;
}

}  // namespace attest::audit
