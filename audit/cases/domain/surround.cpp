#include "audit/cases/domain/surround.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "audit/cases/random.hpp"
#include "reference/attention/visibility.hpp"

namespace attest::audit {
namespace {

using columns = std::vector<std::int64_t>;

bool is_finite(double x) { return x - x == 0; }

/// Copies one element with all its bits.
void copy(owned_tensor& to, std::size_t at, owned_tensor const& from, std::size_t place) {
  std::size_t const bytes = problem::size_of(from.type);
  std::memcpy(to.bytes.data() + at * bytes, from.bytes.data() + place * bytes, bytes);
}

/// The columns of a width in a random order: first the columns that a tensor of `count` columns keeps, in increasing
/// order.
columns dealt(std::int64_t count, std::int64_t width, random_stream& random) {
  columns all(static_cast<std::size_t>(width));
  std::iota(all.begin(), all.end(), std::int64_t{0});
  for (std::int64_t at = width - 1; at > 0; --at)
    std::swap(all[static_cast<std::size_t>(at)], all[static_cast<std::size_t>(random.below(at + 1))]);
  std::sort(all.begin(), all.begin() + count);
  return all;
}

/// The median size of the finite numbers of a tensor that are not 0, from 2⁻²⁰ to 1,000; 1 without such numbers.
double usual_size(owned_tensor const& of) {
  std::vector<double> sizes;
  std::size_t const count = of.bytes.size() / problem::size_of(of.type);
  for (std::size_t at = 0; at < count; at += 1 + count / 4096)
    if (double const x = std::abs(load(of, at)); x > 0 && is_finite(x)) sizes.push_back(x);
  if (sizes.empty()) return 1;
  auto const middle = sizes.begin() + std::ssize(sizes) / 2;
  std::nth_element(sizes.begin(), middle, sizes.end());
  return std::clamp(*middle, 0x1p-20, 1e3);
}

/// A row of numbers like the rows of a tensor: one of its finite rows, as it is, negated, halved or quartered; or drawn
/// numbers of their size.
class row_source {
 public:
  row_source(owned_tensor const& from, bool copies_only)
      : from_(from), copies_only_(copies_only), size_(usual_size(from)) {
    auto const& shape = from.layout.shape;
    for (std::int64_t b = 0; b < shape[0]; ++b)
      for (std::int64_t h = 0; h < shape[1]; ++h)
        for (std::int64_t i = 0; i < shape[2] && finite_.size() < most; ++i) {
          bool finite = true;
          for (std::int64_t c = 0; c < shape[3] && finite; ++c)
            finite = is_finite(load(from, offset_of(from, b, h, i, c)));
          if (finite) finite_.push_back({b, h, i});
        }
  }

  /// Calls put(column, number) for the columns 0 … width − 1 of the tensor.
  template <class F>
  void draw(random_stream& random, F&& put) const {
    std::int64_t const width = from_.layout.shape[3];
    bool const drawn = !copies_only_ && random.below(2) == 0;
    constexpr double times[]{1, 0.5, 0.25, -1};
    double const factor = times[random.below(4)];
    std::int64_t const chosen = random.below(std::max<std::int64_t>(std::ssize(finite_), 1));
    for (std::int64_t c = 0; c < width; ++c) {
      if (drawn) put(c, size_ * random.nearly_normal());
      else if (finite_.empty()) put(c, 0.0);
      else {
        auto const [b, h, i] = finite_[static_cast<std::size_t>(chosen)];
        put(c, factor * load(from_, offset_of(from_, b, h, i, c)));
      }
    }
  }

 private:
  static constexpr std::size_t most = 4096;
  owned_tensor const& from_;
  bool copies_only_;
  double size_;
  std::vector<row_index> finite_;
};

/// A tensor of the same kind in memory (rows, heads or both apart, heads inside) with other sizes. Gaps hold NaN.
owned_tensor shaped_like(owned_tensor const& from, std::int64_t rows, std::int64_t width) {
  problem::layout const& old = from.layout;
  problem::layout to = problem::layout::compact({old.shape[0], old.shape[1], rows, width});
  bool const inside = old.shape[1] > 1 && old.stride[1] == old.shape[3] && old.stride[2] == old.shape[1] * old.shape[3];
  if (inside) {
    to.stride = {rows * old.shape[1] * width, width, old.shape[1] * width, 1};
  } else if (old.shape[2] > 1 && old.stride[2] > old.shape[3]) {
    to.stride[2] = width + old.stride[2] - old.shape[3];
    to.stride[1] = to.stride[2] * rows;
    to.stride[0] = to.stride[1] * old.shape[1];
  }
  owned_tensor made = owned_tensor::zeros(from.type, to);
  if (!inside && to.stride[2] > width) {
    std::ranges::fill(made.bytes, std::byte{0xff});
    fill(made, [](auto...) { return 0.0; });
  }
  return made;
}

class surrounder {
 public:
  surrounder(problem_draft const& p, problem_draft const& like, surroundings const& by)
      : p_(p), like_(like), by_(by), q_rows_(p.q.layout.shape[2]), k_rows_(p.k.layout.shape[2]) {
    random_stream random = stream("columns");
    std::int64_t const d = p.q.layout.shape[3];
    kept_ = dealt(d, by.d, random);
    added_ = columns(kept_.begin() + d, kept_.end());
    kept_.resize(static_cast<std::size_t>(d));
    if (by.by == hiding::scores) hiding_column_ = added_.back(), added_.pop_back();
  }

  problem_draft made() {
    problem_draft to;
    static_cast<problem::parameters&>(to) = p_;
    to.scale = by_.scale;
    bool const slots = p_.has_slots();
    to.q = with_columns(p_.q, slots ? by_.at.n : q_rows_, slots ? by_.at.rows_before : 0, true);
    to.k = with_columns(p_.k, slots ? by_.at.m : k_rows_, slots ? by_.at.keys_before : 0, false);
    to.v = values(slots ? by_.at.m : k_rows_, slots ? by_.at.keys_before : 0);
    if (slots) to.band = by_.at.band, to.align = 0;
    if (slots && p_.align != 0 && !p_.is_dense()) to.band = p_.band, to.align = p_.align;
    for (auto const optional : {&problem_draft::mask, &problem_draft::bias, &problem_draft::keep})
      if (p_.*optional)
        to.*optional = slots ? over_keys(*(p_.*optional), optional == &problem_draft::bias) : *(p_.*optional);
    to.sink = p_.sink, to.q_lengths = p_.q_lengths, to.k_lengths = p_.k_lengths;
    to.q_offsets = p_.q_offsets, to.k_offsets = p_.k_offsets, to.block_table = p_.block_table;
    to.block_mask = p_.block_mask;
    return to;
  }

 private:
  random_stream stream(std::string_view what) const { return {0, fmt::format("{}/fit/{}", by_.name, what)}; }

  /// Q or K. Of the added columns Q has numbers in one half and K in the other, so that their products are 0.
  owned_tensor with_columns(owned_tensor const& from, std::int64_t rows, std::int64_t before, bool is_q) {
    owned_tensor to = shaped_like(from, rows, by_.d);
    if (by_.without_values) return to;
    owned_tensor const& sizes = is_q ? like_.q : like_.k;
    row_source const source(sizes, by_.copies_only);
    double const size = usual_size(like_.k);
    random_stream fresh = stream(is_q ? "queries" : "keys"), drawn = stream(is_q ? "q columns" : "k columns");
    std::int64_t const count = from.layout.shape[2];
    bool const hidden = by_.by == hiding::scores;
    each_row(to, [&](auto b, auto h, auto i) {
      auto const put = [&](std::int64_t c, double x) { store(to, offset_of(to, b, h, i, c), x); };
      bool const was_there = i >= before && i < before + count;
      if (was_there) {
        for (std::size_t c = 0; c < kept_.size(); ++c) {
          std::size_t const place = offset_of(from, b, h, i - before, static_cast<std::int64_t>(c));
          double const x = is_q && by_.times != 1 ? load(from, place) : 0;
          if (is_q && by_.times != 1 && is_finite(x)) put(kept_[c], by_.times * x);
          else copy(to, offset_of(to, b, h, i, kept_[c]), from, place);
        }
      } else if (is_q || !hidden) {
        double const times = is_q ? by_.times : 1;
        source.draw(fresh, [&](std::int64_t c, double x) { put(kept_[static_cast<std::size_t>(c)], times * x); });
      }
      if (hidden) put(hiding_column_, is_q ? 1.0 : was_there ? 0.0 : -by_.depth);
      if (by_.copies_only) return;
      for (std::size_t at = is_q ? 0 : 1; at < added_.size(); at += 2) put(added_[at], size * drawn.nearly_normal());
    });
    return to;
  }

  owned_tensor values(std::int64_t rows, std::int64_t before) {
    owned_tensor const& from = p_.v;
    std::int64_t const width = from.layout.shape[3], count = from.layout.shape[2];
    owned_tensor to = shaped_like(from, rows, by_.dv);
    if (by_.without_values || by_.dv < width) return to;  // the caller writes columns of the identity
    random_stream random = stream("value columns"), fresh = stream("values"), drawn = stream("value rows");
    columns const order = dealt(width, by_.dv, random);
    struct further {
      std::int64_t column, of;
      double times;
      bool is_drawn;
    };
    std::vector<further> added;
    for (std::int64_t at = width; at < by_.dv && width > 0; ++at)
      added.push_back({order[static_cast<std::size_t>(at)], random.below(width), random.below(2) == 0 ? 1.0 : -1.0,
                       !by_.copies_only && random.below(2) == 0});
    double const size = usual_size(like_.v);
    row_source const source(like_.v, by_.copies_only);
    each_row(to, [&](auto b, auto h, auto j) {
      auto const at = [&](std::int64_t c) { return offset_of(to, b, h, j, c); };
      bool const was_there = j >= before && j < before + count;
      std::vector<double> row(static_cast<std::size_t>(width));
      if (was_there) {
        for (std::int64_t c = 0; c < width; ++c) {
          std::size_t const place = offset_of(from, b, h, j - before, c);
          copy(to, at(order[static_cast<std::size_t>(c)]), from, place);
          row[static_cast<std::size_t>(c)] = load(from, place);
        }
      } else {
        source.draw(drawn, [&](std::int64_t c, double x) {
          row[static_cast<std::size_t>(c)] = x;
          store(to, at(order[static_cast<std::size_t>(c)]), x);
        });
      }
      for (further const& one : added) {
        double const x = row[static_cast<std::size_t>(one.of)], y = size * fresh.nearly_normal();
        store(to, at(one.column), one.is_drawn && is_finite(x) ? y : one.times * x);
      }
    });
    return to;
  }

  /// Mask, bias or keep of the larger call. Added queries have the row of a query that was there; added keys are
  /// hidden by a mask, have the bias 0, and are kept.
  owned_tensor over_keys(owned_tensor const& from, bool is_bias) {
    auto const& shape = from.layout.shape;
    std::int64_t const n = shape[2] == 1 ? 1 : by_.at.n;
    owned_tensor to = owned_tensor::compact(from.type, {shape[0], shape[1], n, by_.at.m});
    bool const is_mask = p_.mask && &from == &*p_.mask;
    each_row(to, [&](auto b, auto h, auto i) {
      std::int64_t const row = shape[2] == 1                                                  ? 0
                               : i >= by_.at.rows_before && i < by_.at.rows_before + shape[2] ? i - by_.at.rows_before
                                                                                              : i % shape[2];
      for (std::int64_t j = 0; j < by_.at.m; ++j) {
        std::int64_t const key = j - by_.at.keys_before;
        std::size_t const at = offset_of(to, b, h, i, j);
        if (key >= 0 && key < shape[3]) copy(to, at, from, offset_of(from, b, h, row, key));
        else store(to, at, is_mask || is_bias ? 0.0 : 1.0);
      }
    });
    return to;
  }

  problem_draft const &p_, &like_;
  surroundings const& by_;
  std::int64_t q_rows_, k_rows_;
  columns kept_, added_;
  std::int64_t hiding_column_ = 0;
};

}  // namespace

double depth_of(owned_problem const& problem, double scale) {
  problem_draft const& p = problem.draft();
  problem::sizes const& s = problem.size();
  double least = std::numeric_limits<double>::infinity();
  auto const score_of = [&](std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) {
    double score = 0;
    for (std::int64_t t = 0; t < s.d; ++t)
      score += load(p.q, offset_of(p.q, b, h, i, t)) * load(p.k, offset_of(p.k, b, reference::key_head(s, h), j, t));
    score *= scale;
    if (!p.bias) return score;
    auto const& of = p.bias->layout.shape;
    return score + load(*p.bias, offset_of(*p.bias, of[0] == 1 ? 0 : b, of[1] == 1 ? 0 : h, of[2] == 1 ? 0 : i, j));
  };
  std::visit(
      [&](auto const& instance) {
        each_row(p.q, [&](auto b, auto h, auto i) {
          double largest = -std::numeric_limits<double>::infinity();
          for (std::int64_t j = 0; j < s.m; ++j) {
            if (!reference::visible(instance, b, h, i, j)) continue;
            if (double const score = score_of(b, h, i, j); is_finite(score)) largest = std::max(largest, score);
          }
          if (is_finite(largest)) least = std::min(least, largest);
        });
      },
      problem.instance());
  double const below = is_finite(least) ? std::max(0.0, -least) : 0.0;
  return (130 + below) * 1.02 / std::abs(scale);
}

problem_draft surrounded(problem_draft const& p, problem_draft const& like, surroundings const& by) {
  return surrounder(p, like, by).made();
}

}  // namespace attest::audit
