// Entries of different lengths: each alone, and all in one call, which places them in every way that docs/semantics.md
// allows. What belongs to no entry is NaN.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <variant>
#include <vector>

#include "audit/cases/arranged.hpp"
#include "audit/cases/random.hpp"
#include "fast/attention.hpp"
#include "problem/erased.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests {

enum class row_form : std::uint8_t { slots, packed, paged };

/// How the entries of a call lie in memory.
struct entry_form {
  row_form queries = row_form::slots, keys = row_form::slots;
  std::int64_t page = 16;
  std::int64_t longer = 0;    ///< slots are that much longer than the longest entry, spans than their entry
  std::uint64_t order = 1;    ///< of the pages in the pool
  bool heads_inside = false;  ///< rows of different heads lie side by side: [rows, heads, width]
};

/// The bytes of the answers of one entry: O [hq, n, dv] and LSE [hq, n], compact.
struct entry_answer {
  std::vector<std::byte> o, lse;
  friend bool operator==(entry_answer const&, entry_answer const&) = default;
};

/// [first, heads, rows, width] with a gap behind each slot or page.
inline problem::layout gapped(std::array<std::int64_t, 4> const& shape, bool heads_inside) {
  auto const [first, heads, rows, width] = shape;
  return {4,
          {first, heads, rows, width},
          {heads * rows * width + 5, heads_inside ? width : rows * width, heads_inside ? heads * width : width, 1}};
}

/// The answers of all entries of a call. Memory of the outputs that belongs to no entry must be as it was.
inline std::vector<entry_answer> answers_to(audit::problem_draft const& draft, int threads = 1,
                                            bool heads_inside = false) {
  constexpr std::byte canary{0xA5};
  auto const instance = problem::make_instance(draft.arguments());
  if (!instance) FAIL(instance.why().message());
  std::vector<entry_answer> answers;
  std::visit(
      [&]<class E>(problem::instance<E> const& p) {
        problem::sizes const& s = p.size();
        auto const& queries = p.entries().queries;
        std::int64_t const first = queries.is_packed() ? 1 : s.b, rows = queries.is_packed() ? queries.total : s.n;
        auto o = audit::owned_tensor::zeros(problem::type_of<E>, gapped({first, s.hq, rows, s.dv}, heads_inside));
        auto lse_layout = gapped({first, s.hq, rows, 1}, heads_inside && queries.is_packed());
        lse_layout.rank = 3, lse_layout.shape[3] = lse_layout.stride[3] = 0;
        auto lse = audit::owned_tensor::zeros(problem::type_of<problem::lse_element<E>>, lse_layout);
        for (auto* tensor : {&o, &lse}) std::ranges::fill(tensor->bytes, canary);
        auto const outputs = problem::make_outputs(p, {.o = o.erased(), .lse = lse.erased(), .weights = {}});
        if (!outputs) FAIL(outputs.why().message());
        auto const done = fast::attention(p, outputs.value(), {.threads = threads});
        if (!done) FAIL(done.why().message());
        auto const take = [&](auto* numbers, std::int64_t count, std::vector<std::byte>& into) {
          auto* const from = reinterpret_cast<std::byte*>(numbers);
          std::size_t const bytes = static_cast<std::size_t>(count) * sizeof *numbers;
          into.insert(into.end(), from, from + bytes);
          std::fill_n(from, bytes, canary);
        };
        for (std::int64_t e = 0; e < s.b; ++e) {
          entry_answer& answer = answers.emplace_back();
          for (std::int64_t h = 0; h < s.hq; ++h)
            for (std::int64_t i = 0; i < p.queries(e); ++i) {
              take(outputs.value().o.row(e, h, i), s.dv, answer.o);
              take(&outputs.value().lse(e, h, i, 0), 1, answer.lse);
            }
        }
        for (auto* tensor : {&o, &lse})  // threads of a test ask this, too: no CHECK
          if (std::ranges::count(tensor->bytes, canary) != std::ssize(tensor->bytes)) FAIL("written behind the rows");
      },
      instance.value());
  return answers;
}

/// The rows of slot e of `from` become the first ones of slot b of `to`.
inline void copy_rows(audit::owned_tensor const& from, audit::owned_tensor& to, std::int64_t b, std::int64_t e = 0) {
  std::size_t const size = problem::size_of(from.type), bytes = static_cast<std::size_t>(from.layout.shape[3]) * size;
  for (std::int64_t h = 0; h < from.layout.shape[1]; ++h)
    for (std::int64_t i = 0; i < from.layout.shape[2]; ++i)
      std::memcpy(to.bytes.data() + audit::offset_of(to, b, h, i, 0) * size,
                  from.bytes.data() + audit::offset_of(from, e, h, i, 0) * size, bytes);
}

struct entry_set : problem::parameters {
  problem::element_type type = problem::element_type::f32;
  std::int64_t hq = 1, hk = 1, d = 1, dv = 1;
  std::vector<audit::problem_draft> entries{};  ///< each of b = 1, without lengths
  std::optional<audit::owned_tensor> sink{};

  void add(std::int64_t n, std::int64_t m, std::uint64_t seed) {
    audit::random_stream random(seed, "entry");
    auto& entry = entries.emplace_back(audit::blank({1, hq, hk, n, m, d, dv}, type));
    for (auto* tensor : {&entry.q, &entry.k, &entry.v}) audit::fill(*tensor, [&](auto...) { return random.normal(); });
  }
  std::int32_t queries(std::size_t e) const { return static_cast<std::int32_t>(entries[e].q.layout.shape[2]); }
  std::int32_t keys(std::size_t e) const { return static_cast<std::int32_t>(entries[e].k.layout.shape[2]); }

  /// Entry e by itself, as a dense problem whose diagonal is given outright.
  audit::problem_draft alone(std::size_t e) const {
    audit::problem_draft made = entries[e];
    static_cast<problem::parameters&>(made) = *this;
    made.sink = sink;
    if (align) made.band.diagonal += keys(e) - queries(e);
    made.align = false;
    return made;
  }
  entry_answer answer(std::size_t e, int threads = 1) const { return answers_to(alone(e), threads).front(); }
  /// Of each entry by itself.
  std::vector<entry_answer> answers() const {
    std::vector<entry_answer> all;
    for (std::size_t e = 0; e < entries.size(); ++e) all.push_back(answer(e));
    return all;
  }
  /// Of all entries in one call.
  std::vector<entry_answer> answers(entry_form const& form, int threads = 1) const {
    return answers_to(together(form), threads, form.heads_inside);
  }

  audit::problem_draft together(entry_form const& form) const {
    std::vector<std::int32_t> n, m, slots_n, slots_m;
    auto const longer = static_cast<std::int32_t>(form.longer);
    for (std::size_t e = 0; e < entries.size(); ++e) {
      n.push_back(queries(e)), m.push_back(keys(e));
      slots_n.push_back(n.back() + longer), slots_m.push_back(m.back() + longer);
    }
    auto made =
        audit::blank({std::ssize(entries), hq, hk, std::ranges::max(slots_n), std::ranges::max(slots_m), d, dv}, type);
    static_cast<problem::parameters&>(made) = *this;
    made.sink = sink;
    for (auto const tensor : {&audit::problem_draft::q, &audit::problem_draft::k, &audit::problem_draft::v}) {
      std::ranges::fill((made.*tensor).bytes, std::byte{0xFF});
      for (std::size_t e = 0; e < entries.size(); ++e)
        copy_rows(entries[e].*tensor, made.*tensor, static_cast<std::int64_t>(e));
    }
    audit::set_lengths(made, slots_n, form.keys == row_form::paged ? m : slots_m);
    if (form.queries == row_form::packed) audit::pack_queries(made, 2 * form.longer);
    if (form.keys == row_form::packed) audit::pack_keys(made, 2 * form.longer);
    audit::random_stream order(form.order, "pages");
    if (form.keys == row_form::paged) audit::page_keys(made, {.page = form.page, .more_columns = 3}, order);
    audit::set_lengths(made, n, m);
    for (auto* tensor : {&made.q, &made.k, &made.v}) {
      auto const from = *tensor;
      *tensor = audit::owned_tensor::zeros(type, gapped(from.layout.shape, form.heads_inside));
      std::ranges::fill(tensor->bytes, std::byte{0xFF});
      for (std::int64_t b = 0; b < from.layout.shape[0]; ++b) copy_rows(from, *tensor, b, b);
    }
    return made;
  }
};

}  // namespace attest::tests
