// The steps from which hypotheses are made: changes of a problem, further keys, changes of the LSE, wider models.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "audit/cause/hypotheses/hypothesis.hpp"

namespace attest::audit {

using draft_change = std::function<void(problem_draft&)>;
using problem_question = std::function<bool(owned_problem const&)>;

/// The kernel solves the problem that `change` makes, where `concerned` holds.
supposition solves(problem_question concerned, draft_change change);
/// The kernel has the model that `widen` makes of the claim's model.
supposition has_model(std::function<void(problem::kernel_model&)> widen);

/// A function that adds hypotheses of the kind `problem` and of one class to the list: name, sentence, supposition, and
/// what O is if the mistake is plain.
inline auto adds_problems_to(hypothesis_list& to, std::optional<bug_class> of_class) {
  return [&to, of_class](std::string name, std::string sentence, supposition how, char const* plain = nullptr) {
    to.push_back({.name = std::move(name),
                  .sentence = std::move(sentence),
                  .bug_class = of_class,
                  .suppose = std::move(how),
                  .plain = plain});
  };
}
/// The same, where the supposition is solves(concerned, change).
inline auto adds_changes_to(hypothesis_list& to, std::optional<bug_class> of_class) {
  return [add = adds_problems_to(to, of_class)](std::string name, std::string sentence, problem_question concerned,
                                                draft_change change) {
    add(std::move(name), std::move(sentence), solves(std::move(concerned), std::move(change)));
  };
}
/// Adds "every head uses the mask of head 0", and so for entries of the batch and for queries. `tensor` is "mask" or
/// "bias".
void add_uses_of_the_first(hypothesis_list& to, bug_class of_class, std::string_view tensor,
                           std::optional<owned_tensor> problem_draft::* of);

/// The call with another problem. Returns nothing if the draft is not valid.
std::vector<answered_call> with_problem(answered_call const& call, problem_draft draft);

// --- the elements of a problem of rank 4 ---

/// The largest score of a row without visible keys.
inline constexpr double no_score = -std::numeric_limits<double>::infinity();
/// Numbers that kernels and their callers take for −∞.
inline constexpr double finite_masks[]{-1e4, -65504.0, -1e9, -1e30};

/// Element (b, h, i, j), where axes of size 1 broadcast.
double element(owned_tensor const& t, std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j);
/// Is key j visible to query i, by mask and band?
bool sees(owned_problem const& problem, std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j);
/// The band of entry b, with its alignment.
problem::band band_of_entry(owned_problem const& problem, std::int64_t b);
/// The last key that the right edge of the band shows to query i.
std::int64_t last_key(problem::band const& band, std::int64_t i);
/// Is key j visible to query i by the mask and another band? The draft's lengths and block mask hide keys as before.
bool sees_in_band(owned_problem const& problem, problem::band const& band, std::int64_t b, std::int64_t h,
                  std::int64_t i, std::int64_t j);
/// The bias, 0 where there is none.
double bias_of(owned_problem const& problem, std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j);
/// The sink of a head of an entry. Requires a sink.
double sink_of(problem_draft const& p, std::int64_t b, std::int64_t h);
/// σ in double.
double sigma_of(owned_problem const& problem);
/// A score behind the softcap; 0 is none.
double capped(double score, double softcap);
/// Scores, hidden keys included, in double arithmetic: they choose which problem is meant, and are no truth.
class score_table {
 public:
  explicit score_table(owned_problem const& problem);
  double operator()(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const {
    return pairs_->scores[place(b, h, i, j)];
  }
  bool visible(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const {
    return pairs_->visible[place(b, h, i, j)] != 0;
  }
  /// The largest of the visible keys first ≤ j < last; −∞ without any.
  double largest(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t first, std::int64_t last) const;
  double largest(std::int64_t b, std::int64_t h, std::int64_t i) const {
    return pairs_->largest[static_cast<std::size_t>((b * size_.hq + h) * size_.n + i)];
  }
  /// Σ e^(s − beside) of the visible keys first ≤ j < last; `beside` is finite.
  double sum_beside(double beside, std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t first,
                    std::int64_t last) const;
  /// Σ e^(s − m) of the visible keys, where m = largest(b, h, i) is finite.
  double sum_of_weights(std::int64_t b, std::int64_t h, std::int64_t i) const;
  /// Has no visible key another score than −∞, and none a NaN?
  bool is_empty(std::int64_t b, std::int64_t h, std::int64_t i) const;

 private:
  struct pair_table {
    std::vector<double> scores;
    std::vector<char> visible;
    std::vector<double> largest;  ///< of each row
  };
  struct key_range {
    std::size_t row = 0;  ///< the place of its key 0
    std::int64_t first = 0, last = 0;
    bool operator==(key_range const&) const = default;
  };
  /// Of the problem that was asked for last, the table is at hand: hypotheses ask for it one after the other.
  static std::shared_ptr<pair_table const> table_of(owned_problem const& problem);
  static pair_table computed(owned_problem const& problem);
  std::size_t place(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const {
    return static_cast<std::size_t>(((b * size_.hq + h) * size_.n + i) * size_.m + j);
  }

  problem::sizes size_;
  std::shared_ptr<pair_table const> pairs_;
  // The range that was asked for last: hypotheses ask for it key by key.
  mutable key_range asked_;
  mutable double largest_ = no_score;
};
/// Small enough that every score may be looked at.
bool is_small(owned_problem const& problem);

using pair_question = std::function<bool(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j)>;
using pair_number = std::function<double(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j)>;

/// The draft sees key j where `shown` says so: a mask of all queries and keys, and no band.
void show(problem_draft& draft, problem::sizes const& size, pair_question const& shown);
/// The call in which key j is visible to query i where `seen` says so, whatever mask and band say. Returns nothing if
/// that changes nothing. `seen` is asked row by row, in the order of the keys.
std::vector<answered_call> with_sight(answered_call const& call, pair_question const& seen);
/// The bias is the given number, in f32 or, beside f64, in f64.
void set_bias(problem_draft& draft, problem::sizes const& size, pair_number const& bias);
/// The call whose scores gain these numbers; O and LSE are judged. Returns nothing if none gains. `gain` is asked row
/// by row, in the order of the keys.
std::vector<answered_call> with_gains(answered_call call, pair_number const& gain);

/// Keys behind the last one. Each is a copy of a key of the problem or 0, and so is its value.
struct further_keys {
  std::int64_t count = 0;
  std::function<std::optional<std::int64_t>(std::int64_t)> key, value;
  bool weighs_0 = false;  ///< their weight is 0 and multiplies their values: an infinite one is then NaN
  pair_question shown;    ///< j counts the further keys
  pair_number bias;       ///< likewise; none: 0
  /// The weights of all keys in the row as returned; none: weights are not judged.
  std::function<double(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j)> weight;
};
std::vector<answered_call> with_further_keys(answered_call const& call, further_keys const& keys);
/// Copies of these keys, with their values and biases, seen where they are. Weights are not judged.
/// Requires  the problem lives as long as what is returned
further_keys copies_of(owned_problem const& problem, std::vector<std::int64_t> keys);

/// Rows in which none of the first `keys` keys is visible, and a later one is, are NaN (−∞ − −∞).
/// Requires  is_small(call.problem)
/// Ensures   returns nothing if no row is such, or if d = 0
std::vector<answered_call> with_nan_rows(answered_call const& call, std::int64_t keys);

/// The call without the weights that it returned: the hypothesis says nothing of them.
answered_call without_weights(answered_call call);

/// The call under the model that its claim has for it, which may then be widened.
answered_call with_model(answered_call const& call);

/// Multiplies each row of O by a number, except where that is 0, subnormal or not finite. That is one rounding more,
/// and two in the model. Requires  a call of with_model, with an O
void scale_rows_of_o(answered_call& call,
                     std::function<double(std::int64_t b, std::int64_t h, std::int64_t i)> const& factor);

/// The returned LSE, changed by `change`. That is one rounding more, and two in the model.
/// Ensures   returns nothing if the call has no LSE
std::optional<answered_call> with_lse(
    answered_call const& call,
    std::function<double(std::int64_t b, std::int64_t h, std::int64_t i, double got)> const& change);

}  // namespace attest::audit
