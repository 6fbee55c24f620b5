// A mistake as the problem, or the contract, that a kernel with this mistake would satisfy. The judge then certifies
// its answers by the same bound as the answers of a right kernel.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "audit/cases/bug_class.hpp"
#include "audit/contract/contract.hpp"
#include "audit/judge/judge_gradients.hpp"
#include "audit/tensors/memory_form.hpp"
#include "audit/tensors/owned_outputs.hpp"
#include "audit/tensors/owned_problem.hpp"
#include "audit/tensors/row_index.hpp"

namespace attest::audit {

/// A call of rank 4 with what the kernel answered, and the contract that judges the answer.
struct answered_call {
  owned_problem problem;
  owned_outputs outputs;
  contract claim;
  std::optional<owned_problem> given{};    ///< the problem as it was stated, where its rows are packed or paged
  formed_from from = formed_from::inputs;  ///< of gradients: what they are judged as a function of
  bool open = false;                       ///< of gradients: the hypothesis says nothing of these
  bool put_right = false;                  ///< of gradients: what the mistake added was taken from them again
  memory_form memory{};                    ///< how the tensors lay in memory
  std::set<row_index> open_rows{};         ///< the hypothesis says nothing of them: they have no key, and O = 0
};

/// The call with a problem and outputs of rank 4, whatever the rank of the caller; in slots, if it was packed or paged.
/// Requires  compact outputs that fit the problem, or none
answered_call of_rank_4(owned_problem const& problem, owned_outputs const& outputs, contract const& claim);

/// What a hypothesis makes of a call: calls that are all certified where the hypothesis is true. None: it does not
/// concern this call, and a kernel with this mistake alone answers it rightly. `before` is the call that the kernel
/// answered before this one; null where that is not known.
using supposition = std::function<std::vector<answered_call>(answered_call const&, answered_call const* before)>;

/// What a hypothesis changes. Of hypotheses that explain equally much, the earlier kind is named.
enum class hypothesis_kind : std::uint8_t {
  problem,     ///< the kernel solves another problem, exactly: answers seldom fit one by chance
  convention,  ///< it follows another convention for queries that see no key
  precision,   ///< it computes with less precision: a wider bound, which right answers satisfy too
};

/// What the number of a hypothesis about precision bounds. It is chosen among several.
enum class threshold_of : std::uint8_t {
  nothing,   ///< the hypothesis has no number
  distance,  ///< from the largest score, beyond which weights are dropped, or wrong
  error,     ///< of exp, relative
};

/// The class of a mistake that says nothing of a class.
inline constexpr std::optional<bug_class> any_class{};

/// Steps that hypotheses with different numbers share.
inline constexpr char const *step_of_cutoff = "cutoff", *step_of_exp = "exp-to";

struct hypothesis {
  std::string name;                           ///< in reports: "band-top-left"
  std::string sentence;                       ///< the mistake as a clause: "the band is aligned top-left"
  std::optional<audit::bug_class> bug_class;  ///< of findings that it explains
  hypothesis_kind kind = hypothesis_kind::problem;
  audit::supposition suppose;
  /// What O is then, "the answer without the mask", if the mistake is plain enough to be asked of every wrong element,
  /// by its row alone; else null.
  char const* plain = nullptr;
  std::string step = {};  ///< of precision: the name under which its step is seen (score_rows.hpp), whatever its number
  threshold_of bounds = threshold_of::nothing;
  double threshold = 0;
  bool fits_answers =
      false;  ///< of a problem: a number in it is chosen by the answer, so that no right one contradicts it
  std::vector<std::string> accepted{};  ///< the words of --accept that make it no mistake, if there are any
  bool of_gradients = false;            ///< a mistake of the backward pass alone
  /// Does a kernel with this mistake read past an input in this call? Then the call may end there.
  std::function<bool(answered_call const&)> reads_outside{};
};

/// All hypotheses. Of several that explain the same answers the first is named, so that special ones stand before
/// general ones, and small thresholds before large ones.
std::vector<hypothesis> const& hypotheses();

/// Nothing where no hypothesis has this name.
hypothesis const* find_hypothesis(std::string_view name);

using hypothesis_list = std::vector<hypothesis>;

// The parts of the table, in its order. Each is a file of this folder.
void add_hypotheses_of_merges(hypothesis_list& to);        ///< parts that are lost, their weights, their strides
void add_hypotheses_of_parameters(hypothesis_list& to);    ///< scale, softcap, bias
void add_hypotheses_of_pages(hypothesis_list& to);         ///< where rows of packed and paged entries are read
void add_hypotheses_of_visibility(hypothesis_list& to);    ///< mask and band
void add_hypotheses_of_edges(hypothesis_list& to);         ///< edges of 0, exchanged edges, moved diagonals
void add_hypotheses_of_sinks(hypothesis_list& to);         ///< sinks
void add_hypotheses_of_entries(hypothesis_list& to);       ///< lengths, block masks, dropout
void add_hypotheses_of_parts(hypothesis_list& to);         ///< keys that are taken in parts and merged
void add_hypotheses_of_keys(hypothesis_list& to);          ///< keys lost or counted twice, heads, blocks
void add_hypotheses_of_remainders(hypothesis_list& to);    ///< keys behind the last part; a lost last key is simpler
void add_hypotheses_of_hidden(hypothesis_list& to);        ///< hidden keys that are read, stand-ins for −∞, NaN
void add_hypotheses_of_memory(hypothesis_list& to);        ///< inputs misread or rounded, earlier answers
void add_hypotheses_of_conventions(hypothesis_list& to);   ///< rows in which no key is seen
void add_hypotheses_of_columns(hypothesis_list& to);       ///< columns of Q and K that are not read
void add_hypotheses_of_rescaling(hypothesis_list& to);     ///< weights and sums beside different maxima
void add_hypotheses_of_results(hypothesis_list& to);       ///< LSE, the division, parts that are not merged
void add_hypotheses_of_lost_factors(hypothesis_list& to);  ///< O, l or columns of O that are not rescaled
void add_hypotheses_of_maxima(hypothesis_list& to);        ///< weights beside another number than the maximum
void add_hypotheses_of_shares(hypothesis_list& to);        ///< l of some keys alone
void add_hypotheses_of_tiles(hypothesis_list& to);         ///< what fills the last tile, where loops over tiles end
void add_hypotheses_of_query_tiles(hypothesis_list& to);   ///< what one query of a tile decides for all
void add_hypotheses_of_scores(hypothesis_list& to);        ///< factors and bounds of scores, sums of another row
void add_hypotheses_of_axes(hypothesis_list& to);          ///< heads, entries, columns, axes taken for others
void add_hypotheses_of_neighbours(hypothesis_list& to);    ///< masks and biases of another head, entry or tile
void add_hypotheses_of_exponentials(hypothesis_list& to);  ///< exponentials that end
void add_hypotheses_of_precision(hypothesis_list& to);     ///< wider models of the same problem
void add_hypotheses_of_deltas(hypothesis_list& to);        ///< gradients: factors, delta, LSE, the softcap's slope
void add_hypotheses_of_gradient_precision(hypothesis_list& to);
void add_hypotheses_of_upstream(hypothesis_list& to);          ///< gradients: where dO is read, and a NaN in it
void add_hypotheses_of_loops(hypothesis_list& to);             ///< gradients: pairs that one loop takes; sums
void add_hypotheses_of_lost_rows(hypothesis_list& to);         ///< gradients: rows without keys, lost queries
void add_hypotheses_of_single_gradients(hypothesis_list& to);  ///< gradients: one alone; lost rows, means, roundings
void add_hypotheses_of_head_sums(hypothesis_list& to);         ///< gradients: the head to which a query head is added
void add_hypotheses_of_half_passes(hypothesis_list& to);  ///< gradients: plain mistakes of one loop; after all others

}  // namespace attest::audit
