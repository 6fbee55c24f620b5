// O, weights and LSE correctly rounded: by the machine tier if its enclosure leaves one value (first in doubles, then
// in double words; f64 only in double words), otherwise by the ball tier (reference/attention/correctly_rounded.hpp).
// The result is the same either way; only the time differs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include "reference/attention/attention.hpp"
#include "reference/attention/exponential_sum.hpp"
#include "reference/machine/rounding_tally.hpp"
#include "reference/machine/rows.hpp"
#include "reference/real/nearest.hpp"

namespace attest::reference::machine {

/// One row. An element is NaN if docs/semantics.md says NaN or does not specify it, and if the ball tier
/// does not decide it. The weight of a masked key is 0, the LSE of an empty row −∞, or a sink of +∞.
template <class Target>
struct rounded_row {
  std::int64_t b = 0, h = 0, i = 0;
  std::vector<Target> o, weights;
  Target lse{};
};

struct rounding_options {
  bool weights = true, lse = true;  ///< beside o
};

/// Rounds rows of one problem to Target: nearest, ties to even. Each thread needs its own. Target and T are element
/// types of problem::any_instance, for which rounded.cpp compiles it.
template <class Target, class T>
class row_rounder {
 public:
  /// Requires  the instance outlives this object
  explicit row_rounder(problem::instance<T> const& p, rounding_options const& options = {})
      : problem_(p), options_(options) {
    open();
  }

  /// visit(rounded_row<Target> const&) for rows i0 ≤ i < i1 of head h of batch b, in order.
  template <class Visit>
  void each(std::int64_t b, std::int64_t h, std::int64_t i0, std::int64_t i1, Visit&& visit) {
    auto const call = [](void* to, rounded_row<Target> const& row) {
      (*static_cast<std::remove_reference_t<Visit>*>(to))(row);
    };
    run(b, h, i0, i1, call, const_cast<void*>(static_cast<void const*>(std::addressof(visit))));
  }

  rounding_tally const& tally() const noexcept { return tally_; }

 private:
  static constexpr unsigned W = 128;

  // Defined and instantiated in rounded.cpp; noinline keeps their symbols there. open() is no constructor, since clang
  // emits only the symbol that base classes call.
  [[gnu::noinline]] void open();
  [[gnu::noinline]] void run(std::int64_t b, std::int64_t h, std::int64_t i0, std::int64_t i1,
                             void (*visit)(void*, rounded_row<Target> const&), void* to);
  /// The row in the ball tier, enclosed at most once.
  enclosed_row<W, T> const& balls();
  /// What the ball tier's signs need of the row, computed at most once. Requires  balls().kind finite
  exponential_sums<T>& sums();
  /// The row in double words, enclosed at most once. It is handed over if the machine tier does not cover the problem,
  /// and for f64, whose rows are in double words from the start.
  certified_row const& sharp();
  /// nearest(row), or nearest(the row in double words) if the row itself does not decide it.
  template <class Nearest>
  rounded_value<Target> by_either(certified_row const& row, Nearest&& nearest);
  Target by_machine(Target value);
  Target by_ball_tier(rounded_value<Target> const& value);
  Target ball_output(std::int64_t c);
  Target lse_of_empty();
  void round(certified_row const& row);
  void round_in_balls();

  problem::instance<T> const& problem_;
  rounding_options options_;
  std::optional<row_source<T>> rows_, sharper_;
  rounded_row<Target> row_;
  certified_row sharp_;
  enclosed_row<W, T> balls_;
  std::optional<exponential_sums<T>> sums_;
  bool sharp_known_ = false, balls_known_ = false;
  rounding_tally tally_;
};

}  // namespace attest::reference::machine
