// The query block of a backward tile: its rules, its packed queries and dO, and LSE and Δ of its rows.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "fast/backward_context.hpp"
#include "fast/backward_workspace.hpp"
#include "fast/query_strips.hpp"

namespace attest::fast {

/// At most gradient_rows rows of one kv head. Row r of the kv head is query r % n of head kv_head·(hq/hk) + r / n.
template <class E>
class query_side {
 public:
  using T = working<E>;
  static constexpr std::int64_t block = gradient_rows<T>;

  query_side(backward_context<E> const& call, gradient_workspace<T> const& space) noexcept
      : call_(call), space_(space), size_(call.instance.size()) {}

  /// Turns to these rows, and finds out which keys they see.
  void enter(head_place const& at, interval const& rows) noexcept {
    at_ = at, rows_ = rows, packed_ = false;
    n_ = call_.instance.queries(at.b);
    auto const band = call_.instance.band(at.b);
    strips_.count = 0, strips_.rows = rows.size(), strips_.seen = {};
    query_place place = place_of(0);
    for (std::int64_t r = 0; r < rows.size(); ++r, advance(place)) {
      rules_[static_cast<std::size_t>(r)].describe(call_.instance, at.b, band, place);
      rules_[static_cast<std::size_t>(r)].exponent = 0;
    }
    for (std::int64_t first = 0; first < rows.size(); first += strip_rows) {
      query_strip<T>& strip = strips_.append(space_.Q, size_.d);
      strip.rows = {first, std::min(first + strip_rows, rows.size())};
      strip.view = view_of(rules() + first, strip.rows.size());
      strip.one_block_row = have_one_block_row(rules(), strip.rows);
      strips_.seen = hull(strips_.seen, strip.view.any);
    }
  }

  /// Sets the keys that the strips see of a key block, and packs the rows if they see any.
  /// Returns  the shortest interval outside which no row sees a key of the block
  interval look_at(interval const& keys) noexcept {
    interval seen{};
    if (intersection(strips_.seen, keys).empty()) return seen;
    for (query_strip<T>& strip : strips_) look(strip, rules(), keys), seen = hull(seen, strip.seen);
    if (!seen.empty() && !packed_) pack();
    return seen;
  }

  query_rules<E> const* rules() const noexcept { return rules_.data(); }
  block_strips<T> const& strips() const noexcept { return strips_; }
  interval const& rows() const noexcept { return rows_; }
  std::int64_t entry() const noexcept { return at_.b; }
  bool has_finite_queries() const noexcept { return finite_Q_; }
  bool has_finite_dO() const noexcept { return finite_dO_; }
  bool has_exponents() const noexcept { return exponents_; }

  query_place place_of(std::int64_t r) const noexcept {
    std::int64_t const row = rows_.first + r;
    return {at_.kv_head * (size_.hq / size_.hk) + row / n_, row % n_};
  }
  /// The place of the next row.
  void advance(query_place& at) const noexcept {
    if (++at.i == n_) at.i = 0, ++at.h;
  }

 private:
  void pack() noexcept {
    packed_ = finite_Q_ = finite_dO_ = true, exponents_ = false;
    query_place place = place_of(0);
    // In pieces of one head, whose rows lie at one stride, and which `wide` can hold.
    for (std::int64_t first = 0; first < rows_.size();) {
      std::int64_t const count = std::min({workspace<T>::widest_panel, rows_.size() - first, n_ - place.i});
      if (size_.d > 0) pack_queries(place, first, count);
      if (size_.dv > 0) pack_dO(place, first, count);
      for (std::int64_t r = first; r < first + count; ++r, advance(place)) {
        space_.delta[r] = delta_of(call_, at_.b, place, space_.dO + r * size_.dv, space_.row);
        space_.lse[r] = lse_in_log2<T>(call_.given.lse(at_.b, place.h, place.i, 0));
      }
      first += count;
    }
  }

  /// `count` rows in T: where they lie, or converted in `wide`.
  matrix<T const> in_working_type(matrix<E const> const& from, std::int64_t count, std::int64_t width) const noexcept {
    if constexpr (!is_narrow<E>) {
      return from;
    } else {
      for (std::int64_t r = 0; r < count; ++r) converted(call_.ops, from.row(r), width, space_.keys.wide + r * width);
      return {space_.keys.wide, width};
    }
  }

  void pack_queries(query_place const& at, std::int64_t first, std::int64_t count) noexcept {
    auto const& q = call_.instance.q();
    matrix<T const> const from = in_working_type({q.row(at_.b, at.h, at.i), q.stride[2]}, count, size_.d);
    finite_Q_ = pack_values(from, first, count, size_.d, space_.Q_rows) && finite_Q_;
    for (std::int64_t r = 0; r < count; ++r) {
      int const left = call_.scale.fold(call_.ops, from.row(r), size_.d, space_.Q + (first + r) * size_.d);
      rules_[static_cast<std::size_t>(first + r)].exponent = left;
      exponents_ = exponents_ || left != 0;
    }
  }

  void pack_dO(query_place const& at, std::int64_t first, std::int64_t count) noexcept {
    auto const& d_o = call_.given.d_o;
    matrix<T const> const from = in_working_type({d_o.row(at_.b, at.h, at.i), d_o.stride[2]}, count, size_.dv);
    finite_dO_ = pack_values(from, first, count, size_.dv, space_.dO_rows) && finite_dO_;
    for (std::int64_t r = 0; r < count; ++r) std::copy_n(from.row(r), size_.dv, space_.dO + (first + r) * size_.dv);
  }

  bool pack_values(matrix<T const> const& from, std::int64_t first, std::int64_t count, std::int64_t width,
                   T* to) noexcept {
    return call_.ops.pack_values(from, count, block, width, to + first * call_.ops.panel);
  }

  backward_context<E> const& call_;
  gradient_workspace<T> const& space_;
  problem::sizes const& size_;
  head_place at_{};
  interval rows_{};
  std::int64_t n_ = 0;  ///< queries of the entry
  bool packed_ = false, finite_Q_ = false, finite_dO_ = false, exponents_ = false;
  std::array<query_rules<E>, static_cast<std::size_t>(block)> rules_{};
  std::array<query_strip<T>, static_cast<std::size_t>(ceiling_division(block, strip_rows))> strip_list_{};
  block_strips<T> strips_{strip_list_.data(), 0, 0, {}};
};

}  // namespace attest::fast
