// Problems of several entries, which can lie in memory in every way that docs/semantics.md allows; what belongs to no
// entry is poison.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <vector>

#include "fast/algorithm/storage.hpp"
#include "fast/attention.hpp"
#include "problem/instance.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests {

enum class row_form : std::uint8_t { dense, packed, paged };

/// How the entries of a call lie in memory.
struct entry_form {
  row_form queries = row_form::dense, keys = row_form::dense;
  std::int64_t page = 16;
  std::int64_t longer = 0;    ///< slots are that much longer than the longest entry, spans than their entry
  std::uint64_t order = 1;    ///< of the pages in the pool
  bool heads_inside = false;  ///< rows of different heads lie side by side: [rows, heads, width]
};

/// The answers of one entry: O [hq, n, dv] and LSE [hq, n], compact.
template <class E>
struct entry_answer {
  std::vector<E> o;
  std::vector<problem::lse_element<E>> lse;

  bool operator==(entry_answer const& other) const {
    auto const same = [](auto const& a, auto const& b) {
      return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof a[0]) == 0);
    };
    return same(o, other.o) && same(lse, other.lse);
  }
};

template <class E>
struct entry_case : problem::parameters {
  struct entry {
    std::int64_t n = 0, m = 0;
    std::vector<E> q, k, v;  ///< [hq, n, d], [hk, m, d], [hk, m, dv]
  };

  std::int64_t hq = 1, hk = 1, d = 1, dv = 1;
  std::vector<entry> entries;
  std::vector<E> sink;  ///< empty, or [hq]

  static E number(double x) {
    if constexpr (fast::is_narrow<E>) return fast::narrowed<E>(static_cast<float>(x));
    else return static_cast<E>(x);
  }
  static E poison() { return number(std::numeric_limits<double>::quiet_NaN()); }

  void add(std::int64_t n, std::int64_t m, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    entry made{n, m, {}, {}, {}};
    auto const fill = [&](std::vector<E>& to, std::int64_t count) {
      for (std::int64_t at = 0; at < count; ++at) to.push_back(number(normal(random)));
    };
    fill(made.q, hq * n * d), fill(made.k, hk * m * d), fill(made.v, hk * m * dv);
    entries.push_back(std::move(made));
  }

  /// The answers of all entries in one call. Rows of the outputs that belong to no entry must be as they were.
  std::vector<entry_answer<E>> run(entry_form const& form, int threads = 1) const {
    auto const b = static_cast<std::int64_t>(entries.size());
    sides const queries = laid_out(form, form.queries, true), keys = laid_out(form, form.keys, false);
    tensor_memory q(queries, hq, d, form), k(keys, hk, d, form), v(keys, hk, dv, form), o(queries, hq, dv, form);
    for (std::int64_t e = 0; e < b; ++e) {
      entry const& from = entries[static_cast<std::size_t>(e)];
      q.write(queries, e, from.n, from.q), k.write(keys, e, from.m, from.k), v.write(keys, e, from.m, from.v);
    }
    E const canary = number(-77);
    std::fill(o.numbers.begin(), o.numbers.end(), canary);
    // LSE [rows, heads] where heads lie inside, else [heads, rows].
    std::vector<problem::lse_element<E>> lse(static_cast<std::size_t>(queries.first * hq * queries.rows), -77);

    problem::arguments<E> given;
    static_cast<problem::parameters&>(given) = *this;
    given.q = {q.numbers.data(), q.layout}, given.k = {k.numbers.data(), k.layout};
    given.v = {v.numbers.data(), v.layout};
    auto const list = [](std::vector<std::int32_t> const& numbers) {
      return problem::tensor<std::int32_t const>{numbers.data(),
                                                 problem::layout::compact({static_cast<std::int64_t>(numbers.size())})};
    };
    if (form.queries == row_form::packed) given.q_offsets = list(queries.starts);
    if (form.keys == row_form::packed) given.k_offsets = list(keys.starts);
    given.q_lengths = list(queries.lengths), given.k_lengths = list(keys.lengths);
    if (form.keys == row_form::paged)
      given.block_table =
          problem::tensor<std::int32_t const>{keys.table.data(), {2, {b, keys.width}, {keys.width + 3, 1}}};
    if (!sink.empty()) given.sink = problem::tensor<E const>{sink.data(), problem::layout::compact({hq})};
    auto const instance = problem::instance<E>::make(given);
    if (!instance) FAIL(instance.why().message());
    problem::output_tensors<E> tensors{{o.numbers.data(), o.layout}, {}, {}};
    bool const inside = form.heads_inside && form.queries == row_form::packed;
    tensors.lse = problem::tensor<problem::lse_element<E>>{
        lse.data(),
        {3, {queries.first, hq, queries.rows}, {hq * queries.rows, inside ? 1 : queries.rows, inside ? hq : 1}}};
    auto const outputs = problem::outputs<E>::make(instance.value(), tensors);
    if (!outputs) FAIL(outputs.why().message());
    auto const done = fast::attention(instance.value(), outputs.value(), {.threads = threads});
    if (!done) FAIL(done.why().message());

    std::vector<entry_answer<E>> answers;
    for (std::int64_t e = 0; e < b; ++e) {
      entry_answer<E>& answer = answers.emplace_back();
      for (std::int64_t h = 0; h < hq; ++h)
        for (std::int64_t i = 0; i < entries[static_cast<std::size_t>(e)].n; ++i) {
          E* const row = outputs.value().o.row(e, h, i);
          answer.o.insert(answer.o.end(), row, row + dv);
          std::fill_n(row, dv, canary);
          auto& row_lse = outputs.value().lse(e, h, i, 0);
          answer.lse.push_back(row_lse);
          row_lse = -77;
        }
    }
    CHECK(std::all_of(o.numbers.begin(), o.numbers.end(),
                      [&](E const& x) { return std::memcmp(&x, &canary, sizeof x) == 0; }));
    CHECK(std::all_of(lse.begin(), lse.end(), [](auto x) { return x == -77; }));
    return answers;
  }

  /// Entry e by itself, as a dense problem without lengths.
  entry_answer<E> alone(std::size_t e, int threads = 1) const {
    entry const& of = entries[e];
    problem::arguments<E> given;
    static_cast<problem::parameters&>(given) = *this;
    using problem::layout;
    given.q = {of.q.data(), layout::compact({1, hq, of.n, d})};
    given.k = {of.k.data(), layout::compact({1, hk, of.m, d})};
    given.v = {of.v.data(), layout::compact({1, hk, of.m, dv})};
    if (!sink.empty()) given.sink = problem::tensor<E const>{sink.data(), layout::compact({hq})};
    auto const instance = problem::instance<E>::make(given);
    if (!instance) FAIL(instance.why().message());
    entry_answer<E> answer;
    answer.o.resize(static_cast<std::size_t>(hq * of.n * dv)), answer.lse.resize(static_cast<std::size_t>(hq * of.n));
    problem::output_tensors<E> tensors{{answer.o.data(), layout::compact({1, hq, of.n, dv})}, {}, {}};
    tensors.lse = problem::tensor<problem::lse_element<E>>{answer.lse.data(), layout::compact({1, hq, of.n})};
    auto const outputs = problem::outputs<E>::make(instance.value(), tensors);
    if (!outputs) FAIL(outputs.why().message());
    if (!fast::attention(instance.value(), outputs.value(), {.threads = threads})) FAIL("attention");
    return answer;
  }

 private:
  /// Where the rows of the queries (or of the keys) lie: `first` × heads × `rows`.
  struct sides {
    row_form form = row_form::dense;
    std::int64_t first = 0, rows = 0, width = 0, page = 1;
    std::vector<std::int32_t> lengths, starts, table;

    std::pair<std::int64_t, std::int64_t> place(std::int64_t e, std::int64_t i) const {
      if (form == row_form::dense) return {e, i};
      if (form == row_form::packed) return {0, starts[static_cast<std::size_t>(e)] + i};
      return {table[static_cast<std::size_t>(e * (width + 3) + i / page)], i % page};
    }
  };

  sides laid_out(entry_form const& form, row_form as, bool of_queries) const {
    sides made;
    made.form = as, made.page = form.page;
    std::int64_t longest = 0, all = 0;
    for (entry const& each : entries) {
      std::int64_t const count = of_queries ? each.n : each.m;
      made.lengths.push_back(static_cast<std::int32_t>(count));
      made.starts.push_back(static_cast<std::int32_t>(all));
      longest = std::max(longest, count), all += count + form.longer;
    }
    made.starts.push_back(static_cast<std::int32_t>(all));
    if (as == row_form::dense)
      made.first = static_cast<std::int64_t>(entries.size()), made.rows = longest + form.longer;
    if (as == row_form::packed) made.first = 1, made.rows = all + 2 * form.longer;
    if (as == row_form::paged) {
      made.width = (longest + form.longer + form.page - 1) / form.page, made.rows = form.page;
      std::vector<std::int32_t> pages;
      for (entry const& each : entries)
        for (std::int64_t at = 0; at * form.page < each.m; ++at)
          pages.push_back(static_cast<std::int32_t>(pages.size()));
      made.first = static_cast<std::int64_t>(pages.size()) + 2;  // two pages belong to no entry
      for (auto& page : pages) ++page;
      std::shuffle(pages.begin(), pages.end(), std::mt19937_64(form.order));
      std::size_t next = 0;
      for (entry const& each : entries)
        for (std::int64_t at = 0; at < made.width + 3; ++at) {
          bool const needed = at * form.page < each.m;
          made.table.push_back(needed ? pages[next++] : at % 2 == 0 ? -1 : std::numeric_limits<std::int32_t>::max());
        }
    }
    return made;
  }

  /// A tensor of these rows, all poison at first, with gaps behind pages and slots.
  struct tensor_memory {
    std::int64_t heads, wide;
    problem::layout layout;
    std::vector<E> numbers;

    tensor_memory(sides const& of, std::int64_t h, std::int64_t width, entry_form const& form) : heads(h), wide(width) {
      std::int64_t const row = form.heads_inside ? heads * width : width,
                         head = form.heads_inside ? width : of.rows * width;
      std::int64_t const slot = heads * of.rows * width + 5;
      layout = {4, {of.first, heads, of.rows, width}, {slot, head, row, 1}};
      numbers.assign(static_cast<std::size_t>(of.first * slot), poison());
    }
    void write(sides const& of, std::int64_t e, std::int64_t count, std::vector<E> const& from) {
      for (std::int64_t h = 0; h < heads; ++h)
        for (std::int64_t i = 0; i < count; ++i) {
          auto const [first, row] = of.place(e, i);
          std::copy_n(from.begin() + (h * count + i) * wide, wide,
                      numbers.begin() + first * layout.stride[0] + h * layout.stride[1] + row * layout.stride[2]);
        }
    }
  };
};

}  // namespace attest::tests
