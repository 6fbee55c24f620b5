// What an audit covered, in numbers: which features and shape classes its answered calls had, alone and together, and
// which features the kernel refused.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "audit/cases/forms/call_form.hpp"
#include "audit/report/coverage/shape_classes.hpp"

namespace attest::audit {

enum class reply : std::uint8_t { not_asked, answered, refused };

/// What a kernel answered to one call: to the call itself, and to requests for LSE or weights in addition to O. A call
/// that ends in a crash, a hang or a failure is a finding and no reply.
struct call_replies {
  reply call = reply::answered;
  reply lse = reply::not_asked, weights = reply::not_asked;  ///< refused: not given, though the call was answered
};

struct reply_count {
  std::int64_t asked = 0, answered = 0;

  std::int64_t refused() const noexcept { return asked - answered; }
  void add(reply one) noexcept { asked += one != reply::not_asked, answered += one == reply::answered; }
  void merge(reply_count const& other) noexcept { asked += other.asked, answered += other.answered; }
  friend bool operator==(reply_count const&, reply_count const&) = default;
};

/// The calls that have a feature, or a pair of features.
struct feature_support {
  reply_count any;   ///< of all of them
  reply_count only;  ///< of those without further features
  friend bool operator==(feature_support const&, feature_support const&) = default;
};

/// Counts of answered calls by one axis or two.
struct shape_map {
  shape_axis rows;
  std::optional<shape_axis> columns;

  constexpr std::size_t row_count() const { return row_of(rows).classes; }
  constexpr std::size_t column_count() const { return columns ? row_of(*columns).classes : 1; }
};
inline constexpr std::array<shape_map, 5> shape_maps{{{shape_axis::n, shape_axis::m},
                                                      {shape_axis::d, shape_axis::dv},
                                                      {shape_axis::b, shape_axis::heads},
                                                      {shape_axis::groups, std::nullopt},
                                                      {shape_axis::threads, std::nullopt}}};

/// How many combinations were met, of how many that can exist.
struct met_count {
  std::int64_t met = 0, of = 0;
  friend bool operator==(met_count const&, met_count const&) = default;
};

struct combination_counts {
  met_count pairs, triples;
};

/// Combinations of features, of shape classes, and of both kinds. An impossible combination is not counted: two
/// features of one group that excludes, or two classes of one axis; `grouped` with as many kv heads as query heads;
/// more heads in a group than there are; or `unequal` with n and m in the same class of one size.
struct combinations {
  combination_counts features, shapes, mixed;
};

struct coverage {
  /// The features, then the shape classes, axis by axis: 20 + 45.
  static constexpr std::size_t trait_count = [] {
    std::size_t count = feature_count;
    for (axis_row const& row : axis_table) count += row.classes;
    return count;
  }();
  static constexpr std::size_t triple_count = trait_count * (trait_count - 1) * (trait_count - 2) / 6;
  static constexpr std::size_t support_count = feature_count * (feature_count + 1) / 2;

  reply_count calls;
  reply_count plain;         ///< of the calls that are bare (call_form.hpp)
  reply_count lse, weights;  ///< over the answered calls in which they were asked for
  std::vector<std::pair<std::string, reply_count>>
      sizes;  ///< calls with the sizes that --require-support names: "d=64"
  std::int64_t elements_judged = 0, elements_existing = 0;
  /// Of backward passes: gradients that were judged, and that were returned; calls that were judged by a sample.
  std::int64_t gradients_judged = 0, gradients_existing = 0, gradients_sampled = 0;
  std::int64_t draws_answered = 0;
  /// The triples of traits that an answered call had, by triple_index. Every call has a class of n, m and threads;
  /// hence a pair was met if a triple with it was met.
  std::bitset<triple_count> triples;
  std::array<std::vector<std::int64_t>, shape_maps.size()> maps;  ///< answered calls, row-major
  std::array<feature_support, support_count> supports;            ///< by support_index

  coverage();

  /// Counts the calls with these sizes, too: of the words, every size_word.
  void count_sizes(std::span<std::string const> words);
  /// Counts a call. Requires outcome.call other than not_asked.
  /// Cost  about 300 set bits
  void add(call_form const& form, call_replies const& outcome);
  /// Large problems are judged by some of their rows: `judged` of `existing` elements were judged.
  void add_elements(std::int64_t judged, std::int64_t existing) noexcept;
  void add_gradients(std::int64_t judged, std::int64_t existing, bool sampled) noexcept {
    gradients_judged += judged, gradients_existing += existing, gradients_sampled += sampled && existing > 0;
  }
  /// One numbered draw was asked; an answered one counts for the rule of three (coverage_words.hpp).
  void add_draw(bool answered) noexcept { draws_answered += answered; }
  /// Ensures  the coverage of both audits together, exactly
  void merge(coverage const& other);
  bool empty() const { return calls.asked == 0; }

  /// The calls with this feature, or with both.
  feature_support const& support(feature a, feature b) const { return supports[support_index(a, b)]; }
  feature_support const& support(feature one) const { return support(one, one); }
  /// The features that were asked without others, and that no answered call had.
  std::vector<feature> refused_alone() const;
  /// Pairs of features that were asked without others and that no answered call had, if neither feature is refused
  /// alone.
  std::vector<std::pair<feature, feature>> refused_together() const;

  combinations met() const;

  /// a, b in any order; the same twice for a single feature.
  static constexpr std::size_t support_index(feature a, feature b) {
    auto const low = static_cast<std::size_t>(a < b ? a : b), high = static_cast<std::size_t>(a < b ? b : a);
    return high * (high + 1) / 2 + low;
  }
  /// Requires  a < b < c
  static constexpr std::size_t triple_index(std::size_t a, std::size_t b, std::size_t c) {
    return c * (c - 1) * (c - 2) / 6 + b * (b - 1) / 2 + a;
  }

  friend bool operator==(coverage const&, coverage const&) = default;
};

}  // namespace attest::audit
