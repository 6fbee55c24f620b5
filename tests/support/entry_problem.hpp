// Random problems with entries, sinks, block masks and dropout, and the dense problem with a mask that means the same.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <vector>

#include "problem/instance.hpp"
#include "tests/support/problem_maker.hpp"

namespace attest::tests {

enum class key_rows : std::uint8_t { slots, packed, paged };

/// A problem stated in both ways. What stands where no key is, in the tensors of `instance`, is NaN or out of range.
template <class T>
class entry_problem {
 public:
  std::int64_t b, hk, hq, n, m, d, dv, page = 1;
  key_rows how;
  bool packed_queries, has_blocks, has_sink = true, has_keep = false;
  problem::parameters parameters{};
  std::vector<std::int32_t> q_lengths, k_lengths;
  owned<T> q, k, v, sink, bias;
  owned<std::uint8_t> mask, blocks, keep;

  explicit entry_problem(std::uint64_t seed, std::int64_t most_keys = 40) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    auto const below = [&](std::int64_t end) {
      return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(end));
    };
    b = 1 + below(3), hk = 1 + below(2), hq = hk * (1 + below(2)), n = 1 + below(18), m = 1 + below(most_keys);
    d = 1 + below(9), dv = 1 + below(9);
    how = static_cast<key_rows>(below(3));
    packed_queries = below(3) == 0;
    if (how == key_rows::paged) page = 1 + below(7), m = (m + page - 1) / page * page;
    bool const packed = packed_queries || how == key_rows::packed;
    has_blocks = !packed && below(2) == 0, has_mask_ = !packed && below(3) == 0, has_bias_ = !packed && below(2) == 0;
    for (std::int64_t e = 0; e < b; ++e) {
      q_lengths.push_back(static_cast<std::int32_t>(below(4) == 0 ? n : below(n + 1)));
      k_lengths.push_back(static_cast<std::int32_t>(below(4) == 0 ? m : below(m + 1)));
    }
    auto const draw = [&](owned<T>& to, double size) {
      for (T& x : to.values) x = element_from<T>(normal(random) * size);
    };
    q = owned<T>({b, hq, n, d}), k = owned<T>({b, hk, m, d}), v = owned<T>({b, hk, m, dv}), sink = owned<T>({b, hq});
    draw(q, below(4) == 0 ? 10 : 1), draw(k, 1), draw(v, 1), draw(sink, 2);
    if (below(6) == 0) sink.values[0] = element_from<T>(-std::numeric_limits<double>::infinity());
    if (below(6) == 0) sink.values.back() = element_from<T>(40);
    bias = owned<T>({b, hq, n, m}), draw(bias, 2);
    mask = owned<std::uint8_t>({b, hq, n, m}), keep = mask;
    for (auto& x : mask.values) x = below(4) != 0;
    for (auto& x : keep.values) x = below(3) != 0;
    parameters.align = below(2);
    if (below(2) == 0) parameters.band = {below(5) - 2, below(8) - 1, below(8) - 1};
    if (below(3) == 0) parameters.softcap = 3;
    if (has_blocks) parameters.block_q = 1 + below(5), parameters.block_k = 1 + below(9);
    std::int64_t const rows = has_blocks ? (n + parameters.block_q - 1) / parameters.block_q : 1;
    std::int64_t const columns = has_blocks ? (m + parameters.block_k - 1) / parameters.block_k : 1;
    blocks = owned<std::uint8_t>({b, hq, rows, columns});
    for (auto& x : blocks.values) x = static_cast<std::uint8_t>(below(2) * 128);
    place_rows(random);
  }

  bool has_mask() const { return has_mask_; }
  bool has_bias() const { return has_bias_; }

  /// Is key j visible to query i of entry e: the rule of docs/semantics.md, in the test's own words.
  bool sees(std::int64_t e, std::int64_t h, std::int64_t i, std::int64_t j) const {
    auto const keys = k_lengths[static_cast<std::size_t>(e)], queries = q_lengths[static_cast<std::size_t>(e)];
    auto const& band = parameters.band;
    std::int64_t const off = j - (i + band.diagonal + (parameters.align ? keys - queries : 0));
    if (j >= keys || (band.left >= 0 && off < -band.left) || (band.right >= 0 && off > band.right)) return false;
    auto const at = static_cast<std::size_t>(((e * hq + h) * n + i) * m + j);
    if (has_mask_ && mask.values[at] == 0) return false;
    if (!has_blocks) return true;
    auto const& shape = blocks.layout.shape;
    return blocks.values[static_cast<std::size_t>(((e * hq + h) * shape[2] + i / parameters.block_q) * shape[3] +
                                                  j / parameters.block_k)] != 0;
  }

  /// The call with its entries.
  problem::instance<T> instance() const {
    problem::arguments<T> arguments;
    static_cast<problem::parameters&>(arguments) = parameters;
    arguments.q = q_.in(), arguments.k = k_.in(), arguments.v = v_.in();
    if (has_sink) arguments.sink = sink.in();
    if (has_mask_) arguments.mask = mask.in();
    if (has_bias_) arguments.bias = bias.in();
    if (has_blocks) arguments.block_mask = blocks.in();
    if (has_keep) arguments.keep = keep.in();
    if (packed_queries) arguments.q_offsets = list(q_offsets_);
    arguments.q_lengths = list(q_lengths);
    if (how == key_rows::packed) arguments.k_offsets = list(k_offsets_);
    if (how == key_rows::paged)
      arguments.block_table =
          problem::tensor<std::int32_t const>{table_.data(), problem::layout::compact({b, m / page})};
    arguments.k_lengths = list(k_lengths);
    return problem::instance<T>::make(arguments).value();
  }

  /// The dense call whose mask says what is visible. with_key appends the sink as a key of its own (k = 0, v = 0, bias
  /// t) instead of a sink.
  problem::instance<T> dense(bool with_key = false) {
    std::int64_t const keys = m + with_key;
    dense_k_ = owned<T>({b, hk, keys, d}), dense_v_ = owned<T>({b, hk, keys, dv});
    dense_bias_ = owned<T>({b, hq, n, keys}), dense_mask_ = owned<std::uint8_t>({b, hq, n, keys});
    k.each([&](T x, auto e, auto h, auto j, auto t) { dense_k_.at(e, h, j, t) = x; });
    v.each([&](T x, auto e, auto h, auto j, auto c) { dense_v_.at(e, h, j, c) = x; });
    dense_bias_.each([&](T& x, auto e, auto h, auto i, auto j) {
      x = j == m ? sink.values[static_cast<std::size_t>(e * hq + h)] : has_bias_ ? bias.at(e, h, i, j) : T{};
    });
    dense_mask_.each([&](std::uint8_t& x, auto e, auto h, auto i, auto j) { x = j == m || sees(e, h, i, j); });
    problem::arguments<T> arguments;
    arguments.scale = parameters.scale, arguments.softcap = parameters.softcap;
    arguments.q = q.in(), arguments.k = dense_k_.in(), arguments.v = dense_v_.in(), arguments.mask = dense_mask_.in();
    if (has_bias_ || with_key) arguments.bias = dense_bias_.in();
    if (has_sink && !with_key) arguments.sink = sink.in();
    if (has_keep && !with_key) arguments.keep = keep.in(), arguments.dropout = parameters.dropout;
    return problem::instance<T>::make(arguments).value();
  }

  /// Calls row(e, h, i) for every row of the problem.
  template <class Row>
  void each_row(Row&& row) const {
    for (std::int64_t e = 0; e < b; ++e)
      for (std::int64_t h = 0; h < hq; ++h)
        for (std::int64_t i = 0; i < q_lengths[static_cast<std::size_t>(e)]; ++i) row(e, h, i);
  }

 private:
  static problem::tensor<std::int32_t const> list(std::vector<std::int32_t> const& of) {
    return {of.data(), problem::layout::compact({static_cast<std::int64_t>(of.size())})};
  }
  /// Copies the rows of `from` that an entry has to where `row` places them.
  template <class Row>
  void copy(owned<T> const& from, owned<T>& to, std::vector<std::int32_t> const& lengths, Row&& row) const {
    auto const& shape = from.layout.shape;
    for (std::int64_t e = 0; e < shape[0]; ++e)
      for (std::int64_t h = 0; h < shape[1]; ++h)
        for (std::int64_t j = 0; j < lengths[static_cast<std::size_t>(e)]; ++j)
          for (std::int64_t t = 0; t < shape[3]; ++t) {
            auto const [at, in] = row(e, j);
            to.at(at, h, in, t) = const_cast<owned<T>&>(from).at(e, h, j, t);
          }
  }
  void place_rows(std::mt19937_64& random) {
    T const nan = element_from<T>(std::nan(""));
    struct place {
      std::int64_t at, in;
    };
    auto const in_slots = [](std::int64_t e, std::int64_t j) { return place{e, j}; };
    auto const offsets = [&](std::vector<std::int32_t> const& lengths, std::vector<std::int32_t>& into) {
      into = {0};
      for (std::int32_t const length : lengths)
        into.push_back(into.back() + length + static_cast<std::int32_t>(random() % 2));
    };
    auto const in_spans = [](std::vector<std::int32_t> const& starts) {
      return [&starts](std::int64_t e, std::int64_t j) { return place{0, starts[static_cast<std::size_t>(e)] + j}; };
    };
    if (packed_queries) {
      offsets(q_lengths, q_offsets_);
      q_ = owned<T>({1, hq, q_offsets_.back() + 1, d}, nan);
      copy(q, q_, q_lengths, in_spans(q_offsets_));
    } else {
      q_ = owned<T>({b, hq, n, d}, nan), copy(q, q_, q_lengths, in_slots);
    }
    if (how == key_rows::slots) {
      k_ = owned<T>({b, hk, m, d}, nan), copy(k, k_, k_lengths, in_slots);
      v_ = owned<T>({b, hk, m, dv}, nan), copy(v, v_, k_lengths, in_slots);
    } else if (how == key_rows::packed) {
      offsets(k_lengths, k_offsets_);
      k_ = owned<T>({1, hk, k_offsets_.back() + 1, d}, nan), copy(k, k_, k_lengths, in_spans(k_offsets_));
      v_ = owned<T>({1, hk, k_offsets_.back() + 1, dv}, nan), copy(v, v_, k_lengths, in_spans(k_offsets_));
    } else {
      std::int64_t const width = m / page;
      std::vector<std::int32_t> order(static_cast<std::size_t>(b * width));
      for (std::size_t at = 0; at < order.size(); ++at) order[at] = static_cast<std::int32_t>(at);
      std::ranges::shuffle(order, random);
      table_ = order;
      for (std::int64_t e = 0; e < b; ++e)  // what no key needs points anywhere
        for (std::int64_t at = (k_lengths[static_cast<std::size_t>(e)] + page - 1) / page; at < width; ++at)
          table_[static_cast<std::size_t>(e * width + at)] =
              random() % 2 ? -1 : std::numeric_limits<std::int32_t>::max();
      k_ = owned<T>({b * width, hk, page, d}, nan), v_ = owned<T>({b * width, hk, page, dv}, nan);
      auto const in_pages = [&](std::int64_t e, std::int64_t j) {
        return place{order[static_cast<std::size_t>(e * width + j / page)], j % page};
      };
      copy(k, k_, k_lengths, in_pages), copy(v, v_, k_lengths, in_pages);
    }
  }

  bool has_mask_ = false, has_bias_ = false;
  owned<T> q_, k_, v_, dense_k_, dense_v_, dense_bias_;
  owned<std::uint8_t> dense_mask_;
  std::vector<std::int32_t> q_offsets_, k_offsets_, table_;
};

}  // namespace attest::tests
