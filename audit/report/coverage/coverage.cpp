#include "audit/report/coverage/coverage.hpp"

#include <algorithm>

#include "audit/cases/domain/size_word.hpp"

namespace attest::audit {
namespace {

/// A feature (axis: none), or a class of an axis.
struct trait {
  std::optional<shape_axis> axis;
  std::size_t at;  ///< the feature, or the class

  bool is(feature one) const { return !axis && at == static_cast<std::size_t>(one); }
};

constexpr std::array<std::size_t, axis_count> first_traits = [] {
  std::array<std::size_t, axis_count> first{};
  std::size_t next = feature_count;
  for (std::size_t axis = 0; axis < axis_count; ++axis) first[axis] = next, next += axis_table[axis].classes;
  return first;
}();

std::array<trait, coverage::trait_count> const& traits() {
  static std::array<trait, coverage::trait_count> const all = [] {
    std::array<trait, coverage::trait_count> made{};
    std::size_t next = 0;
    for (std::size_t at = 0; at < feature_count; ++at) made[next++] = {std::nullopt, at};
    for (axis_row const& row : axis_table)
      for (std::size_t at = 0; at < row.classes; ++at) made[next++] = {row.id, at};
    return made;
  }();
  return all;
}

/// Can one call have both? `combinations` states the rules.
bool can_meet(trait const& a, trait const& b) {
  if (!a.axis && !b.axis) return !exclude(static_cast<feature>(a.at), static_cast<feature>(b.at));
  if (a.axis == b.axis) return false;
  auto const meets = [](trait const& one, trait const& other) {
    if (one.is(feature::grouped) && (other.axis == shape_axis::groups || other.axis == shape_axis::heads))
      return last_of(row_of(*other.axis), other.at) != 1;
    if (one.axis == shape_axis::groups && other.axis == shape_axis::heads) {
      auto const most_heads = last_of(row_of(*other.axis), other.at);
      return !most_heads || row_of(*one.axis).first[one.at] <= *most_heads;
    }
    return true;
  };
  return meets(a, b) && meets(b, a);
}

constexpr std::size_t pair_index(std::size_t a, std::size_t b) { return a * coverage::trait_count + b; }

using pair_set = std::bitset<coverage::trait_count * coverage::trait_count>;

/// By pair_index of a < b.
pair_set const& possible_pairs() {
  static pair_set const possible = [] {
    pair_set found;
    for (std::size_t b = 1; b < coverage::trait_count; ++b)
      for (std::size_t a = 0; a < b; ++a) found.set(pair_index(a, b), can_meet(traits()[a], traits()[b]));
    return found;
  }();
  return possible;
}

/// Can one call have all three?
/// Requires  a, b and c in the order of traits(); every two of them can meet
bool can_meet(trait const& a, trait const& b, trait const& c) {
  if (!a.is(feature::unequal)) return true;
  return b.axis != shape_axis::n || c.axis != shape_axis::m || b.at != c.at ||
         last_of(row_of(shape_axis::n), b.at) != row_of(shape_axis::n).first[b.at];
}

/// The traits of a call, rising.
std::vector<std::size_t> traits_of(call_form const& form) {
  std::vector<std::size_t> all;
  form.features().each([&](feature one) { all.push_back(static_cast<std::size_t>(one)); });
  for (axis_row const& row : axis_table)
    if (auto const at = class_on(row.id, form)) all.push_back(first_traits[static_cast<std::size_t>(row.id)] + *at);
  return all;
}

}  // namespace

coverage::coverage() {
  for (std::size_t at = 0; at < shape_maps.size(); ++at)
    maps[at].assign(shape_maps[at].row_count() * shape_maps[at].column_count(), 0);
}

void coverage::count_sizes(std::span<std::string const> words) {
  for (std::string const& word : words)
    if (size_word::of(word)) sizes.emplace_back(word, reply_count{});
}

void coverage::add(call_form const& form, call_replies const& outcome) {
  calls.add(outcome.call);
  if (is_bare(form)) plain.add(outcome.call);
  for (auto& [word, count] : sizes)
    if (size_word::of(word)->is_of(form.size)) count.add(outcome.call);
  feature_set const features = form.features();
  std::size_t const count = features.count();
  features.each([&](feature a) {
    features.each([&](feature b) {
      if (b < a) return;
      feature_support& of = supports[support_index(a, b)];
      of.any.add(outcome.call);
      if (count == (a == b ? 1U : 2U)) of.only.add(outcome.call);
    });
  });
  if (outcome.call != reply::answered) return;
  lse.add(outcome.lse), weights.add(outcome.weights);
  auto const has = traits_of(form);
  for (std::size_t c = 2; c < has.size(); ++c)
    for (std::size_t b = 1; b < c; ++b)
      for (std::size_t a = 0; a < b; ++a) triples.set(triple_index(has[a], has[b], has[c]));
  for (std::size_t at = 0; at < shape_maps.size(); ++at) {
    shape_map const& map = shape_maps[at];
    auto const row = class_on(map.rows, form);
    auto const column = map.columns ? class_on(*map.columns, form) : std::optional<std::size_t>(0);
    if (row && column) ++maps[at][*row * map.column_count() + *column];
  }
}

void coverage::add_elements(std::int64_t judged, std::int64_t existing) noexcept {
  elements_judged += judged, elements_existing += existing;
}

void coverage::merge(coverage const& other) {
  calls.merge(other.calls), plain.merge(other.plain), lse.merge(other.lse), weights.merge(other.weights);
  for (auto const& [word, count] : other.sizes) {
    auto const at = std::ranges::find(sizes, word, &std::pair<std::string, reply_count>::first);
    if (at == sizes.end()) sizes.emplace_back(word, count);
    else at->second.merge(count);
  }
  add_elements(other.elements_judged, other.elements_existing);
  gradients_judged += other.gradients_judged, gradients_existing += other.gradients_existing;
  gradients_sampled += other.gradients_sampled;
  draws_answered += other.draws_answered;
  triples |= other.triples;
  for (std::size_t at = 0; at < maps.size(); ++at)
    for (std::size_t cell = 0; cell < maps[at].size(); ++cell) maps[at][cell] += other.maps[at][cell];
  for (std::size_t at = 0; at < supports.size(); ++at)
    supports[at].any.merge(other.supports[at].any), supports[at].only.merge(other.supports[at].only);
}

std::vector<feature> coverage::refused_alone() const {
  std::vector<feature> refused;
  // By itself, or in a domain of few shapes beside a feature that the kernel takes.
  auto const is_asked = [&](feature one) {
    if (support(one).only.asked > 0) return true;
    return std::ranges::any_of(feature_table(), [&](feature_row const& other) {
      return other.id != one && support(std::min(one, other.id), std::max(one, other.id)).only.asked > 0 &&
             support(other.id).any.answered > 0;
    });
  };
  for (feature_row const& row : feature_table())
    if (is_asked(row.id) && support(row.id).any.answered == 0) refused.push_back(row.id);
  return refused;
}

std::vector<std::pair<feature, feature>> coverage::refused_together() const {
  auto const alone = refused_alone();
  auto const is_alone = [&](feature one) { return std::ranges::find(alone, one) != alone.end(); };
  std::vector<std::pair<feature, feature>> refused;
  for (feature_row const& a : feature_table())
    for (feature_row const& b : feature_table().subspan(static_cast<std::size_t>(a.id) + 1))
      if (support(a.id, b.id).only.asked > 0 && support(a.id, b.id).any.answered == 0 && !is_alone(a.id) &&
          !is_alone(b.id))
        refused.emplace_back(a.id, b.id);
  return refused;
}

combinations coverage::met() const {
  auto const& all = traits();
  auto const& possible = possible_pairs();
  combinations found;
  pair_set pairs;
  auto const counts_of = [&](std::size_t low, std::size_t high) -> combination_counts& {
    return all[low].axis ? found.shapes : all[high].axis ? found.mixed : found.features;
  };
  auto const count = [](met_count& into, bool was_met) { ++into.of, into.met += was_met; };
  for (std::size_t c = 2; c < trait_count; ++c)
    for (std::size_t b = 1; b < c; ++b)
      for (std::size_t a = 0; a < b; ++a) {
        bool const was_met = triples[triple_index(a, b, c)];
        if (was_met) pairs.set(pair_index(a, b)), pairs.set(pair_index(a, c)), pairs.set(pair_index(b, c));
        if (possible[pair_index(a, b)] && possible[pair_index(a, c)] && possible[pair_index(b, c)] &&
            can_meet(all[a], all[b], all[c]))
          count(counts_of(a, c).triples, was_met);
      }
  for (std::size_t b = 1; b < trait_count; ++b)
    for (std::size_t a = 0; a < b; ++a)
      if (possible[pair_index(a, b)]) count(counts_of(a, b).pairs, pairs[pair_index(a, b)]);
  return found;
}

}  // namespace attest::audit
